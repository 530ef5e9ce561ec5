"""Several kinds of nodes: which there are, how edges tell the kind of their ends, and who is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import duckdb

from oddhop.errors import TableError
from oddhop.tables.kinds import KindsRead, KnownKinds
from oddhop.tables.read.database import literals
from oddhop.tables.read.files import Form
from oddhop.tables.read.ids import IdColumn
from oddhop.tables.words import MORE, plain

MOST_KINDS = 100
BEHIND = ("kind", "type")


@dataclass(frozen=True)
class NodeSource:
    """A table of nodes, and which of its columns are what, by number.

    Attributes
    ----------
    kind : of all its nodes; empty where nobody named one, or where a column has it.
    kind_column : the column of the kinds, or None.
    first : what is added to the numbers of its columns where several tables become one.
    """

    form: Form
    names: tuple[str, ...]
    id: int
    kind: str = ""
    kind_column: int | None = None
    first: int = 0

    @property
    def table(self) -> str:
        """What it is called once it is loaded."""
        return f"nodes_{self.first}"

    @property
    def others(self) -> tuple[int, ...]:
        """The columns besides the id and the kind."""
        return tuple(k for k in range(len(self.names)) if k not in (self.id, self.kind_column))

    @property
    def picks(self) -> dict[int, str]:
        """The columns that are read, by number."""
        return {k: self.names[k] for k in (*self.labels, *self.others)}

    @property
    def labels(self) -> tuple[int, ...]:
        """The columns that say which node it is; they stay text where they are."""
        return (self.id,) if self.kind_column is None else (self.id, self.kind_column)

    def kind_sql(self, names: Sequence[str]) -> str:
        """Write the number of the kind of a row."""
        return _number(self.kind_column, names) if self.kind_column is not None else str(list(names).index(self.kind))


@dataclass(frozen=True)
class EndKind:
    """How an edge tells the kind of one of its ends: by a column, by one name for all, or, with neither, not at all.

    ``guessed`` says that the column was found by its name alone.
    """

    column: int | None = None
    name: str | None = None
    guessed: bool = False

    @property
    def known(self) -> bool:
        """Whether the edge says which kind it is."""
        return self.column is not None or self.name is not None

    def sql(self, names: Sequence[str]) -> str | None:
        """Write the number of the kind of an end; None where the edge does not say."""
        if self.column is not None:
            return _number(self.column, names)
        if self.name is None:
            return None
        return str(list(names).index(self.name)) if self.name in names else "CAST(NULL AS INTEGER)"


def _number(column: int, names: Sequence[str]) -> str:
    return f"CAST(list_position({literals(names)}, CAST(c{column} AS VARCHAR)) - 1 AS INTEGER)"


def find_judged(kinds: KindsRead, asked: str | None, known: KnownKinds | None) -> int:
    """Return the number of the kind that the list is about."""
    if known is not None and known.judged is not None:
        if asked not in (None, known.judged):
            raise TableError(
                f"judge is {asked!r}, and the model judges {known.judged!r}", "leave it out, or fit a model for them"
            )
        return kinds.names.index(known.judged)
    if asked is None:
        if not kinds.several:
            return 0
        raise TableError(
            f"there are {len(kinds.names)} kinds of nodes and it is open which of them is judged: "
            f"{', '.join(kinds.counted(k) for k in range(len(kinds.names)))}",
            f"say whom the list is about, such as judge={kinds.names[0]!r}",
            command=f"say whom the list is about, such as --judge {kinds.names[0]!r}",
        )
    if asked in kinds.names:
        return kinds.names.index(asked)
    names = [name for name in kinds.names if name]
    near = get_close_matches(asked, names, 1, cutoff=0.0)
    raise TableError(
        f"no kind of node is called {asked!r}, whom judge names; there is {', '.join(map(repr, names)) or 'one kind'}",
        f"did you mean {near[0]!r}?" if near else "name the kind of the node table: nodes={'account': ...}",
        command=f"did you mean {near[0]!r}?" if near else "name the kind of the node table: --nodes account=PATH",
    )


def find_end_kinds(
    names: Sequence[str], ends: tuple[int, int], asked: tuple[str | None, str | None], *, guess: bool
) -> tuple[EndKind, EndKind]:
    """Find how edges tell the kinds of their ends: as asked, or with ``guess`` by the names of columns."""
    source, target = (
        _asked(names, ends, one) if one is not None else _guessed(names, k, side) if guess else EndKind()
        for one, k, side in zip(asked, ends, ("source", "target"), strict=True)
    )
    return source, target


def _asked(names: Sequence[str], ends: Sequence[int], asked: str) -> EndKind:
    # An end may be called like the kind that it has: a column "device" of devices holds ids and not kinds.
    column = list(names).index(asked) if asked in names else None
    return EndKind(name=asked) if column is None or column in ends else EndKind(column=column)


def _guessed(names: Sequence[str], end: int, side: str) -> EndKind:
    own = plain(names[end])
    stems = [own, *(own.removesuffix(more) for more in MORE if own.endswith(more)), side]
    wanted = [stem + behind for stem in stems for behind in BEHIND if stem]
    found = [k for one in wanted for k, name in enumerate(names) if k != end and plain(name) == one]
    return EndKind(column=found[0], guessed=True) if found else EndKind()


def kinds_of_tables(connection: duckdb.DuckDBPyConnection, sources: Sequence[NodeSource]) -> tuple[str, ...]:
    """Return the kinds that the node tables have, which are loaded."""
    found: list[str] = []
    for one in sources:
        if one.kind_column is None:
            found.append(one.kind)
        else:
            where = f"{one.table} WHERE c{one.id} IS NOT NULL"
            found += _values(connection, one.kind_column, where, f"{one.names[one.kind_column]!r} of {one.form.label}")
    return tuple(found)


def confirmed(
    connection: duckdb.DuckDBPyConnection, ends: tuple[EndKind, EndKind], tables: Sequence[str]
) -> tuple[EndKind, EndKind]:
    """Keep a column of ``edges`` that only its name tells to be one of kinds, where it names a kind of the tables."""

    def holds(end: EndKind) -> bool:
        if not end.guessed:
            return True
        query = (
            f"SELECT 1 FROM edges WHERE CAST(c{end.column} AS VARCHAR) IN (SELECT unnest({literals(tables)})) LIMIT 1"  # noqa: S608
        )
        return len(tables) > 1 and bool(connection.execute(query).fetchall())

    source, target = (end if holds(end) else EndKind() for end in ends)
    return source, target


def kinds_of_edges(
    connection: duckdb.DuckDBPyConnection,
    ends: Sequence[IdColumn],
    kinds: Sequence[EndKind],
    inside: str | None,
    names: Sequence[str],
) -> tuple[str, ...]:
    """Return the kinds that the ends of ``edges`` have."""
    found: set[str] = set()
    for end, how in zip(ends, kinds, strict=True):
        where = f"edges WHERE {end.sql} IS NOT NULL{'' if inside is None else f' AND {inside}'}"
        if how.column is not None:
            found.update(_values(connection, how.column, where, f"{names[how.column]!r} of the edge table"))
        elif how.name is not None and connection.execute(f"SELECT 1 FROM {where} LIMIT 1").fetchall():  # noqa: S608
            found.add(how.name)
    return tuple(sorted(found))


def _values(connection: duckdb.DuckDBPyConnection, column: int, where: str, label: str) -> list[str]:
    rows = connection.execute(
        f"SELECT DISTINCT CAST(c{column} AS VARCHAR) AS kind FROM {where} AND c{column} IS NOT NULL "  # noqa: S608
        f"ORDER BY kind LIMIT {MOST_KINDS + 1}"
    ).fetchall()
    if len(rows) > MOST_KINDS:
        raise TableError(
            f"column {label} holds more than {MOST_KINDS} different kinds, such as {rows[0][0]!r} and {rows[1][0]!r}",
            "name the column that says what a node is, such as account or device",
        )
    return [row[0] for row in rows]
