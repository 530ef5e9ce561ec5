"""Odd's fit: in memory, over the partitions of a folder, on threads or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.stores import MemoryStore
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.files import Arrays
from oddhop.base.kernels import compiled
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import LEFT_OUT_EDGES, drawn, word
from oddhop.graph.graph import Graph
from oddhop.odd.blocks import Blocks
from oddhop.odd.combine import Evidence
from oddhop.odd.communities import folded, residuals
from oddhop.odd.cycle import Cycles
from oddhop.odd.eigenvectors import refined_eigenpairs
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.kinds import hub_counts
from oddhop.odd.null import Chance, simulate_chance
from oddhop.odd.source import Source
from oddhop.odd.views import FittedViews, ViewData, learn_views, see

LEFT_OUT = 0.2
MOST_KEPT = 20_000_000  # edges on disk; what communities leave of more is not kept for explanations


@dataclass(frozen=True, eq=False)
class Fit:
    """What came of a network.

    Attributes
    ----------
    fitted, evidence : what was learned, and what it says of every node.
    replicates : the scores with edges left out.
    degrees : of every judged node.
    residuals : what communities leave of every edge; None where there are very many.
    hubs : how many nodes of every other kind have too many neighbours to be compared by.
    chance : how high the nodes of simulated networks score; None where none were simulated.
    facts : those of the events; None where there are none, or they were found before a kill.
    """

    fitted: FittedViews
    evidence: Evidence
    replicates: list[Floats]
    degrees: Ints
    residuals: Floats | None
    hubs: dict[str, int]
    chance: Chance | None
    facts: EventFacts | None


def fit(
    source: Source, keys: Ints, *, seed: int, rounds: int, cycles: Cycles | None = None, simulated: bool = False
) -> Fit:
    """Learn the views of a network and judge it, as it is and with edges left out so many times.

    ``keys`` are what edges are drawn by, and ``cycles`` those of the events, where they were searched.
    """
    wiring = source.wiring
    assert wiring.runner is not None  # noqa: S101 - it leads the fit
    wiring.runner.step("views", 0, rounds + 1)
    with single_threaded(), wiring.store.opened():
        blocks = {name: table.learn_blocks() for name, table in source.tables.items()}
        seen = see(source, blocks, cycles=cycles)
        fitted, evidence = learn_views(seen.edges, blocks, source.name, seen.known)
        few = isinstance(wiring.store, MemoryStore) or wiring.entry_count // 2 <= MOST_KEPT
        kept = folded(wiring, seen.residuals) if few else None
        replicates = replicate_scores(seen, blocks, evidence.score, keys, seed, rounds)
        chance = simulate_chance(fitted, seen, evidence.score, seed) if simulated else None
        degrees, hubs = seen.edges.degrees, hub_counts(seen.edges)
    return Fit(fitted, evidence, replicates, degrees, kept, hubs, chance, seen.facts)


def replicate_scores(
    seen: ViewData, blocks: Mapping[str, Blocks], score: Floats, keys: Ints, seed: int, rounds: int
) -> list[Floats]:
    """Return the scores when a fifth of the edges, drawn at random, had not been seen, so many times."""
    runner, replicates, ends = seen.source.wiring.runner, [], seen.source.wiring.given(keys)
    assert runner is not None  # noqa: S101 - it leads the fit
    runner.step("views", 1, rounds + 1)
    for turn in range(rounds):
        runner.within = f"round {turn + 1} of {rounds}"
        find = partial(_thinned_scores, seen, blocks, ends, word(seed, LEFT_OUT_EDGES, turn))
        found = seen.source.wiring.stage(f"score{turn}", find)
        replicates.append(found.get("score", score))  # of a few edges all may be drawn
        runner.step("views", turn + 2, rounds + 1)
    runner.within = ""
    return replicates


def _thinned_scores(seen: ViewData, blocks: Mapping[str, Blocks], ends: Handle, key: np.uint64) -> Arrays:
    # An edge is drawn by the keys of its ends: one that is still there tomorrow is treated alike.
    fewer = seen.source.wiring.thinned(_keep, [ends], [ends, key])
    if not fewer.entry_count:
        return {}
    left = residuals(fewer, refined_eigenpairs(fewer, seen.pairs.vectors))
    return {"score": learn_views(seen.split(fewer, left), blocks, seen.source.name, seen.known)[1].score}


def node_keys(graph: Graph) -> Ints:
    """Return what edges are drawn by: the keys of the nodes, or else their numbers."""
    return np.arange(graph.node_count, dtype=np.uint64) if graph.keys is None else graph.keys


@compiled
def _keep(
    low: Ints, high: Ints, indices: Ints, start: int, own: Ints, theirs: Ints, key: np.uint64, out: Bools
) -> None:
    for i in range(low.size):
        for e in range(low[i], high[i]):
            out[e] = not drawn(own[i], theirs[indices[e] - start], key, LEFT_OUT)
