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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.files import Arrays
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import HALVES, generator
from oddhop.odd.ends import DEGREES, ENDS, STAGE, USED, Usual, chosen_edges, ends_of, informed, usual_ends
from oddhop.odd.homophily import RATIO_SUMS, RATIOS
from oddhop.odd.pairs import Chunk, Pairs, chunk_sums, edge_chunks
from oddhop.odd.row_blocks import block_sums, gathered, row_sums, summed
from oddhop.odd.stranger import (
    FARTHEST,
    Homophily,
    Ratio,
    canonical_variates,
    corrected,
    whitening,
    with_variances,
)
from oddhop.odd.telling import telling_columns
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

RATIO_SQUARES, LIKELIER = "f_squares", "likelier"
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


def learn_relation(pairs: Pairs, runner: TaskRunner) -> tuple[Relation, Pairs]:
    """Learn how the attributes of two kinds go together over the edges; return it, and the edges with f of each."""
    found, _ = pairs.near.remembered("relation", lambda: (_to_arrays(_learned(pairs, runner)), {}))
    relation = _from_arrays(pairs.kind, found)
    told = told_by(pairs, relation, runner)
    if relation.silent:
        return relation, told
    degrees, sums, squares = (gathered(told.near, name) for name in (DEGREES, RATIO_SUMS, RATIO_SQUARES))
    near = with_variances(relation.near, float(sums.sum()), int(degrees.sum()), degrees, sums, squares)
    return replace(relation, near=near), told


def told_by(pairs: Pairs, relation: Relation, runner: TaskRunner) -> Pairs:
    """Return the edges of which both ends have coordinates; write f of each, and its sum at every judged node."""
    told = chosen_edges(pairs, (relation.near_columns, relation.far_columns), runner)
    runner.each(STAGE, partial(_write_ratios, told, relation), told.near.ranges)
    return told


def mean_ratios(told: Pairs) -> tuple[Floats, Ints]:
    """Return the mean f over the edges of every judged node, and their number."""
    sums, degrees = (gathered(told.near, name) for name in (RATIO_SUMS, DEGREES))
    return np.asarray(sums / np.maximum(degrees, 1)), degrees


def _learned(pairs: Pairs, runner: TaskRunner) -> Relation:
    columns = telling_columns(pairs, runner)
    chosen = chosen_edges(pairs, columns, runner)
    relation = _correlated(chosen, columns, runner)
    if not relation.silent and _held_out_nats(chosen, columns, runner) <= 0.0:
        nothing = np.zeros_like(relation.near.correlation)
        near, far = (replace(side, correlation=nothing) for side in (relation.near, relation.far))
        return replace(relation, near=near, far=far)
    if not relation.silent:
        runner.each(STAGE, partial(_write_likelier, chosen, relation), chosen.near.ranges)
        relation = replace(relation, unrelated=_share_of_unrelated(chosen, runner))
        chosen.near.forget(LIKELIER)
    return relation


def _to_arrays(relation: Relation) -> Arrays:
    """Return what was learned as arrays, without what z is made with."""
    sides = {"near": relation.near, "far": relation.far}
    kept = {f"{side}.{part}": getattr(of, part) for side, of in sides.items() for part in ("centre", "whiten", "turn")}
    rest = {one.name: getattr(relation, one.name) for one in fields(relation)[3:]}
    return {**kept, "correlation": relation.near.correlation, **rest, "unrelated": np.array(relation.unrelated)}


def _from_arrays(kind: str, kept: Arrays) -> Relation:
    near, far = (
        Homophily(kept[f"{side}.centre"], kept[f"{side}.whiten"], kept[f"{side}.turn"], kept["correlation"])
        for side in ("near", "far")
    )
    columns, usual = (kept["near_columns"], kept["far_columns"]), (kept["near_usual"], kept["far_usual"])
    return Relation(kind, near, far, *columns, *usual, float(kept["unrelated"]))


def _correlated(pairs: Pairs, columns: tuple[Ints, Ints], runner: TaskRunner) -> Relation:
    """Whiten the coordinates of both ends, and turn them so that each is correlated with one of the other end alone."""
    usual, edges = usual_ends(pairs, runner), max(pairs.count, 1)
    width = usual[0].size + usual[1].size
    totals = summed(pairs.near, runner, STAGE, partial(_end_moments, pairs, usual))
    halves = [(half[:width], half[width:].reshape(width, width)) for half in np.split(totals, 2)]
    centres = [sums / edges for sums, _ in halves]
    with single_threaded():
        whitens = [
            whitening(moments / edges - np.outer(centre, centre))
            for (_, moments), centre in zip(halves, centres, strict=True)
        ]
    cross = summed(pairs.near, runner, STAGE, partial(_cross_moments, pairs, usual, centres, whitens))
    cross = cross.reshape(whitens[0].shape[1], whitens[1].shape[1])
    with single_threaded():
        near_turn, rho, far_turn = np.linalg.svd(cross / edges, full_matrices=False)
    rho = corrected(rho, sum(np.sqrt(whiten.shape[1]) for whiten in whitens) ** 2 / edges)
    near = Homophily(centres[0], whitens[0], near_turn, rho)
    far = Homophily(centres[1], whitens[1], far_turn.T, rho)
    return Relation(pairs.kind, near, far, *columns, *usual)


def _end_moments(pairs: Pairs, usual: Usual, number: int) -> list[Floats]:
    """Return the sums of the coordinates of both ends, and of their products."""

    def moments(chunk: Chunk) -> Floats:
        ends = ends_of(chunk.own, chunk.theirs, usual)
        return np.concatenate([part for x in ends for part in (x.sum(axis=0), (x.T @ x).ravel())])

    width = usual[0].size + usual[1].size
    return chunk_sums(pairs.near, number, ENDS, moments, 2 * width * (width + 1))


def _cross_moments(
    pairs: Pairs, usual: Usual, centres: Sequence[Floats], whitens: Sequence[Floats], number: int
) -> list[Floats]:
    def together(chunk: Chunk) -> Floats:
        near, far = (
            np.clip((x - centre) @ whiten, -FARTHEST, FARTHEST)
            for x, centre, whiten in zip(ends_of(chunk.own, chunk.theirs, usual), centres, whitens, strict=True)
        )
        return np.asarray((near.T @ far).ravel())

    return chunk_sums(pairs.near, number, ENDS, together, whitens[0].shape[1] * whitens[1].shape[1])


def _held_out_nats(pairs: Pairs, columns: tuple[Ints, Ints], runner: TaskRunner) -> float:
    """Return what an edge tells about nodes that nothing was learned from: the mean of -f, each half by the other."""
    parts = []
    for name, half in (("one", True), ("two", False)):
        for side, before in zip(pairs.sides, (0, pairs.near.nodes), strict=True):
            runner.quiet.each(STAGE, partial(_write_half, side, name, half, before), side.ranges)
        parts.append(pairs.kept(name, name, (USED,), runner.quiet))
    halves = [informed(part, runner) for part in parts]
    told = np.zeros(2)
    if all(half.count for half in halves):
        for ours, theirs in (halves, halves[::-1]):
            relation = _correlated(ours, columns, runner)
            told = told + summed(theirs.near, runner, STAGE, partial(_ratio_sums, theirs, relation))
    for part in parts:
        part.clear()
    return float(-told[1] / told[0]) if told[0] else 0.0


def _write_half(store: Store, name: str, half: bool, before: int, number: int) -> None:
    """Mark the nodes of one half; draws are those of one generator over the judged nodes and then the others."""
    start, stop = store.span(number)
    rng = generator(0, HALVES, 1)
    skipped, more = divmod(before + start, DRAWS_AT_ONCE)
    rng.bit_generator.advance(skipped)  # type: ignore[attr-defined]
    store.write(name, number, (rng.random(more + stop - start)[more:] < 0.5) == half)


def _ratio_sums(pairs: Pairs, relation: Relation, number: int) -> list[Floats]:
    def sums(chunk: Chunk) -> Floats:
        return np.array([chunk.entries.size, _ratio(relation, chunk).sum()])

    return chunk_sums(pairs.near, number, ENDS, sums, 2)


def _write_likelier(pairs: Pairs, relation: Relation, number: int) -> None:
    """Write, for every edge, how much likelier its ends are if they are joined."""
    _write_of_edges(
        pairs, LIKELIER, lambda chunk: np.exp(np.clip(-_ratio(relation, chunk), -MOST_NATS, MOST_NATS)), number
    )


def _write_of_edges(pairs: Pairs, name: str, function: Callable[[Chunk], Floats], number: int) -> None:
    if pairs.near.has(name, number):
        return
    out = pairs.near.entry_room(name, number, np.float64)
    for chunk in edge_chunks(pairs.near, number, ENDS):
        out[chunk.entries] = function(chunk)
    pairs.near.write(name, number, out)


def _share_of_unrelated(pairs: Pairs, runner: TaskRunner) -> float:
    """Estimate the share of edges whose ends have nothing to do with each other, by expectation and maximisation."""
    share, edges = START, pairs.count
    for _ in range(STEPS):
        sums = summed(pairs.near, runner.quiet, STAGE, partial(_unrelated_sums, pairs.near, share))
        share = float(np.clip(sums / edges, *BOUNDS))
    return share


def _unrelated_sums(store: Store, share: float, number: int) -> list[Floats]:
    indptr, likelier = store.rows(number).indptr, store.read(LIKELIER, number)

    def sums(part: slice) -> Floats:
        own = likelier[indptr[part.start] : indptr[part.stop]]
        return np.asarray((share / (share + (1 - share) * own)).sum())

    return block_sums(store, number, sums)


def _write_ratios(pairs: Pairs, relation: Relation, number: int) -> None:
    """Write f of every edge, 0 where the relation is silent, and the sums of f and its square at every judged node."""
    store = pairs.near
    if store.has(RATIO_SQUARES, number):
        return
    _write_of_edges(pairs, RATIOS, partial(_ratio, relation), number)
    indptr, f = store.rows(number).indptr, store.read(RATIOS, number)
    store.write(RATIO_SUMS, number, row_sums(indptr, f))
    store.write(RATIO_SQUARES, number, row_sums(indptr, f * f))


def _ratio(relation: Relation, chunk: Chunk) -> Floats:
    """Return f of edges."""
    if relation.silent:
        return np.zeros(chunk.entries.size)
    return ratio_of_ends(relation, *ends_of(chunk.own, chunk.theirs, (relation.near_usual, relation.far_usual)))


def ratio_of_ends(relation: Relation, near: Floats, far: Floats) -> Floats:
    """Return f of edges by the coordinates of their ends."""
    a, b = canonical_variates(near, relation.near), canonical_variates(far, relation.far)
    f, share = Ratio.of(relation.near.correlation)(a, b), relation.unrelated
    return f if not share else np.asarray(-np.logaddexp(np.log1p(-share) - f, np.log(share)))


def mean_ratios_with(told: Pairs, relation: Relation, node: int, own: Floats) -> tuple[Floats, Ints]:
    """Return the mean f of a judged node with other coordinates, a row each, and how many edges it has.

    What its neighbours borrow stays as it is, for the node is left out there. The network is one in memory.
    """
    rows = told.in_memory()
    row = rows.indices[rows.indptr[node] : rows.indptr[node + 1]]
    if not row.size:
        return np.zeros(len(own)), np.zeros(len(own), dtype=np.int64)
    ours = tuple(np.repeat(told.array(name)[node : node + 1], row.size, axis=0) for name in ENDS)
    theirs = tuple(told.near.read_peer(name, 0)[row] for name in ENDS)
    near, far = ends_of(ours, theirs, (relation.near_usual, relation.far_usual))
    used = own[:, relation.near_columns]
    means = []
    for one in used:
        near[:, : used.shape[1]] = one
        means.append(float(ratio_of_ends(relation, near, far).mean()))
    return np.array(means), np.full(len(own), row.size)
