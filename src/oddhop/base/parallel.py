"""The engine of one machine: blocks on a few threads, results in order.

Every block runs on one thread and results come back in the order of the blocks, so a stage gives
the same bits whatever the number of workers.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import local
from typing import Protocol, TypeVar

from threadpoolctl import ThreadpoolController

HOLDING = local()  # whether this thread holds the libraries; libraries count their threads for each thread alone

Block = TypeVar("Block")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, what is done, and what there is to do."""


class Mapper(Protocol):
    """Runs a function over blocks, on this machine or on a cluster.

    What it runs may run in any order, in any process, and more than once: a block reads files, writes files of its own
    whole or not at all, and returns little.
    """

    def __call__(
        self, function: Callable[[Block], Result], blocks: Sequence[Block], report: Callable[[int], None]
    ) -> list[Result]:
        """Return the results in the order of the blocks, telling on the way how many are done."""
        ...


def silent(stage: str, done: int, total: int) -> None:
    """Report no progress."""


def available_workers() -> int:
    """Count the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_blocks(function: Callable[[Block], Result], blocks: Iterable[Block], *, workers: int = 1) -> Iterator[Result]:
    """Return the function's results in the order of the blocks, at most two a worker waiting."""
    with single_threaded():
        if workers == 1 or (isinstance(blocks, Sequence) and len(blocks) < 2):  # to start threads takes milliseconds
            yield from map(function, blocks)
            return
        waiting: deque[Future[Result]] = deque()
        with ThreadPoolExecutor(workers, initializer=_hold_torch, initargs=(1,)) as pool:
            try:
                for block in blocks:
                    waiting.append(pool.submit(function, block))
                    if len(waiting) > 2 * workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def threads(workers: int) -> Mapper:
    """Make a mapper of so many threads in this process."""

    def run(
        function: Callable[[Block], Result], blocks: Sequence[Block], report: Callable[[int], None]
    ) -> list[Result]:
        results = []
        for done, result in enumerate(map_blocks(function, blocks, workers=workers), start=1):
            results.append(result)
            report(done)
        return results

    return run


@contextmanager
def single_threaded() -> Iterator[None]:
    """Hold torch and the linear algebra libraries to one thread each, and put them back after."""
    if getattr(HOLDING, "already", False):
        yield
        return
    before = _hold_torch(1)
    HOLDING.already = True
    try:
        with _libraries("torch" in sys.modules).limit(limits=1):
            yield
    finally:
        HOLDING.already = False
        _hold_torch(before)


def _hold_torch(threads: int) -> int:
    """Return torch so many threads, where it is used at all, and tell how many it had."""
    torch = sys.modules.get("torch")
    if torch is None:
        return threads
    before: int = torch.get_num_threads()
    torch.set_num_threads(threads)
    return before


@cache
def _libraries(with_torch: bool) -> ThreadpoolController:  # noqa: ARG001 - torch brings libraries of its own
    # Looking for the loaded libraries takes milliseconds: once is enough. These bring all that we use.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
