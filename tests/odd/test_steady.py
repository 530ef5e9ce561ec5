"""The short form of benchmarks/steady.py: what of a ranking survives harmless changes of two tables."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import steady
from benchmarks.bank import bank

AT_LEAST = {
    steady.noise_number: 45,
    steady.noise_category: 45,
    steady.duplicate: 50,
    steady.unit: 50,
    steady.order: 50,
    steady.filled: 45,
}


@pytest.fixture(scope="module")
def small_bank() -> steady.Tables:
    made = bank(accounts=2_000, payments=15_000)
    return steady.Tables(made.payments.select(["payer", "payee"]), made.accounts)


QUICK = (steady.noise_number, steady.order)
SLOW = [pytest.param(change, marks=pytest.mark.slow) for change in AT_LEAST if change not in QUICK]


@pytest.mark.parametrize("change", [*QUICK, *SLOW], ids=lambda change: change.__name__)
def test_the_first_fifty_survive(small_bank: steady.Tables, change: steady.Change) -> None:
    pair = change(small_bank, np.random.default_rng(7))
    assert pair is not None
    before, after = (steady.scores(one) for one in pair)
    top, correlation = steady.kept(before, after, np.ones(before.size, dtype=bool))
    assert top >= AT_LEAST[change]
    assert correlation >= 0.98
    if change is steady.order:
        np.testing.assert_array_equal(before, after)
