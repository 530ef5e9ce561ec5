"""From two tables to a network that a detector takes, with ids and encoding kept beside it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from oddhop.base.arrays import Ints
from oddhop.base.html import facts, named, panel, sentences, table
from oddhop.base.parallel import Progress, silent
from oddhop.base.randomness import mixed_texts
from oddhop.base.settings import checked, checked_two, takes
from oddhop.errors import GraphError, OddhopError, SettingsError
from oddhop.graph.disk import ENCODING, IDS, ORIGINALS, Stored, is_stored, open_stored
from oddhop.graph.graph import Graph
from oddhop.graph.in_words import more_facts, read_facts, repair_facts
from oddhop.tables.encode import Difference, Encoding
from oddhop.tables.encode.kinds import known_of, node_kinds
from oddhop.tables.settings import PLAIN, EncodeSettings, ReadSettings, TableOptions

if TYPE_CHECKING:
    from oddhop.tables.read import Counts, Roles

IDS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Network:
    """A graph with the ids of its nodes and the names of its columns.

    Attributes
    ----------
    graph : its nodes are numbered by their place in ``ids``.
    ids : the ids in the type they came in.
    encoding : how the columns of a table became the attributes; None for a graph made of arrays.
    roles, counts : which columns were read as what, and what was left out; None for a graph made of arrays.
    differences : where the table is not as the one that the encoding was learned from.
    originals : the columns whose values an encoding loses (texts, dates), to quote from, and those in ``kept``.
    read : the settings by which the tables were read.
    folder : where it lies on disk; None where it is in memory.

    Examples
    --------
    >>> from oddhop import Graph, Network
    >>> Network.of(Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]], node_ids=["c", "a", "b"])).ids.to_pylist()
    ['a', 'b', 'c']
    >>> Network.of(Graph.from_arrays([[0], [1]], [[1.0], [2.0]]))
    Network(2 nodes, 1 edge, 1 attribute)
    """

    graph: Graph
    ids: pa.Array
    encoding: Encoding | None = None
    roles: Roles | None = None
    counts: Counts | None = None
    differences: tuple[Difference, ...] = ()
    originals: pa.Table | None = None
    read: ReadSettings = PLAIN
    folder: Path | None = None

    @classmethod
    def of(cls, graph: Graph) -> Network:
        """Return a graph as a network; the names of its nodes are their ids, or their numbers without ids."""
        return cls(graph, pa.array(np.arange(graph.node_count) if graph.node_ids is None else graph.node_ids))

    @property
    def judged_ids(self) -> pa.Array:
        """The ids of the nodes that are judged: all, or those of one kind."""
        judged = self.graph.judged
        return self.ids.slice(judged.start, judged.stop - judged.start)

    @property
    def keys(self) -> Ints:
        """A 64-bit hash of the id of every node; it does not depend on the order of the nodes.

        Examples
        --------
        >>> from oddhop import Graph, Network
        >>> one = Graph.from_arrays([[0], [1]], [[1.0], [2.0]], node_ids=["a", "b"])
        >>> two = Graph.from_arrays([[0], [1]], [[1.0], [2.0], [3.0]], node_ids=["b", "a", "0"])
        >>> bool((Network.of(one).keys == Network.of(two).keys[1:]).all())
        True
        """
        return keys_of(self.ids)

    @property
    def warnings(self) -> tuple[tuple[str, str], ...]:
        """What to look at in the columns of the node table: a column and a sentence each."""
        report = () if self.encoding is None else self.encoding.report
        return tuple((one.column, one.warning) for one in report if one.warning)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the node table that results and cases take along."""
        return self.read.keep_columns

    def kind_of(self, node: int) -> str | None:
        """Return the kind of a node by its number; None where there is one kind."""
        kinds = self.graph.kinds
        return None if kinds is None else kinds.names[int(kinds.of(np.array([node]))[0])]

    def of_judged(self) -> Network:
        """Return only the judged nodes, with the columns of their kind and without edges."""
        kinds, encoding = self.graph.kinds, self.encoding
        if kinds is None:
            return self
        kind, judged = kinds.names[kinds.judged], self.graph.judged
        originals = None
        if self.originals is not None:
            names = [name for name in self.originals.column_names if name.startswith(f"{kind}.")]
            originals = self.originals.select(names).slice(judged.start, judged.stop - judged.start)
            originals = originals.rename_columns([name.removeprefix(f"{kind}.") for name in names])
        own = None if encoding is None else encoding.of_kind(kind)
        return Network(self.graph.of_kind(kinds.judged), self.judged_ids, own, originals=originals)

    def numbers(self, ids: Any) -> Ints:
        """Return the numbers of the judged nodes that have these ids (an Arrow column, an array or a list).

        Examples
        --------
        >>> from oddhop import Graph, Network
        >>> graph = Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]], node_ids=["c", "a", "b"])
        >>> Network.of(graph).numbers(["c", "a"]).tolist()
        [2, 0]
        """
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        asked = ids if isinstance(ids, pa.Array) else pa.array(ids if isinstance(ids, np.ndarray) else list(ids))
        known = self.judged_ids
        try:
            places = pc.index_in(asked.cast(known.type), value_set=known)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            try:
                places = pc.index_in(asked.cast(pa.string()), value_set=known.cast(pa.string()))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                places = pa.nulls(len(asked), pa.int32())
        if places.null_count:
            first = asked.filter(places.is_null())[0].as_py()
            like, kinds = known[0].as_py(), self.graph.kinds
            who = "node" if kinds is None else f"{kinds.names[kinds.judged]}"
            raise GraphError(f"no {who} is called {first!r}", f"give ids of the node table, such as {like!r}")
        numbers: Ints = np.asarray(places.to_numpy(), dtype=np.int64) + self.graph.judged.start
        return numbers

    def profile(self, node: int) -> str:
        """Return the values of the kept columns of a node, and of those that are shown and not compared, in words.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from oddhop import read_network
        >>> people = pa.table({"id": ["a", "b"], "age": [31, 25], "town": ["Delft", None]})
        >>> read_network(pa.table({"from": ["a"], "to": ["b"]}), people, keep_columns=("age", "town")).profile(1)
        'age 25'
        """
        kind, originals = self.kind_of(node), self.originals
        if originals is None:
            return ""
        found = [(name, _full(kind, name)) for name in self.kept]
        before = _full(kind, "")
        shown = () if self.encoding is None else self.encoding.shown
        found += [(name.removeprefix(before), name) for name in shown if name.startswith(before)]
        values = [
            (name, originals.column(full)[int(node)].as_py())
            for name, full in dict.fromkeys(found)
            if full in originals.column_names
        ]
        return ", ".join(f"{name} {value}" for name, value in values if value is not None)

    def with_kept(self, result: pa.Table) -> pa.Table:
        """Append the kept columns to a result table."""
        if self.originals is None or not self.kept:
            return result
        taken = [name for name in self.kept if name in result.column_names]
        if taken:
            raise GraphError(
                f"the results already have a column {taken[0]!r}", "remove it from keep_columns, or rename it"
            )
        places, kind = pa.array(self.numbers(result["id"])), self.kind_of(self.graph.judged.start)
        for name in self.kept:
            full = _full(kind, name)
            # Of a table that kinds share, a column without a value for those that are judged is none of theirs.
            known = full in self.originals.column_names
            values = self.originals.column(full).take(places) if known else pa.nulls(result.num_rows, pa.string())
            result = result.append_column(name, values)
        return result

    def name(self, node: int) -> int | str:
        """Return the id of a node by its number, as an integer or as text; the kind before it if it is not judged."""
        found = self.ids[int(node)].as_py()
        name = found if isinstance(found, int | str) else str(found)
        judged = self.graph.judged
        return name if judged.start <= node < judged.stop else f"{self.kind_of(node)} {name}"

    def __repr__(self) -> str:
        return repr(self.graph).replace("Graph", "Network", 1)

    def _repr_html_(self) -> str:
        graph, encoding = self.graph, self.encoding
        ids = [self.name(graph.judged.start + k) for k in range(min(len(self.judged_ids), 3))]
        some = [("ids", f"{named(ids)}, ..." if len(self.judged_ids) > len(ids) else named(ids))]
        lines = [] if self.roles is None else [f"{one}." for one in self.roles.sentences(graph.events)]
        counted = graph.repairs if self.counts is None else self.counts
        lines += [f"{count:,} {what}." for count, what in repair_facts(counted)]
        lines += [f"{one.column}: {one}." for one in self.differences]
        lines += [f"{name}: {warning}." for name, warning in self.warnings]
        columns = [] if encoding is None else [(c.column, c.kind, c.done, c.attributes) for c in encoding.report]
        return panel(
            "Network",
            facts([*read_facts(graph), *some, *more_facts(graph)]),
            sentences(lines),
            table(("column", "taken for", "what was done", "attributes"), columns),
        )


def _full(kind: str | None, name: str) -> str:
    return name if kind is None else f"{kind}.{name}"


@dataclass(frozen=True, eq=False)
class Description:
    """What is known of a network on disk beside its wiring and attributes; see :class:`Network`."""

    ids: pa.Array
    encoding: Encoding
    roles: Roles
    counts: Counts
    differences: tuple[Difference, ...]
    originals: pa.Table | None
    read: ReadSettings


def as_network(
    data: Any,
    nodes: Any = None,
    *,
    max_memory: int | None = None,
    progress: Progress = silent,
    **options: Unpack[TableOptions],
) -> Network:
    """Take what a detector may be handed: a network, a graph, a folder made by ``oddhop ingest``, or two tables.

    A graph may be one of NetworkX or a ``Data`` of PyTorch Geometric too, see :meth:`oddhop.Graph.from_networkx` and
    :meth:`oddhop.Graph.from_pyg` for what is taken of it.

    The options are those of :func:`read_network`, for tables alone, which are read within ``max_memory`` bytes.
    """
    if nodes is not None:
        if isinstance(data, Graph | Network):
            raise GraphError(f"a {type(data).__name__} already has its nodes", "leave out nodes=")
        settings = checked_two(ReadSettings, EncodeSettings, options)
        return network_of_tables(data, nodes, *settings, max_memory=max_memory, progress=progress)
    if options:
        raise GraphError(
            f"{next(iter(options))}= is an option of reading tables, and there is no node table",
            "give the node table as nodes=, or leave the option out",
        )
    if isinstance(data, Network):
        return data
    if isinstance(data, Graph):
        return Network.of(data)
    if _is_of(data, "networkx", "nodes"):
        return Network.of(Graph.from_networkx(data))
    if _is_of(data, "torch_geometric", "edge_index"):
        return Network.of(Graph.from_pyg(data))
    if isinstance(data, str | os.PathLike) and is_stored(data):
        return open_network(data)
    raise GraphError(
        f"a detector needs a Graph, a Network, or an edge table with nodes=, got "
        f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}",
        "make a Graph with Graph.from_networkx, from_pyg, from_scipy or from_arrays, or give the node table as nodes=",
    )


def _is_of(data: Any, package: str, attribute: str) -> bool:
    """Tell whether an object is of a package, which is not imported for it."""
    return hasattr(data, attribute) and any(kind.__module__.partition(".")[0] == package for kind in type(data).__mro__)


@takes(ReadSettings, EncodeSettings)
def read_network(
    edges: Any,
    nodes: Any = None,
    *,
    encoding: Encoding | None = None,
    progress: Progress = silent,
    **options: Unpack[TableOptions],
) -> Network:
    """Read an edge table and a node table, and turn the columns of nodes and the events of edges into attributes.

    Columns that you do not name are found by name and type; ``roles`` of the network says which ones were taken.

    Parameters
    ----------
    edges, nodes : a path, a pattern or a folder of CSV, TSV, Parquet or NDJSON, here or in ``s3://``; a pandas, Polars
        or Arrow frame; or a :class:`oddhop.tables.read.Query`. With several kinds of nodes ``nodes`` is a mapping by
        kind; an id is unique within its kind alone.
    {settings}
    encoding : how columns become attributes, where that was learned before; left out, it is learned here.
    progress : called with the step, what is done, and what there is to do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop import read_network
    >>> ties = pa.table({"from": ["al", "bo", "cy"], "to": ["bo", "cy", "al"]})
    >>> people = pa.table({"name": ["bo", "cy", "al"], "age": [31, 52, 47], "pays": ["cash", "card", "cash"]})
    >>> network = read_network(ties, people)
    >>> network.graph, network.ids.to_pylist()
    (Graph(3 nodes, 3 edges, 3 attributes), ['al', 'bo', 'cy'])
    >>> logins = pa.table({"from": ["al", "bo", "cy"], "to": ["x1", "x1", "x2"]})
    >>> phones = pa.table({"id": ["x1", "x2"], "price": [300, 900]})
    >>> network = read_network(logins, {"person": people, "phone": phones}, judge="person")
    >>> network.graph.kinds.names, network.name(0), network.name(3)
    (('person', 'phone'), 'al', 'phone x1')
    """
    read, encode = checked_two(ReadSettings, EncodeSettings, options)
    if encoding is not None and encode != EncodeSettings():
        raise SettingsError("an encoding was given, and how columns are encoded as well", "give one of the two")
    return network_of_tables(edges, nodes, read, encode, encoding=encoding, progress=progress)


def network_of_tables(
    edges: Any,
    nodes: Any,
    read: ReadSettings,
    encode: EncodeSettings,
    *,
    encoding: Encoding | None = None,
    max_memory: int | None = None,
    progress: Progress = silent,
) -> Network:
    """Read two tables as :func:`read_network` does, by settings that were checked."""
    # Imported here, for the readers and DuckDB take long to import, and who has arrays needs neither.
    from oddhop.tables.encoded import encoded_blocks, flows_of, learn
    from oddhop.tables.flows import flow_values
    from oddhop.tables.read import read_tables

    known = known_of(encoding)
    tables = read_tables(edges, nodes, read, known=known, max_memory=max_memory, progress=progress)
    events, kinds = tables.events, tables.kinds
    flows = None if events is None else flows_of(events.columns, flow_values(events), kinds)
    made = encoding or learn(tables, flows, tables.edge_forms, read, encode, progress)
    [block] = encoded_blocks(tables, flows, made, read.keep_columns, learned=encoding is None, progress=progress)
    graph = Graph.from_arrays(tables.edge_index, block.attributes, attribute_names=made.names)
    graph = replace(graph, events=events, flow_count=made.flow_count, kinds=node_kinds(made, kinds))
    about = tables.roles, tables.counts, block.differences, block.originals
    return Network(graph, tables.ids, made, *about, tables.roles.named_in(read))


def keys_of(ids: pa.Array) -> Ints:
    """Return 64 bits for every id, made of its text."""
    out = np.empty(len(ids), dtype=np.uint64)
    for start in range(0, len(ids), IDS_AT_ONCE):
        texts = ids.slice(start, IDS_AT_ONCE).cast(pa.large_string())
        _, places, content = texts.buffers()
        starts = np.frombuffer(places, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        letters = np.frombuffer(content or b"", np.uint8)
        mixed_texts(starts, letters, out[start : start + IDS_AT_ONCE])
    return out


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
    return Network(Graph.open(folder), **vars(known), folder=Path(folder))


def describe(stored: Stored, *, texts: bool = True) -> Description:
    """Read the ids, the encoding and, if asked, the texts of a network on disk; nothing of its wiring is touched."""
    import pyarrow.parquet as pq

    from oddhop.tables.read import Counts, Roles

    manifest, folder = stored.manifest, stored.folder
    try:
        encoding = Encoding.from_json(json.loads((stored.folder / ENCODING).read_bytes()))
        ids = pq.read_table(stored.folder / IDS).column(0)
        if pa.types.is_string(ids.type) and ids.nbytes >= 2**31:  # one array of that type cannot hold them
            ids = ids.cast(pa.large_string())
        ids = ids.combine_chunks()
        originals = pq.read_table(stored.folder / ORIGINALS) if texts and ORIGINALS in manifest.files else None
        counts = TypeAdapter(Counts).validate_python(manifest.counts)
        roles = TypeAdapter(Roles).validate_python(manifest.roles)
        differences = tuple(Difference(**one) for one in manifest.differences)
        read = roles.named_in(checked(ReadSettings, manifest.settings["read"]))
    except (ValueError, TypeError, KeyError, RecursionError, OSError, pa.ArrowException, OddhopError) as error:
        raise GraphError(
            f"{folder} was changed after it was written: {error}", "restore it from a copy or ingest again"
        ) from None
    if len(ids) != manifest.nodes or encoding.names != manifest.attribute_names:
        raise GraphError(f"the files of {folder} do not belong together", "restore it from a copy or ingest again")
    return Description(ids, encoding, roles, counts, differences, originals, read)
