"""Delta tables: the rows of the files that the log still names, by the package deltalake."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from oddhop.errors import TableError
from oddhop.tables.read.frames import Frame

LOG = "_delta_log"
ROWS_AT_ONCE = 1 << 16
BATCHES_AHEAD = 2


def delta_table(folder: Path, files: Any, label: str) -> Frame:
    """Return the rows of a Delta table as a stream of batches.

    ``folder`` holds the log, and ``files`` is the file system of Arrow whose root is the table.
    """
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError:
        raise TableError(
            f"{label} is a Delta table, whose log says which of its files count, and deltalake is not installed",
            "pip install oddhop[delta]",
        ) from None
    try:
        table = DeltaTable(folder.absolute())
        if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
            raise TableError(f"{label} is a Delta table with column mapping, which is not read", "write it to Parquet")
        _check_paths(pa.table(table.get_add_actions()).column("path").to_pylist(), label)
        rows = table.to_pyarrow_dataset(filesystem=files)
        stream = rows.scanner(
            batch_size=ROWS_AT_ONCE, batch_readahead=BATCHES_AHEAD, fragment_readahead=1, use_threads=False
        ).to_reader()
    except (DeltaError, pa.ArrowException, OSError, ValueError, KeyError) as error:
        if isinstance(error, TableError):
            raise
        reason = " ".join(str(error).split()).partition(": ParsedLogPath")[0]
        raise TableError(f"{label} is a Delta table that cannot be read: {reason}", "write it to Parquet") from None
    return Frame(label, stream)


def _check_paths(paths: list[str], label: str) -> None:
    """Refuse a log that names files outside the table."""
    for path in map(unquote, paths):
        if "://" in path or path.startswith(("/", "file:")) or ".." in PurePosixPath(path).parts:
            raise TableError(
                f"{label} is a Delta table whose log names a file outside it, {path!r}", "write it to Parquet"
            )
