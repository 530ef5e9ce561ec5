r"""What the engine adds to every stage on a cluster: whole runs through our mapper and in plain Ray tasks, in turn.

    .ci/cluster start /tmp/machines
    RAY_AUTH_TOKEN_PATH=/tmp/machines/token ip netns exec $(cat /tmp/machines/name)-1 \
        python -m benchmarks.stages_on_ray 10.0.0.1:6379 GRAPH --work /tmp/stages
    .ci/cluster stop /tmp/machines

Both run the same functions on the same blocks; the plain one hands all blocks to Ray at once and waits. Seconds by the
clock of every kind of task, the median over the rounds, and the ratio.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from oddhop import HCM
from oddhop.base.parallel import Mapper, single_threaded
from oddhop.base.ray import cluster

FEW: dict[str, Any] = {"burn_in": 100, "samples": 4, "thin": 5, "chains": 3}


def plain() -> Mapper:
    """Make a mapper of plain Ray tasks."""
    import ray

    @ray.remote(num_cpus=1)
    def task(function: Callable[[Any], Any], block: Any) -> Any:
        with single_threaded():
            return function(block)

    def run(function: Any, blocks: Sequence[Any], report: Callable[[int], None]) -> list[Any]:
        results: list[Any] = ray.get([task.remote(function, block) for block in blocks])
        report(len(blocks))
        return results

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("graph", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    with cluster(asked.address) as ours:
        for number in range(asked.rounds + 1):
            for name, mapper in (("ours", ours), ("plain", plain())):
                took: dict[str, float] = defaultdict(float)

                def timed(function: Any, blocks: Any, report: Any, mapper: Any = mapper, took: Any = took) -> list[Any]:
                    begun = time.perf_counter()
                    results: list[Any] = mapper(function, blocks, report)
                    took[getattr(function, "func", function).__name__] += time.perf_counter() - begun
                    return results

                shutil.rmtree(asked.work, ignore_errors=True)
                HCM(**FEW, random_state=0).fit_partitions(asked.graph, mapper=timed, run_folder=asked.work)
                for kind, value in took.items() if number else ():  # in the first round machines compile
                    seconds[kind, name].append(value)
    shutil.rmtree(asked.work)
    print("| task | ours, s | plain Ray tasks, s | ratio |\n|---|---|---|---|")
    for kind in dict.fromkeys(kind for kind, _ in seconds):
        mine, bare = seconds[kind, "ours"], seconds[kind, "plain"]
        ratio = median(a / b for a, b in zip(mine, bare, strict=True))
        print(f"| `{kind}` | {median(mine):.2f} | {median(bare):.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
