"""The made-up worlds with crimes and their innocent twins, and how what is found in them is counted."""

from __future__ import annotations

from collections import Counter
from functools import cache
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.schemes import hosts, payments
from benchmarks.schemes.bank import LAYOUT
from benchmarks.schemes.measure import counted, refused
from benchmarks.schemes.page import page
from benchmarks.schemes.questions import question_ranks
from benchmarks.schemes.world import BACKGROUND, DISTORTED, WHOLE, Mark, Tables

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


def result(cases: list[int | None]) -> pa.Table:
    """Return a result of nodes n1, n2, ... in the order of their ranks, in these cases; the first 30 are flagged."""
    ranks = np.arange(1, len(cases) + 1)
    ids = [f"n{rank}" for rank in ranks]
    return pa.table({"id": ids, "rank": ranks, "case": pa.array(cases, pa.int64()), "flagged": ranks <= 30})


def marked(scheme: str, *nodes: str, innocent: bool = False, core: bool = True) -> list[Mark]:
    return [Mark(scheme, "role", node, core, innocent, ()) for node in nodes]


def test_cases_are_counted_and_not_nodes():
    together = result([1] * 25 + list(range(2, 30)))  # a case of 25 nodes, then 28 of one each
    (row,) = counted(marked("cycle", "n3", "n25", "n44", "n45", "n50", "n51"), together)
    assert row["cases"] == 2  # n44 is case 20, n45 is case 21
    assert row["in cases"] == 3
    assert row["accounts"] == 6
    assert row["Odd"] == {"best": 3, "flagged": 2, "nodes": 5}


def test_a_node_without_a_case_is_in_none():
    (row,) = counted(marked("cycle", "n2"), result([1, None]))
    assert (row["cases"], row["in cases"]) == (0, 0)


def test_victims_and_oddities_are_no_hits():
    assert not counted(marked("cycle", "n1", core=False) + marked("oddity", "n2", innocent=True), result([1, 2]))


def test_a_twin_is_never_counted_as_a_crime():
    marks = marked("mule", "n1", "n2", innocent=True) + marked("mule", "n60")
    found = counted(marks, result(list(range(1, 61))))
    assert {row["innocent"]: row["in cases"] for row in found} == {True: 2, False: 0}
    forest = {"best": 1, "flagged": 0, "nodes": 0}
    line = {"key": {"part": "schemes", "world": "payments", "seed": 1}}
    shown = page([{**line, "found": {"flagged": 30, "schemes": [{**row, "forest": forest} for row in found]}}])
    assert "| Odd, crimes | 0/1 | 0/1 | 0/1 |" in shown
    assert "| Odd, twins | 1/1 | 1/1 | 1/1 |" in shown


def test_other_rankings_are_compared_at_the_same_number_of_nodes():
    others = {name: {"n1": 31.0, "n2": 30.0} for name in ("forest", "mule", "farm")}
    (row,) = counted(marked("mule", "n1", "n2"), result(list(range(1, 61))), others)
    assert row["forest"] == row["question"] == {"best": 30.0, "flagged": 1, "nodes": 2}


@pytest.mark.parametrize(("world", "seed"), [("payments", 11), ("payments", 50), ("hosts", 6), ("hosts", 15)])
def test_closed_seeds_are_refused(world, seed):
    assert f"seeds {seed} of the {world} are closed" in refused(world, [seed])


def test_seeds_of_development_are_not_refused():
    assert refused("payments", list(range(1, 11))) is None
    assert refused("hosts", list(range(1, 6))) is None


def test_the_question_of_every_scheme_finds_it():
    tables = made("payments")
    place = {node: row for row, node in enumerate(tables.nodes["account"])}
    for scheme, ranks in question_ranks(tables, LAYOUT).items():
        core = [place[mark.node] for mark in tables.marks if mark.scheme == scheme and mark.core and not mark.innocent]
        assert ranks[core].min() <= 6, scheme


def test_the_command_opens_no_closed_seed_unasked(monkeypatch, capsys, tmp_path):
    from benchmarks.schemes import __main__ as command

    monkeypatch.setattr("sys.argv", ["schemes", "--seeds", "10", "11", "--log", str(tmp_path / "log.jsonl")])
    with pytest.raises(SystemExit):
        command.main()
    assert "--open-held-out" in capsys.readouterr().err
    assert not (tmp_path / "log.jsonl").exists()
