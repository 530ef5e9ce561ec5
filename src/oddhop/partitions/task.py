"""What every task of a partitioned run shares: where the network lies, where figures are kept, and who runs the tasks.

A task works on one partition. It maps that partition and, one after the other, what it needs of the others; it writes
files of its own, whole or not at all, and does nothing where they are already there. So tasks may run anywhere, in any
order, twice, and again after a crash.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from oddhop.base.arrays import Ints
from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import Arrays, atomic_file
from oddhop.base.parallel import Mapper, Progress, silent, threads
from oddhop.graph.disk import HEADER, Stored, open_stored

# NumPy parses a header as Python, and that of 3.11 sometimes fails when threads parse at once.
HEADERS = Lock()

Block = TypeVar("Block")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Task:
    """One run over one network, with the settings of its detector; it is handed to every task."""

    graph: Path
    folder: Path
    settings: Any
    seed: int
    digest: str = ""  # of what the run is, for its checkpoints

    @property
    def stored(self) -> Stored:
        """The network on disk."""
        return _opened(self.graph, self.digest)

    @property
    def run(self) -> RunFolder:
        """The folder for figures of the whole."""
        return RunFolder(self.folder, self.digest)

    @property
    def bounds(self) -> Ints:
        """Where partitions begin."""
        return np.array(self.stored.manifest.bounds)

    def span(self, number: int) -> tuple[int, int]:
        """Return where a partition begins and ends."""
        start, stop = self.stored.manifest.bounds[number : number + 2]
        return start, stop

    @property
    def partitions(self) -> range:
        """The numbers of the partitions."""
        return range(self.stored.partitions)

    def has(self, name: str, number: int) -> bool:
        """Return whether an array of a partition was written."""
        return self._file(name, number).exists()

    def write(self, name: str, number: int, array: npt.NDArray[Any]) -> None:
        """Write an array of a partition, whole or not at all."""
        with atomic_file(self._file(name, number)) as file:
            np.save(file, array, allow_pickle=False)

    def read(self, name: str, number: int) -> npt.NDArray[Any]:
        """Map an array of a partition; what is written to it stays with the process, for torch takes nothing else."""
        file = self._file(name, number)
        empty = file.stat().st_size == HEADER  # there is no map of nothing
        with HEADERS:
            return np.asarray(np.load(file, mmap_mode=None if empty else "c", allow_pickle=False))

    def forget(self, name: str) -> None:
        """Remove an array of all partitions."""
        for number in self.partitions:
            self._file(name, number).unlink(missing_ok=True)

    def remembered(
        self, name: str, find: Callable[[], tuple[Arrays, Mapping[str, Any]]]
    ) -> tuple[Arrays, dict[str, Any]]:
        """Return figures of the whole: as they were kept, or found now and kept."""
        kept = self.run.load(name)
        if kept is None:
            arrays, info = find()
            self.run.save(name, arrays, info)
            kept = arrays, dict(info)
        return kept

    def _file(self, name: str, number: int) -> Path:
        return self.folder / f"{name}-{number:05d}.npy"


@dataclass(frozen=True)
class TaskRunner:
    """Who runs the tasks, and whom to tell."""

    mapper: Mapper
    progress: Progress

    def each(
        self, stage: str, function: Callable[[Block], Result], blocks: Sequence[Block], part: int = 0, parts: int = 1
    ) -> list[Result]:
        """Run a function over blocks, as one of the equal parts of a stage; its progress is reported in percent."""

        def report(done: int) -> None:
            self.progress(stage, round(100 * (part + done / len(blocks)) / parts), 100)

        return self.mapper(function, blocks, report)

    @property
    def quiet(self) -> TaskRunner:
        """The same, telling nobody: for passes that take little beside others of their stage."""
        return replace(self, progress=silent)

    def within(self, what: str) -> TaskRunner:
        """Return the same, naming what a stage is a part of."""
        return replace(self, progress=lambda stage, done, total: self.progress(f"{what}: {stage}", done, total))


def on_threads(workers: int, progress: Progress = silent) -> TaskRunner:
    """Run tasks on so many threads of this process."""
    return TaskRunner(threads(workers), progress)


@cache
def _opened(graph: Path, digest: str) -> Stored:  # noqa: ARG001 - another run may be on another network at that path
    if not graph.exists():
        raise FileNotFoundError(f"{socket.gethostname()} has no folder {graph}")
    return open_stored(graph)
