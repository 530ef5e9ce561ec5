"""Files that survive a crash: atomic writes, and arrays with a JSON document in one checked file."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from oddhop.base import locks
from oddhop.base.permissions import for_owner
from oddhop.errors import ModelFileError

Arrays: TypeAlias = "dict[str, npt.NDArray[Any]]"
KEY = "oddhop"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one, whole."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing piece by piece; it takes its name only when all of it is on the disk."""
    temporary = temporary_name(path)
    file = temporary.open("xb")  # never through a link that someone put there
    try:
        for_owner(temporary, instead_of=path)
        with file:
            with suppress(OSError):  # not every file system has locks
                locks.lock(file.fileno())  # so that others see that its writer lives
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk does not say of which file
        raise
    if hasattr(os, "O_DIRECTORY"):  # Windows opens no folders
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def temporary_name(path: Path) -> Path:
    """Return the hidden name beside a file under which it is written."""
    # On a cluster two machines may be at the same file, in processes of the same number.
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")


def sweep_beside(path: Path) -> None:
    """Take away what killed writers of this file, or folder, left beside it; their locks ended with them.

    For files that one machine writes: the lock of another is not seen on every file system.
    """
    for left_over in path.parent.glob(f".{glob.escape(path.name)}.*.tmp") if locks.SWEEPS else ():
        with suppress(OSError):  # it is locked, or not ours to take away
            if left_over.is_symlink():
                left_over.unlink()
            elif left_over.is_dir():
                shutil.rmtree(left_over)
            else:
                with left_over.open("rb") as file:
                    locks.lock(file.fileno(), wait=False)
                    left_over.unlink()


def file_digest(file: Path) -> str:
    """Return the sha256 of a file, read in pieces."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def pack_arrays(arrays: Arrays, info: Mapping[str, Any]) -> bytes:
    """Put arrays and a JSON document into one safetensors file, each part with its sha256."""
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    document = {"info": info, "sha256": {name: digest(array) for name, array in ordered.items()}}
    text = json.dumps(document, sort_keys=True)
    sealed = json.dumps({"document": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}, sort_keys=True)
    return bytes(safetensors.numpy.save(ordered, metadata={KEY: sealed}))


def unpack_arrays(content: bytes, what: str) -> tuple[Arrays, dict[str, Any]]:
    """Read what :func:`pack_arrays` made; any changed byte is refused."""
    try:
        arrays = safetensors.numpy.load(content)
        size = int.from_bytes(content[:8], "little")
        sealed = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][KEY])
        text = sealed["document"]
        document = json.loads(text)
        right = (
            sealed["sha256"] == hashlib.sha256(text.encode()).hexdigest()
            and document["sha256"] == {name: digest(array) for name, array in arrays.items()}
            # What no sha256 covers (spaces, the order of the header) must be as we write it.
            and pack_arrays(arrays, document["info"]) == content
        )
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{what} is not an oddhop file or was damaged: {error}") from None
    if not right:
        raise ModelFileError(f"{what} was changed after it was written", "restore the original or make the file again")
    return arrays, document["info"]


def digest(array: npt.NDArray[Any]) -> str:
    """Return the sha256 of an array, its type and its shape."""
    whole = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    whole.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return whole.hexdigest()
