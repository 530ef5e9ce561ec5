"""Kernels that several processes compile at once are kept apart; numba alone mixes them up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oddhop.base.kernels import sort_ascending

pytestmark = pytest.mark.kernels

MODULE = """
import sys, time
import numpy as np
from numba.core import caching
from oddhop.base.kernels import compiled

# As if the processor were busy: seconds before the index is written, and before what it tells of is.
pauses = dict(zip(("_save_index", "_save_data"), map(float, sys.argv[2:])))
for name, pause in pauses.items():
    def write(*given, function=getattr(caching.IndexDataCacheFile, name), pause=pause):
        time.sleep(pause)
        function(*given)
    setattr(caching.IndexDataCacheFile, name, write)

@compiled
def bytes_of_one(x):
    return x.itemsize

for name in sys.argv[1].split(","):
    assert bytes_of_one(np.zeros(3, dtype=name)) == np.dtype(name).itemsize
print(sum(bytes_of_one.stats.cache_hits.values()))
"""


TWO_FILES = {
    "inner.py": """
from oddhop.base.kernels import compiled
STEP = 1
@compiled
def further(x):
    return x + STEP
""",
    "outer.py": """
from inner import further
from oddhop.base.kernels import compiled
@compiled
def twice_further(x):
    return further(further(x))
print(twice_further(0), sum(twice_further.stats.cache_hits.values()))
""",
}


def test_a_kernel_is_compiled_again_when_one_that_it_calls_was_changed_in_another_file(tmp_path: Path) -> None:
    for name, text in TWO_FILES.items():
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}

    def run() -> str:
        done = subprocess.run([sys.executable, tmp_path / "outer.py"], capture_output=True, check=True, env=environment)
        return done.stdout.decode().strip()

    assert [run(), run()] == ["2 0", "2 1"]
    (tmp_path / "inner.py").write_text(TWO_FILES["inner.py"].replace("STEP = 1", "STEP = 5"))
    assert [run(), run()] == ["10 0", "10 1"]
    (tmp_path / "inner.py").write_text(TWO_FILES["inner.py"].replace("x + STEP", "x - STEP"))
    assert run() == "-2 0"


@pytest.mark.slow
def test_two_processes_that_compile_at_once_leave_a_right_kernel_each(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(MODULE)
    # One is the last to write the index, the other the last to write what it tells of.
    together = [
        subprocess.Popen([sys.executable, file, *given], stdout=subprocess.DEVNULL)
        for given in (("float32", "1", "6"), ("float64", "3", "0"))
    ]
    assert [process.wait() for process in together] == [0, 0]
    after = subprocess.run([sys.executable, file, "float32,float64"], capture_output=True, text=True, check=True)
    assert after.stdout.strip() == "2"  # both from the disk, and both right


def test_a_kernel_of_other_types_than_were_asked_for_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import float32, float64
    from numba.core.caching import FunctionCache

    from oddhop.base.kernels import SharedCache

    class Found:
        signature = float64(float64)

    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: Found)
    cache = SharedCache(test_a_kernel_of_other_types_than_were_asked_for_is_not_taken)
    assert cache.load_overload((float64,), None) is Found
    assert cache.load_overload((float32,), None) is None


def test_a_folder_that_cannot_be_written_is_read_without_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import float64
    from numba.core.caching import FunctionCache

    from oddhop.base import kernels

    class Found:
        signature = float64(float64)

    def refuse(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: Found)
    cache = kernels.SharedCache(test_a_folder_that_cannot_be_written_is_read_without_a_lock)
    monkeypatch.setattr(kernels.os, "open", refuse)
    assert cache.load_overload((float64,), None) is Found


@settings(deadline=None)
@given(arrays(st.sampled_from(["int64", "int32", "float64"]), st.integers(0, 300), elements=st.integers(-50, 50)))
def test_an_array_is_sorted_in_place(values: np.ndarray) -> None:
    expected = np.sort(values)
    sort_ascending(values)
    assert np.array_equal(values, expected)


@pytest.mark.parametrize("arranged", ["ascending", "descending", "saw", "organ pipe", "random"])
def test_no_arrangement_makes_the_sort_quadratic(arranged: str) -> None:
    count = 300_000
    up = np.arange(count)
    values = {
        "ascending": up,
        "descending": up[::-1],
        "saw": up % 1_000,
        "organ pipe": np.minimum(up, count - up),
        "random": np.random.default_rng(0).permutation(count),
    }[arranged].copy()
    expected = np.sort(values)
    sort_ascending(values[:2])  # compiled
    started = time.process_time()
    sort_ascending(values)
    assert np.array_equal(values, expected)
    assert time.process_time() - started < 5  # a quadratic sort takes minutes
