"""Machines that die, stop and fall off the network while blocks run: right results, and no hang. Run with -m long."""

import time
from functools import partial

import pytest

from tests.cluster import blocks
from tests.cluster.faults import FAULTS, struck
from tests.cluster.machines import mend, warm_up

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.long]

BLOCKS = 40
LIMIT = 120.0
"""Seconds that a fault may cost."""


@pytest.fixture
def mended(machines, driver):
    import ray

    mend(machines, ray)
    yield machines
    mend(machines, ray)


def squares(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.parametrize("seconds", [0.5, 15.0], ids=["short blocks", "long blocks"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_no_result(driver, mended, fault, seconds, tmp_path):
    count = round(max(6, BLOCKS / max(1, 2 * seconds)))
    warm_up(driver)
    done = []
    with struck(fault, mended, 3) as hit:
        begun = time.monotonic()
        driver(partial(blocks.write_square, tmp_path, seconds), range(count), done.append)
        took = time.monotonic() - begun
    print(f"{fault}: {count} blocks of {seconds} s took {took:.1f} s")
    assert hit == [True]
    assert took < LIMIT
    assert done == list(range(1, count + 1))
    assert squares(tmp_path) == {f"{n}.txt": str(n * n) for n in range(count)}


def test_a_stage_goes_on_while_two_machines_are_lost(driver, mended, tmp_path):
    warm_up(driver)
    with struck("kill a node", mended, 2), struck("cut the link", mended, 3):
        begun = time.monotonic()
        driver(partial(blocks.write_square, tmp_path, 0.5), range(20), lambda done: None)
        took = time.monotonic() - begun
    print(f"two machines lost: {took:.1f} s")
    assert took < LIMIT
    assert len(squares(tmp_path)) == 20
