"""The parts of a MATLAB file, read in a process of its own.

SciPy's reader trusts what a file says of itself: of files with a few changed bytes one in thirty crashes it. The child
that reads it may crash; it hands over plain arrays, and nothing that could run.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from oddhop.errors import DataFolderError

ROOT = Path(__file__).parents[1]
PLAIN = "biuf"
SPARSE = ("data", "row", "col", "shape")


def mat_parts(file: Path) -> dict[str, Any]:
    """Return the arrays of a file by name, dense as they are and sparse as SciPy's; what is no number is left out."""
    command = [sys.executable, "-m", __name__, str(file.resolve())]
    child = subprocess.run(command, capture_output=True, check=False, cwd=ROOT)
    if child.returncode:
        said = child.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if said and child.returncode > 0 else "it is damaged, and crashes its reader"
        raise DataFolderError(f"{file} cannot be read as a MATLAB file: {reason}", "take it anew")
    found: dict[str, Any] = {}
    with np.load(io.BytesIO(child.stdout), allow_pickle=False) as parts:
        for key in parts.files:
            name, _, part = key.rpartition("/")
            if not name:
                found[part] = parts[key]
            elif part == SPARSE[0]:
                data, row, col, shape = (parts[f"{name}/{one}"] for one in SPARSE)
                found[name] = sp.coo_array((data, (row, col)), shape=tuple(shape.tolist()))
    return found


def _handed_over(file: str) -> bytes:
    arrays: dict[str, Any] = {}
    for name, value in scipy.io.loadmat(file, spmatrix=False).items():
        if sp.issparse(value):
            value.check_format(full_check=True)
            entries = sp.coo_array(value)
            parts = (entries.data, entries.row, entries.col, np.array(entries.shape))
            arrays |= {f"{name}/{part}": array for part, array in zip(SPARSE, parts, strict=True)}
        elif isinstance(value, np.ndarray) and value.dtype.kind in PLAIN:
            arrays[name] = value
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


if __name__ == "__main__":
    sys.stdout.buffer.write(_handed_over(sys.argv[1]))
