"""The search for a change of sign, against bisection."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddhop.base.roots import sign_change

NUMBERS = st.floats(-1e6, 1e6)


@given(NUMBERS, st.floats(1e-3, 1e3), st.sampled_from(["line", "step", "cube", "tail"]))
def test_the_place_is_within_the_tolerance_and_found_in_as_few_calls_as_bisection(
    wanted: float, reach: float, shape: str
) -> None:
    shapes = {
        "line": lambda x: wanted - x,
        "step": lambda x: 1.0 if x < wanted else -1e-9,
        "cube": lambda x: (wanted - x) ** 3,
        "tail": lambda x: math.exp(min(-(x - wanted) / reach, 50.0)) - 1.0,
    }
    calls = 0

    def function(x: float) -> float:
        nonlocal calls
        calls += 1
        return shapes[shape](x)

    low, high, tolerance = wanted - reach, wanted + 3 * reach, 1e-9 * (abs(wanted) + reach)
    found = sign_change(function, low, high, tolerance)
    assert abs(found - wanted) <= 2 * tolerance
    assert calls <= 3 + math.ceil(math.log2((high - low) / tolerance))


def test_a_smooth_function_takes_a_third_of_the_calls_of_bisection() -> None:
    calls: list[float] = []

    def function(x: float) -> float:
        calls.append(x)
        return math.tanh(1 - x)

    assert sign_change(function, -3.0, 9.0, 1e-12) == pytest.approx(1.0, abs=1e-12)
    assert len(calls) <= math.log2(12 / 1e-12) / 3


def test_a_function_without_a_change_of_sign_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must fall from above 0 to below: got 1\.0 at 0\.0"):
        sign_change(lambda _: 1.0, 0.0, 2.0, 1e-9)
