"""What can happen to a machine, done on purpose.

Each fault is a function of the machines and of one of them. It returns when the fault is over: at once after a kill,
and after ``SECONDS`` where a machine is stopped or cut off. Run it in a thread beside the work:

    with struck("cut the link", machines, 3):
        ...

A machine that Ray has given up does not come back by itself: :func:`tests.cluster.machines.mend` brings it up again.
``python -m tests.cluster.campaign --help`` runs a command under every fault at chosen moments and keeps a log.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.cluster.machines import Machines

SECONDS = 30.0


def kill_worker(machines: Machines, machine: int) -> None:
    """End the process that is at a block, as the system does when memory is short."""
    _signal(machines.busy(machine), signal.SIGKILL)


def kill_node(machines: Machines, machine: int) -> None:
    """End every process of a machine at once, as when its power fails."""
    _signal(machines.processes(machine), signal.SIGKILL)


def stop_node(machines: Machines, machine: int, seconds: float = SECONDS) -> None:
    """Hold every process of a machine for a while, as when it swaps or its host is busy."""
    processes = list(machines.processes(machine))
    _signal(processes, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        _signal(processes, signal.SIGCONT)


def cut_link(machines: Machines, machine: int, seconds: float = SECONDS) -> None:
    """Take a machine off the network for a while; it goes on alone, and knows nothing."""
    _port(machines, machine, "down")
    try:
        time.sleep(seconds)
    finally:
        _port(machines, machine, "up")


FAULTS: dict[str, Callable[[Machines, int], None]] = {
    "kill a worker process": kill_worker,
    "kill a node": kill_node,
    "stop a node": stop_node,
    "cut the link": cut_link,
}


@contextmanager
def struck(fault: str, machines: Machines, machine: int) -> Iterator[list[bool]]:
    """Let a fault happen beside the work within, and wait for its end; the list then tells whether a block was hit."""
    hit: list[bool] = []
    thread = threading.Thread(target=lambda: hit.append(strike_when_busy(fault, machines, machine)))
    thread.start()
    try:
        yield hit
    finally:
        thread.join()


def strike_when_busy(fault: str, machines: Machines, machine: int, *, within: float = 10.0) -> bool:
    """Wait until the machine is at a block, let the fault happen, and tell whether there was a block to hit."""
    until = time.monotonic() + within
    while not (busy := machines.busy(machine)) and time.monotonic() < until:
        time.sleep(0.01)
    FAULTS[fault](machines, machine)
    return bool(busy)


def _port(machines: Machines, machine: int, state: str) -> None:
    subprocess.run(["ip", "-n", f"{machines.name}-switch", "link", "set", f"port{machine}", state], check=True)


def _signal(processes: object, which: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, which)
