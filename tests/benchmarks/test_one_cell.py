"""One cell changed loses no column, fails nowhere, and a value further out is no less unusual."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.one_cell import CHANGES, Originals, outcome, page, pairs

PAIRS = 20


@pytest.fixture(scope="module")
def originals() -> Originals:
    return Originals()


@pytest.mark.parametrize("number", range(PAIRS))
def test_a_changed_cell_costs_nothing_but_itself(originals, number):
    pair = list(pairs(PAIRS))[number]
    assert outcome(pair, originals, through_detect=number == 1).faults == ()


def test_the_pairs_have_every_change_in_narrow_and_wide_tables():
    drawn = list(pairs(2 * len(CHANGES)))
    assert {(one.change, one.wide) for one in drawn} == {(change, wide) for change in CHANGES for wide in (False, True)}


def test_a_fault_is_seen(originals, monkeypatch):
    pair = next(one for one in pairs(50) if one.change == "outward" and not one.wide)
    originals.get(pair.network, wide=False)
    tables, network, fitted, p = originals.known[pair.network, False]
    monkeypatch.setitem(originals.known, (pair.network, False), (tables, network, fitted, np.full_like(p, -1e3)))
    found = outcome(pair, originals)
    assert found.faults == ("the p-value rises",)
    assert "1 x outward in age" in page([found], 1.0)
