"""Three machines on one: the cluster of .ci/cluster, as the tests see it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from oddhop.base.parallel import Mapper
from tests.cluster.blocks import where

SCRIPT = Path(__file__).parents[2] / ".ci" / "cluster"
HEAD, WORKERS = 1, (2, 3)
ADDRESS = "10.0.0.1:6379"
NEW_NETWORK = 0x40000000


@dataclass(frozen=True)
class Machines:
    """A running cluster: machine 1 is the head, 2 and 3 only work."""

    folder: Path

    @property
    def name(self) -> str:
        return (self.folder / "name").read_text().strip()

    @property
    def token(self) -> Path:
        return self.folder / "token"

    def namespace(self, machine: int) -> str:
        return f"{self.name}-{machine}"

    def on(self, machine: int, command: list[str]) -> list[str]:
        """Return the command that runs another on a machine."""
        return ["ip", "netns", "exec", self.namespace(machine), *command]

    def environment(self) -> dict[str, str]:
        """Return the environment of a driver."""
        return {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.token)}

    def processes(self, machine: int) -> dict[int, str]:
        """Return the processes of a machine with what they call themselves."""
        found = subprocess.run(
            ["ip", "netns", "pids", self.namespace(machine)], check=True, capture_output=True, text=True
        )
        titles = {}
        for process in map(int, found.stdout.split()):
            try:
                titles[process] = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0].decode()
            except FileNotFoundError:  # gone since
                continue
        return titles

    def raylet(self, machine: int) -> int:
        """Return the process that is Ray on that machine."""
        return next(process for process, title in self.processes(machine).items() if title.endswith("/raylet"))

    def busy(self, machine: int) -> list[int]:
        """Return the processes that are at a block."""
        return [process for process, title in self.processes(machine).items() if title.startswith("ray::_run_block")]

    def join(self, machine: int) -> None:
        """Bring a machine up again."""
        subprocess.run([SCRIPT, "join", self.folder, str(machine)], check=True)


@contextmanager
def brought_up() -> Iterator[Machines]:
    """Bring up three machines, and end them after."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="oh", ignore_cleanup_errors=True) as folder:
        try:
            subprocess.run([SCRIPT, "start", folder], check=True, stdout=subprocess.DEVNULL)
            yield Machines(Path(folder))
        finally:
            subprocess.run([SCRIPT, "stop", folder], check=True)


@contextmanager
def entered(machines: Machines, machine: int = HEAD) -> Iterator[None]:
    """Put this thread, and those it begins, onto a machine; a driver must be on one."""
    library = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/self/task", str(threading.get_native_id()), "ns/net").open() as home:
        with Path("/run/netns", machines.namespace(machine)).open() as there:
            if library.setns(there.fileno(), NEW_NETWORK):
                raise OSError(ctypes.get_errno(), "cannot enter the namespace of a machine")
        try:
            yield
        finally:
            library.setns(home.fileno(), NEW_NETWORK)


def warm_up(run: Mapper, *, within: float = 120.0) -> list[tuple[str, int]]:
    """Run blocks until every machine does some, and tell which address and process did each of the last.

    Ray begins a process when a block waits for it, and lets it go when others were done with the block before it was
    up. On a busy machine that takes seconds, so the blocks become longer until all take part.
    """
    until, seconds = time.monotonic() + within, 0.1
    while time.monotonic() < until:
        places = run(partial(where, seconds), range(12), lambda done: None)
        if len({address for address, _ in places}) == 3:
            return places
        seconds = min(2 * seconds, 3.0)
    raise TimeoutError(f"not all machines take part, only {set(places)}")


def alive(ray: object) -> set[str]:
    """Return the addresses of the machines that Ray knows to be up."""
    return {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}


def mend(machines: Machines, ray: object, *, within: float = 60.0) -> None:
    """Bring up again whatever machine is lost, and wait until all three are known."""
    until = time.monotonic() + within
    while len(alive(ray)) < 3 and time.monotonic() < until:
        for machine in WORKERS:
            if f"10.0.0.{machine}" not in alive(ray):
                machines.join(machine)
        time.sleep(0.5)
    if len(alive(ray)) < 3:
        raise TimeoutError(f"only {alive(ray)} are up {within:.0f} seconds after a fault")
