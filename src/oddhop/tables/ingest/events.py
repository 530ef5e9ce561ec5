"""Events and flow columns as files: sorted by DuckDB, written and read in blocks."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.base.parallel import Progress, silent
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.disk import EVENTS, HEADER, ArrayEntry
from oddhop.graph.events import EventColumns, Events
from oddhop.tables.encode.columns import Column
from oddhop.tables.flows import flow_columns, flow_values, with_flow_columns
from oddhop.tables.ingest.growing_files import growing_array
from oddhop.tables.read.database import reading
from oddhop.tables.read.events import event_batches

NODES_AT_ONCE = 1 << 17
FLOWS = "flows.npy"


@dataclass(frozen=True, eq=False)
class FlowFile:
    """The flow columns of all nodes, mapped from the disk."""

    columns: EventColumns
    values: Floats
    kinds: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, int]:
        """The columns by name, with the kind before it where there are several."""
        bare = [one.name for one in flow_columns(self.columns)]
        return {f"{kind}.{name}" if kind else name: k for kind in self.kinds or ("",) for k, name in enumerate(bare)}

    def column(self, name: str) -> Column:
        """Return one column whole."""
        return pa.chunked_array([pa.array(np.ascontiguousarray(self.values[:, self.names[name]]))])

    def beside(self, table: pa.Table, start: int, rows: int) -> pa.Table:
        """Append the columns of some nodes to a table of theirs."""
        return with_flow_columns(table, self.columns, self.values[start : start + rows], self.kinds)


def write_events(
    connection: duckdb.DuckDBPyConnection,
    columns: EventColumns,
    both_ways: bool,
    nodes: int,
    folder: Path,
    progress: Progress = silent,
) -> dict[str, ArrayEntry]:
    """Write the events of ``placed``, and the flow columns that they give."""
    counts = np.zeros(2 * nodes, dtype=np.int64)
    kinds = {
        "partners": (index_dtype(nodes), ()),
        "times": (np.int64, ()),
        "amounts": (np.float64, (len(columns.amounts),)),
        "kinds": (np.int16, (len(columns.kinds),)),
    }
    files = {name: folder / f"{EVENTS[name]}.npy" for name in EVENTS}
    with ExitStack() as stack, reading("the edges"):
        arrays = {name: stack.enter_context(growing_array(files[name], *kind)) for name, kind in kinds.items()}
        progress("sorting events", 0, 1)
        for batch in event_batches(connection, columns, both_ways, index_dtype(nodes)):
            batch.count_into(counts)
            for name, array in arrays.items():
                array.append(getattr(batch, name))
        progress("sorting events", 1, 1)
    with growing_array(files["indptr"], np.int64) as indptr:
        indptr.append(np.concatenate([[0], np.cumsum(counts)]))
    entries = {EVENTS[name]: array.entry for name, array in (arrays | {"indptr": indptr}).items()}
    _write_flows(Events(columns, **{name: _mapped(file) for name, file in files.items()}), folder, progress)
    return entries


def _write_flows(events: Events, folder: Path, progress: Progress) -> None:
    nodes = events.node_count
    with growing_array(folder / FLOWS, np.float64, (len(flow_columns(events.columns)),)) as flows:
        for start in range(0, nodes, NODES_AT_ONCE):
            progress("flows", start, nodes)
            flows.append(flow_values(events.of_nodes(start, min(start + NODES_AT_ONCE, nodes))))
    progress("flows", nodes, nodes)


def _mapped(file: Path) -> Any:
    # NumPy maps no file without values.
    array = np.load(file, mmap_mode="r") if file.stat().st_size > HEADER else np.load(file)
    return np.asarray(array)


def open_flows(columns: EventColumns | None, folder: Path, kinds: tuple[str, ...] = ()) -> FlowFile | None:
    """Open the flow columns that :func:`write_events` wrote; ``kinds`` are those of the nodes, if there are several."""
    return None if columns is None else FlowFile(columns, _mapped(folder / FLOWS), kinds)
