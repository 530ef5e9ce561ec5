"""Standard input as a table: kept in a temporary file meanwhile, for a table is read more than once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from oddhop.errors import TableError
from oddhop.tables.read.database import reading, temporary_folder
from oddhop.tables.read.files import Chosen, Form, as_form
from oddhop.tables.settings import ReadSettings

STDIN = "-"
PIECE = 1 << 20
UNPACKED_BY = {b"\x1f\x8b": "gunzip -c", b"\x28\xb5": "zstd -dc"}


def is_stdin(named: Any) -> bool:
    """Return whether a table is standard input."""
    return isinstance(named, str | os.PathLike) and os.fspath(named) == STDIN


def check_one_stdin(edges: Any, nodes: Any) -> None:
    """Refuse standard input for more than one table: it is one stream."""
    tables = (edges, *(nodes.values() if isinstance(nodes, Mapping) else (nodes,)))
    count = sum(map(is_stdin, tables))
    if count > 1:
        raise TableError(f"standard input (-) is named for {count} tables", "name files for the others")


@contextmanager
def standard_input(what: str, settings: ReadSettings) -> Iterator[Form]:
    """Copy standard input to a temporary file and read that: Parquet or NDJSON by its first bytes, else CSV."""
    label = f"{what} from standard input"
    if sys.stdin is None or sys.stdin.isatty():
        raise TableError(f"{what} is standard input (-), which is a terminal", "pipe a table, or name a file")
    with temporary_folder(settings) as folder:
        file = folder / "standard-input"
        with reading(label), file.open("xb") as copy:
            # One read at a time, so that a signal is seen between two.
            while piece := sys.stdin.buffer.read1(PIECE):  # type: ignore[union-attr]
                copy.write(piece)
        with file.open("rb") as copy:
            start = copy.read(4)
        if not start:
            raise TableError(f"{what} is standard input (-), which is empty", "pipe a table, or name a file")
        if start[:2] in UNPACKED_BY:
            raise TableError(f"{label} is packed", f"unpack it on its way: {UNPACKED_BY[start[:2]]} FILE | oddhop ...")
        form = "Parquet" if start == b"PAR1" else "NDJSON" if start[:1] == b"{" else "CSV"
        yield as_form(Chosen((STDIN,), form), label, [file], folder)
