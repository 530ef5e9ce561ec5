"""Texts that a spreadsheet or a terminal would obey, in cells and in names: none is obeyed or lost."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.printable import spelled
from oddhop.tables.results import csv_into

PIECES = (
    *(
        "=",
        "+",
        "-",
        "@",
        "\uff1d",
        "\uff0b",
        "\uff0d",
        "\uff20",
        "\t",
        "\r",
        "\n",
        "\r\n",
        " ",
        "\x0b",
        "\u00a0",
        "\u3000",
    ),
    *(
        "cmd|' /C calc'!A0",
        "SUM(1)",
        '"',
        "'",
        ",",
        ";",
        "\x1b]0;title\x07",
        "\x1b[2J",
        "\0",
        "\x7f",
        "\x9b2J",
        "\u202e",
    ),
    *("\u2066", "<script>", "\ud7ff", "\U0001f600", "1", "5.5", "e", "a", "\ufeff", "%0A", "&", "|", "\\x1b"),
)
RUNS = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]", re.ASCII)
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def write_cells(count: int, seed: int = 0) -> dict[str, Any]:
    """Write texts as CSV, and read them as any program does."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(PIECES, rng.integers(1, 6))) for _ in range(count)]
    file = io.BytesIO()
    changed = csv_into(pa.table({texts[0]: texts, "n": list(range(count))}), file)
    [head, *rows] = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    errors = [] if len(rows) == count else [f"{len(rows)} rows of {count}"]
    different = 0
    for text, cell in zip([texts[0], *texts], [head[0], *(row[0] for row in rows)], strict=True):
        if (RUNS.match(cell) and not NUMBER.fullmatch(cell)) or OBEYED.search(cell):
            errors.append(f"obeyed: {text!r} as {cell!r}")
        if cell not in (spelled(text), "'" + spelled(text)):
            errors.append(f"lost: {text!r} as {cell!r}")
        different += cell != text
    counted = changed + (head[0] != texts[0])
    errors += [] if counted == different else [f"{counted} counted, {different} changed"]
    return {"test": "cells", "cells": count, "changed": changed, "errors": errors[:20]}
