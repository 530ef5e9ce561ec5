"""The folder of a fit: who holds it, what fit it belongs to, and its checkpoints."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oddhop.base import locks
from oddhop.base.files import Arrays, pack_arrays, sweep_beside, temporary_name, unpack_arrays, write_atomically
from oddhop.base.permissions import for_owner
from oddhop.errors import RunFolderError

MANIFEST = "manifest.json"
LOCK = ".lock"


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run: a manifest that says what run it is, and its checkpoints.

    ``run`` is the sha256 of what the run is; every checkpoint has it, so that none of another run passes for one.
    """

    path: Path
    run: str = ""

    def save(self, name: str, arrays: Arrays, info: Mapping[str, Any]) -> None:
        """Keep a checkpoint; the one before it is replaced."""
        write_atomically(self.path / f"{name}.safetensors", pack_arrays(arrays, {"run": self.run, "info": info}))

    def load(self, name: str) -> tuple[Arrays, dict[str, Any]] | None:
        """Return the last checkpoint of that name, or None."""
        file = self.path / f"{name}.safetensors"
        if not file.exists():
            return None
        arrays, kept = unpack_arrays(file.read_bytes(), str(file))
        if kept.get("run") != self.run or not isinstance(kept.get("info"), dict):
            raise RunFolderError(f"{file} is a checkpoint of another run", "start again in another folder")
        return arrays, kept["info"]

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, *, fresh: bool) -> npt.NDArray[Any]:
        """Return an array that lives in a file of the folder: zeros where it is fresh, else as it was left."""
        file = self.path / f"{name}.bin"
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size == 0:
            return np.zeros(shape, dtype=dtype)
        if fresh:
            file.unlink(missing_ok=True)
            with file.open("xb") as content:
                # On the disk already: where a mapped file finds no room, the process is killed.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(content.fileno(), 0, size)
                else:
                    content.truncate(size)
        if not file.is_file() or file.is_symlink() or file.stat().st_size != size:
            raise RunFolderError(f"{file} is missing or has the wrong size", "start again in another folder")
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


@contextmanager
def open_run(path: str | os.PathLike[str], identity: Mapping[str, Any], *, resume: bool) -> Iterator[RunFolder]:
    """Hold the folder of a run; continue it only if it is the same run.

    ``identity`` is what must not differ: settings, the fingerprint of the data, the version.
    """
    with locked(path) as folder:
        _check_identity(folder / MANIFEST, dict(identity), resume)
        text = json.dumps(identity, sort_keys=True)
        yield RunFolder(folder, hashlib.sha256(text.encode()).hexdigest())


def discard_run(path: str | os.PathLike[str]) -> None:
    """Take the folder of a run away, at one stroke: a kill must not leave a part of it that passes for a run."""
    with locked(path) as folder:
        gone = temporary_name(folder)
        with suppress(PermissionError):  # Windows renames no folder with an open file in it
            folder.rename(gone)
    if folder.exists():
        folder.rename(gone)
    shutil.rmtree(gone)


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder and hold it, so that no two runs write to it; the lock ends with the process."""
    folder = Path(path)
    was_there = folder.exists()
    sweep_beside(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not was_there:
            for_owner(folder)
        lock = os.fdopen(os.open(folder / LOCK, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666), "a")
    except OSError as error:
        raise RunFolderError(
            f"cannot write to the folder {folder}: {error.strerror}", "choose another folder"
        ) from None
    with lock:
        try:
            locks.lock(lock.fileno(), wait=False)
        except BlockingIOError:
            raise RunFolderError(
                f"another run is writing to {folder}", "wait for it to end or choose another folder"
            ) from None
        except OSError as error:
            raise RunFolderError(
                f"{folder} is on a file system without locks ({error.strerror}), so two runs could write to it at once",
                "choose a folder on a file system with locks, or mount it with locks",
            ) from None
        for left_over in folder.glob(".*.tmp"):  # of writers that were killed: nobody else writes here now
            left_over.unlink(missing_ok=True)  # one that outlived its run may have given it its name by now
        try:
            yield folder
        except BaseException:
            # A run that failed before it had anything to keep leaves no folder that stands in the way of the next.
            if not was_there and [file.name for file in folder.iterdir()] == [LOCK]:
                (folder / LOCK).unlink()
                folder.rmdir()
            raise


def recorded(path: str | os.PathLike[str], key: str) -> Any:
    """Return what the manifest of a run folder says of its run, or None."""
    try:
        return json.loads((Path(path) / MANIFEST).read_bytes()).get(key)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def has_checkpoints(path: str | os.PathLike[str]) -> bool:
    """Return whether a run folder has anything that a resumed run can continue from."""
    return any(file.name != MANIFEST and not file.name.startswith(".") for file in Path(path).glob("*"))


def _check_identity(manifest: Path, identity: dict[str, Any], resume: bool) -> None:
    if not manifest.exists():
        write_atomically(manifest, json.dumps(identity, indent=1, sort_keys=True).encode())
        return
    if not resume:
        raise RunFolderError(
            f"{manifest.parent} already has a run",
            "pass resume=True or choose another folder",
            command="pass --resume or choose another folder",
        )
    try:
        found = dict(json.loads(manifest.read_bytes()))
    except (ValueError, TypeError, RecursionError):
        raise RunFolderError(f"{manifest} cannot be read", "choose another folder") from None
    differing = sorted(key for key in identity.keys() | found.keys() if identity.get(key) != found.get(key))
    if differing:
        changes = ", ".join(f"{key} was {found.get(key)!r} and is {identity.get(key)!r}" for key in differing)
        raise RunFolderError(
            f"{manifest.parent} has another run: {changes}",
            "start again in another folder, or undo these changes",
        )
