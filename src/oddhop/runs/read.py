"""Read and encode the tables of a run, and report what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from oddhop.cases.case import Nouns
from oddhop.cases.nouns import nouns_of
from oddhop.errors import EncodingError, SettingsError
from oddhop.explain.phrases import spoken
from oddhop.graph.disk import is_stored
from oddhop.graph.in_words import REPAIRS, repair_facts
from oddhop.runs.log import Log
from oddhop.runs.settings import RunSettings
from oddhop.tables.encode import ColumnReport, Encoding
from oddhop.tables.network import Network, network_of_tables, open_network
from oddhop.tables.read import Counts, Query
from oddhop.tables.settings import EncodeSettings, ReadSettings

NAMED = 5  # columns
QUERIES = ("select", "with", "table", "values")
RANKED = ("id", "score", "rank", "case", "rank_low", "rank_high", "top_probability", "kind", "score_std", "reasons")
RESULT_COLUMNS = (*RANKED, "degree", "judged", "flagged")


def read_for_run(
    log: Log,
    settings: RunSettings,
    edges: Any,
    nodes: Any = None,
    database: str | None = None,
    encoding: Encoding | None = None,
    max_memory: int | None = None,
) -> Network:
    """Read the tables, or open a network on disk, and tell what was read, left out, and made of every column."""
    reserved = [name for name in settings.read.keep_columns if name in RESULT_COLUMNS or name.startswith("p_")]
    if reserved:
        raise SettingsError(
            f"the results already have a column {reserved[0]!r}", "remove it from keep_columns, or rename it"
        )
    if isinstance(edges, str) and is_stored(edges):
        network = _opened(settings, edges, nodes, encoding)
    else:
        tables = table_named(edges, database), tables_named(nodes, database)
        how = settings.read, settings.encode
        network = network_of_tables(*tables, *how, encoding=encoding, max_memory=max_memory, progress=log.progress)
    pa.default_memory_pool().release_unused()  # Arrow would keep the room of the tables
    tell_network(log, network, nouns_of(network, edges, nodes), learned=encoding is None)
    return network


def tell_network(log: Log, network: Network, nouns: Nouns, *, learned: bool) -> None:
    """Say what was read and skipped, and how every column was encoded if the encoding was learned."""
    graph, counts, roles, encoding = network.graph, network.counts, network.roles, network.encoding
    assert counts is not None and roles is not None and encoding is not None  # noqa: S101, PT018 - it came from tables
    used = [entry.column for entry in encoding.report if entry.kind != "flow" and entry.attributes]
    named = f" with {spoken([*used[:NAMED], *([f'{len(used) - NAMED:,} more'] if len(used) > NAMED else [])])}"
    log.say(
        "read",
        f"{counts.edge_rows:,} {nouns.events} from {roles.source} to {roles.target}\n"
        f"{roles.kinds or f'{counts.node_rows:,} {nouns.nodes}{named}'}",
        roles=asdict(roles),
        nodes=graph.node_count,
        edges=graph.edge_count,
        attributes=graph.attribute_count,
    )
    remarks = len(roles.missing) + len(roles.readings) + len(roles.unread)
    for place, text in enumerate(reversed(roles.sentences(graph.events))):
        log.say("left_out" if place < remarks else "edges", text, what=text)
    both_ways = graph.edge_count - graph.repairs.one_way
    for kept, text in left_out(counts, events=graph.events is not None, both_ways=both_ways):
        log.say("edges" if kept else "left_out", text, what=text)
    if learned:
        for entry in (one for one in encoding.report if one.kind != "flow"):
            what = "column" if entry.attributes else "unused"
            log.say(what, f"column {entry.column!r}: {encoded_as(entry)}", **asdict(entry))
        made = [entry.column for entry in encoding.report if entry.kind == "flow" and entry.attributes]
        if made:
            log.say("flows", f"{len(made):,} columns were made from the events; the report lists them", columns=made)
        for name, text in network.warnings:
            log.say("warning", f"column {name!r}: {text}", column=name, what=text)
    for one in network.differences:
        log.say("difference", f"column {one.column!r}: {one}", **asdict(one))


def _opened(settings: RunSettings, folder: str, nodes: Any, encoding: Encoding | None) -> Network:
    """Open a network on disk; how its tables were read was settled when it was ingested."""
    if nodes is not None or (settings.read, settings.encode) != (ReadSettings(), EncodeSettings()):
        raise SettingsError(
            f"{folder} was made by oddhop ingest and already has edges, nodes and encoding",
            "leave out --nodes and the settings of read and encode, or ingest again with them",
        )
    network = open_network(folder)
    known = network.encoding
    if encoding is not None and (known is None or (encoding.columns, encoding.nodes) != (known.columns, known.nodes)):
        raise EncodingError(
            f"the attributes of {folder} and of the model have different encodings",
            "ingest the tables again with --like MODEL",
        )
    return network


def table_named(name: Any, database: str | None) -> Any:
    """Return a query for the database, or what names files or is a frame as it is."""
    if not isinstance(name, str) or not is_query(name):
        if database is not None and isinstance(name, str) and name.isidentifier() and not Path(name).exists():
            raise SettingsError(
                f"there is no file {name!r}, and a table of the database is named by a query",
                f'give the query "SELECT * FROM {name}"',  # noqa: S608 - shown, not run
            )
        return name
    if database is None:
        raise SettingsError(
            f"{name!r} is a query, and no database was given",
            "give --database postgresql://..., sqlite:///FILE or duckdb:///FILE, or set ODDHOP_DATABASE",
        )
    return Query(database, name)


def tables_named(nodes: Any, database: str | None) -> Any:
    """Return the same of the node table, or of one for every kind of node."""
    if isinstance(nodes, Mapping):
        return {kind: table_named(table, database) for kind, table in nodes.items()}
    return None if nodes is None else table_named(nodes, database)


def is_query(name: str) -> bool:
    """Return whether a text is a query, by its first word."""
    return bool(name.split()) and name.split(maxsplit=1)[0].lower() in QUERIES


def left_out(counts: Counts, *, events: bool, both_ways: int) -> list[tuple[bool, str]]:
    """Say which rows were not used, or were kept and are worth a word: whether they were kept, and a sentence.

    ``events`` says that rows are events and not pairs, and ``both_ways`` how many edges have rows in both directions,
    which counts for events alone.
    """
    again, more = REPAIRS["duplicate_edges"], ": each is one more event" if events else ", skipped"
    found = [
        (events and what == again, f"{count:,} {what}{more if what == again else ''}")
        for count, what in repair_facts(counts)
    ]
    return [*found, (True, f"{both_ways:,} edges have rows in both directions")] if events and both_ways else found


def encoded_as(entry: ColumnReport) -> str:
    """Say in a line how a column was encoded."""
    gave = f" -> {entry.attributes:,} attribute{'s' if entry.attributes > 1 else ''}" if entry.attributes else ""
    tamed = f"; {entry.tamed:,} extreme values compressed" if entry.tamed else ""
    return f"{entry.done}{tamed}{gave}"
