"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop.base.compiling import compiling, told_of_compiling
from oddhop.base.kernels import compiled, kernel_digest
from oddhop.base.prefetch import AHEAD, prefetch


def test_rows_that_are_fetched_ahead_change_no_result() -> None:
    @compiled
    def total(values, places):
        found = 0.0
        for k in range(places.size):
            prefetch(values, places[min(k + AHEAD, places.size - 1)])
            found += values[places[k]]
        return found

    assert float(total(np.arange(5.0), np.array([4, 0, 3]))) == 7.0


def test_who_asks_is_told_that_kernels_are_compiled() -> None:
    told: list[str] = []
    with told_of_compiling(lambda: told.append("compiling")):
        compiling()
        compiling()
    assert told == ["compiling"]


def test_kernels_of_other_constants_have_other_digests() -> None:
    one, other = (lambda number: number + 1), (lambda number: number + 2)
    assert kernel_digest(one) != kernel_digest(other)
