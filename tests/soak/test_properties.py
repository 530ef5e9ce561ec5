"""What must hold for every network, file and number."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tests.soak import file_properties  # noqa: F401 - it adds its own
from tests.soak.properties import check_all


@pytest.mark.slow
def test_properties() -> None:
    outcome = check_all(1_000)
    assert not outcome["errors"]
    assert outcome["properties"] >= 20
    assert outcome["cases"] >= 1_000
