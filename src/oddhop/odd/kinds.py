"""Several kinds of nodes: the edges of the judged ones by the kind at their other end, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.graph.kinds import NodeKinds
from oddhop.odd.blocks import Blocks
from oddhop.odd.butterfly import common_neighbours, hubs_of, largest_shared
from oddhop.odd.pairs import Pairs, Side
from oddhop.odd.rate import Rate, learn_rate
from oddhop.odd.relation import InformedPairs, Relation, informed_by, learn_relation
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

    def chance_for(self, nodes: int) -> float:
        """Return the chance for so many nodes of the kind."""
        return float(self.chance * (self.count / nodes))


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of the judged nodes: among themselves, and to every other kind, with what communities leave of each."""

    own: Side
    joined: tuple[Pairs, ...] = ()

    @property
    def degrees(self) -> Ints:
        """How many edges every judged node has."""
        sides = self.own, *(pairs.near for pairs in self.joined)
        return np.asarray(np.sum([side.wiring.degrees.all() for side in sides], axis=0))

    @property
    def shares(self) -> Floats:
        """The share of the edges that go to each of the other kinds."""
        counts = np.array([pairs.count for pairs in self.joined], dtype=np.float64)
        within = self.own.wiring.entry_count // 2
        return np.asarray(counts / max(counts.sum() + within, 1.0))


def other_kinds(kinds: NodeKinds | None) -> dict[str, int]:
    """Return the kinds that are not judged, name and number."""
    return {} if kinds is None else {name: k for k, name in enumerate(kinds.names) if k != kinds.judged}


def split_edges(wiring: Wiring, residuals: Handle, kinds: NodeKinds | None, coordinates: Mapping[str, Handle]) -> Edges:
    """Split the edges of the judged nodes by the kind at their other end; ``coordinates`` are those of every kind."""
    if kinds is None:
        return Edges(Side(wiring, coordinates[""], residuals))

    def side(one: int, other: int) -> Side:
        part, (left,) = wiring.between(kinds.nodes(one), kinds.nodes(other), residuals)
        return Side(part, coordinates[kinds.names[one]], left)

    joined = [
        Pairs(other, side(kinds.judged, number), side(number, kinds.judged))
        for other, number in other_kinds(kinds).items()
    ]
    return Edges(side(kinds.judged, kinds.judged), tuple(joined))


def learn_others(edges: Edges, blocks: Mapping[str, Blocks]) -> tuple[list[OtherKind], list[Floats]]:
    """Learn what the edges to every other kind say; return it, and what they say of every judged node, in nats."""
    learned, nats = [], []
    for pairs, share in zip(edges.joined, edges.shares.tolist(), strict=True):
        relation, informed = learn_relation(pairs)
        rate = None
        if not relation.silent:
            largest = -float(np.log(relation.unrelated))
            rate = learn_rate(informed.ends.near.wiring, informed.f, relation.near, largest=largest)
        chance, count = common_neighbours(pairs).chance, float(pairs.far.wiring.nodes)
        learned.append(OtherKind(pairs.kind, blocks[pairs.kind], share, relation, rate, chance, count))
        nats.append(_nats(rate, informed))
    return learned, nats


def nats_by(edges: Edges, others: Sequence[OtherKind]) -> tuple[list[InformedPairs], list[Floats]]:
    """Return f of the edges to every other kind by what was learned before, and what it says of judged nodes."""
    known = {other.kind: other for other in others}
    informed = [informed_by(pairs, known[pairs.kind].relation) for pairs in edges.joined]
    return informed, [_nats(known[one.kind].rate, one) for one in informed]


def _nats(rate: Rate | None, informed: InformedPairs) -> Floats:
    return np.zeros(informed.ends.near.wiring.nodes) if rate is None else rate.nats(*informed.means())


def joint_clique_scores(edges: Edges, largest: Handle, others: Sequence[OtherKind] = ()) -> Floats:
    """Return the raw clique score of every judged node: of its surprises over all kinds the twelve largest.

    ``largest`` has those within the kind, and ``others`` is what a model learned. Looks explain edges within the kind.
    Between kinds they explain nothing: that an account suits a device is no reason for others to share it.
    """
    chances = {one.kind: one for one in others}
    shared = []
    for pairs in edges.joined:
        known = chances.get(pairs.kind)
        chance = None if known is None else known.chance_for(pairs.far.wiring.nodes)
        shared.append(largest_shared(common_neighbours(pairs, chance)))
    scores: Floats = edges.own.wiring.rows(_mean_of_largest, largest, *shared).all()
    return scores


def _mean_of_largest(*largest: Floats) -> Floats:
    every = largest[0] if len(largest) == 1 else np.sort(np.hstack(largest), axis=1)[:, -LARGEST:]
    return np.asarray(every.sum(axis=1) / LARGEST)


def hub_counts(edges: Edges) -> dict[str, int]:
    """Count the nodes of every other kind that are left out of common neighbours, for they have too many."""
    counts = {one.kind: int(hubs_of(one.far.wiring.degrees.all(), one.near.wiring.nodes).sum()) for one in edges.joined}
    return {kind: count for kind, count in counts.items() if count}
