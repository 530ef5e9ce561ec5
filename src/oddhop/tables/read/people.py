"""The nodes of loaded tables, of one kind or several, and what the edges say about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import duckdb

from oddhop.errors import EncodingError, TableError
from oddhop.tables.kinds import Known
from oddhop.tables.read.edge_roles import find_edge_roles
from oddhop.tables.read.files import Form
from oddhop.tables.read.joins import NO_ATTRIBUTES, TableColumns
from oddhop.tables.read.kinds import confirmed, kinds_of_edges, kinds_of_tables
from oddhop.tables.read.numbering import Ends, People, number_nodes, refuse_ambiguous
from oddhop.tables.read.sources import opened
from oddhop.tables.settings import ReadSettings


def as_fitted(settings: ReadSettings, known: Known | None, label: str) -> ReadSettings:
    """Return the settings with what a model fixes: who is judged, and what the columns of the edge table are."""
    if known is None:
        return settings
    fixed: dict[str, Any] = {} if settings.judge is not None else {"judge": known.kinds.judged}
    if known.events is None:
        return settings.model_copy(update={**fixed, "flows": False})
    if not settings.flows:
        raise EncodingError("the model was fitted with flow columns, and flows are off", "leave out flows=False")
    columns = known.events
    has = {"amount": columns.amounts, "time": columns.time, "edge_kind": columns.kinds, "directed": columns.directed}
    for name, value in has.items():
        if getattr(settings, name) not in (None, value):
            raise TableError(
                f"{label}: {name} is {getattr(settings, name)!r}, and the model was fitted with {value!r}",
                "leave it out: the edge table is read as that of the model was",
            )
    return settings.model_copy(update={**fixed, **has})


@contextmanager
def opened_nodes(nodes: Any, settings: ReadSettings) -> Iterator[dict[str, Form]]:
    """Open the node tables by kind; a table whose kind nobody named stands under an empty one."""
    if nodes is None or (isinstance(nodes, Mapping) and not nodes):
        raise TableError("there is no node table", f"{NO_ATTRIBUTES}")
    named = nodes if isinstance(nodes, Mapping) else {"": nodes}
    if isinstance(nodes, Mapping):
        odd = [kind for kind in nodes if not isinstance(kind, str) or not kind.strip()]
        if odd:
            raise TableError(f"a kind of nodes needs a name, got {odd[0]!r}", "say for example nodes={'account': ...}")
        if settings.node_kind is not None:
            raise TableError(
                f"the node tables are named by kind, and node_kind names the column {settings.node_kind!r} for it as "
                "well",
                "give one table with that column, or a table a kind without node_kind=",
                command="give one table with that column, or a table a kind without --node-kind",
            )
    with ExitStack() as stack:
        what = {kind: f"the {kind} table" if kind else "the node table" for kind in named}
        yield {kind: stack.enter_context(opened(table, what[kind], settings)) for kind, table in named.items()}


def make_people(
    connection: duckdb.DuckDBPyConnection, chosen: TableColumns, settings: ReadSettings, known: Known | None
) -> People:
    """Make ``people`` of the loaded node tables and ``edges``."""
    ids = chosen.node_ids(connection)
    tables = kinds_of_tables(connection, chosen.nodes)
    if known is not None and not known.kinds.names:
        known.kinds.check(tables)  # before columns of kinds are missed among those that the model knows
    chosen = replace(chosen, end_kinds=confirmed(connection, chosen.end_kinds, tables))
    label = chosen.edge_form.label
    roles = find_edge_roles(connection, chosen.edge_names, chosen.taken, settings, label, known)
    ends = Ends(chosen.end_ids(connection), chosen.end_kinds, roles.inside)
    named = kinds_of_edges(connection, ends.ids, ends.kinds, ends.inside, chosen.edge_names)
    known_kinds = None if known is None else known.kinds
    numbered = number_nodes(connection, chosen.nodes, ids, ends, tables, named, settings, known=known_kinds)
    people = People(ends, numbered[0], numbered[1], roles, numbered[2])
    refuse_ambiguous(connection, people)
    return people
