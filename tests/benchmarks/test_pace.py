"""What a suite takes."""

from benchmarks.comparison.cells import Cell
from benchmarks.comparison.pace import core_seconds, hours_of


def _line(cell: Cell, seconds: float) -> dict[str, object]:
    return {"key": cell.key, **cell.identity, "status": "done", "wall": seconds, "wall_seconds": 0.0, "seconds": 0.0}


def test_waiting_for_others_is_not_counted() -> None:
    assert core_seconds({"wall": 100.0, "wall_seconds": 90.0, "seconds": 30.0}) == 40


def test_a_cell_over_its_budget_took_what_it_had() -> None:
    assert core_seconds({"wall": 900.0, "status": "over time", "spent": {"seconds": 600.0, "bytes": 1}}) == 600


def test_a_cell_of_an_older_line_took_the_wall_time() -> None:
    assert core_seconds({"wall": 900.0, "status": "failed"}) == 900


def test_the_rest_is_expected_to_take_what_its_like_took() -> None:
    done = [Cell("a", "HCM"), Cell("a", "HCM", settings={"hop_classes": 2}), Cell("b", "HCM"), Cell("b", "LOF")]
    lines = {cell.key: _line(cell, seconds) for cell, seconds in zip(done, (3600.0, 7200.0, 900.0, 36.0), strict=True)}

    def expected(cell: Cell) -> float:
        return hours_of([*done, cell], lines)[1]

    assert expected(Cell("a", "HCM", seed=1)) == 1  # the same settings
    assert expected(Cell("a", "HCM", settings={"hop_classes": 3})) == 1.5  # the same network
    assert expected(Cell("c", "HCM")) == 2  # the longest of the detector
    assert expected(Cell("c", "AMEN", seconds=360.0)) == 0.1  # nothing is known: the budget
    assert hours_of(done, lines) == ((3600 + 7200 + 900 + 36) / 3600, 0)
