"""Odd on a network that stays on the disk: the views over its partitions, files in, files out.

The stages are those of a network in memory, over another store. So scores have the same bits. Of every node the process
that leads holds a few figures; tasks hold a partition and what they read of its peers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.files import Arrays
from oddhop.graph.rows import StoredRows
from oddhop.odd.blocks import Blocks, flow_columns, learn_blocks
from oddhop.odd.combine import Evidence
from oddhop.odd.communities import RESIDUALS, folded_rows, leading, leading_from, write_residuals
from oddhop.odd.flow import FlowModel, learn_flows
from oddhop.odd.kinship import COORDINATES, RATIO_SUMS, RATIOS
from oddhop.odd.krylov import VECTORS
from oddhop.odd.outlier import outlyingness
from oddhop.odd.row_blocks import gathered
from oddhop.odd.thinning import KEYS, thinned, wiring_of
from oddhop.odd.triangles import LARGEST_TIES, LEFT, TIE_SUMS
from oddhop.odd.views import Known, Panel, learn_views
from oddhop.partitions.store import InFiles, Store
from oddhop.partitions.task import TaskRunner

STAGE = "attributes"
MOST_KEPT = 20_000_000  # edges; what communities leave of more is not kept for explanations
VIEWS = (RATIOS, RATIO_SUMS, "f_squares", "faces", "face_parts", "degrees", LEFT, TIE_SUMS, "common", LARGEST_TIES)


@dataclass(frozen=True, eq=False)
class JudgedOnDisk:
    """What came of a network on disk.

    Attributes
    ----------
    panel, evidence : what was learned, and what it says of every node.
    replicates : the scores with edges left out.
    degrees : of every node.
    residuals : what communities leave of every edge; None where there are very many.
    """

    panel: Panel
    evidence: Evidence
    replicates: list[Floats]
    degrees: Ints
    residuals: Floats | None


def judge_on_disk(
    store: InFiles, runner: TaskRunner, keys: Ints, rounds: int, cycle_log_p: Floats | None = None
) -> JudgedOnDisk:
    """Learn the views of a network on disk and judge it, as it is and with edges left out so many times.

    ``cycle_log_p`` is what cycles say of every node, where they were searched.
    """
    manifest = store.stored.manifest
    x = StoredRows(store.stored)
    blocks = learn_blocks(x, manifest.flow_count)
    runner.each(STAGE, partial(_write_attributes, store, blocks), store.ranges)
    flows = None
    if manifest.flow_count:
        flows = learn_flows(flow_columns(x, manifest.flow_count), RowsOf(store, COORDINATES))
    runner.quiet.each(STAGE, partial(_write_flow, store, flows), store.ranges)
    for number in store.ranges:
        store.write(KEYS, number, keys[slice(*store.span(number))])
    nothing = np.zeros(store.nodes)
    flow = nothing if flows is None else gathered(store, "flow")
    known = Known(gathered(store, "outlying"), flow, nothing if cycle_log_p is None else cycle_log_p)
    found = leading(store, runner)
    write_residuals(store, runner, found)
    panel, evidence = learn_views(store, runner, blocks, known)
    degrees = gathered(store, "degrees")
    residuals = None
    if manifest.edges <= MOST_KEPT:
        residuals = np.concatenate([folded_rows(store.rows(one), store.read(RESIDUALS, one)) for one in store.ranges])
    shared = (COORDINATES, VECTORS) if found.values.size else (COORDINATES,)
    replicates = []
    for turn in range(rounds):
        within = runner.within(f"round {turn + 1} of {rounds}")
        fewer = partial(_judged_thinned, store, within, turn, shared, found.values.size, blocks, known)
        again, _ = store.remembered(f"score{turn}", fewer)
        # Only now: a run that is killed before goes on from them.
        store.other(wiring_of(turn), {}).forget(*VIEWS, RESIDUALS, VECTORS, "indptr", "indices")
        replicates.append(again.get("score", evidence.score))  # of a few edges all may be drawn
    return JudgedOnDisk(replace(panel, flows=flows), evidence, replicates, degrees, residuals)


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
        """Give a block of rows."""
        first, last, _ = rows.indices(self.store.nodes)
        parts = []
        for number in self.store.ranges:
            start, stop = self.store.span(number)
            if start < last and stop > first:
                parts.append(self.store.read(self.name, number)[max(first - start, 0) : last - start])
        return np.concatenate(parts)


def _judged_thinned(
    store: InFiles, runner: TaskRunner, turn: int, shared: tuple[str, ...], count: int, blocks: Blocks, known: Known
) -> tuple[Arrays, dict[str, Any]]:
    """Judge a network with edges left out; give no scores where none is left."""
    fewer = thinned(store, runner, store.seed, turn, shared)
    if not any(fewer.rows(number).indices.size for number in fewer.ranges):
        return {}, {}
    found = leading_from(fewer, runner, "known", count)
    write_residuals(fewer, runner, found)
    return {"score": learn_views(fewer, runner, blocks, known)[1].score}, {}


def _write_attributes(store: InFiles, blocks: Blocks, number: int) -> None:
    """Write the coordinates of a partition, and how far its nodes lie from everybody."""
    if store.has("outlying", number):
        return
    span = store.span(number)
    x = StoredRows(store.stored)
    store.write(COORDINATES, number, blocks.coordinates(x, *span))
    store.write("outlying", number, outlyingness(blocks, x, *span))


def _write_flow(store: InFiles, flows: FlowModel | None, number: int) -> None:
    if flows is None or store.has("flow", number):
        return
    made = flow_columns(StoredRows(store.stored), store.stored.manifest.flow_count)
    store.write("flow", number, flows.figure(made, RowsOf(store, COORDINATES), *store.span(number)))
