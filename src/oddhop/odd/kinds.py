"""Several kinds of nodes: the edges of the judged ones by the kind at their other end, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.errors import GraphError
from oddhop.graph.graph import Graph
from oddhop.graph.kinds import NodeKinds
from oddhop.odd.blocks import Blocks, learn_blocks
from oddhop.odd.butterfly import LARGEST_SHARED, common_neighbours, hubs_of, write_largest_shared
from oddhop.odd.communities import RESIDUALS
from oddhop.odd.homophily import COORDINATES
from oddhop.odd.pairs import Pairs
from oddhop.odd.rate import Rate, learn_rate
from oddhop.odd.relation import Relation, learn_relation, mean_ratios, told_by
from oddhop.odd.row_blocks import degrees_of, gathered
from oddhop.odd.triangles import LARGEST, LARGEST_TIES, STAGE
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

CLIQUE_SCORES = "clique_scores"


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
class Edges:
    """The edges of the judged nodes: among themselves, and to every other kind, with what communities leave of each."""

    own: Store
    joined: tuple[Pairs, ...] = ()

    @property
    def degrees(self) -> Ints:
        """How many edges every judged node has."""
        sides = self.own, *(pairs.near for pairs in self.joined)
        return np.asarray(np.sum([degrees_of(side) for side in sides], axis=0))

    @property
    def shares(self) -> Floats:
        """The share of the edges that go to each of the other kinds."""
        counts = np.array([pairs.count for pairs in self.joined], dtype=np.float64)
        within = sum(int(self.own.rows(number).indptr[-1]) for number in self.own.ranges) // 2
        return np.asarray(counts / max(counts.sum() + within, 1.0))


def other_kinds(kinds: NodeKinds | None) -> dict[str, int]:
    """Return the kinds that are not judged, name and number."""
    return {} if kinds is None else {name: k for k, name in enumerate(kinds.names) if k != kinds.judged}


def learn_other_blocks(graph: Graph) -> dict[str, Blocks]:
    """Learn how the attributes of the other kinds become coordinates."""
    own = {name: graph.of_kind(k) for name, k in other_kinds(graph.kinds).items()}
    return {name: learn_blocks(one.attributes, one.flow_count) for name, one in own.items()}


def other_coordinates(graph: Graph, blocks: Mapping[str, Blocks]) -> dict[str, Floats]:
    """Return the coordinates of the other kinds by what was learned; kinds that are not known are refused."""
    others = other_kinds(graph.kinds)
    if others.keys() != blocks.keys():
        raise GraphError(
            f"the model was fitted on nodes connected to {sorted(blocks) or 'no other kind'}, got {sorted(others)}",
            "give the same kinds of nodes, and judge the same kind",
        )
    own = {name: graph.of_kind(k) for name, k in sorted(others.items(), key=lambda other: other[1])}
    return {name: blocks[name].coordinates(one.attributes, 0, one.node_count) for name, one in own.items()}


def split_edges(store: Store, kinds: NodeKinds, known: Mapping[str, Store], runner: TaskRunner) -> Edges:
    """Split the edges of the judged nodes by the kind at their other end.

    ``store`` has what communities leave of every entry, and ``known`` the coordinates of every kind.
    """
    judged, name = kinds.nodes(kinds.judged), kinds.names[kinds.judged]
    own = store.part("own", judged, judged, (RESIDUALS,), (known[name], COORDINATES), runner.quiet)
    joined = []
    for other, number in other_kinds(kinds).items():
        nodes = kinds.nodes(number)
        near = store.part(f"near{number}", judged, nodes, (RESIDUALS,), (known[name], COORDINATES), runner.quiet)
        far = store.part(f"far{number}", nodes, judged, (RESIDUALS,), (known[other], COORDINATES), runner.quiet)
        joined.append(Pairs.of(other, near, far))
    return Edges(own, tuple(joined))


def learn_others(
    edges: Edges, blocks: Mapping[str, Blocks], runner: TaskRunner
) -> tuple[list[OtherKind], list[Floats]]:
    """Learn what the edges to every other kind say; return it, and what they say of every judged node, in nats."""
    learned, nats = [], []
    for pairs, share in zip(edges.joined, edges.shares.tolist(), strict=True):
        relation, told = learn_relation(pairs, runner)
        rate = None
        if not relation.silent:
            largest = -float(np.log(relation.unrelated))
            rate = learn_rate(told.near, runner, relation.near, largest=largest)
        chance, count = common_neighbours(pairs, runner).chance, float(pairs.far.nodes)
        learned.append(OtherKind(pairs.kind, blocks[pairs.kind], share, relation, rate, chance, count))
        nats.append(_nats(rate, told))
    return learned, nats


def nats_by(edges: Edges, others: Sequence[OtherKind], runner: TaskRunner) -> list[Floats]:
    """Return what the edges to every other kind say of every judged node by what was learned before, in nats."""
    known = {other.kind: other for other in others}
    return [_nats(known[pairs.kind].rate, told_by(pairs, known[pairs.kind].relation, runner)) for pairs in edges.joined]


def _nats(rate: Rate | None, told: Pairs) -> Floats:
    return np.zeros(told.near.nodes) if rate is None else rate.nats(*mean_ratios(told))


def joint_clique_scores(edges: Edges, runner: TaskRunner, others: Sequence[OtherKind] = ()) -> Floats:
    """Return the raw clique score of every judged node: of its surprises over all kinds the twelve largest.

    The largest within the kind are those that were written. ``others`` is what a model learned. Looks explain edges
    within the kind. Between kinds they explain nothing: that an account suits a device is no reason for others to share
    it.
    """
    for pairs in edges.joined:
        write_largest_shared(common_neighbours(pairs, runner, chance_of(pairs, others)), runner)
    runner.quiet.each(STAGE, partial(_write_clique_scores, edges), edges.own.ranges)
    return gathered(edges.own, CLIQUE_SCORES)


def _write_clique_scores(edges: Edges, number: int) -> None:
    found = [edges.own.read(LARGEST_TIES, number), *(one.near.read(LARGEST_SHARED, number) for one in edges.joined)]
    scores = np.sort(np.hstack(found), axis=1)[:, -LARGEST:].sum(axis=1) / LARGEST
    edges.own.write(CLIQUE_SCORES, number, scores)


def chance_of(pairs: Pairs, others: Sequence[OtherKind]) -> float | None:
    """Return the chance that a model learned for a kind, for as many nodes as there are now; None without a model."""
    for one in others:
        if one.kind == pairs.kind:
            return float(one.chance * (one.count / pairs.far.nodes))
    return None


def hub_counts(edges: Edges) -> dict[str, int]:
    """Count the nodes of every other kind that are left out of common neighbours, for they have too many."""
    counts = {one.kind: int(hubs_of(degrees_of(one.far), one.near.nodes).sum()) for one in edges.joined}
    return {kind: count for kind, count in counts.items() if count}
