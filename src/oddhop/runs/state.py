"""What a run keeps of every judged node, so that a later run can be compared with it without the tables."""

from __future__ import annotations

import hashlib
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
from oddhop.runs.distributions import EDGES, MOST_ATTRIBUTES, Distributions, count_values, distributions
from oddhop.tables.results import read_parquet

if TYPE_CHECKING:
    from oddhop.tables.network import Network

CELLS_AT_ONCE = 1 << 20
SCHEMA, JUDGED, COUNTS = b"schema", b"judged", b"counts"


@dataclass(frozen=True, eq=False)
class State:
    """The records of the judged nodes of a run.

    Attributes
    ----------
    path : the file.
    judged : the kind of node that was judged; empty where there is one kind.
    distributions : how the values of every column are distributed.
    """

    path: Path
    judged: str
    distributions: Distributions

    def records(self) -> pa.Table:
        """Read the ids and records, a row a node."""
        return read_parquet(self.path)


def write_state(folder: Path, network: Network) -> None:
    """Write ``state.parquet``: for every judged node its id and its record.

    The file has how the values of every column are distributed as well, where there are at most 2,000 attributes.
    """
    # To read a state takes a part of the time that these imports take.
    from oddhop.casebook.fingerprint import node_hashes, own_columns, records

    graph, judged = network.graph, network.graph.judged
    spans, kinds, hashes = own_columns(network), graph.kinds, node_hashes(network)
    own = np.concatenate([np.arange(one.start, one.stop) for one in spans]) if spans else np.empty(0, dtype=np.int64)
    counted = own.size <= MOST_ATTRIBUTES
    totals = np.zeros((own.size if counted else 0, EDGES.size + 1), dtype=np.int64)
    # Blocks of cells and of neighbours, for a record needs both.
    width = max(own.size, graph.indices.size // max(graph.node_count, 1), 1)
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
            if counted:
                rows = graph.attributes[start:stop]
                count_values(rows if kinds is None else rows[:, own], totals)
            writer.write_table(block(start, stop).cast(schema))
        taken = spans if counted else []
        digests = [hashlib.sha256(repr([one.encoder]).encode()).hexdigest()[:16] for one in taken]
        writer.add_key_value_metadata({COUNTS: distributions(taken, digests, totals).to_json()})


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
        return State(path, judged, Distributions.from_json(pq.read_metadata(path).metadata[COUNTS].decode()))
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, AttributeError):
        remedy = "restore it from a copy or run again"
        raise RunFolderError(f"{path} is not a file of oddhop or was changed", remedy) from None
