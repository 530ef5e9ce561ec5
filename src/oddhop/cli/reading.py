"""What every command that takes tables does with them first: read, encode, and say what came of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pyarrow as pa

from oddhop.cli.console import Console
from oddhop.errors import EncodingError, SettingsError
from oddhop.graph.disk import is_stored
from oddhop.settings import EncodeSettings, ReadSettings, RunSettings
from oddhop.tables.encode import ColumnReport, Encoding
from oddhop.tables.network import Network, load_network, open_network
from oddhop.tables.read import Counts, Query

QUERIES = ("select", "with", "table", "values")


def said_network(
    console: Console,
    settings: RunSettings,
    edges: str,
    nodes: str | None,
    database: str | None,
    encoding: Encoding | None = None,
) -> Network:
    """Read the tables and tell what was read, what was left out, and what became of every column."""
    if is_stored(edges):
        network = _opened(settings, edges, nodes, encoding)
    else:
        network = load_network(
            table_named(edges, database),
            None if nodes is None else table_named(nodes, database),
            settings.read,
            settings.encode,
            encoding=encoding,
            progress=console.progress,
        )
    pa.default_memory_pool().release_unused()  # Arrow would keep the room of the tables
    say_network(console, network, learned=encoding is None)
    return network


def say_network(console: Console, network: Network, *, learned: bool) -> None:
    """Tell what was read and left out, and where the encoding was learned, what became of every column."""
    graph, counts, roles = network.graph, network.counts, network.roles
    console.say(
        "read",
        f"read {counts.edge_rows:,} edge rows by {roles.source!r} and {roles.target!r}, and {counts.node_rows:,} "
        f"node rows by {roles.id!r}: {graph.node_count:,} nodes, {graph.edge_count:,} edges between different "
        f"pairs, {graph.attribute_count:,} attributes",
        roles=asdict(roles),
        nodes=graph.node_count,
        edges=graph.edge_count,
        attributes=graph.attribute_count,
    )
    for text in left_out(counts):
        console.say("left_out", f"  {text}", what=text)
    for entry in network.encoding.report if learned else ():
        console.say("column", f"  column {entry.column!r}: {told(entry)}", **asdict(entry))
    for one in network.differences:
        console.say("difference", f"  column {one.column!r}: {one.count:,} rows {one.what}", **asdict(one))


def _opened(settings: RunSettings, folder: str, nodes: str | None, encoding: Encoding | None) -> Network:
    """Open a network on disk; how its tables were read was settled when it was ingested."""
    if nodes is not None or (settings.read, settings.encode) != (ReadSettings(), EncodeSettings()):
        raise SettingsError(
            f"{folder} was made by oddhop ingest and holds edges, nodes and encoding; "
            "leave out --nodes and the settings of read and encode, or ingest again with them"
        )
    network = open_network(folder)
    if encoding is not None and encoding.columns != network.encoding.columns:
        raise EncodingError(
            f"the attributes of {folder} were encoded otherwise than those of the model; "
            "ingest the tables again with --like MODEL"
        )
    return network


def table_named(name: str, database: str | None) -> Any:
    """Take a query for the database, and everything else for files."""
    is_query = name.split(maxsplit=1)[0].lower() in QUERIES if name.split() else False
    if is_query and database is None:
        raise SettingsError(
            f"{name!r} is a query, and no database was named; say --database postgresql://... or set ODDHOP_DATABASE"
        )
    return Query(database, name) if is_query and database is not None else name


def left_out(counts: Counts) -> list[str]:
    """Say what of the tables was not used, a sentence each."""
    sentences = (
        (counts.null_ends, "edge rows lack an end: left out"),
        (counts.unknown_edges, "edge rows name a node that the node table lacks: left out"),
        (counts.loops, "edge rows join a node to itself: left out"),
        (counts.duplicate_edges, "edge rows repeat another: left out"),
        (counts.null_ids, "node rows have no id: left out"),
        (counts.repeated_ids, "node rows repeat another: left out"),
        (counts.lone_nodes, "nodes have no edge: kept, and not judged"),
    )
    said = [f"{count:,} {what}" for count, what in sentences if count]
    if counts.ignored_columns:
        said.append(f"not read of the edge table: {', '.join(map(repr, counts.ignored_columns))}")
    return said


def told(entry: ColumnReport) -> str:
    """Say in a line what became of a column."""
    gave = f" -> {entry.attributes:,} attribute{'s' if entry.attributes > 1 else ''}" if entry.attributes else ""
    tamed = f"; {entry.tamed:,} far out, tamed" if entry.tamed else ""
    return f"{entry.done}{tamed}{gave}"
