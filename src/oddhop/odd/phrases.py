"""What the views of Odd say of a node, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.explain.audit import Finding
from oddhop.explain.explanation import NAMED_AT_MOST, Neighbour, View
from oddhop.explain.guide import Guide
from oddhop.explain.phrases import one_in, share, spoken
from oddhop.odd.null import Chance

FEW_ADDED = 0.1
GUIDE = Guide(
    repeated="if the edges were sampled again",
    picture="Neighbours that differ more from the node are drawn farther from the centre of the picture. The dashed "
    "ring in the picture marks the typical difference between two connected nodes.",
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
            "this network. The clique view checks whether a node belongs to a group of nodes with more edges between "
            "them than the communities of the network and chance explain. The flow view checks whether the events of "
            "a node, for example payments, differ from those of nodes with similar attributes. The cycle view checks "
            "whether what a node sends, for example money, returns to the node. The flow view and the cycle view need "
            "amounts or times in the edge table. The kind of a node is the view that contributes most to its score.",
        ),
        (
            "Edges at least as different.",
            "The detector learns from this network how similar two connected nodes usually are. The entry “1 in 100” "
            "means that 1 in 100 edges joins nodes that differ at least as much as the node and its neighbour.",
        ),
        (
            "P-values.",
            "The p-value “1 in 500 typical nodes” means that about 1 in 500 typical nodes would be at least as unusual "
            "as the explained node. Very small p-values are extrapolated from the scores of the other nodes. A p-value "
            "is not the probability that a node is harmless.",
        ),
        (
            "Sampled edges.",
            "The detector Odd treats the edges of your network as a random sample. Rank intervals and top "
            "probabilities show how the ranks could change if the same number of edges were sampled again.",
        ),
        (
            "Score.",
            "The score of a node is the sum of the contributions of the views. A score is not a probability. Use "
            "scores to rank nodes and to see which nodes reach the alert threshold.",
        ),
    ),
)
NOTABLE = (
    0.05  # larger p-values are not reported, and neighbours with a larger share of edges do not count as different
)
WHAT = {
    "stranger": "This node is unlike its neighbours",
    "outlier": "The attributes of this node are unusual in this network",
    "clique": "This node belongs to a group of nodes with more edges between them than the communities of the network "
    "and chance explain",
    "flow": "The events of this node differ from those of nodes with similar attributes",
    "cycle": "What this node sends returns to this node through cycles of events",
}
SO = {
    "stranger": "differ from their neighbours at least as much as this node does",
    "outlier": "have attributes that are at least as unusual as those of this node",
    "clique": "be in a group that is at least as closely connected as the group of this node",
    "flow": "have events that are at least as unusual for their attributes as the events of this node",
    "cycle": "be on at least as many cycles as this node if the times of all events were shuffled",
}
ALSO = {
    "stranger": "This node is also unlike its neighbours: {} typical nodes would differ from their neighbours at least "
    "as much.",
    "outlier": "The attributes of this node are also unusual: {} typical nodes would have attributes that are at least "
    "as unusual.",
    "clique": "This node also belongs to a closely connected group: {} typical nodes would be in a group that is at "
    "least as closely connected.",
    "flow": "The events of this node are also unusual for its attributes: {} typical nodes would have events that are "
    "at least as unusual.",
    "cycle": "This node is also on cycles of events: {} typical nodes would be on at least as many cycles if the times "
    "of all events were shuffled.",
}


def reasons(
    kind: str, views: tuple[View, ...], listed: tuple[Neighbour, ...], degree: int, far: int, members: int, ties: int
) -> tuple[str, ...]:
    """Return what the views say as sentences, the smallest p-value first.

    Examples
    --------
    >>> from oddhop.explain.explanation import Neighbour, View
    >>> from oddhop.odd.phrases import reasons
    >>> views = (View("stranger", 0.002, 6.2), View("outlier", 0.5, 0.7), View("clique", 0.8, 0.1))
    >>> listed = (Neighbour("ann", 3.2, 0.0, 4.0, rarity=0.004), Neighbour("bob", 0.8, 0.0, -1.0, rarity=0.7))
    >>> for told in reasons("stranger", views, listed, degree=2, far=1, members=0, ties=0):
    ...     print(told[:76])
    This node is unlike 1 of its 2 neighbours (node ann): each difference is lar
    Only 1 in 500 typical nodes would differ from their neighbours at least as m
    """
    heard = {one.name: one.p for one in views if one.p < NOTABLE}
    if not heard:
        return ("None of the views of Odd finds this node unusual.",)
    loudest = kind if kind in heard else min(heard, key=heard.__getitem__)
    what = WHAT[loudest]
    if loudest == "stranger":
        what = _far_ones(listed, far, degree)
    elif loudest == "clique" and members:
        what = f"{what}. {_group([one for one in listed if one.member], members, ties)}"
    told = [f"{what}.", _how_rare(loudest, heard[loudest])]
    return (*told, *(ALSO[name].format(_only(p)) for name, p in heard.items() if name != loudest))


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

    Examples
    --------
    >>> from oddhop.explain.explanation import View
    >>> from oddhop.odd.phrases import Shared, reasons_between_kinds
    >>> views = (View("stranger", 0.4, 0.2), View("outlier", 0.5, 0.7), View("clique", 0.001, 9.1))
    >>> group = Shared(["device d7", "device d8"], ["ann", "bob"])
    >>> reasons_between_kinds("clique", views, (), [("device", 0, 2)], group)[0][-66:]
    'xplain. This node shares device d7 and device d8 with ann and bob.'
    """
    heard = {one.name: one.p for one in views if one.p < NOTABLE}
    if not heard:
        return ("None of the views of Odd finds this node unusual.",)
    loudest = kind if kind in heard else min(heard, key=heard.__getitem__)
    sharing = "" if shared is None else shared.told
    what = WHAT[loudest]
    if loudest == "stranger" and (which := _far_edges(listed, counts)):
        what = f"{what}: {which}"
    elif loudest == "clique" and sharing:
        what = f"{what}. {sharing}"
    told = [f"{what}.", _how_rare(loudest, heard[loudest])]
    told += [ALSO[name].format(_only(p)) for name, p in heard.items() if name != loudest]
    if sharing and loudest != "clique":
        told.append(f"{sharing}.")
    return tuple(told)


def _how_rare(view: str, p: float) -> str:
    rare = _only(p)
    return f"{rare[0].upper()}{rare[1:]} typical nodes would {SO[view]}."


def _only(p: float) -> str:
    rare = one_in(p)
    return rare if rare.startswith("fewer") else f"only {rare}"


def _far_edges(listed: Sequence[Neighbour], counts: Sequence[tuple[str, int, int]]) -> str:
    parts = [f"{far:,} of its {all_of_them:,} edges to {name}" for name, far, all_of_them in counts if far]
    if not parts:
        return ""
    far = sum(count for _, count, _ in counts)
    names = _some([str(one.id) for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    return f"for {spoken(parts)} ({names}), each difference is larger than for 95 % of all edges between the same kinds"


def _some(names: Sequence[str], count: int | None = None) -> str:
    others = (len(names) if count is None else count) - min(len(names), NAMED_AT_MOST)
    return spoken([*names[:NAMED_AT_MOST], *([f"{others:,} more"] if others else [])])


def _far_ones(listed: Sequence[Neighbour], far: int, degree: int) -> str:
    names = _nodes([one for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    half = min((degree + 1) // 2, len(listed))  # the farthest are listed, and not all
    part = share(1 - (NOTABLE if far else listed[half - 1].rarity or 1.0))
    more = f"difference is larger than between {part} of all connected nodes"
    if degree == 1:
        return f"This node is unlike its only neighbour, node {listed[0].id}: the {more}"
    if not far:
        return f"This node is unlike its neighbours: for {half:,} of its {degree:,} neighbours, the {more}"
    count = f"all of its {degree:,}" if far == degree else f"{far:,} of its {degree:,}"
    return f"This node is unlike {count} neighbours ({names}): each {more}"


def _group(listed: Sequence[Neighbour], members: int, ties: int) -> str:
    count = len(listed)
    some = "member of the group is" if members == 1 else "members of the group are"
    others = f"The other {some} {_nodes(listed, members)}" if listed else f"The {members:,} other {some} not listed"
    if count < 2:
        return others
    edges, possible = ties + count, count * (count + 1) // 2  # with those of the node itself
    among = "Between the members of the group"
    if count < members:
        among = f"Between this node and {count} other members of the group"
    found = f"all {possible:,}" if edges == possible else f"{edges:,} of the {possible:,}"
    return f"{others}. {among}, {found} possible edges exist"


def _nodes(listed: Sequence[Neighbour], count: int) -> str:
    names = [str(one.id) for one in listed[:NAMED_AT_MOST]]
    others = count - len(names)
    if not names:
        return "not listed"
    return f"node{'s' if count > 1 else ''} {spoken([*names, f'{others:,} more'] if others else names)}"


def related(information: float) -> Finding:
    """Say whether the columns of connected nodes are related, so that strangers can be detected.

    Examples
    --------
    >>> from oddhop.odd.phrases import related
    >>> related(0.5).sentence[:71]
    'The column values of connected nodes are related (mutual information 0.'
    """
    if information > 0:
        sentence = (
            f"The column values of connected nodes are related (mutual information {information:.2g} nats per edge), "
            "so Odd can find nodes that are unlike their neighbours."
        )
        return Finding("strangers", "fine", information, sentence)
    sentence = (
        "The column values of connected nodes are not related, so Odd cannot find nodes that are unlike their "
        "neighbours. Odd scores the columns and the edges of each node separately. Check that you have chosen the "
        "right columns."
    )
    return Finding("strangers", "warning", information, sentence)


def cut_short(truncated: int) -> tuple[Finding, ...]:
    """Say where the search for cycles was cut short; nothing where it was not.

    Examples
    --------
    >>> from oddhop.odd.phrases import cut_short
    >>> cut_short(0)
    ()
    """
    if not truncated:
        return ()
    sentence = (
        f"The search for cycles ended early for {truncated:,} events. Cycles that start with one of the {truncated:,} "
        "events may be missing."
    )
    return (Finding("cycles", "warning", float(truncated), sentence),)


def left_out_hubs(hubs: Mapping[str, int]) -> tuple[Finding, ...]:
    """Say how many nodes of other kinds were not counted as common neighbours; nothing if all were.

    Examples
    --------
    >>> from oddhop.odd.phrases import left_out_hubs
    >>> left_out_hubs({"merchant": 2})[0].sentence[:91]
    '2 nodes of kind merchant have too many neighbours and are not counted as common neighbours.'
    """
    return tuple(
        Finding(
            "hubs",
            "warning",
            float(count),
            f"{count:,} node{'s' if count > 1 else ''} of kind {kind} {'have' if count > 1 else 'has'} too many "
            f"neighbours and {'are' if count > 1 else 'is'} not counted as {'' if count > 1 else 'a '}common "
            f"neighbour{'s' if count > 1 else ''}. Odd misses groups that have no other common neighbour.",
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
    "A p-value such as “1 in 500 typical nodes” compares a node with the other nodes of your network, not with "
    "simulated networks."
)


def standing_out(chance: Chance | None, score: Floats, share: float) -> Finding:
    """Say how many nodes stand out, and how many of a simulated network score as high.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.null import Chance
    >>> from oddhop.odd.phrases import standing_out
    >>> standing_out(Chance(np.arange(5.0), 20), np.array([9.0, 8.0, 3.5]), 0.1).sentence[:81]
    '3 nodes stand out: in 20 simulated networks without anomalies, fewer than 1 node '
    """
    if chance is None:
        sentence = (
            "The number of nodes that stand out is unknown because Odd did not simulate networks without anomalies. By "
            "default, Odd simulates networks if your network has at least 300 nodes and the simulation takes less than "
            "a minute. To simulate networks in any case, set simulate=True (command line: --set odd.simulate=true)."
        )
        return Finding("stand out", "fine", None, sentence)
    count = chance.standing_out(score, share)
    simulated = f"{chance.simulations} simulated networks without anomalies"
    alike = "The simulated networks have the same degrees, communities and attribute distributions as your network."
    limits = (
        "A node whose only anomaly is a rare attribute value never stands out, because rare values also occur in the "
        f"simulated networks. If no node stands out, your network can still contain anomalies. {COMPARISONS}"
    )
    if not count:
        sentence = f"No node stands out: {simulated} also have nodes that score as high as the top nodes of your "
        sentence += f"network. {alike} {limits}"
        return Finding("stand out", "fine", 0.0, sentence)
    expected = float(chance.shares(score)[count - 1] * count)
    one = "fewer than 1 node" if expected < 1 else "about 1 node"
    often = f"about {expected:.0f} nodes per network score" if expected >= 1.5 else f"{one} per network scores"
    sentence = (
        f"{count:,} node{' stands' if count == 1 else 's stand'} out: in {simulated}, {often} as high as "
        f"{'this node' if count == 1 else f'these {count:,} nodes'}. {alike} "
        f"Harmless triangles or unusual noise can also make a node stand out. {limits}"
    )
    return Finding("stand out", "fine", float(count), sentence)


def controls(result: pa.Table, top: int) -> Finding:
    """Say how many of the first nodes would have been found by their columns alone, and by their edges alone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.odd.phrases import controls
    >>> columns, edges = [0.01, 0.5, 0.9, 0.4], [0.5, 0.6, 0.7, 0.8]
    >>> judged = {"judged": [True] * 4}
    >>> controls(pa.table({"p_outlier": columns, "p_clique": edges, **judged}), 2).sentence[:59]
    'Of the top 2 nodes, a ranking by columns alone would find 1'
    """
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
        f"Of the top {top:,} nodes, a ranking by columns alone would find {columns:,}, a ranking by edges alone would "
        f"find {edges:,}, and both rankings together would miss {neither:,}."
    )
    if top and top - columns < FEW_ADDED * top:
        sentence += f" The edges add little: columns alone would find most of the top {top:,} nodes."
        return Finding("controls", "warning", neither / top, sentence)
    return Finding("controls", "fine", neither / top if top else 0.0, sentence)
