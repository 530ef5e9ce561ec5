"""The list of cases that a run prints: in the words of the table, within 100 columns, without what is hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oddhop.cli.summary import lines_of, show_cases
from tests.cases import model


def test_cases_are_listed_with_members_amounts_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    four = model.four()
    show_cases(replace(four, cases=tuple(replace(one, status="") for one in four.cases)), 3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert max(len(line.rstrip()) for line in lines) <= 100
    for one, line in zip(model.four().cases, lines[1:], strict=False):
        assert line.split()[0] == str(one.number)
        assert one.short in line
    assert "accounts" in lines[0]
    assert "10" in lines[1].split()
    assert "14 Apr 02:06" in lines[1]


def test_cleared_cases_are_not_listed_and_a_column_without_values_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    cases = replace(model.four(), cases=(replace(model.burst(), status="cleared"), model.group()))
    show_cases(cases, 10)
    told = capsys.readouterr().out
    assert model.burst().short not in told
    assert model.group().short in told
    assert "amount" not in told
    assert "when" not in told


def test_a_name_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_cases(replace(model.four(), cases=(replace(model.burst(), short="\x1b[2Jgone"),)), 1)
    assert "\x1b[2J" not in capsys.readouterr().out


def test_a_case_in_lines_has_the_parts_of_its_card() -> None:
    case = model.burst()
    told = "\n".join(lines_of(case, model.NOUNS))
    assert case.reading is not None
    for part in (case.headline, case.members[0].id, case.facts[0].here, case.reading.could_be, *case.next):
        assert str(part) in told
