"""Arrays of a network on disk by its partitions, in files that tasks on any machine read and write.

A task works on one partition. It maps that partition and, one after the other, what it needs of the others; it writes
files of its own, whole or not at all, and does nothing where they are already there. So tasks may run anywhere, in any
order, twice, and again after a crash.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from oddhop.base.arrays import Ints
from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import Arrays, atomic_file
from oddhop.graph.disk import HEADER, Partition, Stored, open_stored
from oddhop.partitions import store as ranges
from oddhop.partitions.store import REWIRING, Array, Found, InMemory, Wiring, part_rows
from oddhop.partitions.task import TaskRunner

# NumPy parses a header as Python, and that of 3.11 sometimes fails when threads parse at once.
HEADERS = Lock()


@dataclass(frozen=True)
class InFiles:
    """Arrays in files, one for every partition.

    The partitions are those of the network on disk, moved to the nearest multiple of a block. ``wiring`` names another
    wiring than that of the network, whose arrays have files of their own but for those that are ``shared``. ``within``
    has the first and the last node of a kind, whose nodes are numbered from 0; ``opposite`` is the store that it faces.
    ``digest`` is that of what the run is, for its checkpoints.
    """

    graph: Path
    folder: Path
    seed: int
    digest: str = ""
    wiring: str = ""
    shared: Mapping[str, str] = field(default_factory=dict)
    within: tuple[int, int] | None = None
    opposite: InFiles | None = None

    @property
    def stored(self) -> Stored:
        """The network on disk."""
        return _opened(self.graph, self.digest)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.stored.manifest.nodes if self.within is None else self.within[1] - self.within[0]

    @property
    def bounds(self) -> Ints:
        """Where partitions begin, and the end."""
        nodes, first = self.nodes, 0 if self.within is None else self.within[0]
        bounds = np.maximum(np.array(self.stored.manifest.bounds[:-1]) - first, 0)
        starts = np.unique(np.rint(bounds / ranges.BLOCK).astype(np.int64) * ranges.BLOCK)
        return np.append(starts[starts < nodes], nodes)

    @property
    def ranges(self) -> range:
        """The numbers of the partitions."""
        return range(self.bounds.size - 1)

    @property
    def peers(self) -> range:
        """Those of the store that it faces, or the same."""
        return (self.opposite or self).ranges

    def span(self, number: int) -> tuple[int, int]:
        """Return where a partition begins and ends."""
        start, stop = self.bounds[number : number + 2].tolist()
        return start, stop

    def peer_span(self, peer: int) -> tuple[int, int]:
        """Return where a partition begins and ends."""
        return (self.opposite or self).span(peer)

    def rows(self, number: int) -> Partition:
        """Map the wiring of a partition."""
        start, stop = self.span(number)
        if self.wiring:
            return Partition(start, stop, self.read("indptr", number), self.read("indices", number))
        indptr = self.stored.rows("indptr", start, stop + 1)
        return Partition(start, stop, indptr - indptr[0], self.stored.rows("indices", int(indptr[0]), int(indptr[-1])))

    def peer_rows(self, peer: int) -> Partition:
        """Map the wiring of a partition."""
        return (self.opposite or self).rows(peer)

    def read_peer(self, name: str, peer: int) -> Array:
        """Map an array of a partition."""
        return (self.opposite or self).read(name, peer)

    def room(self, name: str, number: int, dtype: npt.DTypeLike, width: int | None = None) -> Array:  # noqa: ARG002
        """Return a new array over the nodes of a partition."""
        start, stop = self.span(number)
        return np.empty(stop - start if width is None else (stop - start, width), dtype=dtype)

    def entry_room(self, name: str, number: int, dtype: npt.DTypeLike) -> Array:  # noqa: ARG002
        """Return a new array over the entries of a partition."""
        return np.empty(self.rows(number).indices.size, dtype=dtype)

    def has(self, name: str, number: int) -> bool:
        """Return whether an array of a partition was written."""
        return self._file(name, number).exists()

    def write(self, name: str, number: int, array: Array) -> None:
        """Write an array of a partition, whole or not at all."""
        with atomic_file(self._file(name, number)) as file:
            np.save(file, array, allow_pickle=False)

    def read(self, name: str, number: int) -> Array:
        """Map an array of a partition; what is written to it stays with the process."""
        file = self._file(name, number)
        empty = file.stat().st_size == HEADER  # there is no map of nothing
        with HEADERS:
            return np.asarray(np.load(file, mmap_mode=None if empty else "c", allow_pickle=False))

    def forget(self, *names: str) -> None:
        """Remove arrays of all partitions."""
        for name in names:
            for number in self.ranges:
                self._file(name, number).unlink(missing_ok=True)

    def remembered(self, name: str, find: Callable[[], tuple[Arrays, Mapping[str, Any]]]) -> Found:
        """Return figures of the whole: as they were kept, or found now and kept."""
        run, own = RunFolder(self.folder, self.digest), self._own(name)
        kept = run.load(own)
        if kept is None:
            arrays, info = find()
            run.save(own, arrays, info)
            kept = arrays, dict(info)
        return kept

    def rewired(self, name: str, rows: Wiring, shared: Mapping[str, str], runner: TaskRunner) -> InFiles:
        """Return the same nodes with another wiring, and the arrays that are shared."""
        other = self.other(name, shared)
        other.end_clearing()
        runner.each(REWIRING, partial(_write_wiring, other, self, rows), self.ranges)
        return other

    def with_wiring(self, name: str, find: Callable[[], tuple[Ints, Ints]], shared: Mapping[str, str]) -> InFiles:
        """Return the same nodes with another wiring, and the arrays that are shared."""
        other = self.other(name, shared)
        other.end_clearing()
        if not all(other.has("indices", number) for number in other.ranges):
            indptr, indices = find()
            for number in other.ranges:
                start, stop = other.span(number)
                other.write("indptr", number, indptr[start : stop + 1] - indptr[start])
                other.write("indices", number, indices[indptr[start] : indptr[stop]])
        return other

    def discard(self, name: str) -> None:
        """Remove the files of another wiring."""
        self.other(name, {}).clear()

    def other(self, name: str, shared: Mapping[str, str]) -> InFiles:
        """Return the same nodes with the files of another wiring, whether they were written or not."""
        files = {theirs: self._own(own) for theirs, own in shared.items()}
        return replace(self, wiring=f"{self.wiring}{name}-", shared=files)

    def part(
        self,
        name: str,
        nodes: slice,
        others: slice,
        entries: Sequence[str],
        shared: tuple[Any, str],
        runner: TaskRunner,
    ) -> Self:
        """Return nodes that follow each other with their edges to such others, and an array that is shared."""
        known, array = shared
        part = self.of_nodes(name, nodes, {array: known._own(array)})
        part.end_clearing()
        runner.each(REWIRING, partial(_write_part, part, self, others, entries), part.ranges)
        return part

    def of_nodes(self, name: str, nodes: slice, shared: Mapping[str, str]) -> Self:
        """Return a store of nodes that follow each other, which may have no wiring."""
        return replace(self, wiring=f"{self.wiring}{name}-", shared=shared, within=(nodes.start, nodes.stop))

    def facing(self, other: Any) -> Self:
        """Return the same files with entries that are nodes of another store."""
        return replace(self, opposite=replace(other, opposite=None))

    def clear(self) -> None:
        """Remove the files of this wiring, and of those that were made of it."""
        if self.wiring:
            self._clearing.touch()
            # Not the array of the same name, whose files have a number there.
            for file in self.folder.glob(f"{self.wiring}[!0-9]*.npy"):
                file.unlink(missing_ok=True)
            self._clearing.unlink(missing_ok=True)

    def end_clearing(self) -> None:
        """Remove what is left where a killed process had begun to: some files without others mislead."""
        if self._clearing.exists():
            self.clear()

    @property
    def _clearing(self) -> Path:
        return self.folder / f"{self.wiring}clearing"

    def _own(self, name: str) -> str:
        return self.shared.get(name, f"{self.wiring}{name}")

    def _file(self, name: str, number: int) -> Path:
        return self.folder / f"{self._own(name)}-{number:05d}.npy"


Store: TypeAlias = InMemory | InFiles
"""Where the wiring of a network is, and arrays over its nodes or over the entries of their rows."""


def _write_wiring(other: InFiles, store: InFiles, rows: Wiring, number: int) -> None:
    if not other.has("indices", number):
        indptr, indices = rows(store, number)
        other.write("indptr", number, indptr)
        other.write("indices", number, indices)


def _write_part(part: InFiles, store: InFiles, others: slice, entries: Sequence[str], number: int) -> None:
    if not part.has("indices", number):
        first, (start, stop) = (part.within or (0, 0))[0], part.span(number)
        degrees, indices, *taken = part_rows(store, others, entries, (first + start, first + stop))
        for name, array in zip(entries, taken, strict=True):
            part.write(name, number, array)
        part.write("indptr", number, np.concatenate([[0], np.cumsum(degrees)]))
        part.write("indices", number, indices)


@cache
def _opened(graph: Path, digest: str) -> Stored:  # noqa: ARG001 - another run may be on another network at that path
    if not graph.exists():
        raise FileNotFoundError(f"{socket.gethostname()} has no folder {graph}")
    return open_stored(graph)
