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
from oddhop.explain.phrases import one_in, spoken
from oddhop.odd.null import Chance

FEW_ADDED = 0.1
GUIDE = Guide(
    repeated="another sample of as many edges",
    picture="The farther out, the fewer edges of the network look as far; the dashed ring is usual.",
    entries=(
        (
            "An odd node is not a guilty one.",
            "The score says that a node is unlike what is usual here. Whether that matters is for a person to say.",
        ),
        (
            "Stranger, outlier, clique, flow, cycle.",
            "Up to five questions are asked of every node. Do its neighbours look like neighbours? Is it like anybody "
            "at all? Are its ties mutual beyond what communities and chance explain? Where the edge table has amounts "
            "or times: are its events those of nodes with such attributes, and does what it sends come back to it? The "
            "kind is the view with the largest part of the score.",
        ),
        (
            "As far as 1 in 100.",
            "oddhop learned from this network how alike the two ends of an edge are. A neighbour that looks as far "
            "as 1 in 100 is less like one than 99 in 100 of all edges join.",
        ),
        (
            "“Of ordinary nodes 1 in …”",
            "A p-value against the bulk of this network, extrapolated from typical nodes. It makes the views "
            "comparable. It is not the chance that a node is harmless.",
        ),
        (
            "Score.",
            "The parts of the views, added. It is no probability. Only the order, and the distance from the "
            "alert line, mean something.",
        ),
    ),
    fixed=", the communities of the network and what is usual in it being kept as they are",
)
NOTABLE = 0.05  # a p-value from here on is nothing to speak of, and so is a share of the edges
WHAT = {
    "stranger": "It does not look like those it is tied to",
    "outlier": "Nobody has attributes like these",
    "clique": "It belongs to a group that is tied together for no visible reason",
    "flow": "Its events are unlike those of nodes with such attributes",
    "cycle": "What it sends comes back to it in cycles of events",
}
SO = {
    "stranger": "be as strange to its neighbours",
    "outlier": "have attributes as rare",
    "clique": "be tied as closely for no reason",
    "flow": "have events as unlike",
    "cycle": "be on as many cycles if the times of all events were permuted",
}
ALSO = {
    "stranger": "It also does not look like those it is tied to ({}).",
    "outlier": "Its attributes are rare, too ({}).",
    "clique": "It also belongs to a group that is tied together for no visible reason ({}).",
    "flow": "Its events are also unlike those of nodes with such attributes ({}).",
    "cycle": "It is also on cycles of events ({}).",
}


def reasons(
    kind: str, views: tuple[View, ...], listed: tuple[Neighbour, ...], degree: int, far: int, members: int, ties: int
) -> tuple[str, ...]:
    """Say what the views say, the loudest first.

    Examples
    --------
    >>> from oddhop.explain.explanation import Neighbour, View
    >>> from oddhop.odd.phrases import reasons
    >>> views = (View("stranger", 0.002, 6.2), View("outlier", 0.5, 0.7), View("clique", 0.8, 0.1))
    >>> listed = (Neighbour("ann", 3.2, 0.0, 4.0, rarity=0.004), Neighbour("bob", 0.8, 0.0, -1.0, rarity=0.7))
    >>> for told in reasons("stranger", views, listed, degree=2, far=1, members=0, ties=0):
    ...     print(told)
    It does not look like those it is tied to: 1 of its 2 neighbours looks farther than 19 in 20 of all edges: ann.
    Of ordinary nodes 1 in 500 would be as strange to its neighbours.
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
    rare = one_in(heard[loudest])
    told = [f"{WHAT[loudest]}{who}.", f"Of ordinary nodes {rare} would {SO[loudest]}."]
    return (*told, *(ALSO[name].format(one_in(p)) for name, p in heard.items() if name != loudest))


@dataclass(frozen=True)
class Shared:
    """What a group shares, who is in it, and whom the node itself is tied to, by name."""

    nodes: Sequence[str]
    members: Sequence[str]
    tied: Sequence[str] = ()

    @property
    def told(self) -> str:
        """The group in words."""
        shares = [f"shares {_some(self.nodes)} with {_some(self.members)}"] if self.nodes and self.members else []
        parts = [*shares, *([f"is tied to {_some(self.tied)}"] if self.tied else [])]
        return f"it {spoken(parts)}" if parts else ""


def reasons_between_kinds(
    kind: str,
    views: tuple[View, ...],
    listed: tuple[Neighbour, ...],
    counts: Sequence[tuple[str, int, int]],
    shared: Shared | None,
) -> tuple[str, ...]:
    """Say what the views say where there are several kinds of nodes, the loudest first.

    ``counts`` has the edges to every kind: its name, how many look far, and how many there are.

    Examples
    --------
    >>> from oddhop.explain.explanation import View
    >>> from oddhop.odd.phrases import Shared, reasons_between_kinds
    >>> views = (View("stranger", 0.4, 0.2), View("outlier", 0.5, 0.7), View("clique", 0.001, 9.1))
    >>> group = Shared(["device d7", "device d8"], ["ann", "bob"])
    >>> reasons_between_kinds("clique", views, (), [("device", 0, 2)], group)[0][-59:]
    'reason: it shares device d7 and device d8 with ann and bob.'
    """
    heard = {one.name: one.p for one in views if one.p < NOTABLE}
    if not heard:
        return ("No view finds it unusual.",)
    loudest = kind if kind in heard else min(heard, key=heard.__getitem__)
    sharing = "" if shared is None else shared.told
    who = {"stranger": _far_edges(listed, counts), "clique": sharing}.get(loudest, "")
    told = [
        f"{WHAT[loudest]}{f': {who}' if who else ''}.",
        f"Of ordinary nodes {one_in(heard[loudest])} would {SO[loudest]}.",
    ]
    told += [ALSO[name].format(one_in(p)) for name, p in heard.items() if name != loudest]
    if sharing and loudest != "clique":
        told.append(f"{sharing[0].upper()}{sharing[1:]}.")
    return tuple(told)


def _far_edges(listed: Sequence[Neighbour], counts: Sequence[tuple[str, int, int]]) -> str:
    parts = [f"{far:,} of its {all_of_them:,} edges to {name}" for name, far, all_of_them in counts if far]
    if not parts:
        return ""
    names = _some([str(one.id) for one in listed if (one.rarity or 1.0) <= NOTABLE], sum(far for _, far, _ in counts))
    return f"{spoken(parts)} look farther than 19 in 20 such edges: {names}"


def _some(names: Sequence[str], count: int | None = None) -> str:
    others = (len(names) if count is None else count) - min(len(names), NAMED_AT_MOST)
    return spoken([*names[:NAMED_AT_MOST], *([f"{others:,} more"] if others else [])])


def _far_ones(listed: Sequence[Neighbour], far: int, degree: int) -> str:
    names = _named([one for one in listed if (one.rarity or 1.0) <= NOTABLE], far)
    half = min((degree + 1) // 2, len(listed))  # the farthest are listed, and not all
    middle = one_in(listed[half - 1].rarity or 1.0)
    if degree == 1:
        looks = "farther than 19 in 20" if far else f"as far as {middle}"
        return f"its only neighbour, {listed[0].id}, looks {looks} of all edges"
    if not far:
        return f"{half:,} of its {degree:,} neighbours look as far as {middle} of all edges, or farther"
    count = f"all of its {degree:,}" if far == degree else f"{far:,} of its {degree:,}"
    return f"{count} neighbours look{'s' * (far == 1)} farther than 19 in 20 of all edges: {names}"


def _group(listed: Sequence[Neighbour], members: int, ties: int) -> str:
    possible = len(listed) * (len(listed) - 1) // 2
    among = "themselves" if len(listed) == members else f"the {len(listed)} listed"
    mutual = f", with {ties:,} of {possible:,} possible ties among {among}" if possible else ""
    return f"{_named(listed, members)}{mutual}"


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
    'Connected nodes have related columns (0.5 nats an edge), so strangers can be detected.'
    """
    if information > 0:
        sentence = (
            f"Connected nodes have related columns ({information:.2g} nats an edge), so strangers can be detected."
        )
        return Finding("strangers", "fine", information, sentence)
    sentence = (
        "Connected nodes have no more related columns than others, so strangers cannot be detected. "
        "Nodes are judged by their columns and by their edges, each alone: see whether the columns are the right ones."
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
    sentence = f"For {truncated:,} events the search for cycles ended early; cycles that begin there may be missed."
    return (Finding("cycles", "warning", float(truncated), sentence),)


def left_out_hubs(hubs: Mapping[str, int]) -> tuple[Finding, ...]:
    """Say how many nodes of other kinds were left out of common neighbours; nothing where none was.

    Examples
    --------
    >>> from oddhop.odd.phrases import left_out_hubs
    >>> left_out_hubs({"merchant": 2})[0].sentence
    'Of kind merchant 2 nodes have too many neighbours to count who shares them: groups over these alone are missed.'
    """
    return tuple(
        Finding(
            "hubs",
            "warning",
            float(count),
            f"Of kind {kind} {count:,} node{'s have' if count > 1 else ' has'} too many neighbours to count who shares "
            f"{'them' if count > 1 else 'it'}: groups over {'these' if count > 1 else 'it'} alone are missed.",
        )
        for kind, count in hubs.items()
    )


NO_CYCLES = Finding(
    "cycles",
    "warning",
    None,
    "Cycles of events were not searched: the events do not fit in memory. Who is odd by a cycle alone is missed.",
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
            "How many nodes stand out is not known: networks with nothing odd in them are simulated where there are "
            "at least 300 nodes and it takes less than a minute. Ask for it with simulate=True, on the command line "
            "--set odd.simulate=true."
        )
        return Finding("stand out", "fine", None, sentence)
    count = chance.standing_out(score, share)
    simulated = f"{chance.simulations} simulated networks with your degrees, communities and attribute distributions"
    limits = "rare values alone never do, and an empty list does not mean that nothing is wrong."
    if not count:
        sentence = f"No node stands out: in {simulated} as many nodes score as high. Simulated, not proof: {limits}"
        return Finding("stand out", "fine", 0.0, sentence)
    expected = float(chance.shares(score)[count - 1] * count)
    often = f"about {expected:.0f}" if expected >= 1 else "fewer than 1"
    sentence = (
        f"{count:,} node{' stands' if count == 1 else 's stand'} out. In {simulated} {often} per network score as "
        f"high. Simulated, not proof: honest triangles or unusual noise can add to the list, {limits}"
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
    >>> controls(pa.table({"p_outlier": columns, "p_clique": edges, **judged}), 2).sentence[:67]
    'Of the first 2 nodes the columns alone put 1 among their first 2, t'
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
        f"Of the first {top:,} nodes the columns alone put {columns:,} among their first {top:,}, the edges alone "
        f"{edges:,}. The other {neither:,} are found by columns and edges together."
    )
    if top and neither < FEW_ADDED * top:
        sentence += " The network adds little here: most would be found without it."
        return Finding("controls", "warning", neither / top, sentence)
    return Finding("controls", "fine", neither / top if top else 0.0, sentence)
