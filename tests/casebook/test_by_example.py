"""Functions that one example each shows."""

from __future__ import annotations

from oddhop.casebook.entry import later
from oddhop.casebook.erase import like
from oddhop.casebook.fingerprint import text_hashes


def test_the_next_moment_is_a_microsecond_later() -> None:
    assert later("2026-11-16T09:30:59.999999Z") == "2026-11-16T09:31:00.000000Z"
    end = "9999-12-31T23:59:59.999999Z"
    assert end < later(end) < later(later(end)) == f"{end}000000002"


def test_a_pattern_escapes_its_own_signs() -> None:
    assert like("50%") == "%50!%%"


def test_the_hash_of_an_id_never_changes() -> None:
    assert text_hashes(["p17"]).tolist() == [1273730208]
