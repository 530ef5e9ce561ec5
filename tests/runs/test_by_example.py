"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np

from oddhop.runs.distributions import index
from oddhop.runs.drift import stability_index
from oddhop.runs.targets import StoredObject, target_named


def test_a_target_is_found_by_its_address() -> None:
    assert target_named("s3://shop/scores.parquet", "replace", None) == StoredObject(
        "s3://shop/scores.parquet", "replace"
    )
    # The address may have a password, which is not shown.
    assert repr(target_named("scores", "create", "sqlite:///shop.db")) == "DatabaseTable(name='scores', mode='create')"


def test_the_stability_of_equal_shares_is_nothing() -> None:
    assert (
        index(np.array([10, 10]), np.array([20, 20])),
        round(index(np.array([100, 100]), np.array([150, 50])), 2),
    ) == (0.0, 0.27)


def test_the_stability_index_grows_with_the_shift() -> None:
    old = np.arange(1000.0)
    assert (
        stability_index(old, old),
        round(stability_index(old, old + 50), 2),
        stability_index(old, old + 500) > 1,
    ) == (0.0, 0.05, True)
