"""The attack on what takes input from elsewhere, in its short form."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.soak.addresses import show_addresses
from tests.soak.cells import write_cells
from tests.soak.short import soaked


def test_no_message_has_a_part_of_a_password() -> None:
    outcome = show_addresses(60)
    assert not outcome["errors"]
    assert outcome["refused"] > 300


def test_no_cell_is_run_or_obeyed() -> None:
    outcome = write_cells(2_000)
    assert not outcome["errors"]


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
def test_signals_leave_nothing(tmp_path: Path) -> None:
    [outcome] = soaked(tmp_path, "signals", "--count", "3")
    assert outcome["nothing stays"] == 9


def test_no_request_is_a_defect_or_let_in_by_mistake() -> None:
    pytest.importorskip("starlette")
    from tests.soak.requests import send_requests

    outcome = send_requests(3_000)
    assert not outcome["errors"]
    assert outcome["answers"] > 100
