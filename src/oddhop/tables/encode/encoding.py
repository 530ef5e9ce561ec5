"""A learned encoding: frozen, reported column by column, read and written as JSON, applied alike ever after."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from oddhop.base.arrays import Floats
from oddhop.errors import EncodingError, ModelFileError
from oddhop.graph.events import EventColumns
from oddhop.tables.encode.columns import Column, infinite_in, is_text, missing_of, numbers_of, readable_as, type_name
from oddhop.tables.encode.encoders import (
    STRICT,
    CategoryColumn,
    DateColumn,
    Encoder,
    FlowNumber,
    NumberColumn,
    Text,
    TextColumn,
    calendar,
)
from oddhop.tables.inference import DEFAULTS, NEARLY_ALL, RowName, converted, unread_in

SCHEMA = 1
SHOWN = "shown"  # the kind of a column that is shown with a node and not compared
SPARSE_ABOVE = 100
Count = Annotated[int, Field(strict=True, ge=0)]
Rows: TypeAlias = Mapping[str, slice]  # which rows of a table are of which kind


@dataclass(frozen=True)
class ColumnReport:
    """How one column of a table was encoded.

    Attributes
    ----------
    column, type : its name, and its type as Arrow writes it, of texts that of what they were read as.
    kind : what it was taken for; empty where it was not looked at.
    done : what was done, or why it was dropped.
    attributes : how many attributes it gave, 0 for a dropped one.
    missing : rows without a value, and those whose value could not be read.
    pooled : rows whose category is too rare for an attribute of its own.
    tamed : numbers more than 10 interquartile ranges from the median.
    form : how numbers or dates are written in texts where it is not as usual, as in 1.234,56; later tables are read
        so, too.
    warning : what to look at, a sentence or nothing.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    column: Text
    type: Text
    kind: Text
    done: Text
    attributes: Count = 0
    missing: Count = 0
    pooled: Count = 0
    tamed: Count = 0
    form: Text = ""
    warning: Text = ""


@dataclass(frozen=True)
class Difference:
    """A repair or omission of an encoding in ``count`` rows of a table, and which was the first."""

    column: str
    what: str
    count: int
    first: str = ""

    def __str__(self) -> str:
        return f"{self.count:,} rows {self.what}{f', the first is {self.first}' if self.first else ''}"


def row_number(row: int) -> str:
    """Name a row by its number, the first being 1."""
    return f"row {row + 1:,}"


@dataclass(frozen=True)
class KindNames:
    """The kinds of nodes in their order, and which was judged."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    names: tuple[Text, ...]
    judged: Text


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become attributes; made by :func:`learn_encoding`.

    Attributes
    ----------
    columns, report : the columns that give attributes, and what became of each.
    events : which columns of the edge table the flow columns were made of; they come last.
    kinds : the kind of node that has each of ``columns``; none where there is one kind.
    nodes : all kinds, and which was judged, or None.
    edge_forms : the same of the columns of the edge table, by name.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    columns: tuple[Encoder, ...]
    report: tuple[ColumnReport, ...]
    events: EventColumns | None = None
    kinds: tuple[Text, ...] = ()
    nodes: KindNames | None = None
    edge_forms: tuple[tuple[Text, Text], ...] = ()

    def __post_init__(self) -> None:
        if (len(self.kinds) != len(self.columns)) if self.nodes else self.kinds:
            raise ValueError("with several kinds, every column of an encoding must have a kind")
        if self.nodes is not None and not {*self.kinds, self.nodes.judged} <= {*self.nodes.names}:
            raise ValueError("an encoding of several kinds must name all kinds")
        names = [one.name for one in self.columns]
        if not names or len(set(names)) != len(names):
            raise ValueError("an encoding must have at least one column, and each column once")
        if any(not one.names for one in self.columns):
            raise ValueError("every column of an encoding must give at least one attribute")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, no two the same."""
        taken: dict[str, None] = {}
        for name in (name for one in self.columns for name in one.names):
            again, unique = 1, name
            while unique in taken:
                again += 1
                unique = f"{name} ({again})"
            taken[unique] = None
        return tuple(taken)

    def quoted(self, names: Sequence[str], kept: Sequence[str]) -> list[str]:
        """Return the columns that are stored as they are: texts and dates, which are lost, and those to be kept."""
        lost = {one.name for one in self.columns if one.kind in ("text", "date")}
        return [name for name in names if name in lost or name in self.shown or name in kept]

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that are shown with a node and not compared: names, addresses and free texts."""
        return tuple(one.column for one in self.report if one.kind == SHOWN)

    def of_kind(self, kind: str) -> Encoding | None:
        """Return the encoding of one kind of node, its columns by their own names; None where it has none."""
        before = f"{kind}."
        own = [
            replace(one, name=one.name.removeprefix(before))
            for one, whose in zip(self.columns, self.kinds, strict=True)
            if whose == kind
        ]
        report = [replace(one, column=one.column.removeprefix(before)) for one in self.report]
        return Encoding(tuple(own), tuple(report), self.events) if own else None

    @property
    def flow_count(self) -> int:
        """How many of the attributes, the last ones, come from events."""
        return sum(isinstance(one, FlowNumber) for one in self.columns)

    @property
    def sparse(self) -> bool:
        """Whether the attributes are a sparse array, as where more than 100 come from categories and texts."""
        binary = [one for one in self.columns if isinstance(one, CategoryColumn | TextColumn)]
        return sum(len(one.names) for one in binary) > SPARSE_ABOVE

    def apply(self, table: pa.Table, rows: Rows | None = None) -> tuple[Floats | sp.csr_array, tuple[str, ...]]:
        """Return the attributes of a table as float32, one row each, and their names. Other columns are ignored.

        Where there are several kinds, ``rows`` says which rows of the table are of which; others have 0 in a column.
        """
        return self._encoded(table.num_rows, self._read(table, rows)[0], rows), self.names

    def apply_and_compare(
        self, table: pa.Table, rows: Rows | None = None, row_name: RowName = row_number
    ) -> tuple[Floats | sp.csr_array, tuple[Difference, ...]]:
        """Return the attributes of a table as :meth:`apply`, and its :meth:`differences`; texts are read once."""
        columns, unread = self._read(table, rows, row_name)
        return self._encoded(table.num_rows, columns, rows), self._compared(table, columns, unread, rows)

    def _encoded(self, count: int, columns: Sequence[Column], rows: Rows | None) -> Floats | sp.csr_array:
        blocks = []
        for one, column, where in zip(self.columns, columns, self._rows(count, rows), strict=True):
            block = one.encode(column)
            blocks.append(block if rows is None else padded(block, where, count))
        return self.joined(blocks)

    def _rows(self, count: int, rows: Rows | None) -> list[slice]:
        """Return the rows that every column is about."""
        if rows is None:
            return [slice(0, count)] * len(self.columns)
        return [rows[kind] for kind in self.kinds]

    def joined(self, blocks: list[Any]) -> Floats | sp.csr_array:
        """Join the attributes of the columns; the list is emptied to save memory."""
        if self.sparse:
            matrix = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))
            matrix.sort_indices()
            return matrix
        out = np.empty((blocks[0].shape[0], len(self.names)), dtype=np.float32)
        start = 0
        while blocks:
            block = blocks.pop(0)
            out[:, start : start + block.shape[1]] = block.toarray() if sp.issparse(block) else block
            start += block.shape[1]
        return out

    def differences(self, table: pa.Table, rows: Rows | None = None) -> tuple[Difference, ...]:
        """Return what :meth:`apply` repairs or skips in a table, by column; empty if the table is as learned."""
        return self._compared(table, *self._read(table, rows), rows)

    def _compared(
        self, table: pa.Table, columns: Sequence[Column], unread: Mapping[str, Difference], rows: Rows | None
    ) -> tuple[Difference, ...]:
        found = list(unread.values())
        for one, column in zip(self.columns, columns, strict=True):
            gaps = int(missing_of(column).sum()) - (unread[one.name].count if one.name in unread else 0)
            if isinstance(one, CategoryColumn):
                places, missing = one.places(column)
                others = int(((places == len(one.levels)) & ~missing).sum())
                found.append(Difference(one.name, "rare or not seen before: encoded as other", others))
            elif isinstance(one, NumberColumn | DateColumn) and one.scale.knee:
                numbers = numbers_of(column) if isinstance(one, NumberColumn) else calendar(column)[0]
                found.append(
                    Difference(one.name, "far beyond what was seen before: compressed", one.scale.tamed(numbers))
                )
            if not isinstance(one, FlowNumber | CategoryColumn):
                found.append(Difference(one.name, "infinite: taken for the largest number", infinite_in(column)))
            if not one.mark and not isinstance(one, FlowNumber):
                found.append(
                    Difference(one.name, "missing, where none was missing before: filled in without a mark", gaps)
                )
        known = {entry.column for entry in self.report}
        extra = [name for name in table.column_names if name not in known]
        for name in extra:
            of = [where.stop - where.start for kind, where in (rows or {}).items() if name.startswith(f"{kind}.")]
            found.append(Difference(name, "a column not seen before: ignored", of[0] if of else table.num_rows))
        return tuple(one for one in found if one.count)

    def to_json(self) -> dict[str, Any]:
        """Return the encoding as lists, dictionaries, text and numbers, for a model file."""
        document = {"schema": SCHEMA, **_ADAPTER.dump_python(self, mode="json")}
        if self.nodes is None:  # then it is what it was before there were several kinds
            del document["kinds"], document["nodes"]
        if not self.edge_forms:
            del document["edge_forms"]
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Encoding:
        """Read what :meth:`to_json` returned; other input is an error."""
        try:
            # Through UTF-8, for Arrow takes no text that has none.
            plain = json.loads(json.dumps(document, allow_nan=False, ensure_ascii=False).encode())
            schema = plain.pop("schema", None)
            if type(schema) is not int or schema != SCHEMA:
                raise ModelFileError(
                    f"the encoding has schema {schema!r}, expected {SCHEMA}",
                    "read it with the oddhop that wrote it, or learn it again",
                )
            return _ADAPTER.validate_python(plain)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"]) or "the whole"
            raise ModelFileError(f"the encoding is not usable: {place}: {first['msg']}", "learn it again") from None
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ModelFileError(f"the encoding is not a JSON document: {error}", "learn it again") from None

    def _read(
        self, table: pa.Table, rows: Rows | None, row_name: RowName = row_number
    ) -> tuple[list[Column], dict[str, Difference]]:
        """Return every column in the type that it was learned in, and the texts that could not be read, by column."""
        check_table(table)
        lacking = [one.name for one in self.columns if one.name not in table.column_names]
        if lacking:
            raise EncodingError(
                f"the encoding needs the columns {listed(lacking)}, got a table with {listed(table.column_names)}",
                "add these columns, with empty values if they are unknown",
            )
        forms = {entry.column: entry.form for entry in self.report}
        columns, unread = [], {}
        for one, where in zip(self.columns, self._rows(table.num_rows, rows), strict=True):
            given = column = table.column(one.name).slice(where.start, where.stop - where.start)
            kind = "number" if one.kind == "flow" else one.kind
            if is_text(given.type) and one.kind != "flow":
                column = converted(given, forms.get(one.name) or DEFAULTS.get(kind, ""))
                count, row = unread_in(given, column) if kind not in ("category", "text") else (0, -1)
                if count:
                    first = f"{given[row].as_py()!r} in {row_name(where.start + row)}"
                    present = len(given) - int(missing_of(column).sum()) + count
                    doubt = "" if count <= (1 - NEARLY_ALL) * present else "; its type is in doubt"
                    what = f"not a {kind}: taken as missing{doubt}"
                    unread[one.name] = Difference(one.name, what, count, first)
            if kind not in readable_as(column):
                raise EncodingError(
                    f"the column {one.name!r} was learned as {one.kind} and is now {type_name(column)}",
                    "cast it to the type of the fit",
                )
            columns.append(column)
        return columns, unread


_ADAPTER: TypeAdapter[Encoding] = TypeAdapter(Encoding)


def padded(block: Any, rows: slice, count: int) -> Any:
    """Return the attributes of some rows as those of a table of ``count``, all others 0."""
    if rows.stop - rows.start == count:
        return block
    if sp.issparse(block):
        indptr = np.full(count + 1, block.indptr[-1], dtype=block.indptr.dtype)
        indptr[: rows.start] = 0
        indptr[rows.start : rows.stop + 1] = block.indptr
        return sp.csr_array((block.data, block.indices, indptr), shape=(count, block.shape[1]))
    out = np.zeros((count, block.shape[1]), dtype=np.float32)
    out[rows] = block
    return out


def check_table(table: pa.Table) -> None:
    """Refuse what is no Arrow table, or has two columns of one name."""
    if not isinstance(table, pa.Table):
        raise EncodingError(
            f"attributes must come from a pyarrow.Table, got {type(table).__name__}",
            "for a data frame pass pyarrow.Table.from_pandas(frame)",
        )
    repeated = sorted({name for name in table.column_names if table.column_names.count(name) > 1})
    if repeated:
        raise EncodingError(f"the table has more than one column called {listed(repeated)}", "rename one of them")


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return names in quotes for a message, the first few of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(repr(name) for name in names[:most]) or "no columns") + more
