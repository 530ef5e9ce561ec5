"""The engine of a cluster: every block a Ray task, results in order.

Machines die, stop and fall off the network. A block may run anywhere and more than once, so there is one answer to all
of it: run the block again, and take the first result. Only small results come back; data go through a shared folder.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Generic

from oddhop.base.parallel import Block, Mapper, Result, single_threaded
from oddhop.errors import ClusterError
from oddhop.version import __version__

FLIGHTS_PER_CPU = 2
"""Blocks handed to Ray at once, so that a processor finds the next one ready and no block waits long in its queue."""
ATTEMPTS = 6
"""How often a block is begun when machines, processes or files fail under it."""
PAUSE = 1.0
"""Seconds before a block is begun again after an error of the shared folder; each time twice as long."""
LATE_AFTER, LATE_FACTOR, COPIES = 30.0, 4.0, 3
"""A block is late after so many seconds and so many times what others took; so many copies of it may run at once."""
HEAD_LOST_AFTER, MACHINES_LOST_AFTER = 40.0, 300.0
"""Seconds without an answer of the head (Ray ends the process after 60), and without a machine to run on."""
ANSWER_WITHIN, LOOK_EVERY, PROBE_EVERY = 5.0, 1.0, 10.0

# Ray reads these once, when it is imported. Without keepalive a machine that falls off the network is missed for
# minutes; the machines of the cluster need the same where Ray is started. With few retries a wrong token is told soon.
ENVIRONMENT = {
    "RAY_grpc_client_keepalive_time_ms": "10000",
    "RAY_grpc_client_keepalive_timeout_ms": "5000",
    "RAY_grpc_keepalive_time_ms": "10000",
    "RAY_grpc_keepalive_timeout_ms": "5000",
    "RAY_NUM_REDIS_GET_RETRIES": "2",
}


@contextmanager
def cluster(address: str | None = None, *, without_token: bool = False) -> Iterator[Mapper]:
    """Connect to a Ray cluster, and give a mapper that runs blocks there.

    This process must run on a machine of the cluster. All machines need the same oddhop, and the shared folder under
    the same path.

    Parameters
    ----------
    address : str, optional
        Host and port of the head, as ``ray start --head`` tells them. Without it ``RAY_ADDRESS`` is used.
    without_token : bool
        Whether another machine may be used without a token. Whoever reaches a cluster that asks for none can run any
        program on it.
    """
    address = _checked(address or os.environ.get("RAY_ADDRESS"), without_token)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if _has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    ray = _import_ray()
    _connect(ray, address)
    try:
        yield _mapper(ray)
    finally:
        ray.shutdown()


def _import_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise ClusterError("a cluster needs Ray, which is not installed", 'pip install "oddhop[ray]"') from None


def _checked(address: str | None, without_token: bool) -> str:
    """Refuse an address that cannot be right, does not answer, or would have us go without a token."""
    if not address:
        raise ClusterError(
            "no cluster was given", "give the address that `ray start --head` prints, or set RAY_ADDRESS"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ClusterError(
            f"the address of a cluster must be HOST:PORT, got {address!r}", "run on a machine of the cluster"
        )
    if not (without_token or _is_loopback(host) or _has_token()):
        raise ClusterError(
            f"{address} is on another machine, and there is no token for it",
            "start the cluster with RAY_AUTH_MODE=token "
            "and set RAY_AUTH_TOKEN_PATH on both machines, or allow connections without a token",
        )
    if not _answers(address):
        raise ClusterError(f"no cluster answers at {address}", "check that it runs and can be reached")
    return address


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_WITHIN).close()
    except OSError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _has_token() -> bool:
    """Return whether Ray will find a token, where it looks for one."""
    mode, path = os.environ.get("RAY_AUTH_MODE", "token"), os.environ.get("RAY_AUTH_TOKEN_PATH", "~/.ray/auth_token")
    return mode.lower() == "token" and bool(os.environ.get("RAY_AUTH_TOKEN") or Path(path).expanduser().is_file())


def _connect(ray: Any, address: str) -> None:
    if ray.is_initialized():
        raise ClusterError("this process already uses a cluster", "disconnect first: ray.shutdown()")
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        if "InvalidAuthToken" in f"{error} {error.__cause__}":
            raise ClusterError(
                f"the cluster at {address} needs a token, or rejects this one",
                "set RAY_AUTH_TOKEN_PATH to a file with the token of the cluster, and RAY_AUTH_MODE=token",
            ) from None
        raise ClusterError(
            f"cannot join the cluster at {address} ({error})", "run on a machine of the cluster"
        ) from error
    # No setting keeps Ray from printing into our output when a machine is lost.
    ray._private.worker._worker_logs_enabled = False


def _mapper(ray: Any) -> Mapper:
    # Ray's own retries are off. It retries without end where memory was short, and cannot tell a block that is late.
    task = ray.remote(num_cpus=1, max_retries=0)(_run_block)

    def run(
        function: Callable[[Block], Result], blocks: Sequence[Block], report: Callable[[int], None]
    ) -> list[Result]:
        work = _Work(ray, task, function, blocks)
        while len(work.results) < len(blocks):
            work.launch()
            for done in work.land():
                report(done)
            work.look_around()
        return [work.results[index] for index in range(len(blocks))]

    return run


def _run_block(order: tuple[str, Callable[[Block], Result], Block, float]) -> Result:
    """Do one block on a machine of the cluster. One argument: each costs a tenth of a millisecond."""
    version, function, block, pause = order
    if version != __version__:
        raise ClusterError(
            f"{socket.gethostname()} has oddhop {__version__} and the run has {version}",
            "install the same version on all machines",
        )
    time.sleep(pause)
    with single_threaded():
        return function(block)


@dataclass
class _Work(Generic[Block, Result]):
    """The blocks of one stage: which are done, under way, and still to begin."""

    ray: Any
    task: Any
    function: Callable[[Block], Result]
    blocks: Sequence[Block]
    results: dict[int, Result] = field(default_factory=dict)
    flights: dict[Any, tuple[int, float]] = field(default_factory=dict)  # which block, and when it was begun
    failures: dict[int, int] = field(default_factory=dict)
    took: deque[float] = field(default_factory=lambda: deque(maxlen=1000))

    def __post_init__(self) -> None:
        self.waiting = deque(range(len(self.blocks)))
        self.head = self.ray.get_runtime_context().gcs_address
        self._count_processors()
        self.looked = self.heard = self.manned = time.monotonic()

    def _count_processors(self) -> float:
        processors: float = self.ray.cluster_resources().get("CPU", 0.0)
        self.most = max(1, round(FLIGHTS_PER_CPU * processors))
        return processors

    def launch(self) -> None:
        while self.waiting and len(self.flights) < self.most:
            self._begin(self.waiting.popleft())

    def _begin(self, index: int, pause: float = 0.0) -> None:
        reference = self.task.remote((__version__, self.function, self.blocks[index], pause))
        self.flights[reference] = index, time.monotonic()

    def land(self) -> Iterator[int]:
        """Take what is ready; for every block that is done, give how many are."""
        ready, _ = self.ray.wait(list(self.flights), num_returns=1, timeout=LOOK_EVERY)
        for reference in ready:
            index, begun = self.flights.pop(reference)
            try:
                self.results[index] = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                if not isinstance(error.cause, OSError):
                    raise error.cause from error
                self._again(index, error.cause, pause=True)
            except self.ray.exceptions.LocalRayletDiedError:
                raise ClusterError(
                    "Ray on this machine has stopped",
                    "start it again and continue with resume=True",
                    command="start it again and continue with --resume",
                ) from None
            except self.ray.exceptions.RayError as error:
                self._again(index, error, pause=False)
            else:
                self.took.append(time.monotonic() - begun)
                self._forget(index)
                yield len(self.results)

    def _again(self, index: int, error: Exception, *, pause: bool) -> None:
        failures = self.failures[index] = self.failures.get(index, 0) + 1
        if failures < ATTEMPTS:
            self._begin(index, PAUSE * 2 ** (failures - 1) if pause else 0.0)
            return
        if pause:
            raise ClusterError(
                f"{error}, on each of {ATTEMPTS} attempts",
                "check that all machines have the folder under the same path, and that its disk is not full",
            ) from error
        raise ClusterError(
            f"a block was started {ATTEMPTS} times, and its process or machine was lost each time ({error})",
            "check that a machine has enough memory for a block",
        ) from error

    def _forget(self, index: int) -> None:
        """Let the other copies of a block go: they hold no place, and what they give is not waited for."""
        for reference in [reference for reference, (other, _) in self.flights.items() if other == index]:
            del self.flights[reference]

    def look_around(self) -> None:
        now = time.monotonic()
        if now - self.looked < LOOK_EVERY:
            return
        self.looked = now
        if not self.waiting:  # before that, a processor has better to do than what another is at
            for index in late(list(self.flights.values()), self.took, now):
                self._begin(index)
        if now - self.heard > PROBE_EVERY:
            self._probe(now)

    def _probe(self, now: float) -> None:
        """Return up when there is nothing left to wait for."""
        if not _answers(self.head):
            if now - self.heard > HEAD_LOST_AFTER:
                raise ClusterError(
                    f"the head of the cluster, {self.head}, is lost",
                    "start it again and continue with resume=True",
                    command="start it again and continue with --resume",
                )
            return
        self.heard = now
        if self._count_processors():
            self.manned = now
        elif now - self.manned > MACHINES_LOST_AFTER:
            raise ClusterError(
                f"the cluster has had no machine to run on for {MACHINES_LOST_AFTER:.0f} seconds",
                "add machines and continue with resume=True",
                command="add machines and continue with --resume",
            )


def late(flights: Sequence[tuple[int, float]], took: Sequence[float], now: float) -> list[int]:
    """Tell which blocks take so much longer than others that a copy of each should be begun."""
    if not took:
        return []
    bound = max(LATE_AFTER, LATE_FACTOR * median(took))
    newest: dict[int, float] = {}
    copies: dict[int, int] = {}
    for index, begun in flights:
        newest[index] = max(begun, newest.get(index, begun))
        copies[index] = copies.get(index, 0) + 1
    return [index for index, begun in newest.items() if now - begun > bound and copies[index] < COPIES]
