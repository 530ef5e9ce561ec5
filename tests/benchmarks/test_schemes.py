"""The made-up worlds with crimes and their innocent twins, and how what is found in them is counted."""

from __future__ import annotations

from collections import Counter
from functools import cache
from hashlib import sha256

import numpy as np
import pytest

from benchmarks.schemes import hosts, payments
from benchmarks.schemes.world import BACKGROUND, DISTORTED, WHOLE, Tables

WORLDS = {"payments": payments.make, "hosts": hosts.make}


@cache
def made(world: str, variant: str = WHOLE) -> Tables:
    return WORLDS[world](1, variant)


def rows(columns: dict[str, np.ndarray]) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(column.astype(str).tolist() for column in columns.values()), strict=True))


def digest(tables: Tables) -> str:
    content = sha256(repr(tables.marks).encode())
    for name, column in [*tables.nodes.items(), *tables.events.items()]:
        content.update(name.encode() + column.tobytes())
    return content.hexdigest()[:16]


@pytest.mark.parametrize(("world", "known"), [("payments", "249bf0600aaf0523"), ("hosts", "8ca17698c2581dec")])
def test_a_seed_gives_the_tables_it_always_gave(world, known):
    assert digest(made(world)) == known


@pytest.mark.parametrize("world", WORLDS)
def test_schemes_add_to_the_background_and_change_nothing_in_it(world):
    whole, background = made(world), made(world, BACKGROUND)
    for some, less in ((whole.nodes, background.nodes), (whole.events, background.events)):
        assert not rows(less) - rows(some)
        assert rows(some) - rows(less)
    assert {mark.scheme for mark in background.marks} == {"oddity"}


@pytest.mark.parametrize("world", WORLDS)
def test_every_crime_has_a_twin_and_no_account_is_in_both(world):
    core = [mark for mark in made(world).marks if mark.core and mark.scheme != "oddity"]
    crimes, twins = ([mark for mark in core if mark.innocent is innocent] for innocent in (False, True))
    assert {mark.scheme for mark in crimes} == {mark.scheme for mark in twins}
    assert not {mark.node for mark in crimes} & {mark.node for mark in twins}


def test_the_events_of_a_mark_are_its_own_rows():
    tables = made("payments")
    payer, payee = tables.events["payer"], tables.events["payee"]
    for mark in tables.marks:
        assert all(mark.node in (payer[row], payee[row]) for row in mark.events)


def test_distortion_changes_amounts_and_times_of_the_crimes_and_of_nothing_else():
    whole, distorted = made("payments"), made("payments", DISTORTED)
    crimes = {row for mark in whole.marks if not mark.innocent for row in mark.events}
    lost = rows(whole.events) - rows(distorted.events)
    assert 0.9 * len(crimes) < lost.total() <= len(crimes)
    amount = sum(whole.events["amount"][row] for row in crimes)
    moved = {row for mark in distorted.marks if not mark.innocent for row in mark.events}
    assert sum(distorted.events["amount"][row] for row in moved) == pytest.approx(0.3 * amount, rel=1e-3)
