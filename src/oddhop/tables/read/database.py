"""A DuckDB that may touch the named files and nothing else, and its errors as ours."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from oddhop.base import temporary
from oddhop.errors import MemoryBudgetError, SettingsError, TableError
from oddhop.tables.settings import PLAIN, ReadSettings

RESERVED = ("memory", "system", "temp")  # databases that every DuckDB has


@contextmanager
def database(
    files: Sequence[str],
    settings: ReadSettings = PLAIN,
    file: Path | None = None,
    attached: Path | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills to a temporary folder, and take both away afterwards.

    With ``file`` its tables are kept there, but for the temporary ones. With ``attached`` queries are about the tables
    of that DuckDB file, and nothing is written to it.
    """
    with temporary_folder(settings) as spill:
        connection = _connect(spill, settings.memory_limit, file)
        try:
            with _interruptible(connection):
                if attached is not None:
                    _attach(connection, attached)
                _harden(connection, files)
                yield connection
        finally:
            connection.close()


@contextmanager
def temporary_folder(settings: ReadSettings) -> Iterator[Path]:
    """Make a temporary folder that only this user can read, and take it away afterwards."""
    parent = settings.temp_folder
    if parent is not None and not Path(parent).is_dir():
        raise TableError(f"temp_folder must be a folder that exists, got {parent!r}", "make it or name another")
    with temporary.temporary_folder(parent) as folder:
        yield folder


@contextmanager
def _interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let a signal interrupt the queries as well: DuckDB by itself may wait for ever for its threads."""
    before: dict[int, Any] = {}
    caught = []

    def stop(number: int, frame: Any) -> None:
        caught.append(number)
        connection.interrupt()
        before[number](number, frame)

    if threading.current_thread() is threading.main_thread():  # no other may
        for one in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(one)):
                before[one] = signal.signal(one, stop)
    try:
        yield
    except Exception:
        if caught:  # DuckDB makes an error of its own of it
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


def _connect(spill: Path, memory_limit: str | None, file: Path | None) -> duckdb.DuckDBPyConnection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        # Every result is sorted where order matters, and without it sorts need less memory.
        "preserve_insertion_order": False,
        "temp_directory": str(spill),
    }
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    try:
        return duckdb.connect(":memory:" if file is None else file, config=config)
    except duckdb.IOException as error:
        raise TableError(
            f"{file} cannot be opened: DuckDB says: {first_line(error)}", "start anew elsewhere, or name another file"
        ) from None
    except duckdb.Error as error:
        raise SettingsError(
            f"memory_limit must be a size such as '4GB', got {memory_limit!r}", f"DuckDB says: {first_line(error)}"
        ) from None


def _attach(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    # The name that DuckDB gives it by itself, for views of the file may say it. The type keeps DuckDB from looking
    # for an extension that reads other files.
    own = file.name.split(".")[0]
    name = identifier(f"{own} file" if own.lower() in RESERVED else own)
    connection.execute(f"ATTACH {literal(str(file.absolute()))} AS {name} (TYPE duckdb, READ_ONLY)")
    connection.execute(f"USE {name}")


def _harden(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    # Otherwise a query of two seconds draws a bar into the standard output, where results may be piped.
    # In a notebook without ipywidgets it is off already, and DuckDB refuses every change of it.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (True,):
        connection.execute("SET enable_progress_bar = false")
    # The text of a moment must not depend on where the machine stands.
    connection.execute("SET TimeZone = 'UTC'")
    # A UUID goes out as a UUID.
    connection.execute("SET arrow_lossless_conversion = true")
    # SET takes no parameters.
    connection.execute(f"SET allowed_paths = {literals([*files, *unglobbed(files)])}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Sequence[str]) -> str:
    """Write a list of texts for SQL."""
    return f"[{', '.join(map(literal, texts))}]"


def identifier(name: str) -> str:
    """Quote a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def unglobbed(files: Sequence[str]) -> list[str]:
    """Write file names so that DuckDB, which takes every name for a pattern, finds those files alone."""
    return [re.sub(r"[*?[]", lambda found: f"[{found[0]}]", file) for file in files]


def compression(file: str) -> str | None:
    """Return how Arrow calls the packing of a file."""
    return {".gz": "gzip", ".zst": "zstd"}.get(Path(file).suffix.lower())


def fetch_table(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """Return the answer of a query as an Arrow table."""
    table = connection.sql(query).to_arrow_table()
    for k, field in enumerate(table.schema):
        # What keeps a UUID a UUID also makes bytes of truth values, which few readers expect.
        if getattr(field.type, "extension_name", "") == "arrow.bool8":
            chunks = [chunk.storage.cast(pa.bool_()) for chunk in table.column(k).chunks]
            table = table.set_column(k, field.name, pa.chunked_array(chunks, pa.bool_()))
    return table


def fetch_batches(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    """Return the answer of a query batch by batch, in any order; it is never whole in memory."""
    return iter(pa.RecordBatchReader.from_stream(connection.sql(query)))


def fetch_row(connection: duckdb.DuckDBPyConnection, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Return the first row of the answer; the query must have one."""
    # All of them: DuckDB counts an answer that is not read to its end as unfinished.
    rows: list[tuple[Any, ...]] = connection.execute(query, list(values)).fetchall()
    return rows[0]


@contextmanager
def reading(what: str, done: str = "read") -> Iterator[None]:
    """Turn the errors of DuckDB, Arrow and the file system into ours, naming the table, file and line."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryBudgetError(
            f"{what} does not fit: DuckDB says {first_line(error)}",
            "raise max_memory or memory_limit, or name a temp_folder with room",
            command="raise --max-memory, or --set read.memory_limit",
        ) from None
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError, OverflowError) as error:
        raise TableError(f"{what} cannot be {done}{_where(str(error))}: {_reason(error)}") from None


def _where(message: str) -> str:
    line = re.search(r"CSV Error on Line: (\d+)", message)
    file = re.search(r"^  file = (.+)$", message, re.MULTILINE)
    return (f", file {file[1]}" if file else "") + (f", line {line[1]}" if line else "")


def _reason(error: BaseException) -> str:
    message = str(error)
    width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if width:
        return (
            f"the header names {width[1]} columns and the line has {width[2]}; quote the values that hold a delimiter, "
            "and remove lines above the header"
        )
    if "unterminated quote" in message:
        return "a quote is not closed; double the quotes within a value, and quote the whole of it"
    if "not utf-8" in message.lower() or isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8; save it as UTF-8"
    if "CSV Error" in message:
        lines = [line for line in message.splitlines()[1:] if line and not line.startswith("Original Line")]
        return lines[0] if lines else message
    return first_line(error)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text; DuckDB goes on to its own settings, which are not the reader's."""
    return (str(error).splitlines() or [type(error).__name__])[0]
