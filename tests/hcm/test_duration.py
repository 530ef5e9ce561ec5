from __future__ import annotations

from oddhop.detector.duration import estimate_seconds, measured_rate
from oddhop.settings import HCMSettings


def test_time_grows_with_the_work() -> None:
    def seconds(nodes: int, edges: int, workers: int = 2, **settings: int) -> dict[str, float]:
        return estimate_seconds(nodes, edges, 20, HCMSettings(**settings), workers=workers, rate=5e10)

    base = seconds(10**4, 10**5)
    assert seconds(10**4, 10**6)["scoring"] > 5 * base["scoring"]
    assert seconds(10**4, 10**5, burn_in=2_000)["training"] > 1.8 * base["training"]
    assert seconds(10**4, 10**5, workers=1)["training"] == 2 * base["training"]
    assert seconds(10**4, 10**5, workers=64)["training"] == base["training"] / 2  # four chains


def test_the_rate_is_that_of_a_computer() -> None:
    assert 1e8 < measured_rate() < 1e13
