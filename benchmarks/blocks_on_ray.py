r"""What a block costs on a Ray cluster: through our mapper, and as a plain Ray task, one after the other, five times.

    .ci/cluster start /tmp/machines
    RAY_AUTH_TOKEN_PATH=/tmp/machines/token ip netns exec $(cat /tmp/machines/name)-1 \
        python -m benchmarks.blocks_on_ray 10.0.0.1:6379
    .ci/cluster stop /tmp/machines

Empty blocks show what an engine costs a block. A stage should have none shorter than 0.1 s.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from oddhop.base.parallel import single_threaded
from oddhop.base.ray import cluster

ROUNDS = 5


def spin(seconds: float, block: int) -> int:
    """Keep a processor busy for so many of its own seconds."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return block


def plain(function: Callable[[int], int], block: int) -> int:
    """Do what a task of ours does around its block."""
    with single_threaded():
        return function(block)


def main(address: str) -> None:
    begun = time.perf_counter()
    with cluster(address) as run:
        import ray

        print(f"connected after {time.perf_counter() - begun:.1f} s")
        task = ray.remote(num_cpus=1, max_retries=0)(plain)
        print("| a block | blocks | ours, ms a block | plain Ray, ms a block | ratio |\n|---|---|---|---|---|")
        for seconds, count in ((0.0, 1000), (0.1, 60)):
            function = partial(spin, seconds)
            ours, theirs = [], []
            for _ in range(ROUNDS + 1):  # the first round brings processes up
                begun = time.perf_counter()
                assert run(function, range(count), lambda _: None) == list(range(count))
                middle = time.perf_counter()
                assert ray.get([task.remote(function, block) for block in range(count)]) == list(range(count))
                ours.append((middle - begun) / count * 1e3)
                theirs.append((time.perf_counter() - middle) / count * 1e3)
            a, b = median(ours[1:]), median(theirs[1:])
            print(f"| {seconds} s | {count} | {a:.2f} | {b:.2f} | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
