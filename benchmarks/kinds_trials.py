"""What each part of the views between kinds is for: the shop with one part changed at a time, and shuffled columns.

    python -m benchmarks.kinds_trials 2 3          # seeds; about five minutes

Ranks are those of the first and the last member of every plant. The parts are changed from outside, so that the
detector has no switches that nobody needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
import scipy.sparse as sp
from benchmarks.shop import Shop, shop

import oddhop
from oddhop.graph.graph import Graph
from oddhop.odd import kinds, relation, views
from oddhop.odd.blocks import judged_attributes, learn_blocks
from oddhop.odd.butterfly import Common
from oddhop.odd.relation import Pairs
from oddhop.odd.stranger import Kinship, odds_of_no_reason
from oddhop.odd.triangles import LARGEST

KINDS = ("account", "device")


class OwnAlone(Pairs):
    """Edges whose ends have their own coordinates alone."""

    def informed(self) -> Pairs:
        """Give all edges."""
        return self

    def coordinates(self, start: int, stop: int, usual: object) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002 - as its base
        """Give the own coordinates of both ends of some edges."""
        stop = min(stop, self.count)
        return self.near[self.rows[start:stop]], self.far[self.matrix.indices[start:stop]]


@dataclass(frozen=True)
class Normal:
    """z^2 / 2 in the place of the rate."""

    kinship: Kinship

    def nats(self, means: np.ndarray, degrees: np.ndarray) -> np.ndarray:
        """Give z^2 / 2, and 0 below the median."""
        known = self.kinship
        z = (means - known.middle) / np.sqrt(known.between + known.within / np.maximum(degrees, 1))
        return np.where(degrees > 0, np.maximum(z, 0.0) ** 2 / 2, 0.0)


def scores(graph: Graph, residuals: np.ndarray | None = None) -> np.ndarray:
    own = judged_attributes(graph)
    blocks, others = learn_blocks(own.attributes, own.flow_count), kinds.learn_other_blocks(graph)
    flows, seen = views.see(graph, blocks, others=others, residuals=residuals, workers=2)
    del flows
    return views._learn(seen, blocks, others, 2)[1].score


def even_weights(left: sp.csr_array, chance: float | None = None) -> Common:
    common = COMMON(left)
    sums = common.far @ np.ones(left.shape[0])
    if chance is None:
        chance = float((sums**2).sum()) / max(float(sums.sum()), 1e-30) ** 2
    return replace(common, weights=np.ones_like(common.weights), chance=chance)


def first_counts(common: Common, *, workers: int = 1) -> np.ndarray:
    """Give the largest surprises where one common neighbour is enough."""
    del workers
    out = []
    for start in range(0, common.near.shape[0], 256):
        rows = slice(start, start + 256)
        near = common.near[rows]
        t = (near @ sp.diags_array(common.weights) @ common.far).toarray()
        expected = np.outer(common.sums[rows], common.sums) * common.chance
        surprise = (t - expected) / np.sqrt(expected + 1.0)
        surprise[np.arange(len(t)), np.arange(start, start + len(t))] = 0.0
        out.append(np.sort(np.partition(surprise, -LARGEST, axis=1)[:, -LARGEST:], axis=1))
    return np.maximum(np.concatenate(out), 0.0)


def with_looks(graph: Graph, kind: type[Pairs]) -> np.ndarray:
    """Give the scores where looks explain edges between kinds as they do within one."""

    def explained(self: kinds.Joined, chance: float | None = None) -> Common:
        pairs = kind(self.pairs.kind, self.pairs.matrix, self.pairs.near, self.pairs.far)
        learned, told = relation.learn_relation(pairs, workers=2)
        odds = np.ones(self.pairs.count)
        if not learned.silent and told.pairs.count == odds.size:
            odds = odds_of_no_reason(told.f)
        matrix = self.pairs.matrix
        left = sp.csr_array((self.residuals * odds, matrix.indices, matrix.indptr), shape=matrix.shape)
        return COMMON(left, chance)

    with mock.patch.object(kinds.Joined, "common", explained):
        return scores(graph)


COMMON = kinds.common_neighbours
TRIALS: dict[str, Callable[[Graph], np.ndarray]] = {
    "as it is": scores,
    "no columns are borrowed": lambda graph: patched(graph, kinds, "Pairs", OwnAlone),
    "common neighbours all weigh the same": lambda graph: patched(graph, kinds, "common_neighbours", even_weights),
    "one common neighbour is enough": lambda graph: patched(graph, kinds, "largest_surprises", first_counts),
    "communities are not taken out": lambda graph: scores(graph, np.ones(graph.indices.size)),
    "looks explain edges, own columns": lambda graph: with_looks(graph, OwnAlone),
    "looks explain edges, own and borrowed": lambda graph: with_looks(graph, Pairs),
    "no edge is unrelated": lambda graph: patched(graph, relation, "_share_of_unrelated", lambda _: 0.0),
    "z in the place of the rate": lambda graph: patched(graph, kinds, "learn_rate", lambda _, known: Normal(known)),
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


def shuffled(network: oddhop.Network, seed: int) -> list[str]:
    """Say what edges seem to tell, real and with the accounts' columns dealt out anew: the same, other nodes' edges."""
    own = judged_attributes(network.graph)
    blocks, others = learn_blocks(own.attributes, own.flow_count), kinds.learn_other_blocks(network.graph)
    _, seen = views.see(network.graph, blocks, others=others, residuals=np.ones(network.graph.indices.size))
    out = []
    for one in seen.edges.joined:
        for name, order in (
            ("real", np.arange(len(seen.coordinates))),
            ("shuffled", np.random.default_rng(seed).permutation(len(seen.coordinates))),
        ):
            pairs = replace(one.pairs, near=seen.coordinates[order]).informed()
            columns = np.arange(pairs.near.shape[1]), np.arange(pairs.far.shape[1])
            inside = -relation._ratios(pairs, relation._correlated(pairs, columns, 2), 2).mean()
            half = np.random.default_rng(seed).random(pairs.count) < 0.5
            mine, yours = pairs.kept(half).informed(), pairs.kept(~half).informed()
            by_edges = -relation._ratios(yours, relation._correlated(mine, columns, 2), 2).mean()
            by_nodes = relation._held_out_nats(pairs, columns, 2)
            silent = relation.learn_relation(pairs)[0].silent
            cells = f"{inside:.2f} | {by_edges:.2f} | {by_nodes:.2f} | {'yes' if silent else 'no'}"
            out.append(f"| {one.pairs.kind}, {name} | {cells} |")
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
