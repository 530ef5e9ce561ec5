"""NDJSON: one object a line; the types are those of JSON, found from all the values."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.database import compression, fetch_row, first_line, reading, unglobbed

READ = "read_ndjson_objects($1, hive_partitioning = false)"
WHOLE = {"BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"}


@dataclass(frozen=True)
class NDJSON:
    """Files of objects; a key that an object lacks is null there."""

    label: str
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()
    textual = False

    def names(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
        """Return every key, by where it stands at the earliest, so that no order of lines changes the columns."""
        with self._reading():
            others = fetch_row(
                connection,
                f"SELECT count(*) FROM {READ} WHERE json_type(json) <> 'OBJECT'",  # noqa: S608
                [unglobbed(self.files)],
            )[0]
            if others:
                raise TableError(f"{self.label} must hold one JSON object a line, got {others} line(s) of another kind")
            keys = connection.execute(
                "SELECT key, min(place) FROM (SELECT unnest(keys) AS key, generate_subscripts(keys, 1) AS place "  # noqa: S608
                f"FROM (SELECT json_keys(json) AS keys FROM {READ})) GROUP BY key ORDER BY 2, 1",
                [unglobbed(self.files)],
            )
            return tuple(row[0] for row in keys.fetchall())

    def load(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        picks: Mapping[int, str],
        ids: Collection[int],
        *,
        as_view: bool = False,  # noqa: ARG002 - its types are found from all the values
    ) -> bool:
        """Make a table of the picked columns, named c and their number."""
        picked = ", ".join(f"json_extract(json, ${n}) AS c{k}" for n, k in enumerate(picks, start=2))
        # A JSON pointer holds whatever characters the key does.
        pointers = [f"/{key.replace('~', '~0').replace('/', '~1')}" for key in picks.values()]
        with self._reading():
            connection.execute(
                f"CREATE TEMP TABLE {table}_json AS SELECT {picked} FROM {READ}",  # noqa: S608
                [unglobbed(self.files), *pointers],
            )
            kinds = {k: self._kind(connection, table, k, name, k in ids) for k, name in picks.items()}
            typed = ", ".join(f"CAST(json_extract_string(c{k}, '$') AS {kinds[k]}) AS c{k}" for k in picks)
            connection.execute(f"CREATE TEMP TABLE {table} AS SELECT {typed} FROM {table}_json")  # noqa: S608
            connection.execute(f"DROP TABLE {table}_json")
        return False

    def _kind(self, connection: duckdb.DuckDBPyConnection, table: str, k: int, name: str, is_id: bool) -> str:
        kinds, small = fetch_row(
            connection,
            f"SELECT list(DISTINCT json_type(c{k})), "  # noqa: S608
            f"bool_and(TRY_CAST(json_extract_string(c{k}, '$') AS BIGINT) IS NOT NULL) "
            f"FILTER (WHERE json_type(c{k}) <> 'NULL') FROM {table}_json",
        )
        found = set(kinds or ()) - {"NULL", None}
        if is_id and len(found - WHOLE) + bool(found & WHOLE) > 1:
            raise TableError(
                f"the ids in column {name!r} of {self.label} must be all numbers or all strings, got {sorted(found)}",
                "write them as strings",
            )
        if found and found <= WHOLE:
            return "BIGINT" if small else "VARCHAR"
        if found <= {*WHOLE, "DOUBLE"}:
            return "DOUBLE"
        return "BOOLEAN" if found == {"BOOLEAN"} else "VARCHAR"

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with reading(self.label):
            try:
                yield
            except duckdb.InvalidInputException as error:
                if "Malformed JSON" not in str(error):
                    raise
                # Its line numbers are not those of an editor, so the line is looked for here.
                reason = re.sub(r".*?at byte (\d+) in line \d+: ", r"at byte \1: ", first_line(error))
                raise TableError(f"{self.label} cannot be read{self._broken_line()}: {reason.strip()}") from None

    def _broken_line(self) -> str:
        for file in self.files:
            with pa.input_stream(file, compression=compression(file)) as stream:
                for number, line in enumerate(io.BufferedReader(stream), start=1):
                    try:
                        json.loads(line.strip() or b"{}")
                    except (ValueError, RecursionError):
                        return f", file {file}, line {number}"
        return ""
