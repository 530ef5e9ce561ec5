"""Faults in changed lines: which of them do the tests not see? ``nox -s mutate -- --since main --count 60 --seed 1``.

Every fault is tried against the fast tests that mention its module, in a copy of the tree that stays, for its compiled
kernels. Kernels of a module that has some are not compiled: that is quicker than to compile a mutant.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.soak.mutants import ROOT, _changes, copy_tree, is_green, load

PACKAGE = Path("src/oddhop")


def changed_lines(since: str) -> dict[Path, set[int]]:
    """Return the lines of the package that were added or changed since a commit, by file."""
    command = ["git", "diff", "--unified=0", "--no-color", "--diff-filter=d", since, "--", f"{PACKAGE}/*.py"]
    diff = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[Path, set[int]] = {}
    file = Path()
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = Path(line.removeprefix("+++ b/"))
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(file, set()).update(range(first, first + count))
    return found


def mirrored_by(file: Path) -> list[str]:
    """Return the test files that mention a module, those of its folder first; else the folder's tests."""
    inside = file.relative_to(PACKAGE).with_suffix("")
    package, name = ".".join(inside.parts[:-1]), inside.parts[-1]
    dotted = re.compile(rf"oddhop\.{package}\.{name}\b|from oddhop\.{package} import .*\b{name}\b")
    own = ROOT / "tests" / inside.parts[0]
    tests = sorted((ROOT / "tests").rglob("test_*.py"), key=lambda one: (own not in one.parents, one))
    found = [one for one in tests if "soak" not in one.parts and dotted.search(one.read_text())]
    return [str(one.relative_to(ROOT)) for one in found] or ["tests/" + inside.parts[0]]


def faults_in(file: Path, lines: set[int]) -> list[int]:
    """Return the numbers of the faults that can be put into some lines of a file."""
    changes = _changes(ast.parse((ROOT / file).read_text()))
    return [number for number, (line, _) in enumerate(changes) if line in lines]


def with_fault(file: Path, number: int) -> tuple[str, str]:
    """Return a fault in words, and the source with it."""
    tree = ast.parse((ROOT / file).read_text())
    line, change = list(_changes(tree))[number]
    what = change()
    return f"{file}:{line}: {what}", ast.unparse(ast.fix_missing_locations(tree))


def mutate(since: str, count: int, seed: int) -> dict[str, object]:
    """Try faults that are drawn by a seed, one at a time; list those that no test saw."""
    load()
    every = [(file, number) for file, lines in changed_lines(since).items() for number in faults_in(file, lines)]
    order = np.random.default_rng(seed).permutation(len(every))[:count]
    tree = Path(tempfile.gettempdir()) / f"mutated-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]}"
    copy_tree(tree)
    alive, tried, red, fit = [], 0, [], {}
    for file, number in (every[k] for k in order):
        what, text = with_fault(file, number)
        tests, source = mirrored_by(file), (ROOT / file).read_text()
        compile_kernels = "@compiled" not in source
        if file not in fit:  # green without a fault, and in how long
            began = time.monotonic()
            passed = is_green(tree, tests, compile_kernels=compile_kernels)
            fit[file] = time.monotonic() - began if passed else None
            red += [] if passed else [str(file)]
        seconds = fit[file]
        if seconds is None:
            continue
        (tree / file).write_text(text)
        seen = not is_green(tree, tests, compile_kernels=compile_kernels, seconds=30 + 5 * seconds)
        (tree / file).write_text(source)
        tried += 1
        alive += [] if seen else [what]
        print(f"{'caught' if seen else 'ALIVE '} {what}", flush=True)
    figures = {"faults": len(every), "tried": tried, "caught": tried - len(alive), "alive": alive}
    return {"test": "faults in changed lines", "since": since, "seed": seed, **figures, "not green before": red}


def main() -> None:
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__)
    parser.add_argument("--since", default="HEAD~1", help="the commit whose lines are not tried (HEAD~1)")
    parser.add_argument("--count", type=int, default=60, help="how many faults (60)")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(json.dumps(mutate(asked.since, asked.count, asked.seed), indent=1))


if __name__ == "__main__":
    main()
