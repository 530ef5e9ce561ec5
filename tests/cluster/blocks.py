"""Blocks as stages have them: module-level functions that write a file of their own and return little."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from threadpoolctl import threadpool_info

from oddhop.base.files import write_atomically
from oddhop.errors import GraphError


def same(block: int) -> int:
    return block


def square_slowly(block: int) -> int:
    """Take longer the earlier the block, so that none ends in its order."""
    time.sleep(0.3 if block % 3 == 0 else 0.02)
    return block * block


def write_square(folder: Path, seconds: float, block: int) -> str:
    """Write the square of the block, and tell which machine did it."""
    time.sleep(seconds)
    write_atomically(folder / f"{block}.txt", str(block * block).encode())
    return machine(block)


def machine(block: int) -> str:
    import ray

    return ray.util.get_node_ip_address()


def where(seconds: float, block: int) -> tuple[str, int]:
    time.sleep(seconds)
    return machine(block), os.getpid()


def refuse_seven(block: int) -> int:
    if block == 7:
        raise GraphError("block 7 is bad; mend it")
    return block


def divide(block: int) -> float:
    return 1 / block


def stumble(folder: Path, times: int, block: int) -> int:
    """Fail as a shared folder does, so many times, then go on."""
    seen = sum(1 for _ in folder.glob(f"{block}-*"))
    if seen < times:
        (folder / f"{block}-{seen}").touch()
        raise OSError(116, "Stale file handle")
    return seen


def die(folder: Path, times: int, block: int) -> int:
    """Die as a process does that the system kills, so many times, then go on."""
    seen = sum(1 for _ in folder.glob(f"{block}-*"))
    if seen < times:
        (folder / f"{block}-{seen}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return seen


def threads(block: int) -> set[int]:
    import torch

    return {torch.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")}
