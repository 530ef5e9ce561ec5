"""Inject anomalies whose kind and place are known: groups wired together, and attributes from far away.

Three readings:

``dominant``
    Cliques of random nodes; a random node takes over the attributes of the farthest of some drawn ones. What
    DOMINANT and those after it do, and what gives the counts in the paper's table.
``paper-text``
    The paper's words: the attributes go the other way, from the random node onto the far one. Far nodes are hit
    again and again, so there are fewer anomalies than asked for, and a node may be of both kinds.
``leak-controlled``
    The other two raise the degree of the members of cliques, and the length of the attribute vectors that are
    taken over: both alone tell the anomalies. Here every new edge is swapped for old ones, so that no node's
    degree changes, and attributes come from nodes whose vectors are as long and as full. A group is as near to a
    clique as its degrees allow. Nodes without edges cannot be wired and are never drawn: where more than a fifth
    have none, their degree of 0 would tell all others, and the scheme is refused.

What no scheme hides: an injected row of attributes is the copy of another node's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import scipy.stats

from oddhop.base.arrays import Bools, Floats, Ints, frozen
from oddhop.errors import GraphError, SettingsError
from oddhop.graph.checks import Attributes, is_sparse
from oddhop.graph.graph import Graph

Scheme = Literal["dominant", "paper-text", "leak-controlled"]
MOST_ALONE = 0.2  # of the nodes; the ROC-AUC of the degree is then .6


@dataclass(frozen=True, eq=False)
class Injected:
    """A network with injected anomalies.

    Attributes
    ----------
    graph : the new network, nodes and ids as they were.
    structural, contextual : which nodes were wired into a group, which have another node's attributes.
    takes_from : the node of the old network that every node has its attributes from, mostly itself.
    """

    graph: Graph
    structural: Bools
    contextual: Bools
    takes_from: Ints

    @property
    def anomalous(self) -> Bools:
        """Nodes of either kind."""
        return np.asarray(self.structural | self.contextual)


def inject(
    graph: Graph,
    *,
    random_state: int,
    clique_size: int = 15,
    cliques: int = 10,
    candidates: int = 50,
    scheme: Scheme = "dominant",
) -> Injected:
    """Inject ``cliques`` cliques of ``clique_size`` nodes, and copy foreign attributes to as many other nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph
    >>> from benchmarks.inject import inject
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 200, (2, 800)), rng.normal(size=(200, 4)))
    >>> made = inject(graph, random_state=0, clique_size=5, cliques=2)
    >>> int(made.structural.sum()), int(made.contextual.sum()), made.graph.edge_count > graph.edge_count
    (10, 10, True)
    >>> made = inject(graph, random_state=0, clique_size=5, cliques=2, scheme="leak-controlled")
    >>> bool((made.graph.degrees == graph.degrees).all())
    True
    """
    if scheme not in get_args(Scheme):
        raise SettingsError(f"scheme={scheme!r}: must be one of {get_args(Scheme)}")
    size = clique_size * cliques
    usable = np.flatnonzero(graph.degrees > 0) if scheme == "leak-controlled" else np.arange(graph.node_count)
    if clique_size < 2 or cliques < 1 or candidates < 1 or 2 * size > usable.size:
        raise SettingsError(
            f"{cliques} cliques of {clique_size} nodes, as many nodes with copied attributes and {candidates} "
            f"candidates do not fit into {usable.size} nodes",
            "ask for fewer, of at least 2",
        )
    if graph.node_count - usable.size > MOST_ALONE * graph.node_count:
        raise GraphError(
            f"{graph.node_count - usable.size} of {graph.node_count} nodes have no edge, so the degree would reveal "
            "the injected nodes",
            "remove them, or use the scheme 'dominant'",
        )
    rng = np.random.default_rng(random_state)
    chosen = usable[rng.permutation(usable.size)[: 2 * size]]
    groups, targets = chosen[:size].reshape(cliques, clique_size), chosen[size:]
    edges: Ints = np.stack(graph.ends(0, graph.edge_count)).astype(np.int64)
    if scheme == "leak-controlled":
        edges = _swapped(graph, edges, groups, rng)
        farthest = _farthest_alike(graph.attributes, targets, candidates, rng)
    else:
        u, v = np.triu_indices(clique_size, 1)
        edges = np.concatenate([edges, np.stack([groups[:, u].ravel(), groups[:, v].ravel()])], axis=1)
        farthest = _farthest_drawn(graph.attributes, targets, candidates, rng)
    takes_from = np.arange(graph.node_count)
    changed, given = (farthest, targets) if scheme == "paper-text" else (targets, farthest)
    takes_from[changed] = given
    structural, contextual = np.zeros((2, graph.node_count), dtype=bool)
    structural[groups.ravel()], contextual[changed] = True, True
    made = Graph.from_arrays(edges, graph.attributes[takes_from], graph.node_ids, attribute_names=graph.attribute_names)
    return Injected(made, frozen(structural), frozen(contextual), frozen(takes_from))


def _farthest_drawn(x: Attributes, targets: Ints, candidates: int, rng: np.random.Generator) -> Ints:
    """Return the farthest of some random nodes for every target."""
    squares = _lengths(x) ** 2
    nodes = int(x.shape[0])
    farthest = np.empty(targets.size, dtype=np.int64)
    for k, node in enumerate(targets):
        drawn = rng.choice(nodes, min(candidates, nodes), replace=False)
        farthest[k] = drawn[np.argmax(squares[drawn] - 2 * (x[drawn] @ _row(x, node)))]
    return farthest


def _farthest_alike(x: Attributes, targets: Ints, candidates: int, rng: np.random.Generator) -> Ints:
    """Give, for every target, the farthest of the nodes whose vectors are most like its own in length and fullness."""
    lengths = _lengths(x)
    filled = np.diff(x.indptr) if is_sparse(x) else np.count_nonzero(x, axis=1)
    # By rank, so that both count the same whatever their units.
    place = np.stack([scipy.stats.rankdata(values) for values in (lengths.round(9), filled)], axis=1)
    farthest = np.empty(targets.size, dtype=np.int64)
    for k, node in enumerate(targets):
        nearby = _nearest(np.square(place - place[node]).sum(axis=1), candidates, rng)
        farthest[k] = nearby[np.argmax(lengths[nearby] ** 2 - 2 * (x[nearby] @ _row(x, node)))]
    return farthest


def _nearest(apart: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Return the nearest nodes. Lot decides among equals, or many targets would take from the same few."""
    if count >= apart.size:
        return np.arange(apart.size)
    last = np.partition(apart, count - 1)[count - 1]
    nearer, level = np.flatnonzero(apart < last), np.flatnonzero(apart == last)
    return np.concatenate([nearer, rng.choice(level, count - nearer.size, replace=False)])


def _lengths(x: Attributes) -> Floats:
    squares = x.multiply(x).sum(axis=1) if is_sparse(x) else np.einsum("ij,ij->i", x, x)
    return np.asarray(np.sqrt(np.asarray(squares).ravel()))


def _row(x: Attributes, node: int) -> Floats:
    return np.asarray(x[[node]].toarray() if is_sparse(x) else x[node]).ravel()


def _swapped(graph: Graph, edges: Ints, groups: Ints, rng: np.random.Generator) -> Ints:
    """Wire the groups by swaps: u-a and v-b become u-v and a-b, and no degree changes.

    A member gives up all its edges but one, so that a group stays tied to the rest; who has one only gives that up.
    """
    members = np.zeros(graph.node_count, dtype=bool)
    members[groups.ravel()] = True
    added: set[tuple[int, int]] = set()
    removed: set[tuple[int, int]] = set()

    def joined(a: int, b: int) -> bool:
        pair = (min(a, b), max(a, b))
        row = graph.indices[graph.indptr[a] : graph.indptr[a + 1]]
        place = int(np.searchsorted(row, b))
        return pair in added or (pair not in removed and place < row.size and int(row[place]) == b)

    for group in groups.tolist():
        free, left = {}, {}
        for member in group:
            row = graph.indices[graph.indptr[member] : graph.indptr[member + 1]]
            free[member] = rng.permutation(row[~members[row]]).tolist()
            left[member] = max(row.size - 1, 1)
        pairs = list(combinations(group, 2))
        for k in rng.permutation(len(pairs)):
            u, v = pairs[k]
            if joined(u, v) or not (left[u] and left[v]):
                continue
            ends = next(((a, b) for a in free[u] for b in free[v] if a != b and not joined(a, b)), None)
            if ends is None:
                continue
            a, b = ends
            removed |= {(min(u, a), max(u, a)), (min(v, b), max(v, b))}
            added |= {(min(u, v), max(u, v)), (min(a, b), max(a, b))}
            free[u].remove(a)
            free[v].remove(b)
            left[u] -= 1
            left[v] -= 1
    if not added:
        raise GraphError("no edge could be swapped: the network is too small or too dense", "ask for fewer cliques")
    nodes = graph.node_count
    gone = np.array(sorted(removed - added), dtype=np.int64).reshape(-1, 2)
    new = np.array(sorted(added), dtype=np.int64).reshape(-1, 2)
    kept = ~np.isin(edges[0] * nodes + edges[1], gone[:, 0] * nodes + gone[:, 1])
    return np.concatenate([edges[:, kept], new.T], axis=1)
