"""The audit: whether a trivial score does as well, and how far a ranking can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph

ALIKE = 0.9
FEWEST_TO_COMPARE = 10
KEPT = 0.5
HALF = 0.5
TRIVIAL = {
    "degree": "their number of neighbours",
    "attribute norm": "the length of their attribute vectors",
    "distance to neighbours": "their mean difference from their neighbours",
}


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes
    ----------
    check : its name.
    level : "warning" where the reader should think twice, else "fine".
    figure : what was measured, or None where nothing was.
    sentence : what it means.
    more : what else to know about it, which the report says and the terminal does not.
    always : whether the terminal says it where it is fine, too.
    """

    check: str
    level: Literal["fine", "warning"]
    figure: float | None
    sentence: str
    more: str = ""
    always: bool = False


def audit_ranking(
    graph: Graph, prepared: Graph, score: Floats, judged: Bools, own: Sequence[Finding] = ()
) -> tuple[Finding, ...]:
    """Compare a ranking with trivial ones.

    Parameters
    ----------
    graph : the network.
    prepared : the network with the attributes as the detector sees them; distances are taken there.
    score, judged : of every node, and whether it was judged at all.
    own : what the detector has to say of its ranking.
    """
    trivial: dict[str, Floats] = {"degree": graph.degrees[graph.judged].astype(np.float64)}
    if graph.kinds is None:
        trivial |= {"attribute norm": norms(graph), "distance to neighbours": neighbour_distances(prepared)}
    else:  # neighbours of another kind have other attributes
        trivial |= {"attribute norm": norms(graph.of_kind(graph.kinds.judged))}
    compared = [_compared(name, values, score, judged) for name, values in trivial.items()]
    return (*compared, *own, *follow_time_or_id(graph), _not_judged(judged))


def norms(graph: Graph) -> Floats:
    """Return the length of every node's attribute vector."""
    x = graph.attributes
    squares = x.multiply(x).sum(axis=1) if is_sparse(x) else np.einsum("ij,ij->i", x, x, dtype=np.float64)
    return np.sqrt(np.asarray(squares, dtype=np.float64).ravel())


def neighbour_distances(graph: Graph) -> Floats:
    """Return the mean Euclidean distance of every node's attributes to those of its neighbours, 0 without any."""
    x = graph.attributes
    out = np.zeros(graph.node_count)
    if is_sparse(x):
        squares = norms(graph) ** 2
        _sparse_distances(graph.indptr, graph.indices, x.indptr, x.indices, x.data, squares, out)
    else:
        _dense_distances(graph.indptr, graph.indices, np.asarray(x), out)
    return out


def rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation; scipy.stats has it too, and takes longer to import than this to run."""
    return float(np.corrcoef(_mean_ranks(one), _mean_ranks(other))[0, 1])


def _mean_ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _compared(name: str, trivial: Floats, score: Floats, judged: Bools) -> Finding:
    told = TRIVIAL[name]
    ours, theirs = score[judged], trivial[judged]
    if ours.size < FEWEST_TO_COMPARE or np.ptp(theirs) == 0 or np.ptp(ours) == 0:
        return Finding(name, "fine", 0.0, f"The ranking does not simply sort the nodes by {told}.")
    rho = rank_correlation(ours, theirs)
    if abs(rho) <= ALIKE:
        sentence = f"The ranking does not simply sort the nodes by {told} (rank correlation {rho:+.2f})."
        return Finding(name, "fine", rho, sentence)
    way = "" if rho > 0 else ", reversed"
    sentence = (
        f"The ranking is almost the same as a sort of the nodes by {told}{way} (rank correlation {rho:+.2f}). "
        "Such a sort needs no model. Check whether the ranking shows the anomalies that you look for."
    )
    return Finding(name, "warning", rho, sentence)


def agreement(result: pa.Table, top: int, when: str, otherwise: str) -> Finding:
    """Say how many of the first ``top`` nodes would be first again ``when``; add ``otherwise`` where they are few."""
    first = result.slice(0, top)
    kept = float(first["top_probability"].to_numpy().mean())
    count = first.num_rows
    again = f"{when[0].upper()}{when[1:]}"
    expected = f"{again}, about {round(kept * count):,} of the top {count:,} nodes would remain in the top {count:,}"
    if kept >= KEPT:
        return Finding("top", "fine", kept, f"{expected}.")
    return Finding("top", "warning", kept, f"{expected}. {otherwise}")


def follow_time_or_id(graph: Graph) -> tuple[Finding, ...]:
    """Say which flow columns almost follow the time of the first event of a node, or the order of the ids.

    In sampled data such a column can give labels away, and it means nothing next month.
    """
    if graph.events is None or graph.attribute_names is None or not graph.flow_count:
        return ()
    judged = graph.judged
    orders: dict[str, Floats] = {"the order of the ids": np.arange(judged.stop - judged.start, dtype=np.float64)}
    if graph.events.columns.time is not None:
        orders["the time of the first event"] = graph.events.first_times()[judged]
    found = []
    flows = range(graph.attribute_count - graph.flow_count, graph.attribute_count)
    for k in (k for k in flows if graph.kinds is None or graph.kinds.columns[k] == graph.kinds.judged):
        column = graph.attributes[judged][:, [k]]
        values = np.asarray(column.toarray() if is_sparse(column) else column).ravel()
        for what, order in orders.items():
            known = ~np.isnan(order)
            if known.sum() < FEWEST_TO_COMPARE or np.ptp(values[known]) == 0 or np.ptp(order[known]) == 0:
                continue
            rho = rank_correlation(values[known], order[known])
            if abs(rho) > ALIKE:
                name = graph.attribute_names[k]
                sentence = (
                    f"The column {name!r} almost follows {what} (rank correlation {rho:+.2f}). In sampled data, a "
                    f"column that follows {what} can reveal the labels. Consider ignoring the column {name!r}."
                )
                found.append(Finding("time and id", "warning", rho, sentence))
    return tuple(found)


def _not_judged(judged: Bools) -> Finding:
    without = int((~judged).sum())
    part = without / max(judged.size, 1)
    told = f"{without:,} of {judged.size:,} nodes have no neighbours and were not scored"
    if part <= HALF:
        return Finding("judged", "fine", part, f"{told}." if without else "All nodes were scored.")
    return Finding("judged", "warning", part, f"{told}. Check whether edges are missing.")


@compiled
def _dense_distances(indptr: Ints, indices: Ints, x: Floats, out: Floats) -> None:
    for i in range(out.size):
        for p in range(indptr[i], indptr[i + 1]):
            total = 0.0
            for c in range(x.shape[1]):
                total += (x[i, c] - x[indices[p], c]) ** 2
            out[i] += np.sqrt(total)
        out[i] /= max(indptr[i + 1] - indptr[i], 1)


@compiled
def _sparse_distances(
    indptr: Ints, indices: Ints, starts: Ints, columns: Ints, data: Floats, squares: Floats, out: Floats
) -> None:
    for i in range(out.size):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            dot = 0.0
            a, b = starts[i], starts[j]
            while a < starts[i + 1] and b < starts[j + 1]:
                if columns[a] == columns[b]:
                    dot += data[a] * data[b]
                    a += 1
                    b += 1
                elif columns[a] < columns[b]:
                    a += 1
                else:
                    b += 1
            out[i] += np.sqrt(max(squares[i] + squares[j] - 2 * dot, 0.0))
        out[i] /= max(indptr[i + 1] - indptr[i], 1)
