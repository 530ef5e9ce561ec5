"""Features: what a learner may know of a node beyond its score. All are cheap, and none needs a label.

- the figures of the views,
- the wiring: triangles, the share of pairs of neighbours that are joined, the degrees of the neighbours, and edges to
  other kinds of nodes,
- f of its edges: mean, spread, smallest and largest,
- its own coordinates, the mean of its neighbours', and the difference,
- its flow columns. The flows of neighbours are left out: what they send to a node is what the node receives, and a
  column that was left out on purpose would come back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from oddhop.arrays.kernels import row_sums
from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.graph.graph import Graph
from oddhop.graph.rows import dense
from oddhop.odd.all_views import RAW_CLIQUE
from oddhop.odd.blocks import Blocks, flow_columns, judged_attributes
from oddhop.odd.clique import CLIQUE
from oddhop.odd.views import FittedViews, measure

FIGURES = {CLIQUE.name: "clique score, adjusted for degree", RAW_CLIQUE: "clique score"}
COMPONENTS = 16  # of a wide table: the first ones hold most of it, and a learner of few answers cannot use more


def node_features(fitted: FittedViews, graph: Graph, *, workers: int = 1) -> dict[str, Floats]:
    """Return the features of every judged node by name, by fitted views."""
    measured, seen = measure(fitted, graph, workers=workers)
    out = {FIGURES.get(name, f"{name} score"): figure for name, figure in measured.figures.values.items()}
    if seen.facts is not None:
        out["flow score"] = seen.facts.loud.sum(axis=0)
    own, single = seen.own_graph, judged_attributes(graph)
    for one in seen.edges.joined:
        out[f"edges to {one.kind}"] = one.near.wiring.degrees.all().astype(np.float64)
    triangles = triangle_counts(own.indptr, own.indices)
    pairs = np.maximum(own.degrees * (own.degrees - 1) / 2, 1)
    out |= {"triangles": triangles, "clustering": triangles / pairs}
    out |= _told("log degree of its neighbours", _over_rows(own.indptr, np.log1p(own.degrees)[own.indices]))
    if not fitted.homophily.silent:
        out |= _told("difference from its neighbours", _over_rows(own.indptr, measured.ratios.f.read()))
    adjacency = sp.csr_array(
        (np.ones(own.indices.size, np.float32), own.indices, own.indptr), shape=2 * (own.node_count,)
    )
    for name, values in _named(fitted.blocks, single, seen.edges.own.coordinates.read()):
        # The node's own value where it has no neighbours.
        around = np.where(own.degrees > 0, (adjacency @ values) / np.maximum(own.degrees, 1), values)
        _put(out, name, values)
        _put(out, f"mean {name} of its neighbours", around)
        _put(out, f"{name} minus the mean of its neighbours", values - around)
    if single.flow_count:
        flows = flow_columns(single.attributes, single.flow_count)
        rows = dense(flows[: single.node_count])
        for k, column in zip(flows.columns, rows.T, strict=True):
            _put(out, _name(single, int(k)), column)
    return out


def _put(out: dict[str, Floats], name: str, values: Floats) -> None:
    """Add a feature of a column; one whose name is taken gets a suffix."""
    while name in out:
        name = f"{name} (column)"
    out[name] = values


def _told(what: str, figures: tuple[Floats, ...]) -> dict[str, Floats]:
    names = (f"mean {what}", f"standard deviation of the {what}", f"smallest {what}", f"largest {what}")
    return dict(zip(names, figures, strict=True))


def _named(blocks: Blocks, graph: Graph, coordinates: Floats) -> Iterator[tuple[str, Floats]]:
    """Return the coordinates by name: the column of a narrow table, the number of a component of a wide one."""
    first = 0
    for number, part in enumerate(blocks.parts):
        width = part.coordinates.width
        if part.coordinates.preparation is None:
            names = [_name(graph, int(k)) for k in part.columns]
        else:
            what = "words" if part.coordinates.weights is not None else f"columns {number + 1}"
            names = [f"{what}, component {k + 1}" for k in range(min(width, COMPONENTS))]
        for k, name in enumerate(names):
            yield name, coordinates[:, first + k]
        first += width


def _name(graph: Graph, column: int) -> str:
    return f"column {column + 1}" if graph.attribute_names is None else graph.attribute_names[column]


def _over_rows(indptr: Ints, values: Floats) -> tuple[Floats, ...]:
    """Return mean, spread, least and most of a value over the entries of every row; 0 where there are none."""
    values, degrees = values.astype(np.float64), np.diff(indptr)
    count, some = np.maximum(degrees, 1), np.flatnonzero(degrees)
    mean = row_sums(indptr, values) / count
    spread = np.sqrt(np.maximum(row_sums(indptr, values * values) / count - mean * mean, 0.0))
    least, most = np.zeros((2, degrees.size))
    least[some], most[some] = (pick.reduceat(values, indptr[some]) for pick in (np.minimum, np.maximum))
    return mean, spread, least, most


@compiled
def triangle_counts(indptr: Ints, indices: Ints) -> Floats:
    """Return the number of triangles that every node is part of.

    A triangle is counted from its end of least degree, so that hubs cost little.
    """
    nodes = indptr.size - 1
    counts, seen = np.zeros(nodes), np.full(nodes, -1)
    for u in range(nodes):
        size = indptr[u + 1] - indptr[u]
        for v in indices[indptr[u] : indptr[u + 1]]:
            other = indptr[v + 1] - indptr[v]
            if (other, v) > (size, u):
                seen[v] = u
        for v in indices[indptr[u] : indptr[u + 1]]:
            if seen[v] == u:
                own = indptr[v + 1] - indptr[v]
                for w in indices[indptr[v] : indptr[v + 1]]:
                    if seen[w] == u and (indptr[w + 1] - indptr[w], w) > (own, v):
                        counts[u] += 1
                        counts[v] += 1
                        counts[w] += 1
    return counts
