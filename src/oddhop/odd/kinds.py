"""Several kinds of nodes: the edges of the judged ones by the kind at their other end, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Floats, frozen
from oddhop.errors import GraphError
from oddhop.graph.graph import Graph
from oddhop.odd.blocks import Blocks, learn_blocks
from oddhop.odd.butterfly import Common, common_neighbours, hubs_of, largest_surprises
from oddhop.odd.rate import Rate, learn_rate
from oddhop.odd.relation import Pairs, Relation, Told, learn_relation, told_by
from oddhop.odd.triangles import LARGEST


@dataclass(frozen=True, eq=False)
class OtherKind:
    """What was learned of the edges between judged nodes and another kind.

    Attributes
    ----------
    kind : its name.
    blocks : how its attributes become coordinates.
    share : of the edges of the judged nodes.
    relation : how attributes go together; the stranger is found by it.
    rate : how the mean f varies; None where the relation is silent.
    chance, count : what common neighbours are compared with, see :class:`oddhop.odd.butterfly.Common`, and how many
        nodes of the kind there were.
    """

    kind: str
    blocks: Blocks
    share: float
    relation: Relation
    rate: Rate | None
    chance: float
    count: float


@dataclass(frozen=True, eq=False)
class Joined:
    """The edges between judged nodes and another kind, and what communities leave of each."""

    pairs: Pairs
    residuals: Floats

    def common(self, chance: float | None = None) -> Common:
        """Give the edges as common neighbours are counted over them."""
        matrix = self.pairs.matrix
        left = sp.csr_array((self.residuals, matrix.indices, matrix.indptr), shape=matrix.shape)
        return common_neighbours(left, chance)


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of the judged nodes: among themselves as a network, and to every other kind.

    ``residuals`` is what communities leave of those among themselves, in the order of the rows.
    """

    own: Graph
    residuals: Floats
    joined: tuple[Joined, ...] = ()

    @property
    def shares(self) -> Floats:
        """The share of the edges that go to each of the other kinds."""
        counts = np.array([one.pairs.count for one in self.joined], dtype=np.float64)
        return np.asarray(counts / max(counts.sum() + self.own.edge_count, 1.0))


def other_kinds(graph: Graph) -> dict[str, int]:
    """Give the kinds that are not judged, name and number."""
    kinds = graph.kinds
    return {} if kinds is None else {name: k for k, name in enumerate(kinds.names) if k != kinds.judged}


def learn_other_blocks(graph: Graph) -> dict[str, Blocks]:
    """Learn how the attributes of the other kinds become coordinates."""
    own = {name: graph.of_kind(k) for name, k in other_kinds(graph).items()}
    return {name: learn_blocks(one.attributes, one.flow_count) for name, one in own.items()}


def other_coordinates(graph: Graph, blocks: Mapping[str, Blocks]) -> dict[str, Floats]:
    """Give the coordinates of the other kinds by what was learned; kinds that are not known are refused."""
    others = other_kinds(graph)
    if others.keys() != blocks.keys():
        raise GraphError(
            f"the model was fitted on nodes joined to {sorted(blocks) or 'no other kind'}, got {sorted(others)}",
            "give the same kinds of nodes, and judge the same one",
        )
    own = {name: graph.of_kind(k) for name, k in sorted(others.items(), key=lambda other: other[1])}
    return {name: blocks[name].coordinates(one.attributes, 0, one.node_count) for name, one in own.items()}


def split_edges(graph: Graph, residuals: Floats, near: Floats, far: Mapping[str, Floats]) -> Edges:
    """Split the edges of the judged nodes by the kind at their other end; ``near`` and ``far`` are coordinates."""
    kinds = graph.kinds
    if kinds is None:
        return Edges(graph, residuals)
    judged = kinds.nodes(kinds.judged)
    every = sp.csr_array((residuals, graph.indices, graph.indptr), shape=2 * (graph.node_count,))[judged]
    among = every[:, judged]
    own = Graph(
        frozen(among.indptr.astype(np.int64)),
        frozen(among.indices.astype(graph.indices.dtype)),
        np.empty((among.shape[0], 0)),
    )
    joined = []
    for name, coordinates in far.items():
        part = every[:, kinds.nodes(kinds.names.index(name))]
        ones = sp.csr_array((np.ones(part.nnz), part.indices, part.indptr), shape=part.shape)
        joined.append(Joined(Pairs(name, ones, near, coordinates), part.data))
    return Edges(own, among.data, tuple(joined))


def learn_others(edges: Edges, blocks: Mapping[str, Blocks], workers: int) -> tuple[list[OtherKind], list[Floats]]:
    """Learn what the edges to every other kind say; return it, and what they say of every judged node, in nats."""
    learned, nats = [], []
    for one, share in zip(edges.joined, edges.shares.tolist(), strict=True):
        relation, told = learn_relation(one.pairs, workers=workers)
        rate = None
        if not relation.silent:
            rate = learn_rate(told.f, relation.near, largest=-float(np.log(relation.unrelated)))
        chance, count = one.common().chance, float(one.pairs.matrix.shape[1])
        learned.append(OtherKind(one.pairs.kind, blocks[one.pairs.kind], share, relation, rate, chance, count))
        nats.append(_nats(rate, told))
    return learned, nats


def nats_by(edges: Edges, others: Sequence[OtherKind], workers: int) -> list[Floats]:
    """Give what the edges to every other kind say of every judged node by what was learned before, in nats."""
    known = {other.kind: other for other in others}
    return [
        _nats(known[one.pairs.kind].rate, told_by(one.pairs, known[one.pairs.kind].relation, workers=workers))
        for one in edges.joined
    ]


def _nats(rate: Rate | None, told: Told) -> Floats:
    degrees = told.pairs.degrees[0]
    return np.zeros(degrees.size) if rate is None else rate.nats(told.means(), degrees)


def joint_knots(edges: Edges, within: Floats, others: Sequence[OtherKind] = (), *, workers: int = 1) -> Floats:
    """Give the knot of every judged node: of its surprises within its kind and over other kinds the twelve largest.

    ``within`` are the largest within the kind, and ``others`` what a model learned. Looks explain edges within the
    kind. Between kinds they explain nothing: that an account suits a device is no reason for others to share it.
    """
    found = [within]
    for one in edges.joined:
        common = one.common(chance_of(one, others))
        found.append(largest_surprises(common, workers=workers))
    return np.asarray(np.sort(np.hstack(found), axis=1)[:, -LARGEST:].sum(axis=1) / LARGEST)


def chance_of(joined: Joined, others: Sequence[OtherKind]) -> float | None:
    """Give the chance that a model learned for a kind, for as many nodes as there are now; None without a model."""
    for one in others:
        if one.kind == joined.pairs.kind:
            return float(one.chance * (one.count / joined.pairs.matrix.shape[1]))
    return None


def hub_counts(edges: Edges) -> dict[str, int]:
    """Count the nodes of every other kind that are left out of common neighbours, for they have too many."""
    counts = {one.pairs.kind: hubs_of(one.pairs.degrees[1], edges.own.node_count) for one in edges.joined}
    return {kind: int(hubs.sum()) for kind, hubs in counts.items() if hubs.any()}
