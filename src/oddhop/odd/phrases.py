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
    repeated="a new sample with the same number of edges",
    picture="Neighbours that are drawn farther out differ more from the node. The dashed ring marks the typical "
    "difference between connected nodes.",
    entries=(
        (
            "A high score is not proof.",
            "The score says that a node is unusual in this network. A person must decide whether the node matters.",
        ),
        (
            "Stranger, outlier, clique, flow, cycle.",
            "The detector Odd checks every node in up to five ways, called views. Stranger: is the node unlike its "
            "neighbours? Outlier: are the attributes of the node unusual in this network? Clique: does the node belong "
            "to a group with more mutual edges than communities and chance explain? Flow: do the events of the node "
            "differ from those of nodes with similar attributes? Cycle: does money or whatever the node sends return "
            "to it? The views flow and cycle need amounts or times in the edge table. The kind of a node is the view "
            "that adds most to its score.",
        ),
        (
            "Edges this different.",
            "The detector learns from this network how similar two connected nodes usually are. “1 in 100” means that "
            "1 in 100 edges of this network joins two nodes that differ at least as much.",
        ),
        (
            "“1 in 500 typical nodes.”",
            "About 1 in 500 typical nodes of this network would be at least this unusual. The figure is a p-value. "
            "Very small p-values are extrapolated from the distribution of the other nodes. A p-value is not the "
            "probability that the node is harmless.",
        ),
        (
            "Score.",
            "The score of a node is the sum of what the views add. A score is not a probability. Use scores to order "
            "nodes and to compare them with the alert threshold.",
        ),
    ),
)
NOTABLE = (
    0.05  # larger p-values are not reported, and neighbours with a larger share of edges do not count as different
)
WHAT = {
    "stranger": "It is unlike its neighbours",
    "outlier": "Its attributes are unusual in this network",
    "clique": "It belongs to a group that is more closely connected than communities and chance explain",
    "flow": "Its events differ from those of nodes with similar attributes",
    "cycle": "What it sends returns to it in cycles of events",
}
SO = {
    "stranger": "be this different from their neighbours",
    "outlier": "have attributes this unusual",
    "clique": "be in a group this closely connected",
    "flow": "have events this different",
    "cycle": "be on as many cycles if the times of all events were permuted",
}
ALSO = {
    "stranger": "It is also unlike its neighbours ({} typical nodes).",
    "outlier": "Its attributes are also unusual ({} typical nodes).",
    "clique": "It also belongs to a closely connected group ({} typical nodes).",
    "flow": "Its events also differ from those of nodes with similar attributes ({} typical nodes).",
    "cycle": "It is also on cycles of events ({} typical nodes).",
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
    It is unlike its neighbours: 1 of its 2 neighbours (ann) differs from it mor
    1 in 500 typical nodes would be this different from their neighbours.
    """
    heard = {one.name: one.p for one in views if one.p < NOTABLE}
    if not heard:
        return ("No view finds it unusual.",)
    loudest = kind if kind in heard else min(heard, key=heard.__getitem__)
    who = ""
    if loudest == "stranger":
        who = f": {_far_ones(listed, far, degree)}"
    elif loudest == "clique" and members:
        who = f": {_group([one for one in listed if one.member], members, ties)}"
    told = [f"{WHAT[loudest]}{who}.", _how_rare(loudest, heard[loudest])]
    return (*told, *(ALSO[name].format(one_in(p)) for name, p in heard.items() if name != loudest))


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
        return f"it {spoken(parts)}" if parts else ""


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
    >>> reasons_between_kinds("clique", views, (), [("device", 0, 2)], group)[0][-60:]
    'explain: it shares device d7 and device d8 with ann and bob.'
    """
    heard = {one.name: one.p for one in views if one.p < NOTABLE}
    if not heard:
        return ("No view finds it unusual.",)
    loudest = kind if kind in heard else min(heard, key=heard.__getitem__)
    sharing = "" if shared is None else shared.told
    who = {"stranger": _far_edges(listed, counts), "clique": sharing}.get(loudest, "")
    told = [
        f"{WHAT[loudest]}{f': {who}' if who else ''}.",
        _how_rare(loudest, heard[loudest]),
    ]
    told += [ALSO[name].format(one_in(p)) for name, p in heard.items() if name != loudest]
    if sharing and loudest != "clique":
        told.append(f"{sharing[0].upper()}{sharing[1:]}.")
    return tuple(told)


def _how_rare(view: str, p: float) -> str:
    rare = one_in(p)
    return f"{rare[0].upper()}{rare[1:]} typical nodes would {SO[view]}."


def _far_edges(listed: Sequence[Neighbour], counts: Sequence[tuple[str, int, int]]) -> str:
    parts = [f"{far:,} of its {all_of_them:,} edges to {name}" for name, far, all_of_them in counts if far]
    if not parts:
        return ""
    far = sum(count for _, count, _ in counts)
    names = _some([str(one.id) for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    join = "joins" if far == 1 else "join"
    return f"{spoken(parts)} ({names}) {join} more different nodes than 95 % of such edges do"


def _some(names: Sequence[str], count: int | None = None) -> str:
    others = (len(names) if count is None else count) - min(len(names), NAMED_AT_MOST)
    return spoken([*names[:NAMED_AT_MOST], *([f"{others:,} more"] if others else [])])


def _far_ones(listed: Sequence[Neighbour], far: int, degree: int) -> str:
    names = _named([one for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    half = min((degree + 1) // 2, len(listed))  # the farthest are listed, and not all
    part = share(1 - (NOTABLE if far else listed[half - 1].rarity or 1.0))
    more = f"from it more than {part} of connected pairs differ from each other"
    if degree == 1:
        return f"its only neighbour, {listed[0].id}, differs {more}"
    if not far:
        return f"{half:,} of its {degree:,} neighbours differ {more}"
    count = f"all of its {degree:,}" if far == degree else f"{far:,} of its {degree:,}"
    return f"{count} neighbours ({names}) {'differs' if far == 1 else 'differ'} {more}"


def _group(listed: Sequence[Neighbour], members: int, ties: int) -> str:
    count = len(listed)
    if count < 2:
        return _named(listed, members)
    edges, possible = ties + count, count * (count + 1) // 2  # with those of the node itself
    among = "it and them" if count == members else f"it and {count} of them"
    found = f"All {possible:,}" if edges == possible else f"{edges:,} of the {possible:,}"
    return f"{_named(listed, members)}. {found} possible edges among {among} exist"


def _named(listed: Sequence[Neighbour], count: int) -> str:
    names = [str(one.id) for one in listed[:NAMED_AT_MOST]]
    others = count - len(names)
    return spoken([*names, f"{others:,} more"] if others and names else names or [f"{others:,}, not listed"])


def related(information: float) -> Finding:
    """Say whether the columns of connected nodes are related, so that strangers can be detected.

    Examples
    --------
    >>> from oddhop.odd.phrases import related
    >>> related(0.5).sentence
    'Connected nodes have related columns (mutual information 0.5 per edge), so strangers can be detected.'
    """
    if information > 0:
        told = f"mutual information {information:.2g} per edge"
        sentence = f"Connected nodes have related columns ({told}), so strangers can be detected."
        return Finding("strangers", "fine", information, sentence)
    sentence = (
        "Connected nodes do not have related columns, so strangers cannot be detected. Nodes are scored by their "
        "columns alone and by their edges alone. Check that the columns are the right ones."
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
    sentence = f"The search for cycles ended early for {truncated:,} events. Cycles that start there may be missed."
    return (Finding("cycles", "warning", float(truncated), sentence),)


def left_out_hubs(hubs: Mapping[str, int]) -> tuple[Finding, ...]:
    """Say how many nodes of other kinds were not counted as common neighbours; nothing if all were.

    Examples
    --------
    >>> from oddhop.odd.phrases import left_out_hubs
    >>> left_out_hubs({"merchant": 2})[0].sentence[:75]
    '2 nodes of kind merchant have too many neighbours to count who shares them.'
    """
    return tuple(
        Finding(
            "hubs",
            "warning",
            float(count),
            f"{count:,} node{'s' if count > 1 else ''} of kind {kind} {'have' if count > 1 else 'has'} too many "
            f"neighbours to count who shares {'them' if count > 1 else 'it'}. "
            "Groups that share nothing else are missed.",
        )
        for kind, count in hubs.items()
    )


NO_CYCLES = Finding(
    "cycles",
    "warning",
    None,
    "Cycles were not searched because the events do not fit in memory. Nodes that only a cycle reveals are missed.",
)


COMPARISONS = (
    "“1 in 500 typical nodes” is another comparison: an extrapolated p-value that compares one node with the other "
    "nodes of this network."
)


def standing_out(chance: Chance | None, score: Floats, share: float) -> Finding:
    """Say how many nodes stand out, and how many of a simulated network score as high.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.odd.null import Chance
    >>> from oddhop.odd.phrases import standing_out
    >>> standing_out(Chance(np.arange(5.0), 20), np.array([9.0, 8.0, 3.5]), 0.1).sentence[:80]
    '3 nodes stand out. In 20 simulated networks with your degrees, communities and a'
    """
    if chance is None:
        sentence = (
            "The number of nodes that stand out is unknown, because no networks without anomalies were simulated. By "
            "default they are simulated if there are at least 300 nodes and it takes less than a minute. To simulate "
            "them in any case, set simulate=True (command line: --set odd.simulate=true)."
        )
        return Finding("stand out", "fine", None, sentence)
    count = chance.standing_out(score, share)
    simulated = f"{chance.simulations} simulated networks with your degrees, communities and attribute distributions"
    limits = (
        "A node whose only anomaly is a rare value is never counted. If no node stands out, the network can still "
        f"contain anomalies. {COMPARISONS}"
    )
    if not count:
        sentence = f"No node stands out: as many nodes score as high in {simulated}. This is no proof. {limits}"
        return Finding("stand out", "fine", 0.0, sentence)
    expected = float(chance.shares(score)[count - 1] * count)
    often = f"about {expected:.0f}" if expected >= 1 else "fewer than 1"
    sentence = (
        f"{count:,} node{' stands' if count == 1 else 's stand'} out. In {simulated}, {often} per network score as "
        f"high. This is no proof: harmless triangles or unusual noise can make a node stand out. {limits}"
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
    >>> controls(pa.table({"p_outlier": columns, "p_clique": edges, **judged}), 2).sentence[:68]
    'Of the first 2 nodes, 1 are also among the first 2 by columns alone,'
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
        f"Of the first {top:,} nodes, {columns:,} are also among the first {top:,} by columns alone, and {edges:,} by "
        f"edges alone. {neither:,} of them are among the first only by columns and edges together."
    )
    if top and top - columns < FEW_ADDED * top:
        sentence += " The network adds little: most of these nodes would be found by their columns alone."
        return Finding("controls", "warning", neither / top, sentence)
    return Finding("controls", "fine", neither / top if top else 0.0, sentence)
