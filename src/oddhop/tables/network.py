"""From two tables to a network that a detector takes, with the encoding and the ids kept beside it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.parallel import Progress, silent
from oddhop.errors import GraphError, OddhopError
from oddhop.graph.disk import ENCODING, IDS, ORIGINALS, Stored, open_stored
from oddhop.graph.graph import Graph
from oddhop.settings import EncodeSettings, ReadSettings
from oddhop.tables.encode import Difference, Encoding, learn_and_apply
from oddhop.tables.read import Counts, Roles, read_network


@dataclass(frozen=True, eq=False)
class Network:
    """A network from tables.

    Attributes
    ----------
    graph : its nodes are numbered by their place in ``ids``.
    ids : the ids in the type they came in.
    encoding : how the columns became attributes.
    roles, counts : which columns were read as what, and what was left out.
    differences : where the table is not as the one that the encoding was learned from.
    originals : the columns whose values an encoding loses (texts, dates), to quote from.
    """

    graph: Graph
    ids: pa.Array
    encoding: Encoding
    roles: Roles
    counts: Counts
    differences: tuple[Difference, ...] = ()
    originals: pa.Table | None = None


@dataclass(frozen=True, eq=False)
class Description:
    """What is known of a network on disk beside its wiring and attributes; see :class:`Network`."""

    ids: pa.Array
    encoding: Encoding
    roles: Roles
    counts: Counts
    differences: tuple[Difference, ...]
    originals: pa.Table | None


def load_network(
    edges: Any,
    nodes: Any,
    read: ReadSettings | None = None,
    encode: EncodeSettings | None = None,
    *,
    encoding: Encoding | None = None,
    temp_folder: str | Path | None = None,
    progress: Progress = silent,
) -> Network:
    """Read two tables and make attributes of the columns: by ``encoding``, or by one learned from them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.network import load_network
    >>> ties = pa.table({"from": ["al", "bo", "cy"], "to": ["bo", "cy", "al"]})
    >>> people = pa.table({"name": ["bo", "cy", "al"], "age": [31, 52, 47], "pays": ["cash", "card", "cash"]})
    >>> network = load_network(ties, people)
    >>> network.graph, network.ids.to_pylist()
    (Graph(3 nodes, 3 edges, 3 attributes), ['al', 'bo', 'cy'])
    """
    read, encode = read or ReadSettings(), encode or EncodeSettings()
    tables = read_network(
        edges,
        nodes,
        source=read.source,
        target=read.target,
        id=read.id,
        strict=read.strict,
        memory_limit=read.memory_limit,
        temp_folder=temp_folder,
        progress=progress,
    )
    differences: tuple[Difference, ...] = ()
    attributes: Any
    if encoding is None:
        encoding, attributes = learn_and_apply(
            tables.columns,
            kinds=encode.kinds,
            max_levels=encode.max_levels,
            rare=encode.rare,
            text_columns=encode.text_columns,
            progress=progress,
        )
    else:
        differences = encoding.differences(tables.columns)
        attributes = encoding.apply(tables.columns)[0]
    progress("encoding", len(encoding.report), len(encoding.report))
    graph = Graph.from_arrays(tables.edge_index, attributes, attribute_names=encoding.names)
    originals = tables.columns.select([one.name for one in encoding.columns if one.kind in ("text", "date")])
    return Network(graph, tables.ids, encoding, tables.roles, tables.counts, differences, originals)


def open_network(folder: str | os.PathLike[str]) -> Network:
    r"""Open a network that ``oddhop ingest`` wrote; the graph is mapped from the disk, ids and texts are read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.tables.ingest import ingest
    >>> from oddhop.tables.network import open_network
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\n")
    ...     _ = ingest(edges, nodes, Path(home, "graph"))
    ...     open_network(Path(home, "graph")).ids.to_pylist()
    ['a', 'b', 'c']
    """
    known = describe(open_stored(folder))
    return Network(Graph.open(folder), **vars(known))


def describe(stored: Stored, *, texts: bool = True) -> Description:
    """Read the ids, the encoding and, if asked, the texts of a network on disk; nothing of its wiring is touched."""
    manifest, folder = stored.manifest, stored.folder
    try:
        encoding = Encoding.from_json(json.loads((stored.folder / ENCODING).read_bytes()))
        ids = pq.read_table(stored.folder / IDS).column(0)
        if pa.types.is_string(ids.type) and ids.nbytes >= 2**31:  # one array of that type cannot hold them
            ids = ids.cast(pa.large_string())
        ids = ids.combine_chunks()
        originals = pq.read_table(stored.folder / ORIGINALS) if texts and ORIGINALS in manifest.files else None
        counts = Counts(**{**manifest.counts, "ignored_columns": tuple(manifest.counts["ignored_columns"])})
        roles, differences = Roles(**manifest.roles), tuple(Difference(**one) for one in manifest.differences)
    except (ValueError, TypeError, KeyError, RecursionError, OSError, pa.ArrowException, OddhopError) as error:
        raise GraphError(f"{folder} was changed after it was written: {error}; take a copy or ingest again") from None
    if len(ids) != manifest.nodes or encoding.names != manifest.attribute_names:
        raise GraphError(f"the files of {folder} do not belong together; take a copy or ingest again")
    return Description(ids, encoding, roles, counts, differences, originals)


def with_ids(result: pa.Table, ids: pa.Array) -> pa.Table:
    """Put the ids in the place of the numbers that a detector gave.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop.tables.network import with_ids
    >>> with_ids(pa.table({"id": [2, 0], "rank": [1, 2]}), pa.array(["al", "bo", "cy"]))["id"].to_pylist()
    ['cy', 'al']
    """
    return result.set_column(result.schema.get_field_index("id"), "id", ids.take(result["id"].combine_chunks()))
