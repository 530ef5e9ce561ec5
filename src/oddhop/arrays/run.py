"""Who runs the tasks of a pass, and who hears of its progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from oddhop.base.parallel import Mapper, Progress, silent, threads

Block = TypeVar("Block")
Result = TypeVar("Result")


@dataclass
class Runner:
    """Runs tasks by a mapper.

    Attributes
    ----------
    mapper : runs a function over ranges, on threads or on a cluster.
    progress : called with the stage and its percentage.
    by_pass : whether passes are reported; else only steps of many passes are, as in memory, where a pass is short.
    within : what the stages are a part of, such as a round.
    stage, passes, done : the stage, how many passes over the edges it takes, and how many were made.
    """

    mapper: Mapper
    progress: Progress = silent
    by_pass: bool = True
    within: str = ""
    stage: str = ""
    passes: int = 1
    done: int = 0

    def begin(self, stage: str, passes: int) -> None:
        """Begin a stage that makes so many passes over the edges."""
        self.stage, self.passes, self.done = stage, passes, 0

    def each(self, task: Callable[[Block], Result], blocks: Sequence[Block], *, over_edges: bool) -> list[Result]:
        """Run a task over all blocks; progress is reported for passes over the edges, which take longest."""
        first = self.done
        self.done += over_edges
        name = f"{self.within}: {self.stage}" if self.within else self.stage

        def report(done: int) -> None:
            if over_edges and self.stage and self.by_pass:
                self.progress(name, min(round(100 * (first + done / len(blocks)) / self.passes), 100), 100)

        return self.mapper(task, blocks, report)

    def step(self, stage: str, done: int, total: int) -> None:
        """Report a step of many passes, where these are not reported by themselves."""
        if not self.by_pass:
            self.progress(stage, done, total)


def on_threads(workers: int, progress: Progress = silent, *, by_pass: bool = True) -> Runner:
    """Run tasks on so many threads of this process."""
    return Runner(threads(workers), progress, by_pass)
