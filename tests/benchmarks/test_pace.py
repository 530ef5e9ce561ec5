"""What a cell took."""

from benchmarks.comparison.pace import core_seconds


def test_waiting_for_others_is_not_counted() -> None:
    assert core_seconds({"wall": 100.0, "wall_seconds": 90.0, "seconds": 30.0}) == 40


def test_a_cell_over_its_budget_took_what_it_had() -> None:
    assert core_seconds({"wall": 900.0, "status": "over time", "spent": {"seconds": 600.0, "bytes": 1}}) == 600


def test_a_cell_of_an_older_line_took_the_wall_time() -> None:
    assert core_seconds({"wall": 900.0, "status": "failed"}) == 900
