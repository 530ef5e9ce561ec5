"""What the audit says of a ranking by Odd, and how to read its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.explain.audit import Finding
from oddhop.explain.guide import PLAIN, Guide
from oddhop.odd.null import HIGH_RATIO, LOW_RATIO, Chance, head_above_gap, head_beyond_tail

FEW_ADDED = 0.1
GUIDE = Guide(
    repeated="if the edges were sampled again",
    entries=(
        PLAIN.entries[0],
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
            "The p-value “1 in 500” means that about 1 in 500 typical nodes would be as unusual as the "
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


COMPARISONS = "P-values such as “1 in 500” compare a node with the nodes of your network, not with simulated networks."


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
