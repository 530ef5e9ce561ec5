"""Functions that one example each shows."""

from __future__ import annotations

import io

from oddhop.base.printable import spelled
from oddhop.cli.console import fitting
from oddhop.cli.settings import gathered, named_nodes


def test_a_line_is_not_folded_outside_a_terminal() -> None:
    assert len(fitting(50 * "word ", io.StringIO()).splitlines()) == 1


def test_what_a_terminal_obeys_is_spelled_out() -> None:
    assert spelled("a\x1b]0;b") == "a\\x1b]0;b"


def test_an_option_goes_before_an_assignment() -> None:
    assert (
        gathered(None, ["hcm.burn_in=200", "read.id=name"], detector="hcm", learn={"burn_in": 5}).of("hcm").burn_in == 5
    )


def test_node_tables_are_named_by_kind() -> None:
    assert named_nodes(["account=accounts.csv", "device=devices.csv"]) == {
        "account": "accounts.csv",
        "device": "devices.csv",
    }
    assert named_nodes(["nodes.csv"]) == "nodes.csv"
