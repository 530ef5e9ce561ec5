"""What simulated networks share with the real one: communities, attribute distributions and homophily.

Arrays over nodes are in the store of the network. A task that sorts holds one column of all nodes, or a few. The
process that runs the tasks holds a few numbers of every node, and all edges while it rewires them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.files import Arrays
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import SIMULATED, generator
from oddhop.graph.rewire import rewired_wiring
from oddhop.odd.communities import FEWEST_NODES, on_many_nodes
from oddhop.odd.homophily import VARIATES, write_variates
from oddhop.odd.krylov import VECTORS, WEIGHTS, leading_eigenpairs
from oddhop.odd.row_blocks import block_sums, gathered, neighbour_sums, summed
from oddhop.odd.stranger import Homophily
from oddhop.partitions import store as ranges
from oddhop.partitions.files import Store
from oddhop.partitions.task import TaskRunner

SIMULATIONS, POWER_STEPS = 20, 2
STAGE = "null model"
COMMUNITY, VALUES = "community", "values"
MOST_COMMUNITIES = 32
BEYOND_CHANCE = 1.05  # times the second eigenvalue of a rewired network, which varies
K_MEANS_STARTS, K_MEANS_STEPS, K_MEANS_NODES = 4, 30, 20_000
SORTED_AT_ONCE = 2**20  # numbers: of a large network one column


@dataclass(frozen=True, eq=False)
class NullModel:
    """What simulated networks share with the real one.

    Attributes
    ----------
    communities : of every node; the store has them, too.
    means : the canonical variates of each community, on average; the store has every variate, sorted.
    beyond : the length of what a node has beyond the mean of its community.
    share : of the variance of each variate that lies beyond the communities.
    alike, own_alike : the correlation of each variate over the edges, and of what lies beyond the communities.
    """

    communities: Ints
    means: Floats
    beyond: Floats
    share: Floats
    alike: Floats
    own_alike: Floats

    @property
    def width(self) -> int:
        """The number of canonical variates."""
        return self.share.size

    @property
    def shared(self) -> tuple[str, ...]:
        """The arrays that a simulated network has in common with the real one."""
        return COMMUNITY, *(f"{VALUES}{k}" for k in range(len(column_groups(self.width, self.communities.size))))


def learn_null_model(store: Store, runner: TaskRunner, homophily: Homophily, seed: int) -> NullModel:
    """Learn what simulated networks share with a network of one kind of nodes, whose coordinates are in the store."""
    communities = find_communities(store, runner, seed)
    for number in store.ranges:
        store.write(COMMUNITY, number, communities[slice(*store.span(number))])
    count = int(communities.max(initial=0)) + 1
    write_variates(store, runner, homophily)
    sums = summed(store, runner.quiet, STAGE, partial(_community_sums, store, count))
    means, mean = sums[:, 1:] / sums[:, :1], sums[:, 1:].sum(axis=0) / store.nodes
    own, every = summed(store, runner.quiet, STAGE, partial(_write_own, store, means, mean))
    alike, own_alike = (edge_correlation(store, runner.quiet, name) for name in (VARIATES, "own"))
    groups = column_groups(mean.size, store.nodes)
    runner.quiet.each(STAGE, partial(_sort_columns, store), list(enumerate(groups)))
    beyond = gathered(store, "beyond")
    store.forget("own", "around", "beyond")
    return NullModel(communities, means, beyond, own / np.maximum(every, 1e-30), alike, own_alike)


def column_groups(width: int, nodes: int) -> list[slice]:
    """Divide columns into groups that are sorted at once."""
    wide = max(SORTED_AT_ONCE // max(nodes, 1), 1)
    return [slice(first, min(first + wide, width)) for first in range(0, width, wide)]


def whole(store: Store, name: str, columns: slice) -> Floats:
    """Return some columns of an array over nodes as a whole."""
    return np.concatenate([store.read(name, number)[:, columns] for number in store.ranges])


def edge_correlation(store: Store, runner: TaskRunner, name: str) -> Floats:
    """Return the correlation of every column of an array over the two ends of an edge."""
    return correlation_of(summed(store, runner, STAGE, partial(_edge_moments, store, name)))


def correlation_of(moments: Floats) -> Floats:
    """Return the correlations that the sums of ``edge_moments`` over all nodes give."""
    entries, sums, squares, products = moments
    mean = sums / np.maximum(entries, 1)
    variance = squares / np.maximum(entries, 1) - mean**2
    return np.asarray((products / np.maximum(entries, 1) - mean**2) / np.maximum(variance, 1e-30))


def edge_moments(x: Floats, around: Floats, degrees: Ints) -> Floats:
    """Return the number of edges of some nodes, and the sums over these of x, its square, and its product."""
    weights = degrees[:, None]
    sums = (weights * x).sum(axis=0), (weights * x**2).sum(axis=0), (x * around).sum(axis=0)
    return np.stack([np.full(x.shape[1], float(degrees.sum())), *sums])


def _edge_moments(store: Store, name: str, number: int) -> list[Floats]:
    x, degrees = store.read(name, number), np.diff(store.rows(number).indptr)
    around = neighbour_sums(store, name, "around", number)
    return block_sums(store, number, lambda part: edge_moments(x[part], around[part], degrees[part]))


def _community_sums(store: Store, count: int, number: int) -> list[Floats]:
    x, own = store.read(VARIATES, number), store.read(COMMUNITY, number)

    def sums(part: slice) -> Floats:
        columns = [None, *x[part].T]
        return np.stack([np.bincount(own[part], column, minlength=count) for column in columns], axis=1)

    return block_sums(store, number, sums)


def _write_own(store: Store, means: Floats, mean: Floats, number: int) -> list[Floats]:
    """Write what nodes have beyond their communities, and give the sums of its squares and of all squares."""
    x = store.read(VARIATES, number)
    own = x - means[store.read(COMMUNITY, number)]
    store.write("beyond", number, np.sqrt((own**2).sum(axis=1)))
    store.write("own", number, own)
    return block_sums(
        store, number, lambda part: np.stack([(own[part] ** 2).sum(axis=0), ((x[part] - mean) ** 2).sum(axis=0)])
    )


def _sort_columns(store: Store, group: tuple[int, slice]) -> None:
    k, columns = group
    values = np.sort(whole(store, VARIATES, columns), axis=0)
    for number in store.ranges:
        store.write(f"{VALUES}{k}", number, values[slice(*store.span(number))])


def find_communities(store: Store, runner: TaskRunner, seed: int) -> Ints:
    """Return the community of every node, all the same where none stands out.

    They are clusters of the eigenvectors of the regularised adjacency that stand out from those of a rewired network.
    """
    if store.nodes < FEWEST_NODES:
        return np.zeros(store.nodes, dtype=np.int64)
    found, _ = store.remembered("communities", partial(_communities, store, runner, seed))
    store.discard("regularised")
    store.discard("random")
    return found["labels"]


def _communities(store: Store, runner: TaskRunner, seed: int) -> tuple[Arrays, dict[str, Any]]:
    none = np.zeros(store.nodes, dtype=np.int64)
    same = store.rewired("regularised", _same_rows, {}, runner.quiet)
    values = _regularised(same, runner.within("communities"), min(MOST_COMMUNITIES, store.nodes // 4))
    random = store.with_wiring("random", lambda: rewired_wiring(edge_ends(store), none, seed, SIMULATIONS), {})
    by_chance = _regularised(random, runner.within("rewired network"), 2).min()
    kept = (values > BEYOND_CHANCE * by_chance) & on_many_nodes(same, runner)
    if kept.sum() < 2:
        return {"labels": none}, {}
    with single_threaded():
        return {"labels": _clustered(same, runner, kept, generator(seed, SIMULATED, SIMULATIONS, 2))}, {}


def _same_rows(store: Store, number: int) -> tuple[Ints, Ints]:
    rows = store.rows(number)
    return rows.indptr, rows.indices


def _regularised(store: Store, runner: TaskRunner, count: int) -> Floats:
    """Search the leading eigenvectors of the adjacency over the roots of the degrees and their mean."""
    entries = sum(store.rows(number).indices.size for number in store.ranges)
    runner.quiet.each(STAGE, partial(_write_weights, store, entries / store.nodes), store.ranges)
    return leading_eigenpairs(store, runner, count, SIMULATED, which="LA", weighted=True).values


def _write_weights(store: Store, mean: float, number: int) -> None:
    degrees = np.diff(store.rows(number).indptr)
    store.write(WEIGHTS, number, (1.0 / np.sqrt(degrees + mean)).astype(np.float32))


def _clustered(store: Store, runner: TaskRunner, kept: Bools, rng: np.random.Generator) -> Ints:
    from scipy.cluster.vq import kmeans2, vq

    some = np.arange(store.nodes)
    if store.nodes > K_MEANS_NODES:  # of many nodes, a part tells where the centres are
        some = np.sort(rng.choice(store.nodes, K_MEANS_NODES, replace=False))
    spans = ((one, *np.searchsorted(some, store.span(one))) for one in store.ranges)
    rows = np.concatenate(
        [_directions(store.read(VECTORS, one)[some[a:b] - store.span(one)[0]], kept) for one, a, b in spans]
    )
    count = int(kept.sum())
    tried = [kmeans2(rows, count, K_MEANS_STEPS, minit="++", rng=rng)[0] for _ in range(K_MEANS_STARTS)]
    centres = min(tried, key=lambda centres: float((vq(rows, centres)[1] ** 2).sum()))
    runner.quiet.each(STAGE, partial(_write_nearest, store, kept, centres, "cluster"), store.ranges)
    large = np.bincount(gathered(store, "cluster"), minlength=count) >= FEWEST_NODES
    if large.sum() < 2:
        return np.zeros(store.nodes, dtype=np.int64)
    # A clique may be a cluster of its own: its members belong to the communities that they are nearest to.
    runner.quiet.each(STAGE, partial(_write_nearest, store, kept, centres[large], "large cluster"), store.ranges)
    return gathered(store, "large cluster")


def _directions(vectors: Floats, kept: Bools) -> Floats:
    rows = vectors[:, kept]
    return np.asarray(rows / np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1e-30), dtype=np.float64)


def _write_nearest(store: Store, kept: Bools, centres: Floats, target: str, number: int) -> None:
    from scipy.cluster.vq import vq

    vectors = store.read(VECTORS, number)
    blocks = (vectors[first : first + ranges.BLOCK] for first in range(0, len(vectors), ranges.BLOCK))
    nearest = np.concatenate([vq(_directions(block, kept), centres)[0] for block in blocks])
    store.write(target, number, nearest.astype(np.int64))


def edge_ends(store: Store) -> Ints:
    """Return the two ends of every edge, the lower one first."""
    found = []
    for number in store.ranges:
        rows = store.rows(number)
        owner = np.repeat(np.arange(rows.start, rows.stop, dtype=rows.indices.dtype), np.diff(rows.indptr))
        upper = owner < rows.indices
        found.append(np.stack([owner[upper], rows.indices[upper]], axis=1))
    return np.concatenate(found)
