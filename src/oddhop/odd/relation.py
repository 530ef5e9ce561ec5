"""The stranger between two kinds of nodes: the formula of :mod:`oddhop.odd.stranger` with canonical correlations.

For the edges between judged nodes and nodes of another kind the coordinates of either end are whitened over the edges.
The singular values of their cross-moment are the canonical correlations rho_k, and f is made of them as it is within a
kind. The end b of an edge (a, b) has two sets of coordinates:

- its own,
- borrowed ones: what its neighbours are like, with a left out: (sum of their coordinates - those of a + the usual
  ones) / d, with d its degree. A merchant without columns is known by its other customers.

The same holds for a. Edges whose end has neither are left out.

Some edges join ends that have nothing to do with each other. Their share e is estimated, rather too low, for the
correlations were learned with them. f becomes -log((1 - e) exp(-f) + e), which no edge can drive above -log e.

A coordinate is kept if it goes together with the coordinates around it beyond chance. The view is silent unless what
was learned from one half of the nodes informs about edges among the other half: few hubs carry most edges, and
to split the edges would not see that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.kernels import row_sums
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.randomness import HALVES, generator
from oddhop.odd.ends import STAGE, EndRows, Ends, Usual, chosen_ends, ends_of
from oddhop.odd.pairs import Pairs
from oddhop.odd.related import related_columns
from oddhop.odd.stranger import FARTHEST, Homophily, Ratio, canonical_variates, corrected, whitening, with_variances

START, STEPS, BOUNDS, MOST_NATS = 0.1, 20, (1e-4, 0.9), 50.0  # of the share of unrelated edges
DRAWS_AT_ONCE = 4  # of the generator, that can be skipped


@dataclass(frozen=True, eq=False)
class Relation:
    """What an edge between a judged node and a node of another kind says about their attributes.

    Attributes
    ----------
    kind : the name of the other kind.
    near, far : how the coordinates of the judged node and of the other one are turned, the own ones before those that
        are borrowed; ``near`` has what z is made with.
    near_columns, far_columns : the own coordinates that are used, by number.
    near_usual, far_usual : their means over the edges, which stand for the node that is left out.
    unrelated : the share of edges whose ends have nothing to do with each other.
    """

    kind: str
    near: Homophily
    far: Homophily
    near_columns: Ints
    far_columns: Ints
    near_usual: Floats
    far_usual: Floats
    unrelated: float = 0.0

    @property
    def silent(self) -> bool:
        """Whether these edges say nothing about the attributes."""
        return self.near.silent


@dataclass(frozen=True, eq=False)
class InformedPairs:
    """The edges to another kind of which both ends have coordinates, with f.

    Attributes
    ----------
    kind, ends : the name of the other kind, and both ends of the edges.
    f, sums, squares : f of every edge, and the sums of f and its square at every judged node.
    """

    kind: str
    ends: Ends
    f: Handle
    sums: Handle
    squares: Handle

    def means(self) -> tuple[Floats, Ints]:
        """Return the mean f over the edges of every judged node, and their number."""
        degrees = self.ends.near.degrees.all()
        return np.asarray(self.sums.all() / np.maximum(degrees, 1)), degrees


def learn_relation(pairs: Pairs) -> tuple[Relation, InformedPairs]:
    """Learn how the attributes of two kinds go together over the edges; return it, and the edges with f of each."""
    pairs.near.wiring.begin(STAGE, 6)
    columns = related_columns(pairs)
    ends = chosen_ends(pairs, columns)
    relation = _correlated(pairs.kind, ends, columns)
    if not relation.silent and _held_out_nats(pairs.kind, ends, columns) <= 0.0:
        nothing = np.zeros_like(relation.near.correlation)
        near, far = (replace(side, correlation=nothing) for side in (relation.near, relation.far))
        relation = replace(relation, near=near, far=far)
    elif not relation.silent:
        relation = replace(relation, unrelated=_share_of_unrelated(ends, relation))
    informed = _with_ratios(pairs.kind, ends, relation)
    if relation.silent:
        return relation, informed
    degrees, sums, squares = ends.near.degrees.all(), informed.sums.all(), informed.squares.all()
    near = with_variances(relation.near, float(sums.sum()), int(degrees.sum()), degrees, sums, squares)
    return replace(relation, near=near), informed


def informed_by(pairs: Pairs, relation: Relation) -> InformedPairs:
    """Return the edges of which both ends have coordinates, with f of each by what was learned before."""
    return _with_ratios(pairs.kind, chosen_ends(pairs, (relation.near_columns, relation.far_columns)), relation)


def _with_ratios(kind: str, ends: Ends, relation: Relation) -> InformedPairs:
    wiring = ends.near.wiring
    f = wiring.edges(_ratio, *ends.arrays, relation)
    sums, squares = wiring.rows(_sums, wiring.indptr, f), wiring.rows(_square_sums, wiring.indptr, f)
    wiring.make(f, sums, squares)
    return InformedPairs(kind, ends, f, sums, squares)


def _correlated(kind: str, ends: Ends, columns: tuple[Ints, Ints]) -> Relation:
    """Whiten the coordinates of both ends, and turn them so that each is correlated with one of the other end alone."""
    usual, edges = ends.usual(), max(ends.count, 1)
    width = usual[0].size + usual[1].size
    totals = ends.near.wiring.sum_edges(_end_moments, 2 * width * (width + 1), *ends.arrays, usual)
    halves = [(half[:width], half[width:].reshape(width, width)) for half in np.split(totals, 2)]
    centres = [sums / edges for sums, _ in halves]
    whitens = [
        whitening(moments / edges - np.outer(centre, centre))
        for (_, moments), centre in zip(halves, centres, strict=True)
    ]
    shape = whitens[0].shape[1], whitens[1].shape[1]
    cross = ends.near.wiring.sum_edges(_cross_moments, shape[0] * shape[1], *ends.arrays, usual, centres, whitens)
    near_turn, rho, far_turn = np.linalg.svd(cross.reshape(shape) / edges, full_matrices=False)
    rho = corrected(rho, sum(np.sqrt(whiten.shape[1]) for whiten in whitens) ** 2 / edges)
    near = Homophily(centres[0], whitens[0], near_turn, rho)
    far = Homophily(centres[1], whitens[1], far_turn.T, rho)
    return Relation(kind, near, far, *columns, *usual)


def _end_moments(own: EndRows, theirs: EndRows, usual: Usual) -> Floats:
    """Return the sums of the coordinates of both ends, and of their products."""
    ends = ends_of(own, theirs, usual)
    return np.concatenate([part for x in ends for part in (x.sum(axis=0), (x.T @ x).ravel())])


def _cross_moments(
    own: EndRows, theirs: EndRows, usual: Usual, centres: Sequence[Floats], whitens: Sequence[Floats]
) -> Floats:
    near, far = (
        np.clip((x - centre) @ whiten, -FARTHEST, FARTHEST)
        for x, centre, whiten in zip(ends_of(own, theirs, usual), centres, whitens, strict=True)
    )
    return np.asarray((near.T @ far).ravel())


def _held_out_nats(kind: str, ends: Ends, columns: tuple[Ints, Ints]) -> float:
    """Return what an edge says about nodes that nothing was learned from: the mean of -f, each half by the other."""
    halves = []
    for half in (True, False):
        marks = [
            end.wiring.rows(_half, end.wiring.ids, half, before, rows=0)
            for end, before in ((ends.near, 0), (ends.far, ends.near.wiring.nodes))
        ]
        halves.append(ends.among(marks[0], marks[1]))
    found = np.zeros(2)
    if all(half.count for half in halves):
        for ours, theirs in (halves, halves[::-1]):
            relation = _correlated(kind, ours, columns)
            found = found + theirs.near.wiring.sum_edges(_ratio_sums, 2, *theirs.arrays, relation)
    return float(-found[1] / found[0]) if found[0] else 0.0


def _half(ids: Ints, half: bool, before: int) -> Bools:
    """Mark the nodes of one half; draws are those of one generator over the judged nodes and then the others."""
    rng = generator(0, HALVES, 1)
    skipped, more = divmod(before + int(ids[0]), DRAWS_AT_ONCE)
    rng.bit_generator.advance(skipped)  # type: ignore[attr-defined]
    return np.asarray((rng.random(more + ids.size)[more:] < 0.5) == half)


def _ratio_sums(own: EndRows, theirs: EndRows, relation: Relation) -> Floats:
    return np.array([len(own[0]), _ratio(own, theirs, relation).sum()])


def _likelier(own: EndRows, theirs: EndRows, relation: Relation) -> Floats:
    """Return how much likelier the ends of edges are if they are joined."""
    return np.asarray(np.exp(np.clip(-_ratio(own, theirs, relation), -MOST_NATS, MOST_NATS)))


def _share_of_unrelated(ends: Ends, relation: Relation) -> float:
    """Estimate the share of edges whose ends have nothing to do with each other, by expectation and maximisation."""
    wiring, share, edges = ends.near.wiring, START, ends.count
    likelier = wiring.edges(_likelier, *ends.arrays, relation)
    for _ in range(STEPS):
        share = float(np.clip(wiring.sum(_unrelated, likelier, share) / edges, *BOUNDS))
    return share


def _unrelated(likelier: Floats, share: float) -> Floats:
    return np.asarray((share / (share + (1 - share) * likelier)).sum())


def _sums(indptr: Ints, f: Floats) -> Floats:
    return row_sums(indptr, f)


def _square_sums(indptr: Ints, f: Floats) -> Floats:
    return row_sums(indptr, f * f)


def _ratio(own: EndRows | tuple[Any, ...], theirs: EndRows | tuple[Any, ...], relation: Relation) -> Floats:
    """Return f of edges, 0 where the relation is silent."""
    if relation.silent:
        return np.zeros(len(own[0]))
    return ratio_of_ends(relation, *ends_of(own, theirs, (relation.near_usual, relation.far_usual)))


def ratio_of_ends(relation: Relation, near: Floats, far: Floats) -> Floats:
    """Return f of edges by the coordinates of their ends."""
    a, b = canonical_variates(near, relation.near), canonical_variates(far, relation.far)
    f, share = Ratio.of(relation.near.correlation)(a, b), relation.unrelated
    return f if not share else np.asarray(-np.logaddexp(np.log1p(-share) - f, np.log(share)))


def mean_ratios_with(informed: InformedPairs, relation: Relation, node: int, own: Floats) -> tuple[Floats, Ints]:
    """Return the mean f of a judged node with other coordinates, a row each, and how many edges it has.

    What its neighbours borrow stays as it is, for the node is left out there. The network is one in memory.
    """
    wiring = informed.ends.near.wiring
    indptr, row = wiring.indptr.read(), wiring.indices.read()
    row = row[indptr[node] : indptr[node + 1]]
    if not row.size:
        return np.zeros(len(own)), np.zeros(len(own), dtype=np.int64)
    mine, others = informed.ends.arrays
    ours = tuple(np.repeat(one.read()[node : node + 1], row.size, axis=0) for one in mine)
    theirs = tuple(one.read()[row] for one in others)
    near, far = ends_of(ours, theirs, (relation.near_usual, relation.far_usual))
    used = own[:, relation.near_columns]
    means = []
    for one in used:
        near[:, : used.shape[1]] = one
        means.append(float(ratio_of_ends(relation, near, far).mean()))
    return np.array(means), np.full(len(own), row.size)
