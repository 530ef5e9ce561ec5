"""The records of the nodes of a network as it is now, and the fingerprint of a case."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from oddhop.base.arrays import Ints
from oddhop.base.randomness import mixed_pairs
from oddhop.casebook.record import (
    ALL,
    COLUMN,
    DEGREE,
    EVENTS,
    KEPT,
    LAST,
    NEIGHBOURS,
    NODE,
    SCALE,
    TOTAL,
    VERSION,
    Fingerprint,
)
from oddhop.errors import GraphError
from oddhop.explain.columns import Columns, ColumnSpan
from oddhop.graph.checks import is_sparse
from oddhop.graph.events import NO_TIME
from oddhop.tables.encode.encoders import DateColumn, FlowNumber, NumberColumn
from oddhop.tables.network import Network, keys_of

MOST_COLUMNS, SUMS = 200, 4


def records(network: Network, nodes: Ints, hashes: Ints | None = None) -> pa.Table:
    """Return the records of some nodes, a row each.

    Parameters
    ----------
    network : the network, in which only the rows of these nodes are looked at.
    nodes : their numbers.
    hashes : the hashes of all nodes, where they are at hand; see :func:`node_hashes`.
    """
    graph = network.graph
    degrees, entries = _entries(graph.indptr[nodes], graph.indptr[nodes + 1])
    others = graph.indices[entries]
    columns: dict[str, Any] = {
        NODE: node_hashes(network, nodes) if hashes is None else hashes[nodes],
        DEGREE: degrees,
        NEIGHBOURS: _smallest(degrees, node_hashes(network, others) if hashes is None else hashes[others]),
    }
    if graph.events is not None:
        columns |= _events(network, nodes)
    attributes = graph.attributes[nodes]
    block = sp.csc_array(attributes, dtype=np.float32, copy=is_sparse(attributes))
    block.eliminate_zeros()
    spans = [one for one in own_columns(network) if not isinstance(one.encoder, FlowNumber)]
    scales: dict[str, Any] = {}
    if len(spans) > MOST_COLUMNS:
        places = np.concatenate([np.arange(one.start, one.stop) for one in spans])
        # A change of one attribute changes every sum as much; so many columns would make a record too long.
        sums = block[:, places].tocsr() @ _signs(places.size)
        columns |= {f"{ALL}{k}": sums[:, k].astype(np.float32) for k in range(SUMS)}
    else:
        columns |= {f"{COLUMN}{one.name}": _values(block, one) for one in spans}
        scales = {f"{COLUMN}{one.name}": _scale(one) for one in spans}
    arrays = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}  # what is missing is null
    fields = [pa.field(name, one.type, metadata=scales.get(name)) for name, one in arrays.items()]
    return pa.Table.from_arrays(list(arrays.values()), schema=pa.schema(fields))


def own_columns(network: Network) -> list[ColumnSpan]:
    """Return the columns of the judged kind by the names that the user gave them."""
    spans, kinds = Columns(network).spans, network.graph.kinds
    if kinds is None:
        return list(spans)
    mine, before = set(kinds.columns_of(kinds.judged).tolist()), f"{kinds.names[kinds.judged]}."
    # Not Columns(network.of_judged()): that would copy the attributes of all judged nodes.
    return [
        ColumnSpan(one.name.removeprefix(before), one.start, one.stop, one.encoder)
        for one in spans
        if one.start in mine
    ]


def node_hashes(network: Network, nodes: Ints | None = None) -> Ints:
    """Return 32 bits for each of some nodes, or of all: of its id, and of its kind too where it is not judged."""
    kinds = network.graph.kinds
    ids = network.ids if nodes is None else network.ids.take(pa.array(nodes))
    if kinds is None:
        return text_hashes(ids)
    out = np.empty(len(ids), dtype=np.uint32)
    of_kind = kinds.of(np.arange(len(ids)) if nodes is None else nodes)
    for kind, name in enumerate(kinds.names):
        mine = np.flatnonzero(of_kind == kind)
        texts = ids.take(pa.array(mine)).cast(pa.large_string())
        before, space = (pa.scalar(text, pa.large_string()) for text in (name, " "))
        called = texts if kind == kinds.judged else pc.binary_join_element_wise(before, texts, space)
        out[mine] = text_hashes(called)
    return out


def text_hashes(texts: Any) -> Ints:
    """Return 32 bits for every id or text."""
    found = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.large_string())
    return (keys_of(found) >> np.uint64(32)).astype(np.uint32)


def member_ids(network: Network, nodes: Ints) -> list[str]:
    """Return the ids of some nodes as text, as in the book.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import member_ids
    >>> member_ids(Network.of(Graph.from_arrays([[0], [1]], [[1.0], [2.0]])), np.array([1]))
    ['1']
    """
    return [str(network.name(int(node))) for node in nodes]


def fingerprint_of(network: Network, nodes: Ints) -> Fingerprint:
    """Return the fingerprint of the members of a case, given by their numbers.

    Only their own rows are looked at, so the work does not grow with the network.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import fingerprint_of
    >>> star = Network.of(Graph.from_arrays([[0, 0, 0], [1, 2, 3]], [[1.0], [2.0], [3.0], [4.0]]))
    >>> fingerprint_of(star, np.array([0])).records["degree"].to_pylist()
    [3]
    """
    chosen = np.unique(np.asarray(nodes, dtype=np.int64))
    count = network.graph.node_count
    if not chosen.size or chosen[0] < 0 or chosen[-1] >= count:
        raise GraphError(
            f"a case needs members with numbers from 0 to {count - 1:,}, got {chosen[:3].tolist()}",
            "take them from Network.numbers",
        )
    # In the order of the hashes: the numbers of nodes are others in another network.
    found = records(network, chosen).sort_by(NODE)
    return Fingerprint.of(found, network.kind_of(int(chosen[0])) or "node")


def _entries(starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """Return how many entries every row has, and where they are."""
    counts = (stops - starts).astype(np.int64)
    before = np.cumsum(counts) - counts
    return counts, np.arange(counts.sum()) + np.repeat(starts - before, counts)


def _smallest(counts: Ints, hashes: Ints) -> pa.ListArray:
    """Return the smallest hashes of every row, sorted."""
    rows = np.repeat(np.arange(counts.size, dtype=np.uint64), counts)
    keyed = np.sort(rows << np.uint64(32) | hashes)
    first = np.cumsum(counts) - counts
    kept = np.arange(keyed.size) - np.repeat(first, counts) < KEPT
    ends = np.concatenate([[0], np.cumsum(np.minimum(counts, KEPT))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(keyed[kept].astype(np.uint32)))


def _events(network: Network, nodes: Ints) -> dict[str, Any]:
    """Return how many events every node has, the sums of their amounts, and the time of the last."""
    events = network.graph.events
    assert events is not None  # noqa: S101 - the caller has looked
    counts, entries = _entries(events.indptr[2 * nodes], events.indptr[2 * nodes + 2])
    rows = np.repeat(np.arange(nodes.size), counts)
    out: dict[str, Any] = {EVENTS: counts.astype(np.float64)}
    for name, amounts in zip(events.columns.amounts, events.amounts[entries].T, strict=True):
        out[f"{TOTAL}{name}"] = np.nan_to_num(
            np.bincount(rows, np.abs(np.nan_to_num(amounts)), nodes.size).astype(np.float64)
        )
    if events.times.size:
        times = np.append(events.times[entries], NO_TIME)
        last = np.maximum.reduceat(times, np.cumsum(counts) - counts) if nodes.size else times[:0]
        out[LAST] = np.where(counts > 0, last, NO_TIME)
    return out


def _values(block: sp.csc_array, span: ColumnSpan) -> Ints:
    """Return a number for a column of numbers, and a hash of the value for any other."""
    rows = block.shape[0]
    if _is_number(span):
        values = block[:, [span.start]].toarray()[:, 0]
        if span.encoder is not None and span.encoder.mark:
            values[block[:, [span.stop - 1]].toarray()[:, 0] > 0] = np.nan
        return np.asarray(values)
    part = block[:, span.start : span.stop]
    # By the names of the attributes, so that it stays the same when the levels of the column are learned again.
    codes = keys_of(pa.array(span.encoder.names if span.encoder is not None else [span.name]))
    bits = np.empty(part.nnz, dtype=np.uint64)
    mixed_pairs(np.repeat(codes, np.diff(part.indptr)), part.data.view(np.uint32).astype(np.uint64), bits)
    out = np.zeros(rows, dtype=np.uint64)
    np.add.at(out, part.indices, bits)
    return (out >> np.uint64(32)).astype(np.uint32)


def _is_number(span: ColumnSpan) -> bool:
    return span.encoder is None or (isinstance(span.encoder, NumberColumn | DateColumn) and span.encoder.values)


def _scale(span: ColumnSpan) -> dict[bytes, str] | None:
    if not _is_number(span) or not isinstance(span.encoder, NumberColumn | DateColumn):
        return None
    return {SCALE: json.dumps(astuple(span.encoder.scale))}


def _signs(count: int) -> Any:
    """Return 1 and -1 for every attribute and sum, by its place."""
    bits = np.empty(count, dtype=np.uint64)
    mixed_pairs(np.full(count, VERSION, dtype=np.uint64), np.arange(count, dtype=np.uint64), bits)
    return np.where(bits[:, None] >> np.arange(SUMS, dtype=np.uint64) & np.uint64(1), 1.0, -1.0)
