"""Functions that one example each shows."""

from __future__ import annotations

import re

import pytest

from oddhop.errors import SettingsError
from oddhop.review.serve import check_host


def test_a_host_that_others_reach_must_be_allowed() -> None:
    check_host("127.0.0.1", allow_remote=False)
    with pytest.raises(
        SettingsError, match=re.escape("other machines can reach 0.0.0.0; give --allow-remote to allow this")
    ):
        check_host("0.0.0.0", allow_remote=False)  # noqa: S104
