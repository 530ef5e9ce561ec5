"""The long form: ``nox -s soak``, or ``python -m tests.soak PART``; every outcome is a line of JSON in soak.jsonl."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Outcomes = Iterator[dict[str, Any]]


def kills(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.kills import kill_at_random

    yield kill_at_random(asked.count or 200)


def calls(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.kills import kill_at_calls

    for label in _commands(asked):
        yield kill_at_calls(label, asked.every)


def faults(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.faults import READS, fail_calls, run_twice

    for label in _commands(asked):
        yield run_twice(label, asked.count or 12)
        yield fail_calls(label, "ENOSPC", asked.every)
        yield fail_calls(label, "EIO", asked.every)
        yield fail_calls(label, "EIO", 5 * asked.every, READS)


def disks(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.faults import fill_disk, forbid_writing

    for label in _commands(asked):
        yield forbid_writing(label)
        yield fill_disk(label, asked.count or 12)


def hostile(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.hostile import hand_over

    yield hand_over(asked.every, asked.only)


def fuzz(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.fuzz import fuzz
    from tests.soak.targets import NAMES

    for name in asked.only or NAMES:
        minutes = None if asked.count else asked.minutes or 20.0
        yield fuzz(name, count=asked.count, minutes=minutes, seed=asked.seed)


def zoo(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.zoo import DETECTORS, visit

    for name in asked.only or DETECTORS:
        yield visit(name, asked.every)


def determinism(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.determinism import compare_threads

    yield compare_threads(asked.count or 20)


def memory(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.determinism import refuse_in_time

    yield refuse_in_time()


def properties(asked: argparse.Namespace) -> Outcomes:
    from tests.soak import file_properties  # noqa: F401 - it adds its own
    from tests.soak.properties import check_all

    yield check_all(asked.count or 200_000)


def mutants(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.mutants import MODULES, score

    for module in asked.only or MODULES:
        yield score(module, asked.count, asked.seed)


def addresses(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.addresses import show_addresses

    yield show_addresses(asked.count or 4000, asked.seed)


def signals(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.signals import send_signals

    yield send_signals(asked.count or 40, asked.seed)


def cells(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.cells import write_cells

    yield write_cells(asked.count or 200_000, asked.seed)


def requests(asked: argparse.Namespace) -> Outcomes:
    from tests.soak.requests import send_requests

    yield send_requests(asked.count or 50_000, asked.seed)


def _commands(asked: argparse.Namespace) -> list[str]:
    from tests.soak.warm import COMMANDS

    return asked.only or list(COMMANDS)


PARTS: dict[str, Callable[[argparse.Namespace], Outcomes]] = {
    "kills": kills,
    "calls": calls,
    "faults": faults,
    "disks": disks,
    "hostile": hostile,
    "zoo": zoo,
    "determinism": determinism,
    "memory": memory,
    "fuzz": fuzz,
    "properties": properties,
    "mutants": mutants,
    "addresses": addresses,
    "cells": cells,
    "requests": requests,
    "signals": signals,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to run; all of it where nothing is named")
    parser.add_argument("--count", type=int, help="how many kills, files, seeds, cases or mutants")
    parser.add_argument("--minutes", type=float, help="how long every reader is fuzzed (20)")
    parser.add_argument("--every", type=int, default=1, help="only every n-th point, file or cell")
    parser.add_argument(
        "--only", action="append", help="only this command, reader, detector or module; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=Path, default=Path("soak.jsonl"), help="the file that outcomes are added to")
    asked = parser.parse_args()
    wrong = 0
    for part in asked.parts or PARTS:
        began = time.monotonic()
        for outcome in PARTS[part](asked):
            line = json.dumps({**outcome, "seconds_spent": round(time.monotonic() - began)})
            print(line, flush=True)
            with asked.lines.open("a") as file:
                file.write(line + "\n")
            ours = outcome.get("detector", "HCM") in ("HCM", "Odd")
            wrong += len(outcome["errors"]) if ours else 0
            began = time.monotonic()
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
