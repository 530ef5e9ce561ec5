"""The audit: whether a trivial score does as well, and how far a ranking can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from scipy import stats

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.explain.explanation import share
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph, node_numbers

ALIKE = 0.9
FEWEST_TO_COMPARE = 10
KEPT = 0.5
HALF = 0.5
CHAINS = ("a fresh run", "the chains disagree. Train longer or run more chains.")
EDGES = ("another sample of as many edges", "a few edges decide. Read the rank ranges before you act.")
TRIVIAL = {
    "degree": "how many neighbours it has",
    "attribute norm": "how large its attributes are",
    "distance to neighbours": "how far its attributes lie from those of its neighbours",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    check : its name.
    level : "warning" where the reader should think twice, else "fine".
    figure : what was measured.
    sentence : what it means.
    """

    check: str
    level: Literal["fine", "warning"]
    figure: float
    sentence: str


def audit(
    graph: Graph,
    result: pa.Table,
    *,
    prepared: Graph | None = None,
    top: int,
    dropped: int | None = None,
    tied: int | None = None,
    information: float | None = None,
) -> tuple[Finding, ...]:
    """Hold a ranking against trivial ones and ask how sure it is.

    Parameters
    ----------
    graph : the network.
    result : the table of a run on it: ``result_`` of a detector.
    prepared : the network with the attributes as the model sees them; distances are taken there.
    top : the first so many nodes are what the user looks at.
    dropped, tied : edges left out when labels were made, and how many of them by a tie; None where there are none.
    information : what an edge tells about the attributes of its ends: ``information_`` of :class:`oddhop.Odd`; None for
        other detectors.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import HCM, Graph
    >>> from oddhop.explain.audit import audit
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 30, (2, 90)), rng.normal(size=(30, 3)))
    >>> fitted = HCM(burn_in=20, samples=2, thin=2, random_state=0).fit(graph)
    >>> [one.check for one in audit(graph, fitted.result_, top=5)]
    ['degree', 'attribute norm', 'distance to neighbours', 'top', 'judged']
    """
    order = np.argsort(node_numbers(graph, result["id"]))
    score, judged = (result[name].to_numpy(zero_copy_only=False)[order] for name in ("score", "judged"))
    trivial = {
        "degree": graph.degrees.astype(np.float64),
        "attribute norm": norms(graph),
        "distance to neighbours": neighbour_distances(prepared or graph),
    }
    findings = [_compared(name, values, score, judged) for name, values in trivial.items()]
    findings.append(_agreement(result, top, CHAINS if information is None else EDGES))
    if information is not None:
        findings.append(_heard(information))
    if dropped and tied is not None:
        findings.append(_ties(dropped, tied))
    findings.append(_not_judged(judged))
    return tuple(findings)


def norms(graph: Graph) -> Floats:
    """Give the length of every node's attribute vector."""
    x = graph.attributes
    squares = x.multiply(x).sum(axis=1) if is_sparse(x) else np.einsum("ij,ij->i", x, x, dtype=np.float64)
    return np.sqrt(np.asarray(squares, dtype=np.float64).ravel())


def neighbour_distances(graph: Graph) -> Floats:
    """Give the mean Euclidean distance of every node's attributes to those of its neighbours, 0 without any."""
    x = graph.attributes
    out = np.zeros(graph.node_count)
    if is_sparse(x):
        squares = norms(graph) ** 2
        _sparse_distances(graph.indptr, graph.indices, x.indptr, x.indices, x.data, squares, out)
    else:
        _dense_distances(graph.indptr, graph.indices, np.asarray(x), out)
    return out


def _compared(name: str, trivial: Floats, score: Floats, judged: Bools) -> Finding:
    told = TRIVIAL[name]
    ours, theirs = score[judged], trivial[judged]
    if ours.size < FEWEST_TO_COMPARE or np.ptp(theirs) == 0 or np.ptp(ours) == 0:
        return Finding(name, "fine", 0.0, f"The ranking has nothing to do with {told} alone.")
    rho = float(stats.spearmanr(ours, theirs).statistic)
    if abs(rho) <= ALIKE:
        return Finding(name, "fine", rho, f"The ranking is not just {told} (rank correlation {rho:+.2f}).")
    way = "" if rho > 0 else ", backwards"
    sentence = (
        f"The ranking is almost the same as sorting the nodes by {told}{way} (rank correlation {rho:+.2f}). "
        "That needs no model: see whether it is what you are after."
    )
    return Finding(name, "warning", rho, sentence)


def _agreement(result: pa.Table, top: int, words: tuple[str, str]) -> Finding:
    first = result.slice(0, top)
    kept = float(first["top_probability"].to_numpy().mean())
    count = first.num_rows
    who, why = words
    expected = f"Of the first {count:,} nodes {who} would find about {round(kept * count):,} among its own first"
    if kept >= KEPT:
        return Finding("top", "fine", kept, f"{expected}.")
    return Finding("top", "warning", kept, f"{expected}: {why}")


def _heard(information: float) -> Finding:
    if information > 0:
        sentence = f"An edge tells {information:.2g} nats about the columns of its ends, so strangers can be told."
        return Finding("strangers", "fine", information, sentence)
    sentence = (
        "Who is tied to whom says nothing about the columns of this network, so no stranger can be told. "
        "Nodes are judged by their columns and by their ties, each alone: see whether the columns are the right ones."
    )
    return Finding("strangers", "warning", information, sentence)


def _ties(dropped: int, tied: int) -> Finding:
    part = tied / dropped
    told = f"Of the {dropped:,} least similar edges, which were left out when distances were learned, {share(part)}"
    if part <= HALF:
        return Finding("ties", "fine", part, f"{told} were chosen by a tie.")
    return Finding("ties", "warning", part, f"{told} were chosen by a tie: the attributes hardly tell edges apart.")


def _not_judged(judged: Bools) -> Finding:
    without = int((~judged).sum())
    part = without / max(judged.size, 1)
    told = f"Nodes without neighbours, which cannot be judged: {without:,} of {judged.size:,}"
    if part <= HALF:
        return Finding("judged", "fine", part, f"{told}." if without else "All nodes were judged.")
    return Finding("judged", "warning", part, f"{told}. That is most of them: look for missing edges.")


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
