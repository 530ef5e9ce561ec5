"""Frames: pandas, Polars, pyarrow and whatever else speaks Arrow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.database import reading
from oddhop.tables.settings import PANDAS_INDEX


@dataclass(frozen=True, eq=False)
class Frame:
    """A stream of Arrow batches, which can be read once."""

    label: str
    reader: Any
    files: tuple[str, ...] = ()
    notes = ()
    textual = False

    @classmethod
    def of(cls, value: Any, label: str) -> Frame | None:
        """Return the stream of a frame, or None when it is no frame."""
        with reading(label):
            try:
                if hasattr(value, "__arrow_c_stream__"):
                    return cls(label, pa.RecordBatchReader.from_stream(value))
                if hasattr(value, "to_arrow"):
                    return cls(label, value.to_arrow().to_reader())
            except (TypeError, ValueError) as error:
                if isinstance(error, pa.ArrowException):
                    raise
                raise TableError(f"{label} cannot be had as Arrow: {error}") from None
        return None

    def names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:  # noqa: ARG002 - as the other forms
        """Return the names of the columns, without the nameless index that pandas sends along."""
        return tuple(name for _, name in self._columns())

    def load(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        picks: Mapping[int, str],
        ids: Collection[int],  # noqa: ARG002 - as the other forms
        *,
        as_view: bool = False,  # noqa: ARG002 - a stream can be read once
    ) -> bool:
        """Make a table of the picked columns, named c and their number."""
        columns = self._columns()
        places = [columns[k][0] for k in picks]
        schema = pa.schema([self.reader.schema.field(i).with_name(f"c{k}") for i, k in zip(places, picks, strict=True)])

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self.reader:
                yield pa.RecordBatch.from_arrays([batch.column(i) for i in places], schema=schema)

        with reading(self.label):
            connection.register("frame", pa.RecordBatchReader.from_batches(schema, batches()))
            connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM frame")  # noqa: S608 - our own names
            connection.unregister("frame")
        return False

    def _columns(self) -> list[tuple[int, str]]:
        """Return the places and names of the columns, the index of pandas first, as pandas writes it to a CSV."""
        schema, index = self.reader.schema, None
        # Metadata that pandas did not write may be anything.
        with suppress(ValueError, TypeError, AttributeError, KeyError, RecursionError):
            index = schema.pandas_metadata["index_columns"]
        first = index if isinstance(index, list) else []
        names = [(i, name) for i, name in enumerate(schema.names) if not re.fullmatch(PANDAS_INDEX, name)]
        return sorted(names, key=lambda one: one[1] not in first)
