r"""A command of oddhop under every fault, at two moments of each of its stages, with a log.

Bring up the machines, and give the command with a seed, and ``{out}`` where the folder of the run stands::

    .ci/cluster start /tmp/machines
    ODDHOP_CLUSTER=/tmp/machines python -m tests.cluster.campaign --log outcomes.jsonl --work /tmp/campaign -- \
        detect NETWORK --engine ray --address 10.0.0.1:6379 --seed 0 --out {out}
    .ci/cluster stop /tmp/machines

The command is first run in peace: that tells its stages, its time and its scores. Then it is run once for every stage,
moment and fault, and its scores are compared. A driver that was killed is begun again with ``--resume``. Each run is a
line of the log; what is in the log already is not run again, so a campaign can be interrupted. ``--stages``,
``--moments`` and ``--faults`` name a part of it. The last line printed sums up; the exit code is 1 if a run was wrong
or took too long.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.cluster.faults import FAULTS, strike_when_busy
from tests.cluster.machines import HEAD, Machines

STRUCK = 3
MOMENTS = (0.0, 0.5)
LIMIT = 120.0
"""Seconds that a fault may cost."""
DRIVER = "kill the driver"
# The command line as it is, but for progress: every step is told, not one line in ten seconds.
TELLING = "import oddhop.cli.console as c; c.PLAIN_EVERY = 0.0; from oddhop.cli import app; app()"


@dataclass(frozen=True)
class Outcome:
    """How one run went."""

    fault: str
    stage: str
    moment: float
    struck: bool  # a stage may be over before anything can happen to it
    hit: bool  # whether the machine was at a block then
    seconds: float
    peace: float  # how long the run takes without a fault
    code: int | None  # None: it went on for too long and was ended
    largest_difference: float | None
    same_top: bool

    @property
    def right(self) -> bool:
        return (
            self.code == 0 and self.same_top and self.largest_difference is not None and self.largest_difference <= 1e-5
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--stages", nargs="*")
    parser.add_argument("--faults", nargs="*", default=[*FAULTS, DRIVER])
    parser.add_argument("--moments", nargs="*", type=float, default=MOMENTS)
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    machines = Machines(Path(os.environ["ODDHOP_CLUSTER"]))
    asked.work.mkdir(parents=True, exist_ok=True)

    peaceful = Run(machines, asked.command, asked.work / "peace")
    code, _ = peaceful.watch(None, None, limit=3600.0)
    if code != 0:
        sys.exit(f"the command fails without any fault:\n{peaceful.said}")
    expected = scores(peaceful.out)
    print(f"{peaceful.seconds:.0f} s in peace; stages: {', '.join(peaceful.stages)}")

    known = [json.loads(line) for line in asked.log.read_text().splitlines()] if asked.log.exists() else []
    over = {(line["fault"], line["stage"], line["moment"]) for line in known}
    bad = sum(not line["right"] for line in known)
    for stage in asked.stages or peaceful.stages:
        for moment in asked.moments:
            for fault in asked.faults:
                if (fault, stage, moment) in over:
                    continue
                outcome = strike(machines, asked, fault, stage, moment, peaceful.seconds, expected)
                line = {**asdict(outcome), "right": outcome.right}
                with asked.log.open("a") as log:
                    log.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)
                bad += not outcome.right
    print(f"{bad} runs were wrong or went on for too long")
    return int(bad > 0)


def strike(
    machines: Machines, asked: argparse.Namespace, fault: str, stage: str, moment: float, peace: float, expected: object
) -> Outcome:
    """Run the command under one fault, and put the machines right again."""
    run = Run(machines, asked.command, asked.work / "struck")
    limit = 2 * peace + LIMIT  # with a machine less, the rest has more to do
    code, struck = run.watch(fault, (stage, moment), limit=limit)
    seconds = run.seconds
    if fault == DRIVER and struck:
        again = Run(machines, [*asked.command, "--resume"], run.out, fresh=False)
        code, _ = again.watch(None, None, limit=limit)
        seconds += again.seconds
    if fault not in ("kill a worker process", DRIVER):
        machines.join(STRUCK)
    difference, same_top = compare(expected, scores(run.out)) if code == 0 else (None, False)
    return Outcome(
        fault, stage, moment, struck, run.hit, round(seconds, 1), round(peace, 1), code, difference, same_top
    )


class Run:
    """One run of the command on the head, and what it says on the way."""

    def __init__(self, machines: Machines, command: list[str], out: Path, *, fresh: bool = True) -> None:
        self.machines, self.out = machines, out
        if fresh:
            shutil.rmtree(out, ignore_errors=True)
        arguments = [part.replace("{out}", str(out)) for part in command]
        self.process = subprocess.Popen(
            machines.on(HEAD, [sys.executable, "-c", TELLING, *arguments, "--log-format", "json"]),
            env=machines.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.begun = time.monotonic()
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.said = ""
        self.stages: list[str] = []
        self.hit = False
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stderr:
            self.lines.put(line)
        self.lines.put(None)

    def watch(self, fault: str | None, moment: tuple[str, float] | None, *, limit: float) -> tuple[int | None, bool]:
        """Let the fault happen at its moment; give the exit code, and whether anything happened."""
        thread = None
        while time.monotonic() - self.begun < limit:
            try:
                line = self.lines.get(timeout=1.0)
            except queue.Empty:
                continue
            if line is None:
                break
            self.said += line
            if thread is None and self._is_at(line, moment):
                thread = threading.Thread(target=self._suffer, args=(fault,))
                thread.start()
        else:
            self.process.kill()
        code = self.process.wait()
        self.seconds = time.monotonic() - self.begun
        if thread:
            thread.join()
        return (None if self.seconds >= limit else code), thread is not None

    def _is_at(self, line: str, moment: tuple[str, float] | None) -> bool:
        try:
            event = json.loads(line)
        except ValueError:
            return False
        if event.get("event") != "progress":
            return False
        if event["stage"] not in self.stages:
            self.stages.append(event["stage"])
        return moment is not None and event["stage"] == moment[0] and event["done"] >= moment[1] * event["total"]

    def _suffer(self, fault: str) -> None:
        if fault == DRIVER:
            self.process.kill()
            self.hit = True
        else:
            self.hit = strike_when_busy(fault, self.machines, STRUCK, within=2.0)


def scores(out: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the nodes and their scores, in the order of the nodes."""
    table = pq.read_table(out / "results.parquet")  # a file, or a folder of files
    nodes, values = np.asarray(table["id"].to_pylist()), table["score"].to_numpy()
    order = np.argsort(nodes, kind="stable")
    return nodes[order], values[order]


def compare(expected: tuple[np.ndarray, np.ndarray], got: tuple[np.ndarray, np.ndarray]) -> tuple[float | None, bool]:
    """Return the largest difference of two scores of a node, and whether the hundred oddest are the same."""
    if not np.array_equal(expected[0], got[0]):
        return None, False
    top = [nodes[np.argsort(-values, kind="stable")[:100]] for nodes, values in (expected, got)]
    return float(np.abs(expected[1] - got[1]).max()), bool(np.array_equal(*top))


if __name__ == "__main__":
    sys.exit(main())
