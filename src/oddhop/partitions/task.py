"""Who runs the tasks of a stage, on threads or on a cluster, and whom to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from oddhop.base.parallel import Mapper, Progress, silent, threads

Block = TypeVar("Block")
Result = TypeVar("Result")


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
