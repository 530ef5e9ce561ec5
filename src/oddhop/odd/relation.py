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
was learned from one half of the nodes tells something about edges among the other half: few hubs carry most edges, and
to split the edges would not see that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import map_blocks, single_threaded
from oddhop.base.randomness import HALVES, generator
from oddhop.odd.stranger import (
    FARTHEST,
    Kinship,
    Ratio,
    beyond_chance,
    corrected,
    turned,
    whitening,
    with_variances,
)

EDGES_AT_ONCE = 16_384
START, STEPS, BOUNDS, MOST_NATS = 0.1, 20, (1e-4, 0.9), 50.0  # of the share of unrelated edges


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
    near: Kinship
    far: Kinship
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
class Pairs:
    """The edges between judged nodes and nodes of another kind, and the coordinates of both.

    Attributes
    ----------
    kind : the name of the other kind.
    matrix : (judged nodes, others), 1 for an edge. Edges are numbered by its rows.
    near, far : own coordinates of the judged nodes, and of the others.
    """

    kind: str
    matrix: sp.csr_array
    near: Floats
    far: Floats

    @property
    def count(self) -> int:
        """The number of edges."""
        return int(self.matrix.nnz)

    @cached_property
    def rows(self) -> Ints:
        """The judged node of every edge."""
        return np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))

    @cached_property
    def degrees(self) -> tuple[Ints, Ints]:
        """How many of these edges every judged node has, and every other."""
        return np.diff(self.matrix.indptr), np.bincount(self.matrix.indices, minlength=self.matrix.shape[1])

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """The sums of the coordinates of the neighbours, of every judged node and of every other."""
        with single_threaded():
            return self.matrix @ self.far, self.matrix.T @ self.near

    def with_columns(self, near: Ints, far: Ints) -> Pairs:
        """Give the same edges with some of the coordinates, by number."""
        return replace(self, near=self.near[:, near], far=self.far[:, far])

    def kept(self, edges: Bools) -> Pairs:
        """Give the marked edges alone."""
        indptr = np.concatenate([[0], np.cumsum(edges)])[self.matrix.indptr]
        parts = (self.matrix.data[edges], self.matrix.indices[edges], indptr)
        return replace(self, matrix=sp.csr_array(parts, shape=self.matrix.shape))

    def informed(self) -> Pairs:
        """Give the edges of which both ends have coordinates, own or borrowed."""
        near, far = self.degrees
        wide = [bool(one.shape[1]) for one in (self.near, self.far)]
        told = (wide[0] | (wide[1] & (near > 1)))[self.rows] & (wide[1] | (wide[0] & (far > 1)))[self.matrix.indices]
        return self if told.all() else self.kept(told)

    def usual(self) -> tuple[Floats, Floats]:
        """Give the means of the own coordinates over the edges, of either side."""
        near, far = self.degrees
        with single_threaded():
            return near @ self.near / max(self.count, 1), far @ self.far / max(self.count, 1)

    def coordinates(self, start: int, stop: int, usual: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Give the coordinates of both ends of some edges."""
        stop = min(stop, self.count)
        a, b = self.rows[start:stop], self.matrix.indices[start:stop]
        own_near, own_far = self.near[a], self.far[b]
        lent_near = (self.sums[0][a] - own_far + usual[1]) / self.degrees[0][a][:, None]
        lent_far = (self.sums[1][b] - own_near + usual[0]) / self.degrees[1][b][:, None]
        return np.hstack([own_near, lent_near]), np.hstack([own_far, lent_far])

    def halves(self) -> tuple[Pairs, Pairs]:
        """Split the nodes of both kinds in two halves; give the edges within either."""
        rng = generator(0, HALVES, 1)
        near, far = (rng.random(size) < 0.5 for size in self.matrix.shape)
        one, two = near[self.rows], far[self.matrix.indices]
        return self.kept(one & two), self.kept(~one & ~two)


def learn_relation(pairs: Pairs, *, workers: int = 1) -> tuple[Relation, Told]:
    """Learn how the attributes of two kinds go together over the edges; return it, and f of the edges.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from oddhop.odd.relation import Pairs, learn_relation
    >>> rng = np.random.default_rng(0)
    >>> taste = rng.normal(size=(600, 1))
    >>> shop = np.argsort(np.argsort(taste[:, 0] + rng.normal(size=600) / 4)) // 20  # 30 shops, each for a taste
    >>> visits = sp.csr_array((np.ones(600), (np.arange(600), shop)), shape=(600, 30))
    >>> learned, _ = learn_relation(Pairs("shop", visits, taste, np.empty((30, 0))))
    >>> learned.silent, bool(learned.near.information > 0.5)
    (False, True)
    """
    columns = telling_columns(pairs)
    chosen = pairs.with_columns(*columns).informed()
    relation = _correlated(chosen, columns, workers)
    if not relation.silent and _held_out_nats(chosen, columns, workers) <= 0.0:
        nothing = np.zeros_like(relation.near.correlation)
        near, far = (replace(side, correlation=nothing) for side in (relation.near, relation.far))
        relation = replace(relation, near=near, far=far)
    if not relation.silent:
        relation = replace(relation, unrelated=_share_of_unrelated(_ratios(chosen, relation, workers)))
    told = Told(chosen, _ratios(chosen, relation, workers))
    if not relation.silent:
        sums = told.sums(told.f), told.sums(told.f**2)
        near = with_variances(relation.near, float(told.f.sum()), told.f.size, chosen.degrees[0], *sums)
        relation = replace(relation, near=near)
    return relation, told


def _share_of_unrelated(f: Floats) -> float:
    """Estimate the share of edges whose ends have nothing to do with each other, by expectation and maximisation."""
    share, ratio = START, np.exp(np.clip(-f, -MOST_NATS, MOST_NATS))
    for _ in range(STEPS):
        share = float(np.clip((share / (share + (1 - share) * ratio)).mean(), *BOUNDS))
    return share


@dataclass(frozen=True, eq=False)
class Told:
    """Edges of which both ends have coordinates, and f of every one."""

    pairs: Pairs
    f: Floats

    def sums(self, values: Floats) -> Floats:
        """Give the sums of values of the edges at every judged node."""
        matrix = self.pairs.matrix
        own = sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
        return np.asarray(own @ np.ones(matrix.shape[1]))

    def means(self) -> Floats:
        """Give the mean f over the edges of every judged node."""
        return np.asarray(self.sums(self.f) / np.maximum(self.pairs.degrees[0], 1))


def told_by(pairs: Pairs, relation: Relation, *, workers: int = 1) -> Told:
    """Give f of the edges by what was learned before."""
    chosen = pairs.with_columns(relation.near_columns, relation.far_columns).informed()
    return Told(chosen, _ratios(chosen, relation, workers))


def telling_columns(pairs: Pairs) -> tuple[Ints, Ints]:
    """Give the own coordinates, of either side, that go together with what is around them beyond chance."""
    near, far = (side - side.mean(axis=0) for side in (pairs.near, pairs.far))
    matrix, back = pairs.matrix, pairs.matrix.T.tocsr()
    with single_threaded():
        theirs, ours = matrix @ far, back @ near
        near_count, far_count = (np.maximum(one, 1)[:, None] for one in pairs.degrees)
        # What the other neighbours of the neighbours are like: the node itself is taken out.
        lent_near = matrix @ (ours / far_count) - near * (matrix @ (1 / far_count))
        lent_far = back @ (theirs / near_count) - far * (back @ (1 / near_count))
    # Without the node itself its sum with the others is below 0 on average, wherever the values are dealt out.
    shared = [float(np.maximum(count - 1, 0).sum()) for count in pairs.degrees]
    tells = (
        beyond_chance(near, np.hstack([theirs, lent_near]), itself=far.shape[1], pairs=shared[1]),
        beyond_chance(far, np.hstack([ours, lent_far]), itself=near.shape[1], pairs=shared[0]),
    )
    return np.flatnonzero(tells[0]), np.flatnonzero(tells[1])


def _correlated(pairs: Pairs, columns: tuple[Ints, Ints], workers: int) -> Relation:
    """Whiten the coordinates of both ends, and turn them so that each is correlated with one of the other end alone."""
    usual, edges = pairs.usual(), max(pairs.count, 1)
    blocks = range(0, pairs.count, EDGES_AT_ONCE)

    def first(start: int) -> list[Floats]:
        ends = pairs.coordinates(start, start + EDGES_AT_ONCE, usual)
        return [part for x in ends for part in (x.sum(axis=0), x.T @ x)]

    widths = [side.shape[1] for side in pairs.coordinates(0, 0, usual)]
    totals = [np.zeros(shape) for width in widths for shape in (width, (width, width))]
    for found in map_blocks(first, blocks, workers=workers):
        totals = [total + part for total, part in zip(totals, found, strict=True)]
    centres = [totals[0] / edges, totals[2] / edges]
    with single_threaded():
        whitens = [
            whitening(moments / edges - np.outer(centre, centre))
            for moments, centre in zip((totals[1], totals[3]), centres, strict=True)
        ]

    def together(start: int) -> Floats:
        ends = pairs.coordinates(start, start + EDGES_AT_ONCE, usual)
        near, far = (
            np.clip((x - centre) @ whiten, -FARTHEST, FARTHEST)
            for x, centre, whiten in zip(ends, centres, whitens, strict=True)
        )
        return np.asarray(near.T @ far)

    cross = np.zeros((whitens[0].shape[1], whitens[1].shape[1]))
    for part in map_blocks(together, blocks, workers=workers):
        cross += part
    with single_threaded():
        near_turn, rho, far_turn = np.linalg.svd(cross / edges, full_matrices=False)
    rho = corrected(rho, (np.sqrt(cross.shape[0]) + np.sqrt(cross.shape[1])) ** 2 / edges)
    near = Kinship(centres[0], whitens[0], near_turn, rho)
    far = Kinship(centres[1], whitens[1], far_turn.T, rho)
    return Relation(pairs.kind, near, far, *columns, *usual)


def _held_out_nats(pairs: Pairs, columns: tuple[Ints, Ints], workers: int) -> float:
    """Give what an edge tells about nodes that nothing was learned from: the mean of -f, each half by the other."""
    halves = [half.informed() for half in pairs.halves()]
    if not all(half.count for half in halves):
        return 0.0
    told = [-_ratios(theirs, _correlated(ours, columns, workers), workers) for ours, theirs in (halves, halves[::-1])]
    return float(np.concatenate(told).mean())


def _ratios(pairs: Pairs, relation: Relation, workers: int) -> Floats:
    """Give f of every edge; 0 where the relation is silent."""
    if relation.silent:
        return np.zeros(pairs.count)

    def block(start: int) -> Floats:
        usual = relation.near_usual, relation.far_usual
        return _ratio(relation, *pairs.coordinates(start, start + EDGES_AT_ONCE, usual))

    found = list(map_blocks(block, range(0, pairs.count, EDGES_AT_ONCE), workers=workers))
    return np.concatenate([np.zeros(0), *found])


def _ratio(relation: Relation, near: Floats, far: Floats) -> Floats:
    """Give f of edges by the coordinates of their ends."""
    f, share = Ratio.of(relation.near)(turned(near, relation.near), turned(far, relation.far)), relation.unrelated
    return f if not share else np.asarray(-np.logaddexp(np.log1p(-share) - f, np.log(share)))


def mean_ratios_with(told: Told, relation: Relation, node: int, own: Floats) -> tuple[Floats, Ints]:
    """Give the mean f of a judged node with other coordinates, a row each, and how many edges it has.

    What its neighbours borrow stays as it is, for the node is left out there.
    """
    start, stop = told.pairs.matrix.indptr[node : node + 2].tolist()
    if start == stop:
        return np.zeros(len(own)), np.zeros(len(own), dtype=np.int64)
    near, far = told.pairs.coordinates(start, stop, (relation.near_usual, relation.far_usual))
    used = own[:, relation.near_columns]
    means = []
    for row in used:
        near[:, : used.shape[1]] = row
        means.append(float(_ratio(relation, near, far).mean()))
    return np.array(means), np.full(len(own), stop - start)
