"""What a run keeps of every judged node, so that a later run can be compared with it without the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.arrays import Ints
from oddhop.base.files import atomic_file
from oddhop.errors import RunFolderError
from oddhop.runs import folder as files
from oddhop.runs.distributions import EDGES, MOST_ATTRIBUTES, Distributions, count_values, distributions
from oddhop.tables.results import read_parquet

if TYPE_CHECKING:  # what writes a state is imported where it does: to read one takes a part of that time
    from oddhop.explain.columns import ColumnSpan
    from oddhop.tables.network import Network

MOST_COLUMNS = 200
CELLS_AT_ONCE = 1 << 20
PREFIX, ALL, EVENTS = "column:", "columns", "events"
ENCODER, JUDGED, COUNTS = b"encoder", b"judged", b"counts"


@dataclass(frozen=True, eq=False)
class State:
    """The state of the judged nodes of a run, read a column at a time.

    Attributes
    ----------
    path : the file.
    judged : the kind of node that was judged; empty where there is one kind.
    encoders : for every hash of columns a digest of how they were encoded. Hashes of other digests do not compare.
    distributions : how the values of every column are distributed.
    """

    path: Path
    judged: str
    encoders: Mapping[str, bytes]
    distributions: Distributions

    def column(self, name: str) -> pa.ChunkedArray:
        """Read one column."""
        return read_parquet(self.path, [name]).column(0)

    def figures(self, name: str) -> npt.NDArray[Any]:
        """Read one column of numbers."""
        return np.asarray(self.column(name).to_numpy())


def write_state(folder: Path, network: Network) -> None:
    """Write ``state.parquet``: for every judged node its id, its degree, a hash of its edges and one of every column.

    The hash of the edges is a sum over the neighbours, so that their order does not count. A column is hashed as it
    was encoded, in float32. All columns that events gave share one hash, and so do more than 200 others. The file tells
    how the values of every column are distributed as well, where there are at most 2,000 attributes.
    """
    graph = network.graph
    spans, own = _own_spans(network)
    names, group = _groups(spans)
    width = sum(one.stop - one.start for one in spans)
    fields = [pa.field("id", network.ids.type), pa.field("degree", pa.int64()), pa.field("edges", pa.uint64())]
    for k, name in enumerate(names):
        hashed = [spans[s].encoder for s in np.flatnonzero(group == k)]
        fields.append(pa.field(name, pa.uint32(), metadata={ENCODER: _digest(hashed)}))
    kinds = graph.kinds
    schema = pa.schema(fields, metadata={JUDGED: "" if kinds is None else kinds.names[kinds.judged]})
    group_of = np.repeat(group, [one.stop - one.start for one in spans])
    mixed = _mixed_keys(network)
    counted = width <= MOST_ATTRIBUTES
    totals = np.zeros((width if counted else 0, EDGES.size + 1), dtype=np.int64)
    with (
        atomic_file(folder / files.STATE) as file,
        pq.ParquetWriter(file, schema, compression="zstd", version="2.6") as writer,
    ):
        for start, stop in _blocks(graph.judged, max(width, len(names), 1)):
            rows = graph.attributes[start:stop]
            mine = rows if kinds is None else rows[:, own]
            hashes = _column_hashes(mine, group_of, len(names))
            if counted:
                count_values(mine, totals)
            arrays = [
                network.ids.slice(start, stop - start),
                pa.array(np.diff(graph.indptr[start : stop + 1]).astype(np.int64)),
                pa.array(_edge_hashes(graph.indptr[start : stop + 1], graph.indices, mixed)),
                *(pa.array(np.ascontiguousarray(hashes[:, k])) for k in range(len(names))),
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        taken = spans if counted else []
        known = distributions(taken, [_digest([one.encoder]) for one in taken], totals)
        writer.add_key_value_metadata({COUNTS: known.to_json()})


def read_state(folder: Path, manifest: Mapping[str, Any] | None = None) -> State | None:
    """Open the state of a run; None where it has none, as runs on a cluster and of older versions.

    With a manifest the file is held to its sha256.
    """
    path = folder / files.STATE
    if manifest is not None and files.STATE not in manifest["files"]:
        return None
    if manifest is not None:
        files.check_file(folder, manifest, files.STATE)
    try:
        schema = pq.read_schema(path)
        types = {"degree": pa.int64(), "edges": pa.uint64()}
        right = "id" in schema.names and all(schema.field(name).type == types[name] for name in types)
        hashed = [one for one in schema if one.name not in ("id", *types)]
        right &= all(one.type == pa.uint32() for one in hashed)
        encoders = {one.name: one.metadata[ENCODER] for one in hashed}
        judged = schema.metadata[JUDGED].decode()
        spread = Distributions.from_json(pq.read_metadata(path).metadata[COUNTS].decode())
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, AttributeError):
        right = False
    if not right:
        raise RunFolderError(f"{path} is not a file of oddhop or was changed", "restore it from a copy or run again")
    return State(path, judged, encoders, spread)


def _digest(encoders: list[Any]) -> str:
    return hashlib.sha256(repr(encoders).encode()).hexdigest()[:16]


def _own_spans(network: Network) -> tuple[list[ColumnSpan], Ints]:
    """Return the columns of the judged kind by the names that the user gave them, and their attributes."""
    from oddhop.explain.columns import Columns, ColumnSpan

    spans, kinds = Columns(network).spans, network.graph.kinds
    if kinds is None:
        return list(spans), np.arange(network.graph.attribute_count)
    own = kinds.columns_of(kinds.judged)
    mine, before = set(own.tolist()), f"{kinds.names[kinds.judged]}."
    # Not Columns(network.of_judged()): that would copy the attributes of all judged nodes.
    return [
        ColumnSpan(one.name.removeprefix(before), one.start, one.stop, one.encoder)
        for one in spans
        if one.start in mine
    ], own


def _groups(spans: list[ColumnSpan]) -> tuple[list[str], Ints]:
    """Return the names of the hashes, and for every column the number of the hash that it is part of."""
    from oddhop.tables.encode.encoders import FlowNumber

    flows = np.array([isinstance(one.encoder, FlowNumber) for one in spans], dtype=bool)
    told = [f"{PREFIX}{one.name}" for one, flow in zip(spans, flows, strict=True) if not flow]
    names = [ALL] if len(told) > MOST_COLUMNS else told
    number = np.zeros(len(spans), dtype=np.int64)
    number[~flows] = 0 if len(told) > MOST_COLUMNS else np.arange(len(told))
    number[flows] = len(names)
    return names + [EVENTS] * bool(flows.any()), number


def _blocks(nodes: slice, width: int) -> Iterator[tuple[int, int]]:
    size = max(CELLS_AT_ONCE // width, 1)
    for start in range(nodes.start, nodes.stop, size):
        yield start, min(start + size, nodes.stop)


def _mixed_keys(network: Network) -> Ints:
    """Return 64 bits for every node, made of its id and its kind: two kinds may have the same id."""
    from oddhop.base.randomness import mixed_pairs, word

    kinds = network.graph.kinds
    keys = network.keys
    of_kind = np.zeros(1, dtype=np.uint64)
    sizes = [keys.size]
    if kinds is not None:
        of_kind = np.array([word(0, *name.encode()) for name in kinds.names], dtype=np.uint64)
        sizes = np.diff(kinds.bounds).tolist()
    mixed_pairs(np.repeat(of_kind, sizes), keys, keys)
    return keys


def _edge_hashes(indptr: Ints, indices: Ints, mixed: Ints) -> Ints:
    return _sums(mixed[indices[indptr[0] : indptr[-1]]], indptr - indptr[0])


def _column_hashes(rows: Any, group_of: Ints, groups: int) -> Ints:
    """Hash the attributes of some nodes, one hash a group of them: a sum over the values that are not zero."""
    import scipy.sparse as sp

    from oddhop.base.randomness import mixed_pairs

    block = sp.csr_array(rows, dtype=np.float32, copy=hasattr(rows, "toarray"))
    block.eliminate_zeros()
    block.sort_indices()
    bits = np.empty(block.nnz, dtype=np.uint64)
    mixed_pairs(_places(group_of)[block.indices], block.data.view(np.uint32).astype(np.uint64), bits)
    cells = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)) * groups + group_of[block.indices]
    if not bool((cells[1:] >= cells[:-1]).all()):  # flow columns of one kind may stand before columns of another
        order = np.argsort(cells, kind="stable")
        cells, bits = cells[order], bits[order]
    sums = _sums(bits, np.searchsorted(cells, np.arange(block.shape[0] * groups + 1)))
    return (sums >> np.uint64(32)).astype(np.uint32).reshape(block.shape[0], groups)


def _places(group_of: Ints) -> Ints:
    """Return every attribute its number within its group: a hash does not hang on how many attributes others have."""
    places = np.zeros(group_of.size, dtype=np.uint64)
    for group in np.unique(group_of):
        mine = group_of == group
        places[mine] = np.arange(np.count_nonzero(mine))
    return places


def _sums(bits: Ints, bounds: Ints) -> Ints:
    """Add up runs of numbers, wrapping around; differences of running sums give empty runs 0."""
    running = np.zeros(bits.size + 1, dtype=np.uint64)
    np.cumsum(bits, out=running[1:])
    return np.asarray(running[bounds[1:]] - running[bounds[:-1]])
