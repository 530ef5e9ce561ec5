"""The attack on what takes input from elsewhere, in its short form."""

from __future__ import annotations

from tests.soak.addresses import show_addresses


def test_no_message_has_a_part_of_a_password() -> None:
    outcome = show_addresses(60)
    assert not outcome["errors"]
    assert outcome["refused"] > 300
