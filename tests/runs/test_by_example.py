"""Functions that one example each shows."""

from __future__ import annotations

from oddhop.runs.targets import StoredObject, target_named


def test_a_target_is_found_by_its_address() -> None:
    assert target_named("s3://shop/scores.parquet", "replace", None) == StoredObject(
        "s3://shop/scores.parquet", "replace"
    )
    # The address may have a password, which is not shown.
    assert repr(target_named("scores", "create", "sqlite:///shop.db")) == "DatabaseTable(name='scores', mode='create')"
