"""What the views of Odd say of a node, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.explain.audit import Finding
from oddhop.explain.explanation import NAMED_AT_MOST, NOTABLE, Neighbour, View
from oddhop.explain.guide import Guide
from oddhop.explain.phrases import one_in, share, spoken
from oddhop.odd.null import HIGH_RATIO, LOW_RATIO, Chance, head_above_gap, head_beyond_tail

FEW_ADDED = 0.1
MOST_DIFFER = 0.25  # of all edges: a neighbour at a larger share is no reason
GUIDE = Guide(
    repeated="if the edges were sampled again",
    entries=(
        (
            "A high score is not proof of a problem.",
            "A high score means that a node is unusual in this network. A person must decide whether an unusual node "
            "needs attention.",
        ),
        (
            "Stranger, outlier, clique, flow, cycle.",
            "The detector Odd checks every node in up to five ways, called views. The stranger view checks whether a "
            "node is unlike its neighbours. The outlier view checks whether the attributes of a node are unusual in "
            "this network. The clique view checks whether a node belongs to a group with unusually many edges "
            "between its members. Groups that only reflect a community of the network, or chance, do not count. The "
            "flow view checks whether the events of a node, for example payments, differ from those of nodes with "
            "similar attributes. The cycle view checks whether payments or other events form a cycle through a node. "
            "The flow view needs at least a direction, an amount, a time or a category in the edge table. The cycle "
            "view needs a direction and a time. An anomaly is named after the view that contributes most to the score.",
        ),
        (
            "P-values.",
            "The p-value “1 in 500 typical nodes” means that about 1 in 500 typical nodes would be as unusual as the "
            "explained node. Very small p-values are extrapolated from the scores of the other nodes. A p-value "
            "is not the probability that a node is harmless.",
        ),
        (
            "Sampled edges.",
            "The detector Odd treats the edges of your network as a random sample. Rank intervals show "
            "how the ranks could change with another sample of edges.",
        ),
        (
            "Score.",
            "The score of a node is the sum of the contributions of the views. A score is not a probability. Use "
            "scores to rank nodes and to see which nodes reach the alert threshold.",
        ),
    ),
)
WHAT = {
    "stranger": "This node is unlike its neighbours",
    "outlier": "The attributes of this node are unusual in this network",
    "clique": "This node belongs to a group with unusually many edges between its members",
    "flow": "The events of this node are unusual for its attributes",
    "cycle": "Events, for example payments, form cycles through this node",
}
SO = {
    "stranger": "differ so much from their neighbours",
    "outlier": "have such unusual attributes",
    "clique": "be in such a closely connected group",
    "flow": "have such unusual events for their attributes",
    "cycle": "be on as many cycles as this node if all event times were shuffled",
}
ALSO = {
    "stranger": "This node is also unlike its neighbours: {} typical nodes would differ so much from their neighbours.",
    "outlier": "The attributes of this node are also unusual: {} typical nodes would have such unusual attributes.",
    "clique": "This node also belongs to a closely connected group: {} typical nodes would be in such a group.",
    "flow": "The events of this node are also unusual for its attributes: {} typical nodes would have such unusual "
    "events.",
    "cycle": "Events also form cycles through this node: {} typical nodes would be on as many cycles if all event "
    "times were shuffled.",
}


def reasons(
    kind: str, views: tuple[View, ...], listed: tuple[Neighbour, ...], degree: int, far: int, members: int, ties: int
) -> tuple[str, ...]:
    """Return what the views say as sentences, the smallest p-value first."""
    group = _group([one for one in listed if one.member], members, ties) if members else ""
    return _what_views_say(kind, views, lambda: _far_ones(listed, far, degree), group)[1]


def _what_views_say(
    kind: str, views: tuple[View, ...], far_ones: Callable[[], str], group: str
) -> tuple[str, tuple[str, ...]]:
    """Return the view whose sentence comes first, and the sentences; with ``far_ones`` a stranger's begin."""
    heard = {one.name: one.p for one in views if one.p < NOTABLE}
    if not heard:
        return "", ("The detector Odd finds nothing unusual about this node.",)
    loudest = kind if kind in heard else min(heard, key=heard.__getitem__)
    what = WHAT[loudest]
    if loudest == "stranger":
        what = far_ones() or what
    elif loudest == "clique" and group:
        what = f"{what}. {group}"
    told = [f"{what}.", _how_rare(loudest, heard[loudest])]
    return loudest, (*told, *(ALSO[name].format(_only(p)) for name, p in heard.items() if name != loudest))


@dataclass(frozen=True)
class Shared:
    """The names of the nodes that a group shares, of its members, and of the members that the node is connected to."""

    nodes: Sequence[str]
    members: Sequence[str]
    tied: Sequence[str] = ()

    @property
    def told(self) -> str:
        """The group in words."""
        shares = [f"shares {_some(self.nodes)} with {_some(self.members)}"] if self.nodes and self.members else []
        parts = [*shares, *([f"is connected to {_some(self.tied)}"] if self.tied else [])]
        return f"This node {spoken(parts)}" if parts else ""


def reasons_between_kinds(
    kind: str,
    views: tuple[View, ...],
    listed: tuple[Neighbour, ...],
    counts: Sequence[tuple[str, int, int]],
    shared: Shared | None,
) -> tuple[str, ...]:
    """Return what the views say as sentences where there are several kinds of nodes.

    ``counts`` has the edges to every kind: its name, how many look far, and how many there are.
    """
    sharing = "" if shared is None else shared.told
    loudest, told = _what_views_say(kind, views, lambda: _far_edges(listed, counts), sharing)
    return (*told, f"{sharing}.") if sharing and loudest not in ("", "clique") else told


def _how_rare(view: str, p: float) -> str:
    rare = _only(p)
    return f"{rare[0].upper()}{rare[1:]} typical nodes would {SO[view]}."


def _only(p: float) -> str:
    rare = one_in(p)
    return rare if rare.startswith("fewer") else f"only {rare}"


def _far_edges(listed: Sequence[Neighbour], counts: Sequence[tuple[str, int, int]]) -> str:
    parts = [f"{far:,} of its {every:,} neighbours of kind {name}" for name, far, every in counts if far]
    if not parts:
        return ""
    far = sum(count for _, count, _ in counts)
    names = _some([str(one.id) for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    rare = f"At most {share(NOTABLE)} of the edges between such nodes connect nodes that differ as much"
    return f"This node is unlike {spoken(parts)}: {names}. {rare}"


def _some(names: Sequence[str], count: int | None = None) -> str:
    others = (len(names) if count is None else count) - min(len(names), NAMED_AT_MOST)
    return spoken([*names[:NAMED_AT_MOST], *([f"{others:,} more"] if others else [])])


def _far_ones(listed: Sequence[Neighbour], far: int, degree: int) -> str:
    names = _nodes([one for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    half = min((degree + 1) // 2, len(listed))  # the farthest are listed, and not all
    usual = listed[half - 1].rarity or 1.0
    # Hardly more are far than among the neighbours of a typical node, and yet most differ.
    most = not far or (far <= 2 * NOTABLE * degree and usual <= MOST_DIFFER)
    part = share(usual if most else NOTABLE)
    rare = f"{part} of all edges connect nodes that differ as much"
    if degree == 1:
        return f"This node is unlike its only neighbour, node {listed[0].id}. {'Only' if most else 'At most'} {rare}"
    if most:
        return f"This node is unlike its neighbours. Only {rare} as this node and {half:,} of its {degree:,} neighbours"
    count = f"all of its {degree:,}" if far == degree else f"{far:,} of its {degree:,}"
    return f"This node is unlike {count} neighbours: {names}. At most {rare}"


def _group(listed: Sequence[Neighbour], members: int, ties: int) -> str:
    count = len(listed)
    some = "member of the group is" if members == 1 else "members of the group are"
    others = f"The other {some} {_nodes(listed, members)}" if listed else f"The {members:,} other {some} not listed"
    if count < 2:
        return others
    edges, possible = ties + count, count * (count + 1) // 2  # with those of the node itself
    among = "The members of the group"
    if count < members:
        among = f"This node and {count} other members of the group"
    found = f"all {possible:,}" if edges == possible else f"{edges:,} of the {possible:,}"
    return f"{others}. {among} are connected by {found} possible edges"


def _nodes(listed: Sequence[Neighbour], count: int) -> str:
    names = [str(one.id) for one in listed[:NAMED_AT_MOST]]
    others = count - len(names)
    if not names:
        return "not listed"
    rest = [f"{others:,} other node{'s' if others > 1 else ''}"] if others else []
    return f"node{'s' if count > 1 else ''} {spoken([*names, *rest])}"


def related(information: float) -> Finding:
    """Say whether the columns of connected nodes are related, so that strangers can be detected."""
    if information > 0:
        sentence = (
            "Connected nodes have related column values, so the detector can find nodes that are unlike their "
            "neighbours."
        )
        return Finding("strangers", "fine", information, sentence)
    sentence = (
        "The column values of connected nodes are not related, so Odd cannot find nodes that are unlike their "
        "neighbours. Odd scores the columns and the edges of each node separately. Check that you have chosen the "
        "right columns."
    )
    return Finding("strangers", "warning", information, sentence)


def cut_short(truncated: int) -> tuple[Finding, ...]:
    """Say where the search for cycles was cut short; nothing where it was not."""
    if not truncated:
        return ()
    sentence = (
        f"The search for cycles ended early for {truncated:,} events. Cycles that start with one of the {truncated:,} "
        "events may be missing."
    )
    return (Finding("cycles", "warning", float(truncated), sentence),)


def left_out_hubs(hubs: Mapping[str, int]) -> tuple[Finding, ...]:
    """Say how many nodes of other kinds were not counted as common neighbours; nothing if all were."""
    return tuple(
        Finding(
            "hubs",
            "warning",
            float(count),
            f"Odd does not count {count:,} node{'s' if count > 1 else ''} of kind {kind} as "
            f"{'' if count > 1 else 'a '}common neighbour{'s' if count > 1 else ''}, because "
            f"{'they have' if count > 1 else 'it has'} too many neighbours. Odd misses groups that are connected only "
            "through nodes with too many neighbours.",
        )
        for kind, count in hubs.items()
    )


NO_CYCLES = Finding(
    "cycles",
    "warning",
    None,
    "Odd did not search for cycles because the events do not fit in memory. Odd misses nodes whose only "
    "anomaly is a cycle.",
)


COMPARISONS = (
    "P-values such as “1 in 500 typical nodes” compare a node with the nodes of your network, not with simulated "
    "networks."
)


def standing_out(chance: Chance | None, score: Floats, share: float) -> Finding:
    """Say how many nodes stand out, and how many of a simulated network score as high."""
    if chance is None:
        sentence = (
            "The number of nodes that stand out is unknown because Odd did not simulate networks without anomalies. By "
            "default, Odd simulates networks if your network has at least 300 nodes and the simulation takes less than "
            "a minute. To always simulate networks, set simulate=True (command line: --set odd.simulate=true)."
        )
        return Finding("stand out", "fine", None, sentence)
    count = chance.standing_out(score, share)
    simulated = f"{chance.simulations} simulated networks without anomalies"
    more = (
        "The simulated networks have the same degrees, attributes and homophily as your network, and as many edges "
        "between nodes of similar degree and looks. A rare attribute value alone never makes a node stand out. "
        f"Harmless triangles or unusual noise can also make a node stand out. {COMPARISONS}{_disagreement(chance)}"
    )
    if not count:
        fewest = math.ceil(round(1 / (share * chance.simulations), 9))  # whose share of chance can be so low
        first = score.max(initial=-np.inf)
        above = chance.scores.size - int(np.searchsorted(chance.scores, first, side="left"))
        if fewest > 1 and not above:
            sentence = (
                f"No node stands out. The top node scores higher than all nodes in {simulated}, but so few simulated "
                f"networks can only show that {fewest:,} nodes or more stand out."
            )
        elif (chance.shares(score) <= share).any():
            sentence = (
                f"No node stands out. Hardly any node in {simulated} scores as high as the top node, but it is not far "
                "above the other nodes of your network, which score higher than those of the simulated networks."
            )
        elif above == chance.scores.size:
            sentence = f"No node stands out: at least {above:,} nodes in {simulated} score as high as the top node."
        else:
            sentence = f"No node stands out: {above:,} node{'s'[: above != 1]} in {simulated} score{'s'[: above == 1]}"
            sentence = f"{sentence} as high as the top node."
        head = head_above_gap(score) or head_beyond_tail(score, share)
        if head:
            gap = f"But the top {_above_others(score, head)}. Hubs or roles can explain that."
            return Finding("stand out", "warning", 0.0, f"{sentence} {gap}", more)
        return Finding("stand out", "fine", 0.0, f"{sentence} Your network can still contain anomalies.", more)
    expected = float(chance.shares(score)[count - 1] * count)
    if expected > share * count:  # it is the gap that counts
        sentence = f"{count:,} node{' stands' if count == 1 else 's stand'} out: the top {_above_others(score, count)}."
        return Finding("stand out", "fine", float(count), f"{sentence} Other nodes can be anomalies too.", more)
    one = "fewer than 1 node" if expected < 1 else "about 1 node"
    often = f"about {expected:.0f} nodes per network score" if expected >= 1.5 else f"{one} per network scores"
    sentence = (
        f"{count:,} node{' stands' if count == 1 else 's stand'} out. In {simulated}, {often} as high as "
        f"{'the node that stands' if count == 1 else 'the nodes that stand'} out. Other nodes can be anomalies too."
    )
    return Finding("stand out", "fine", float(count), sentence, more)


def _above_others(score: Floats, head: int) -> str:
    last, following = np.sort(score)[::-1][[head - 1, head]]
    who = "node scores" if head == 1 else f"{head:,} nodes score"
    return f"{who} far above all others ({last:.0f}, then {following:.0f})"


def _disagreement(chance: Chance) -> str:
    """Say so where ordinary nodes of the simulated networks score otherwise than those of the real one."""
    if LOW_RATIO <= chance.ratio <= HIGH_RATIO:
        return ""
    differ = f"Ordinary nodes of your network score {chance.ratio:.1f} times as high as those of the simulated networks"
    if chance.ratio > HIGH_RATIO:
        return f" {differ}. A few nodes therefore stand out only if they score far above all others."
    return f" {differ}. The list can therefore be too short."


def controls(result: pa.Table, top: int) -> Finding:
    """Say how many of the first nodes would have been found by their columns alone, and by their edges alone."""
    judged = result.filter(result["judged"])
    top = min(top, judged.num_rows)
    anyway = []
    for name in ("p_outlier", "p_clique"):
        rare = judged[name].to_numpy()
        # Where nodes tie at the border none of them is counted: the view alone would not choose among them.
        border = np.sort(rare)[min(top, rare.size - 1)] if rare.size else 0.0
        anyway.append(rare[:top] < border)
    columns, edges = (int(found.sum()) for found in anyway)
    neither = int((~(anyway[0] | anyway[1])).sum())
    sentence = (
        f"A ranking by columns alone would have {columns:,} of the same top {top:,} nodes. "
        f"A ranking by edges alone would have {edges:,} of the same top {top:,} nodes."
    )
    if top and top - columns < FEW_ADDED * top:
        return Finding("controls", "warning", neither / top, f"The edges add little to this ranking. {sentence}")
    both = f"The ranking depends on more than the columns. {sentence}"
    return Finding("controls", "fine", neither / top if top else 0.0, both)
