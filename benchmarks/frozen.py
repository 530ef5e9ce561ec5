"""What a nightly score by a frozen model costs beside the fit: seconds, processor seconds and memory.

    python -m benchmarks.frozen 1000000 MODEL        # fit on so many edges, then score the same network by the model
    python -m benchmarks.frozen 10000000 MODEL --score-only

The fit and the score are processes of their own, on a synthetic network with ten edges a node and
20 attributes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def work(what: str, edges: int, model: Path) -> None:
    from benchmarks.synthetic import synthetic
    from oddhop import Odd, load

    graph = synthetic(edges // 10, edges, 20)
    begun, used = time.perf_counter(), time.process_time()
    if what == "fit":
        Odd(random_state=0, top_k=100).fit(graph).save(model)
    else:
        load(model).rank(graph)
    told = {
        "what": what,
        "edges": graph.edge_count,
        "seconds": round(time.perf_counter() - begun, 1),
        "processor_seconds": round(time.process_time() - used, 1),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }
    print(json.dumps(told), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("edges", type=int)
    parser.add_argument("model", type=Path)
    parser.add_argument("--score-only", action="store_true")
    parser.add_argument("--do", choices=("fit", "score"))
    asked = parser.parse_args()
    if asked.do:
        work(asked.do, asked.edges, asked.model)
        return
    for what in ("score",) if asked.score_only else ("fit", "score"):
        words = ["-m", "benchmarks.frozen", str(asked.edges), str(asked.model), "--do", what]
        subprocess.run([sys.executable, *words], check=True)


if __name__ == "__main__":
    main()
