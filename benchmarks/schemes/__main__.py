"""Crimes and innocent twins among the first cases, the plants of two made-up networks, and four labelled networks.

    python -m benchmarks.schemes --seeds 1 2 3 4 5                              # about 20 s a seed
    python -m benchmarks.schemes --seeds 1 2 3 4 5 --parts distorted background unexcused
    ODDHOP_DATA=... python -m benchmarks.schemes --parts plants labelled
    python -m benchmarks.schemes --page                                         # the tables of what was measured

Every result is a line of ``--log``, with the sha256 of the sources of oddhop. What was measured with these sources is
not measured again. Seeds 1 to 10 of the payments and 1 to 5 of the hosts are for development. Seeds 11 to 20 and 31 to
50 of the payments and 6 to 15 of the hosts have been opened, once each, when everything was frozen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oddhop
from benchmarks.schemes.elsewhere import NETWORKS, PLANTED, labelled_figures, plant_ranks
from benchmarks.schemes.measure import KINDS, UNEXCUSED, measured, refused
from benchmarks.schemes.page import page
from benchmarks.schemes.world import BACKGROUND, DISTORTED, WHOLE

VARIANTS = {"schemes": WHOLE, "distorted": DISTORTED, "background": BACKGROUND, UNEXCUSED: UNEXCUSED}


def source_digest() -> str:
    """Return the sha256 of the sources of the installed oddhop."""
    folder = Path(oddhop.__file__).parent
    content = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        content.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:12]


def cells(world: str, seeds: list[int], parts: list[str]) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
    """Return what to measure: its key in the log, and how."""
    for part in parts:
        if part in VARIANTS:
            for seed in seeds:
                key = {"part": part, "world": world, "seed": seed}
                yield key, lambda seed=seed, part=part: measured(world, seed, VARIANTS[part])  # type: ignore[misc]
        else:
            names, measure = (PLANTED, plant_ranks) if part == "plants" else (NETWORKS, labelled_figures)
            for name in names:
                yield {"part": part, "name": name}, lambda name=name, measure=measure: measure(name)  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--world", choices=KINDS, default="payments")
    parser.add_argument("--parts", nargs="+", choices=[*VARIANTS, "plants", "labelled"], default=["schemes"])
    parser.add_argument("--log", type=Path, default=Path("schemes.jsonl"))
    parser.add_argument("--page", action="store_true", help="print the tables of the log, and measure nothing")
    parser.add_argument("--open-held-out", action="store_true", help="measure closed seeds")
    asked = parser.parse_args()
    reason = refused(asked.world, asked.seeds)
    if reason and not asked.open_held_out and not asked.page and {*asked.parts} & {*VARIANTS}:
        parser.error(reason)
    lines = [json.loads(line) for line in asked.log.read_text().splitlines()] if asked.log.exists() else []
    source = source_digest()
    mine = [line for line in lines if line["source"] == source]
    if not asked.page:
        known = [line["key"] for line in mine]
        for key, measure in cells(asked.world, asked.seeds, asked.parts):
            if key in known:
                continue
            start = time.perf_counter()
            line = {"source": source, "key": key, "found": measure(), "seconds": round(time.perf_counter() - start, 1)}
            mine.append({**line, "command": sys.argv[1:]})
            with asked.log.open("a") as log:
                log.write(json.dumps(mine[-1]) + "\n")
            print(f"{', '.join(map(str, key.values()))}: {line['seconds']} s", file=sys.stderr, flush=True)
    print(f"oddhop {oddhop.__version__}, sources {source}\n\n{page(mine)}")


if __name__ == "__main__":
    main()
