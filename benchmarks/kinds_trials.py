"""What each part of the views between kinds is for: the shop with one part changed at a time, and shuffled columns.

    python -m benchmarks.kinds_trials 2 3          # seeds; about five minutes

Ranks are those of the first and the last member of every plant. The parts are changed from outside, so that the
detector has no switches that nobody needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias
from unittest import mock

import numpy as np
import scipy.sparse as sp

import oddhop
from benchmarks.shop import Shop, shop
from oddhop.graph.graph import Graph
from oddhop.odd import butterfly, kinds, relation, views
from oddhop.odd.blocks import judged_attributes, learn_blocks
from oddhop.odd.butterfly import LARGEST_SHARED, SUMS, WEIGHTS, Common
from oddhop.odd.communities import RESIDUALS
from oddhop.odd.homophily import COORDINATES, RATIOS
from oddhop.odd.pairs import Pairs
from oddhop.odd.stranger import Homophily, odds_of_no_reason
from oddhop.odd.triangles import LARGEST
from oddhop.partitions.store import InMemory
from oddhop.partitions.task import TaskRunner, on_threads

KINDS = ("account", "device")
RUNNER = on_threads(2)
Ends: TypeAlias = tuple[np.ndarray, ...]
Columns: TypeAlias = tuple[np.ndarray, np.ndarray]


def own_ends(own: Ends, theirs: Ends, usual: object) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG001 - as the original
    """Return the own coordinates of both ends of edges, and zeros for those that are borrowed."""
    near, far = own[0], theirs[0]
    return np.hstack([near, np.zeros_like(far)]), np.hstack([far, np.zeros_like(near)])


@dataclass(frozen=True)
class Normal:
    """z^2 / 2 in the place of the rate."""

    homophily: Homophily

    def nats(self, means: np.ndarray, degrees: np.ndarray) -> np.ndarray:
        """Return z^2 / 2, and 0 below the median."""
        known = self.homophily
        z = (means - known.middle) / np.sqrt(known.between + known.within / np.maximum(degrees, 1))
        return np.where(degrees > 0, np.maximum(z, 0.0) ** 2 / 2, 0.0)


def scores(graph: Graph, residuals: np.ndarray | None = None) -> np.ndarray:
    own = judged_attributes(graph)
    blocks, others = learn_blocks(own.attributes, own.flow_count), kinds.learn_other_blocks(graph)
    flows, seen = views.view_data(graph, blocks, others=others, residuals=residuals, workers=2)
    del flows
    return views.learn_views(seen.edges, on_threads(2), blocks, seen.known, others)[1].score


def even_weights(pairs: Pairs, runner: TaskRunner, chance: float | None = None) -> Common:
    common, weights = COMMON(pairs, runner, chance), pairs.near.read_peer(WEIGHTS, 0)
    weights[weights >= 0.0] = 1.0
    if chance is None:
        sums = np.concatenate([butterfly._their_sums(pairs.far, number) for number in pairs.far.ranges])
        chance = float((sums**2).sum()) / max(float(sums.sum()), 1e-30) ** 2
    return replace(common, chance=chance)


def first_counts(common: Common, runner: TaskRunner) -> None:  # noqa: ARG001 - as the original
    """Write the largest surprises where one common neighbour is enough."""
    pairs = common.pairs
    weights, sums = np.maximum(pairs.near.read_peer(WEIGHTS, 0), 0.0), pairs.array(SUMS)
    whole, out = matrix_of(pairs, pairs.array(RESIDUALS)), []
    for start in range(0, whole.shape[0], 256):
        rows = slice(start, start + 256)
        t = (whole[rows] @ sp.diags_array(weights) @ whole.T).toarray()
        expected = np.outer(sums[rows], sums) * common.chance
        surprise = (t - expected) / np.sqrt(expected + 1.0)
        surprise[np.arange(len(t)), np.arange(start, start + len(t))] = 0.0
        out.append(np.sort(np.partition(surprise, -LARGEST, axis=1)[:, -LARGEST:], axis=1))
    found = np.maximum(np.concatenate(out), 0.0)
    for number in pairs.near.ranges:
        pairs.near.write(LARGEST_SHARED, number, found[slice(*pairs.near.span(number))])


def matrix_of(pairs: Pairs, values: np.ndarray) -> sp.csr_array:
    rows = pairs.in_memory()
    return sp.csr_array((values, rows.indices, rows.indptr), shape=(pairs.near.nodes, pairs.far.nodes))


def pairs_of(kind: str, matrix: sp.csr_array, near: np.ndarray, far: np.ndarray) -> Pairs:
    sides = (matrix, near), (matrix.T.tocsr(), far)
    rows = [InMemory(one.indptr.astype(np.int64), one.indices, {COORDINATES: x}) for one, x in sides]
    return Pairs.of(kind, *rows)


def with_looks(graph: Graph, ends: Callable[..., tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the scores where looks explain edges between kinds as they do within one."""
    done = set()

    def explained(pairs: Pairs, runner: TaskRunner, chance: float | None = None) -> Common:
        if pairs.kind not in done:
            done.add(pairs.kind)
            whole = matrix_of(pairs, np.ones(pairs.count))
            own = pairs_of(pairs.kind, whole, pairs.array(COORDINATES), pairs.near.read_peer(COORDINATES, 0))
            with mock.patch.object(relation, "ends_of", ends):
                learned, told = relation.learn_relation(own, runner)
            if not learned.silent and told.count == pairs.count:
                odds = matrix_of(pairs, odds_of_no_reason(told.array(RATIOS)))
                pairs.array(RESIDUALS)[:] *= odds.data
                pairs.near.read_peer(RESIDUALS, 0)[:] *= odds.T.tocsr().data
        return COMMON(pairs, runner, chance)

    return patched(graph, kinds, "common_neighbours", explained)


COMMON, BOTH_ENDS = kinds.common_neighbours, relation.ends_of
TRIALS: dict[str, Callable[[Graph], np.ndarray]] = {
    "as it is": scores,
    "no columns are borrowed": lambda graph: patched(graph, relation, "ends_of", own_ends),
    "common neighbours all weigh the same": lambda graph: patched(graph, kinds, "common_neighbours", even_weights),
    "one common neighbour is enough": lambda graph: patched(graph, kinds, "write_largest_shared", first_counts),
    "communities are not taken out": lambda graph: scores(graph, np.ones(graph.indices.size)),
    "looks explain edges, own columns": lambda graph: with_looks(graph, own_ends),
    "looks explain edges, own and borrowed": lambda graph: with_looks(graph, BOTH_ENDS),
    "no edge is unrelated": lambda graph: patched(graph, relation, "_share_of_unrelated", lambda *_: 1e-30),
    "z in the place of the rate": lambda graph: patched(
        graph, kinds, "learn_rate", lambda *given, **_: Normal(given[2])
    ),
}


def patched(graph: Graph, module: object, name: str, instead: object) -> np.ndarray:
    with mock.patch.object(module, name, instead):
        return scores(graph)


def ranks(made: Shop, networks: dict[str, oddhop.Network], trial: Callable[[Graph], np.ndarray]) -> list[str]:
    cells = []
    placed = {}
    for kind, network in networks.items():
        order = np.argsort(-trial(network.graph), kind="stable")
        ids = np.asarray(network.judged_ids)[order].tolist()
        placed[kind] = {one: place for place, one in enumerate(ids, 1)}
    for kind, members in made.plants.values():
        if kind in placed:
            found = sorted(placed[kind][one] for one in members)
            cells.append(f"{found[0]} to {found[-1]}")
    return cells


def _some(
    kind: str, whole: sp.csr_array, kept: np.ndarray, sides: tuple[np.ndarray, np.ndarray], columns: Columns
) -> Pairs:
    """Return the marked edges of which both ends have coordinates."""
    indptr = np.concatenate([[0], np.cumsum(kept)])[whole.indptr]
    matrix = sp.csr_array((whole.data[kept], whole.indices[kept], indptr), shape=whole.shape)
    return relation.chosen_edges(pairs_of(kind, matrix, *sides), columns, RUNNER)


def _told(mine: Pairs, yours: Pairs, columns: Columns) -> float:
    """Return what was learned from some edges tells of others: the mean of -f."""
    learned = relation._correlated(mine, columns, RUNNER)
    count, f = sum(sum(relation._ratio_sums(yours, learned, number)) for number in yours.near.ranges)
    return float(-f / count)


def shuffled(network: oddhop.Network, seed: int) -> list[str]:
    """Say what edges seem to tell, real and with the accounts' columns dealt out anew: the same, other nodes' edges."""
    own = judged_attributes(network.graph)
    blocks, others = learn_blocks(own.attributes, own.flow_count), kinds.learn_other_blocks(network.graph)
    _, seen = views.view_data(network.graph, blocks, others=others, residuals=np.ones(network.graph.indices.size))
    out = []
    for one in seen.edges.joined:
        for name, order in (
            ("real", np.arange(len(seen.coordinates))),
            ("shuffled", np.random.default_rng(seed).permutation(len(seen.coordinates))),
        ):
            whole = matrix_of(one, np.ones(one.count))
            sides = seen.coordinates[order], seen.far[one.kind]
            columns = np.arange(sides[0].shape[1]), np.arange(sides[1].shape[1])
            half = np.random.default_rng(seed).random(one.count) < 0.5
            every, mine, yours = (_some(one.kind, whole, some, sides, columns) for some in (half | ~half, half, ~half))
            inside, by_edges = _told(every, every, columns), _told(mine, yours, columns)
            by_nodes = relation._held_out_nats(every, columns, RUNNER)
            silent = relation.learn_relation(pairs_of(one.kind, whole, *sides), RUNNER)[0].silent
            cells = f"{inside:.2f} | {by_edges:.2f} | {by_nodes:.2f} | {'yes' if silent else 'no'}"
            out.append(f"| {one.kind}, {name} | {cells} |")
    return out


def main() -> None:
    for seed in map(int, sys.argv[1:]):
        made = shop(seed)
        tables = {"account": made.accounts, "device": made.devices}
        networks = {kind: oddhop.read_network(made.edges, tables, judge=kind, flows=False) for kind in KINDS}
        names = [name for name, (kind, _) in made.plants.items() if kind in KINDS]
        print(f"seed {seed}\n\n| | {' | '.join(names)} |\n|---|{'---|' * len(names)}", flush=True)
        for name, trial in TRIALS.items():
            print(f"| {name} | {' | '.join(ranks(made, networks, trial))} |", flush=True)
        print("\n| edges to | same edges | other edges | other nodes | silent |\n|---|---|---|---|---|", flush=True)
        print("\n".join(shuffled(networks["account"], seed)), flush=True)


if __name__ == "__main__":
    main()
