"""The mutation score: one change in a module at a time, in a copy of the tree; do the tests that mirror it fail?

mutmut and cosmic-ray want all tests run, or a layout of their own; a hundred lines over ``ast`` do what is asked.
The tests of a mutant run in a fork of this process, which has loaded what they need but for oddhop itself.
"""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numba
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240
LOADED = ("numba", "pandas", "pyarrow.parquet", "pydantic", "scipy.stats", "sklearn.metrics", "torch")
FROZEN = "tests/contract/test_frozen.py"
GOLDEN = "tests/contract/test_golden.py"
MODULES = {
    "hcm/hop_pairs": [FROZEN, "tests/hcm/test_hop_pairs.py", "tests/statistical/test_hop_pairs.py", GOLDEN],
    "hcm/purify": [FROZEN, "tests/hcm/test_purify.py", GOLDEN],
    "hcm/sampler": [FROZEN, "tests/statistical/test_sampler.py", "tests/hcm/test_chains.py", GOLDEN],
    "hcm/scoring": [FROZEN, "tests/hcm/test_scoring.py", GOLDEN, "tests/hcm/test_resume.py"],
    "base/checkpoints": [
        FROZEN,
        "tests/base/test_files.py",
        "tests/hcm/test_resume.py",
        "tests/hcm/test_model_file.py",
    ],
    "hcm/model_file": [FROZEN, "tests/hcm/test_model_file.py"],
}
SWAPPED: dict[type[Any], type[Any]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Return every mutant of a module, with the line that it changes."""
    count = sum(1 for _ in _changes(ast.parse(source)))
    for number in range(count):
        tree = ast.parse(source)
        line, change = list(_changes(tree))[number]
        what = change()
        yield f"line {line}: {what}", ast.unparse(ast.fix_missing_locations(tree))


def _changes(tree: ast.Module) -> Iterator[tuple[int, Any]]:
    """Return the changes that can be made to a tree; texts, types and what is merely said are left alone."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp() | ast.AugAssign() | ast.BoolOp() if type(node.op) in SWAPPED and not _is_type(node):
                yield node.lineno, lambda node=node: _swap(node)
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
                    yield node.lineno, lambda node=node: _leave_out_factor(node)
            case ast.Compare() if type(node.ops[0]) in SWAPPED:
                yield node.lineno, lambda node=node: _swap_comparison(node)
            case ast.Constant(value=bool()):
                yield node.lineno, lambda node=node: _put(node, not node.value)
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                yield node.lineno, lambda node=node: _put(node, node.value + 1)
            case ast.Call(args=[ast.Name(), ast.Name(), *_]):
                yield node.lineno, lambda node=node: _swap_arguments(node)
            case ast.Raise():
                yield node.lineno, lambda node=node, tree=tree: _swallow(tree, node)
            case ast.UnaryOp(op=ast.Not()):
                yield node.lineno, lambda node=node: _put_operand(node)
            case ast.If() | ast.While() | ast.IfExp():
                yield node.lineno, lambda node=node: _forbid(node)


def _is_type(node: Any) -> bool:
    """Return whether it is ``a | b`` between types, as in ``str | None``."""
    return isinstance(getattr(node, "op", None), ast.BitOr)


def _swap(node: Any) -> str:
    before = type(node.op)
    node.op = SWAPPED[before]()
    return f"{before.__name__} -> {SWAPPED[before].__name__}"


def _swap_comparison(node: ast.Compare) -> str:
    before = type(node.ops[0])
    node.ops[0] = SWAPPED[before]()
    return f"{before.__name__} -> {SWAPPED[before].__name__}"


def _put(node: ast.Constant, value: Any) -> str:
    what = f"{node.value} -> {value}"
    node.value = value
    return what


def _put_operand(node: ast.UnaryOp) -> str:
    node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
    return "not left out"


def _leave_out_factor(node: ast.BinOp) -> str:
    what = f"{ast.unparse(node.right)} left out"
    node.right = ast.Constant(value=1)
    return what


def _swap_arguments(node: ast.Call) -> str:
    node.args[0], node.args[1] = node.args[1], node.args[0]
    return f"{ast.unparse(node.func)}: two arguments swapped"


def _swallow(tree: ast.AST, raised: ast.Raise) -> str:
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list) and raised in body:
                body[body.index(raised)] = ast.copy_location(ast.Pass(), raised)
    return "error swallowed"


def _forbid(node: Any) -> str:
    node.test = ast.Constant(value=False)
    return "condition -> False"


def score(module: str, count: int | None, seed: int = 0) -> dict[str, Any]:
    """Try every mutant of a module, or a sample; give the share that the tests kill, with a 95 % interval."""
    load()
    source = (ROOT / "src/oddhop" / f"{module}.py").read_text()
    every = list(mutants(source))
    rng = np.random.default_rng(seed)
    chosen = every if count is None or count >= len(every) else [every[k] for k in rng.permutation(len(every))[:count]]
    alive = []
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        tree = Path(name)
        copy_tree(tree)
        file = tree / "src/oddhop" / f"{module}.py"
        file.write_text(ast.unparse(ast.parse(source)))
        assert is_green(tree, MODULES[module]), "the tests fail without a mutant"
        for what, text in chosen:
            file.write_text(text)
            if is_green(tree, MODULES[module]):
                alive.append(what)
    killed = len(chosen) - len(alive)
    low, high = _interval(killed, len(chosen))
    figures = {"mutants": len(every), "tried": len(chosen), "killed": killed, "score": round(killed / len(chosen), 3)}
    interval = None if len(chosen) == len(every) else [round(low, 3), round(high, 3)]
    return {"test": "mutation score", "module": module, **figures, "interval": interval, "alive": alive, "errors": []}


def load() -> None:
    """Load what tests need, but for oddhop; they run in forks."""
    for name in LOADED:
        importlib.import_module(name)


def copy_tree(tree: Path) -> None:
    """Copy what tests need to a folder."""
    for part in ("src", "tests", "docs", "README.md", "pyproject.toml", "conftest.py"):
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tree / part, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / part, tree / part)


def is_green(tree: Path, tests: list[str], *, compile_kernels: bool = False, seconds: float = SECONDS) -> bool:
    """Run tests in a copy of the tree, in a process of its own; one that takes too long is a test that fails."""
    process = os.fork()
    if process == 0:
        numba.config.DISABLE_JIT = int(not compile_kernels)
        _run_tests(tree, tests)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


def _run_tests(tree: Path, tests: list[str]) -> NoReturn:
    code = 99
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        for name in [name for name in sys.modules if name.split(".")[0] in ("oddhop", "tests")]:
            del sys.modules[name]
        sys.path[:0] = [str(tree), str(tree / "src")]
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        os.chdir(tree)
        code = int(pytest.main(["-x", "-q", "-m", "not slow and not long", "-p", "no:cacheprovider", *tests]))
    finally:
        os._exit(code)


def _interval(killed: int, tried: int) -> tuple[float, float]:
    """Return Wilson's interval."""
    share, z = killed / tried, 1.96
    middle, spread = share + z * z / (2 * tried), z * np.sqrt(share * (1 - share) / tried + (z / (2 * tried)) ** 2)
    return float((middle - spread) / (1 + z * z / tried)), float((middle + spread) / (1 + z * z / tried))
