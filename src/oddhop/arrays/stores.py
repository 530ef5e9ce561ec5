"""Where arrays are kept: whole in memory, or in the files of a run folder, one for every partition of the network."""

from __future__ import annotations

import functools
import itertools
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from oddhop.arrays.keys import code_digest, key_of
from oddhop.base.arrays import Ints, frozen
from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import Arrays, atomic_file
from oddhop.graph.disk import HEADER, Stored, open_stored

if TYPE_CHECKING:
    from oddhop.arrays.handles import Handle, Output

BLOCK = 16_384  # rows that are added up by themselves; a range begins with one
ROWS, ENTRIES, STARTS = "rows", "entries", "starts"  # what an array is over; starts are those of the rows
Span = tuple[int, int]
HEADERS = Lock()  # NumPy parses a header as Python, and that of 3.11 sometimes fails when threads parse at once


@dataclass
class Holders:
    """How many handles there are of every array; shared by the stores of a network and of its parts.

    Attributes
    ----------
    counts : by the key of the array.
    closed : after a failure nothing is removed, so that the run can be resumed.
    figures : the files of figures by the stage that asked for them first; they are removed with it.
    """

    counts: dict[str, int] = field(default_factory=dict)
    closed: bool = False
    figures: dict[Path, str] = field(default_factory=dict)
    stage: str = ""


class Store(ABC):
    """Nodes, and the arrays over them. An array is removed with its last handle."""

    nodes: int
    peers: list[Span]
    """The ranges whose arrays are read as a whole when an entry leads there."""
    holders: Holders

    def hold(self, key: str) -> None:
        """Count one more handle."""
        self.holders.counts[key] = self.holders.counts.get(key, 0) + 1

    def release(self, key: str) -> None:
        """Count one handle less."""
        self.holders.counts[key] -= 1
        if not self.holders.counts[key] and not self.holders.closed:
            del self.holders.counts[key]
            self.drop(key)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keep what there is if a run fails within, so that it can be resumed."""
        try:
            yield
        except BaseException:
            self.holders.closed = True
            raise

    @abstractmethod
    def part(self, nodes: slice) -> Store:
        """Return the store of nodes that follow each other, which are numbered from 0; always the same one."""

    @abstractmethod
    def spans(self, rows: int) -> list[Span]:
        """Return the ranges of the tasks of a pass, each of a number of whole blocks of so many rows."""

    @abstractmethod
    def key(self, *parts: Any) -> str:
        """Return the key of what is made of these parts."""

    @abstractmethod
    def remembered(self, key: str, find: Callable[[], Any]) -> Any:
        """Return a figure of the whole network: as it was kept, or found now and kept."""

    @abstractmethod
    def stage(self, name: str, find: Callable[[], Arrays]) -> Arrays:
        """Return the result of a stage of several passes: as it was kept, or found now and kept.

        What was remembered within is removed. The name must occur once in a run.
        """

    @abstractmethod
    def has(self, key: str, span: Span) -> bool:
        """Return whether an array of a range is there."""

    @abstractmethod
    def read(self, array: Handle, span: Span) -> Any:
        """Return an array of a range."""

    @abstractmethod
    def room(self, array: Handle, span: Span, output: Output) -> Any:
        """Return an array of a range to be filled, and written then."""

    @abstractmethod
    def write(self, key: str, span: Span, array: Any) -> None:
        """Keep an array of a range."""

    @abstractmethod
    def finish(self, key: str, over: str) -> None:
        """Note that all ranges of an array were written."""

    @abstractmethod
    def give(self, array: Handle, values: Any) -> None:
        """Keep the values of a whole array."""

    @abstractmethod
    def drop(self, key: str) -> None:
        """Remove an array."""

    def complete(self, key: str) -> bool:
        """Return whether an array of all ranges is there."""
        return all(self.has(key, span) for span in self.peers)


@dataclass(eq=False)
class MemoryStore(Store):
    """Whole arrays in memory. All nodes are one peer, and a killed process leaves nothing."""

    indptr: Ints
    indices: Ints
    data: dict[str, Any] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)
    pieces: dict[str, dict[int, Any]] = field(default_factory=dict)  # arrays that come range by range
    parts: dict[tuple[int, int], MemoryStore] = field(default_factory=dict)
    holders: Holders = field(default_factory=Holders)
    lock: Any = field(default_factory=Lock)
    numbers: ClassVar[Iterator[int]] = itertools.count()

    def __post_init__(self) -> None:
        self.nodes = self.indptr.size - 1
        self.data.update(indptr=self.indptr, indices=self.indices)
        self.peers = [(0, self.nodes)]

    def part(self, nodes: slice) -> MemoryStore:
        span = (nodes.start, nodes.stop)
        if span not in self.parts:
            indptr = np.zeros(nodes.stop - nodes.start + 1, dtype=np.int64)
            self.parts[span] = MemoryStore(indptr, self.indices[:0], holders=self.holders)
        return self.parts[span]

    def spans(self, rows: int) -> list[Span]:
        return [(first, min(first + rows, self.nodes)) for first in range(0, self.nodes, rows)]

    def key(self, *parts: Any) -> str:  # noqa: ARG002 - nothing is found again
        return str(next(self.numbers))

    def remembered(self, key: str, find: Callable[[], Any]) -> Any:  # noqa: ARG002
        return find()

    def stage(self, name: str, find: Callable[[], Arrays]) -> Arrays:  # noqa: ARG002
        return find()

    def has(self, key: str, span: Span) -> bool:  # noqa: ARG002 - all ranges or none
        return key in self.ready

    def read(self, array: Handle, span: Span) -> Any:
        data = self.data[array.key]
        if array.over == STARTS:
            return frozen(data if span == (0, self.nodes) else data[span[0] : span[1] + 1] - data[span[0]])
        return frozen(data[self._rows(array, span)])

    def room(self, array: Handle, span: Span, output: Output) -> Any:
        own = self._rows(array, span)
        if not array.kept:
            return np.empty((own.stop - own.start, *output.columns), output.dtype)
        with self.lock:
            if array.key not in self.data:
                size = self._rows(array, (0, self.nodes)).stop
                self.data[array.key] = np.empty((size, *output.columns), output.dtype)
        return self.data[array.key][own]

    def write(self, key: str, span: Span, array: Any) -> None:
        if key not in self.data:  # else it was filled in its room
            with self.lock:
                self.pieces.setdefault(key, {})[span[0]] = array

    def finish(self, key: str, over: str) -> None:
        if key in self.pieces:
            parts = [part for _, part in sorted(self.pieces.pop(key).items())]
            if over == STARTS:
                parts = [np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([np.diff(one) for one in parts]))]
            self.data[key] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self.ready.add(key)

    def give(self, array: Handle, values: Any) -> None:
        self.data[array.key] = values
        self.ready.add(array.key)

    def drop(self, key: str) -> None:
        self.data.pop(key, None)
        self.ready.discard(key)

    def _rows(self, array: Handle, span: Span) -> slice:
        if array.over == ROWS:
            return slice(*span)
        indptr = self.data[array.wiring.indptr.key]
        return slice(int(indptr[span[0]]), int(indptr[span[1]]))


@dataclass(eq=False)
class FolderStore(Store):
    """Arrays in files, one for every partition, whole or not at all; tasks on any machine read and write them.

    The partitions are those of the network on disk, moved to the nearest block.

    Attributes
    ----------
    graph, run : where the network and the run are.
    digest : what the run and the code are; the keys of arrays begin with it.
    within : the first and the last node, where the store is that of a part of the nodes.
    """

    graph: Path
    run: RunFolder
    digest: str
    within: Span | None = None
    parts: dict[Span, FolderStore] = field(default_factory=dict)
    holders: Holders = field(default_factory=Holders)

    @classmethod
    def of(cls, graph: Path, run: RunFolder) -> FolderStore:
        """Keep the arrays of a network on disk in the folder of a run."""
        return cls(graph.absolute(), RunFolder(run.path.absolute(), run.run), key_of(run.run, code_digest()))

    def __reduce__(self) -> Any:
        return _folder_store, (self.graph, self.run.path, self.run.run, self.digest, self.within)

    def __post_init__(self) -> None:
        first, last = self.within or (0, self.stored.manifest.nodes)
        self.nodes, given = last - first, np.maximum(np.array(self.stored.manifest.bounds[:-1]) - first, 0)
        bounds = np.unique(np.rint(given / BLOCK).astype(np.int64) * BLOCK)
        self.peers = list(itertools.pairwise([*bounds[bounds < self.nodes].tolist(), self.nodes]))

    @property
    def stored(self) -> Stored:
        """The network on disk."""
        return _opened(self.graph, self.digest)

    def part(self, nodes: slice) -> FolderStore:
        span = (nodes.start, nodes.stop)
        if span not in self.parts:
            self.parts[span] = FolderStore(
                self.graph, self.run, key_of(self.digest, *span), within=span, holders=self.holders
            )
        return self.parts[span]

    def spans(self, rows: int) -> list[Span]:  # noqa: ARG002 - a task works on a partition
        return self.peers

    def key(self, *parts: Any) -> str:
        return key_of(self.digest, *parts)

    def remembered(self, key: str, find: Callable[[], Any]) -> Any:
        file = self.run.path / f"{key}.npy"
        if not file.exists():
            found = find()
            with atomic_file(file) as out:
                np.save(out, found, allow_pickle=False)
        self.holders.figures.setdefault(file, self.holders.stage)
        return np.load(file, allow_pickle=False)

    def stage(self, name: str, find: Callable[[], Arrays]) -> Arrays:
        key = self.key("stage", name)
        kept = self.run.load(key)
        if kept is None:
            before, self.holders.stage = self.holders.stage, key
            found = find()
            self.holders.stage = before
            self.run.save(key, found, {"stage": name})
            for file in [file for file, stage in self.holders.figures.items() if stage == key]:
                file.unlink(missing_ok=True)
                del self.holders.figures[file]
            return found
        return kept[0]

    def has(self, key: str, span: Span) -> bool:
        return self._file(key, span).exists()

    def read(self, array: Handle, span: Span) -> Any:
        if array.key == "indptr":
            indptr = self.stored.rows("indptr", span[0], span[1] + 1)
            return frozen(indptr - indptr[0])
        if array.key == "indices":
            return frozen(self.stored.rows("indices", *self.stored.rows("indptr")[list(span)].tolist()))
        file = self._file(array.key, span)
        empty = file.stat().st_size == HEADER  # there is no map of nothing
        with HEADERS:
            return frozen(np.asarray(np.load(file, mmap_mode=None if empty else "c", allow_pickle=False)))

    def room(self, array: Handle, span: Span, output: Output) -> Any:
        size = span[1] - span[0] if output.over == ROWS else int(self.read(array.wiring.indptr, span)[-1])
        return np.empty((size, *output.columns), output.dtype)

    def write(self, key: str, span: Span, array: Any) -> None:
        with atomic_file(self._file(key, span)) as file:
            np.save(file, array, allow_pickle=False)

    def finish(self, key: str, over: str) -> None:
        pass  # files are what was written

    def give(self, array: Handle, values: Any) -> None:
        first = 0
        for span in self.peers:
            size = span[1] - span[0]
            if array.over == STARTS:
                own = values[span[0] : span[1] + 1] - values[span[0]]
            else:
                size = size if array.over == ROWS else int(self.read(array.wiring.indptr, span)[-1])
                own = values[first : first + size]
            first += size
            if not self.has(array.key, span):
                self.write(array.key, span, own)

    def drop(self, key: str) -> None:
        for span in self.peers:
            self._file(key, span).unlink(missing_ok=True)

    def _file(self, key: str, span: Span) -> Path:
        return self.run.path / f"{key}-{span[0]}.npy"


@functools.cache
def _folder_store(graph: Path, path: Path, run: str, digest: str, within: Span | None) -> FolderStore:
    return FolderStore(graph, RunFolder(path, run), digest, within)


@functools.cache
def _opened(graph: Path, digest: str) -> Stored:  # noqa: ARG001 - another run may be on another network at that path
    if not graph.exists():
        raise FileNotFoundError(f"{socket.gethostname()} has no folder {graph}")
    return open_stored(graph)
