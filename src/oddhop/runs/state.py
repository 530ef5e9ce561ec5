"""What a run keeps of every judged node, so that a later run can be compared with it without the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.files import atomic_file
from oddhop.casebook.record import DEGREE, NEIGHBOURS, NODE, VERSION
from oddhop.errors import RunFolderError
from oddhop.runs import folder as files
from oddhop.tables.results import read_parquet

if TYPE_CHECKING:
    from oddhop.tables.network import Network

CELLS_AT_ONCE = 1 << 20
SCHEMA, JUDGED = b"schema", b"judged"


@dataclass(frozen=True, eq=False)
class State:
    """The records of the judged nodes of a run.

    Attributes
    ----------
    path : the file.
    judged : the kind of node that was judged; empty where there is one kind.
    """

    path: Path
    judged: str

    def records(self) -> pa.Table:
        """Read the ids and records, a row a node."""
        return read_parquet(self.path)


def write_state(folder: Path, network: Network) -> None:
    """Write ``state.parquet``: for every judged node its id and its record."""
    # To read a state takes a part of the time that these imports take.
    from oddhop.casebook.fingerprint import node_hashes, records

    graph, judged = network.graph, network.graph.judged
    kinds, hashes = graph.kinds, node_hashes(network)
    # Blocks of cells and of neighbours, for a record needs both.
    width = max(graph.attribute_count, graph.indices.size // max(graph.node_count, 1), 1)
    size = max(CELLS_AT_ONCE // width, 1)

    def block(start: int, stop: int) -> pa.Table:
        found = records(network, np.arange(start, stop), hashes)
        return found.add_column(0, "id", network.ids.slice(start, stop - start))

    told = {SCHEMA: str(VERSION), JUDGED: "" if kinds is None else kinds.names[kinds.judged]}
    schema = block(judged.start, judged.start).schema.with_metadata(told)
    with (
        atomic_file(folder / files.STATE) as file,
        pq.ParquetWriter(file, schema, compression="zstd", version="2.6") as writer,
    ):
        for start in range(judged.start, judged.stop, size):
            stop = min(start + size, judged.stop)
            writer.write_table(block(start, stop).cast(schema))


def read_state(folder: Path, manifest: Mapping[str, Any] | None = None) -> State | None:
    """Open the state of a run; None where it has none, as runs on a cluster, or one of an older oddhop.

    With a manifest the file is held to its sha256.
    """
    path = folder / files.STATE
    if manifest is not None and files.STATE not in manifest["files"]:
        return None
    if manifest is not None:
        files.check_file(folder, manifest, files.STATE)
    try:
        schema = pq.read_schema(path)
        judged = schema.metadata[JUDGED].decode()
        if schema.metadata.get(SCHEMA) != str(VERSION).encode():
            return None
        if not {"id", NODE, DEGREE, NEIGHBOURS} <= set(schema.names):
            raise ValueError("columns are missing")
        return State(path, judged)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, AttributeError):
        remedy = "restore it from a copy or run again"
        raise RunFolderError(f"{path} is not a file of oddhop or was changed", remedy) from None
