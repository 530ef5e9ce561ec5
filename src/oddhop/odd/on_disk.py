"""Odd on a network that stays on the disk: the views over its partitions, files in, files out.

The stages are those of a network in memory, over another store. So scores have the same bits. The process that
runs the tasks holds a few figures of every node; a task holds a partition and what it reads of its peers. Simulated
networks take more, see :mod:`oddhop.odd.null_kinds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.files import Arrays
from oddhop.graph.kinds import NodeKinds
from oddhop.graph.rows import AttributeRows, Columns, NodeRows, StoredRows
from oddhop.odd.blocks import Blocks, learn_blocks, own_columns
from oddhop.odd.combine import Evidence
from oddhop.odd.communities import RESIDUALS, folded_store, leading, write_residuals
from oddhop.odd.cycle import Cycles
from oddhop.odd.facts.find import find_facts
from oddhop.odd.homophily import COORDINATES
from oddhop.odd.kinds import Edges, hub_counts, split_edges
from oddhop.odd.null import Chance, simulate_over_store
from oddhop.odd.outlier import outlyingness
from oddhop.odd.real_network import RealNetwork
from oddhop.odd.row_blocks import gathered
from oddhop.odd.thinning import KEYS, wiring_of
from oddhop.odd.views import FittedViews, Known, learn_views, score_thinned
from oddhop.partitions.files import InFiles, Store
from oddhop.partitions.task import TaskRunner

STAGE = "attributes"
MOST_KEPT = 20_000_000  # edges; what communities leave of more is not kept for explanations


@dataclass(frozen=True, eq=False)
class JudgedOnDisk:
    """What came of a network on disk.

    Attributes
    ----------
    fitted, evidence : what was learned, and what it says of every node.
    replicates : the scores with edges left out.
    degrees : of every judged node.
    residuals : what communities leave of every edge; None where there are very many.
    hubs : how many nodes of every other kind have too many neighbours to be compared by.
    chance : how high the nodes of simulated networks score; None where none were simulated.
    """

    fitted: FittedViews
    evidence: Evidence
    replicates: list[Floats]
    degrees: Ints
    residuals: Floats | None
    hubs: dict[str, int]
    chance: Chance | None


def judge_on_disk(
    store: InFiles, runner: TaskRunner, keys: Ints, rounds: int, cycles: Cycles | None = None, *, simulated: bool
) -> JudgedOnDisk:
    """Learn the views of a network on disk and judge it, as it is and with edges left out so many times.

    ``cycles`` are those of the events, where they were searched.
    """
    manifest, of_kind = store.stored.manifest, _of_kind(store)
    judged = of_kind[_judged(manifest.node_kinds)]
    learned = {name: learn_blocks(*_attributes(one)) for name, one in of_kind.items()}
    for name, one in of_kind.items():
        runner.each(STAGE, partial(_write_attributes, one, learned[name], one == judged), one.ranges)
    for number in store.ranges:
        store.write(KEYS, number, keys[slice(*store.span(number))])
    first = 0 if judged.within is None else judged.within[0]
    own = slice(first, first + judged.nodes)

    def event_facts() -> tuple[Arrays, dict[str, Any]]:
        x, flow_count = _attributes(judged)
        events = store.stored.events() if flow_count else None
        facts = find_facts(events, own, RowsOf(judged, COORDINATES), own_columns(x, flow_count))
        return {"log_p": np.zeros(judged.nodes) if facts is None else facts.log_p}, {}

    flow_log_p = store.remembered("facts", event_facts)[0]["log_p"]
    cycle_log_p = np.zeros(judged.nodes) if cycles is None else cycles.log_p[own]
    known = Known(gathered(judged, "outlying"), flow_log_p, cycle_log_p)
    found = leading(store, runner)
    write_residuals(store, runner, found)
    edges = _split(store, of_kind, runner)
    blocks = learned.pop(_judged(manifest.node_kinds))
    fitted, evidence = learn_views(edges, runner, blocks, known, learned)
    residuals = folded_store(store, RESIDUALS) if manifest.edges <= MOST_KEPT else None
    shared, vectors = () if learned else (COORDINATES,), found.values.size

    def thinned_score(turn: int) -> tuple[Arrays, dict[str, Any]]:
        within = runner.within(f"round {turn + 1} of {rounds}")
        split = partial(_split, of_kind=of_kind, runner=within)
        score = score_thinned(store, within, store.seed, turn, vectors, shared, split, blocks, known, learned)
        return {} if score is None else {"score": score}, {}

    replicates = []
    for turn in range(rounds):
        again, _ = store.remembered(f"score{turn}", partial(thinned_score, turn))
        # Only now: a run that is killed before goes on from them.
        store.discard(wiring_of(turn))
        replicates.append(again.get("score", evidence.score))  # of a few edges all may be drawn
    chance = None
    if simulated:
        split = partial(_split, of_kind=of_kind, runner=runner)
        real = RealNetwork(store, edges, split, manifest.node_kinds, found.values.size, known, cycles)
        chance = simulate_over_store(fitted, real, evidence.score, runner, store.seed, runner.progress)
    return JudgedOnDisk(fitted, evidence, replicates, edges.degrees, residuals, hub_counts(edges), chance)


def _judged(kinds: NodeKinds | None) -> str:
    return "" if kinds is None else kinds.names[kinds.judged]


def _of_kind(store: InFiles) -> dict[str, InFiles]:
    """Return where arrays of every kind of nodes are kept; those of one kind are kept with the network."""
    kinds = store.stored.manifest.node_kinds
    if kinds is None:
        return {"": store}
    return {name: store.of_nodes(f"kind{k}", kinds.nodes(k), {}) for k, name in enumerate(kinds.names)}


def _attributes(store: InFiles) -> tuple[AttributeRows, int]:
    """Return the attributes of the nodes of a kind, and how many of them were made of events."""
    manifest, x = store.stored.manifest, StoredRows(store.stored)
    kinds = manifest.node_kinds
    if kinds is None or store.within is None:
        return x, manifest.flow_count
    kind = kinds.bounds.index(store.within[0])
    columns = kinds.columns_of(kind)
    flow_count = int(np.count_nonzero(columns >= len(manifest.attribute_names) - manifest.flow_count))
    return Columns(NodeRows(x, kinds.nodes(kind)), columns), flow_count


def _split(store: InFiles, of_kind: dict[str, InFiles], runner: TaskRunner) -> Edges:
    kinds = store.stored.manifest.node_kinds
    return Edges(store) if kinds is None else split_edges(store, kinds, of_kind, runner)


@dataclass(frozen=True, eq=False)
class RowsOf:
    """An array over nodes, some rows at a time wherever partitions end."""

    store: Store
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes and columns."""
        return self.store.nodes, *self.store.read(self.name, 0).shape[1:]

    def __getitem__(self, rows: slice) -> Any:
        """Return a block of rows."""
        first, last, _ = rows.indices(self.store.nodes)
        parts = []
        for number in self.store.ranges:
            start, stop = self.store.span(number)
            if start < last and stop > first:
                parts.append(self.store.read(self.name, number)[max(first - start, 0) : last - start])
        return np.concatenate(parts)


def _write_attributes(store: InFiles, blocks: Blocks, judged: bool, number: int) -> None:
    """Write the coordinates of a partition, and how far its nodes lie from everybody if they are judged."""
    if store.has("outlying" if judged else COORDINATES, number):
        return
    (x, _), span = _attributes(store), store.span(number)
    store.write(COORDINATES, number, blocks.coordinates(x, *span))
    if judged:
        store.write("outlying", number, outlyingness(blocks, x, *span))
