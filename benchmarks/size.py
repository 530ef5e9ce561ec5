"""The size of the package: lines, files, functions, compiled kernels, words of the pages, and what is loaded when.

    python -m benchmarks.size                     # this checkout
    python -m benchmarks.size ../before .         # two of them, beside each other

Lines are those of the Python files. Seconds are processor seconds from the first line of the script up to each step,
the least of five runs each, once all kernels are compiled. The network has 60 nodes.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
RUNS = 5
LOADED = """
import json, sys, time
begin = time.process_time()
steps = {}
def step(name):
    own = [one for one in sys.modules if one.split(".")[0] == "oddhop"]
    steps[name] = [len(own), len(sys.modules), time.process_time() - begin]
from oddhop import Odd
step("from oddhop import Odd")
import oddhop, numpy as np
assert oddhop.__file__.startswith(sys.argv[1]), oddhop.__file__
rng = np.random.default_rng(0)
graph = oddhop.Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
fitted = Odd(random_state=0, top_k=2).fit(graph)
step("one fit")
fitted.explain(0)
step("and one explanation")
oddhop.report(fitted)
step("and one report")
print(json.dumps(steps))
"""


def decorated(node: ast.AST, name: str) -> bool:
    """Return whether a function has a decorator whose name begins so, called or not."""
    found = getattr(node, "decorator_list", [])
    plain = [one.func if isinstance(one, ast.Call) else one for one in found]
    return any(isinstance(one, ast.Name) and one.id.startswith(name) for one in plain)


def code(checkout: Path) -> dict[str, str]:
    """Count the lines, files, functions and kernels of the package, and the words of its pages."""
    texts = [file.read_text() for file in sorted((checkout / "src/oddhop").rglob("*.py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    kernels = [node for node in functions if decorated(node, "compiled")]
    pages = [checkout / "README.md", *(checkout / "docs").glob("*.md")]
    counted = {
        "lines": sum(len(text.splitlines()) for text in texts),
        "files": len(texts),
        "functions and methods": len(functions),
        "compiled kernels": len(kernels),
        "words of README and docs": sum(len(page.read_text().split()) for page in pages),
    }
    return {name: f"{number:,}" for name, number in counted.items()}


def loaded(checkout: Path) -> dict[str, str]:
    """Count the modules that are loaded, ours and all, with the least processor seconds up to there."""
    command = [sys.executable, "-W", "ignore", "-c", LOADED, str(checkout)]
    runs = []
    with tempfile.TemporaryDirectory() as home:  # for the bytecode, which an installed package has
        kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": home, "PYTHONPATH": str(checkout / "src")}
        for _ in range(RUNS + 1):  # the first one writes bytecode, and may compile kernels
            done = subprocess.run(command, env=os.environ | kept, cwd=checkout, check=True, stdout=subprocess.PIPE)
            runs.append(json.loads(done.stdout))
    return {
        name: f"{own} of ours, {every:,} in all, {min(run[name][2] for run in runs[1:]):.2f} s"
        for name, (own, every, _) in runs[-1].items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path, default=[HERE])
    columns = [code(one) | loaded(one) for one in (given.resolve() for given in parser.parse_args().checkouts)]
    for name in columns[0]:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")


if __name__ == "__main__":
    main()
