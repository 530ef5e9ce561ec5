"""Keys: what an array is made of, as a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


def key_of(*parts: Any) -> str:
    """Return the digest of functions, constants and of the keys of arrays.

    Examples
    --------
    >>> from oddhop.arrays.keys import key_of
    >>> key_of("sum", 1) == key_of("sum", 1), key_of("sum", 1) == key_of("sum", 1.0)
    (True, False)
    """
    return hashlib.sha256("|".join(map(_described, parts)).encode()).hexdigest()[:24]


def _described(part: Any) -> str:
    if isinstance(part, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest()
        return f"{part.dtype.str}{part.shape}{content}"
    if isinstance(part, bool | int | float | complex | str | bytes | slice | np.generic | Path) or part is None:
        return f"{type(part).__name__} {part!r}"
    if isinstance(getattr(part, "key", None), str):  # an array, or what is made of arrays
        return f"key {part.key}"
    if isinstance(part, list | tuple):
        return f"({', '.join(map(_described, part))})"
    if isinstance(part, Mapping):
        return f"{{{', '.join(f'{_described(name)}: {_described(one)}' for name, one in part.items())}}}"
    if is_dataclass(part) and not isinstance(part, type):
        inner = [f"{one.name}={_described(getattr(part, one.name))}" for one in fields(part)]
        return f"{type(part).__qualname__}({', '.join(inner)})"
    if callable(part) and hasattr(part, "__qualname__"):
        return f"{part.__module__}.{part.__qualname__}"
    raise TypeError(f"no key can be made of {type(part).__name__}; pass arrays, numbers, text or dataclasses of these")


@cache
def code_digest(folder: Path | None = None) -> str:
    """Return a digest of the source of oddhop: arrays that other code has made are not taken for this code's."""
    digest, home = hashlib.sha256(), folder or Path(__file__).parents[1]
    for file in sorted(home.rglob("*.py")):
        digest.update(f"{file.relative_to(home).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
