"""Files that survive: atomic writes, checked array files, and the folder of a run with its lock."""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from oddhop.errors import ModelFileError, RunFolderError

Arrays: TypeAlias = "dict[str, npt.NDArray[Any]]"
KEY = "oddhop"
MANIFEST = "manifest.json"
LOCK = ".lock"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one, whole.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.runs import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", b"whole")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'whole'
    """
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing piece by piece; it takes its name only when all of it is on the disk."""
    temporary = _temporary(path)
    file = temporary.open("xb")  # never through a link that someone put there
    try:
        with file:
            with suppress(OSError):  # not every file system has locks
                fcntl.flock(file, fcntl.LOCK_EX)  # so that others see that its writer lives
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _temporary(path: Path) -> Path:
    # On a cluster two machines may be at the same file, in processes of the same number.
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")


def sweep_beside(path: Path) -> None:
    """Take away what killed writers of this file, or folder, left beside it; their locks ended with them.

    For files that one machine writes: the lock of another is not seen on every file system.
    """
    for left_over in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with suppress(OSError):  # it is locked, or not ours to take away
            if left_over.is_symlink():
                left_over.unlink()
            elif left_over.is_dir():
                shutil.rmtree(left_over)
            else:
                with left_over.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left_over.unlink()


def pack_arrays(arrays: Arrays, info: Mapping[str, Any]) -> bytes:
    """Put arrays and a JSON document into one safetensors file, each part with its sha256."""
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    document = {"info": info, "sha256": {name: digest(array) for name, array in ordered.items()}}
    text = json.dumps(document, sort_keys=True)
    sealed = json.dumps({"document": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}, sort_keys=True)
    return bytes(safetensors.numpy.save(ordered, metadata={KEY: sealed}))


def unpack_arrays(content: bytes, what: str) -> tuple[Arrays, dict[str, Any]]:
    """Read what :func:`pack_arrays` made; any changed byte is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.runs import pack_arrays, unpack_arrays
    >>> arrays, info = unpack_arrays(pack_arrays({"x": np.arange(3)}, {"made": "here"}), "this")
    >>> arrays["x"].tolist(), info
    ([0, 1, 2], {'made': 'here'})
    """
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
        raise ModelFileError(f"{what} was changed after it was written; take the original or make it anew")
    return arrays, document["info"]


def opened_parts(path: str | os.PathLike[str], kind: str, schema: int) -> tuple[Arrays, dict[str, Any]]:
    """Read the parts of a model file of that kind and schema; what they mean is still to be checked."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}; give the path that save() was given") from None
    arrays, info = unpack_arrays(content, str(path))
    if info.get("kind") != kind or info.get("schema") != schema:
        raise ModelFileError(
            f"{path} holds {info.get('kind')!r} of schema {info.get('schema')!r}, "
            f"expected {kind!r} of schema {schema}; "
            "load it with the detector and the oddhop that wrote it, or fit again"
        )
    return arrays, info


def digest(array: npt.NDArray[Any]) -> str:
    """Give the sha256 of an array, its type and its shape."""
    whole = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    whole.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return whole.hexdigest()


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
        """Give the last checkpoint of that name, or None."""
        file = self.path / f"{name}.safetensors"
        if not file.exists():
            return None
        arrays, kept = unpack_arrays(file.read_bytes(), str(file))
        if kept.get("run") != self.run or not isinstance(kept.get("info"), dict):
            raise RunFolderError(f"{file} is a checkpoint of another run; start anew in another folder")
        return arrays, kept["info"]

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, *, fresh: bool) -> npt.NDArray[Any]:
        """Give an array that lives in a file of the folder: zeros where it is fresh, else as it was left."""
        file = self.path / f"{name}.bin"
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size == 0:
            return np.zeros(shape, dtype=dtype)
        if fresh:
            file.unlink(missing_ok=True)
            with file.open("xb") as content:
                _take_room(content, size)
        if not file.is_file() or file.is_symlink() or file.stat().st_size != size:
            raise RunFolderError(f"{file} is missing or has another size; start anew in another folder")
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def _take_room(file: BinaryIO, size: int) -> None:
    """Make a file of zeros that is on the disk already: where a mapped one finds no room, the process is killed."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


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
        gone = _temporary(folder)
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
        lock = os.fdopen(os.open(folder / LOCK, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666), "a")
    except OSError as error:
        raise RunFolderError(
            f"the folder {folder} cannot be written to: {error.strerror}; choose one that can"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFolderError(
                f"another run is writing to {folder}; wait for it to end or choose another folder"
            ) from None
        except OSError as error:
            raise RunFolderError(
                f"{folder} is on a file system without locks ({error.strerror}), so two runs could write to it at "
                "once; choose a folder on one that has them, or have it mounted with them"
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
    """Give what the manifest of a run folder says of its run, or None."""
    try:
        return json.loads((Path(path) / MANIFEST).read_bytes()).get(key)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def _check_identity(manifest: Path, identity: dict[str, Any], resume: bool) -> None:
    if not manifest.exists():
        write_atomically(manifest, json.dumps(identity, indent=1, sort_keys=True).encode())
        return
    if not resume:
        raise RunFolderError(f"{manifest.parent} already holds a run; pass resume=True or choose another folder")
    try:
        found = dict(json.loads(manifest.read_bytes()))
    except (ValueError, TypeError, RecursionError):
        raise RunFolderError(f"{manifest} is not readable; choose another folder") from None
    differing = sorted(key for key in identity.keys() | found.keys() if identity.get(key) != found.get(key))
    if differing:
        changes = ", ".join(f"{key} was {found.get(key)!r} and is {identity.get(key)!r}" for key in differing)
        raise RunFolderError(
            f"{manifest.parent} holds another run: {changes}; "
            "start anew in another folder, or put back what was changed"
        )
