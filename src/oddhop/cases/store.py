"""cases.json: the cases of a run as a file. It holds text and numbers alone; nothing in it is run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from oddhop.base.files import write_atomically
from oddhop.cases.case import SCHEMA, Cases
from oddhop.errors import RunFolderError

FILE = "cases.json"
_ADAPTER: list[TypeAdapter[Cases]] = []  # made when it is first needed


def write_cases(cases: Cases, folder: Path) -> None:
    """Write the cases into the folder of a run.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.cases.case import Case, Cases
    >>> from oddhop.cases.store import read_cases, write_cases
    >>> made = Cases((Case("a", 1, "single", "It stands out", "It stands out", ()),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cases(made, Path(folder))
    ...     read_cases(Path(folder)) == made
    True
    """
    text = json.dumps(asdict(cases), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write_atomically(folder / FILE, text.encode())


def read_cases(folder: Path) -> Cases:
    """Read the cases of a run; a file that is not as :func:`write_cases` makes it is an error."""
    file = folder / FILE
    try:
        document = json.loads(file.read_bytes())
        version = document.get("schema") if isinstance(document, dict) else None
        if version != SCHEMA:
            raise RunFolderError(
                f"{file} has schema {version}, and this oddhop reads {SCHEMA}", "run oddhop detect again"
            )
        if not _ADAPTER:
            _ADAPTER.append(TypeAdapter(Cases))
        found = _ADAPTER[0].validate_python(document)
        same = json.loads(json.dumps(asdict(found), allow_nan=False)) == document
    except (OSError, ValueError, RecursionError, ValidationError):
        same = False
    if not same:
        raise RunFolderError(f"{file} is not a file of cases", "restore it from a copy, or run oddhop detect again")
    return found
