"""The mapper on a real cluster: order, errors, progress, all machines, and the token."""

import subprocess
import sys
from functools import partial

import pytest

from oddhop.errors import ClusterError, GraphError
from tests.cluster import blocks
from tests.cluster.faults import struck
from tests.cluster.machines import ADDRESS, HEAD, warm_up

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

CONNECT = f"""
from oddhop.base.ray import cluster
from oddhop.errors import ClusterError
try:
    with cluster({ADDRESS!r}) as run:
        print(run(len, ["one", "three"], print))
except ClusterError as error:
    print("refused:", error)
"""


def quiet(done):
    pass


def test_results_come_in_the_order_of_the_blocks(driver):
    assert driver(blocks.square_slowly, range(30), quiet) == [block * block for block in range(30)]


def test_no_blocks_give_no_results(driver):
    assert driver(blocks.same, [], quiet) == []


def test_every_block_is_reported_once(driver):
    done = []
    driver(blocks.square_slowly, range(20), done.append)
    assert done == list(range(1, 21))


def test_all_three_machines_work_and_keep_their_processes(driver):
    assert {address for address, _ in warm_up(driver)} == {"10.0.0.1", "10.0.0.2", "10.0.0.3"}
    assert len(set(driver(partial(blocks.where, 0.1), range(60), quiet))) <= 6


def test_a_block_has_one_thread(driver):
    assert set().union(*driver(blocks.threads, range(6), quiet)) == {1}


def test_an_error_of_ours_comes_back_as_it_was_raised(driver):
    with pytest.raises(GraphError, match=r"^block 7 is bad; mend it$"):
        driver(blocks.refuse_seven, range(10), quiet)


def test_an_error_of_another_kind_does_too(driver):
    with pytest.raises(ZeroDivisionError, match=r"^division by zero$"):
        driver(blocks.divide, [1, 0], quiet)


def test_an_error_of_the_shared_folder_is_tried_again(driver, tmp_path):
    assert driver(partial(blocks.stumble, tmp_path, 2), range(3), quiet) == [2, 2, 2]


def test_a_process_that_dies_at_its_block_is_replaced(driver, tmp_path):
    assert driver(partial(blocks.die, tmp_path, 1), range(3), quiet) == [1, 1, 1]


def test_a_block_that_always_dies_ends_the_run(driver, tmp_path, monkeypatch):
    monkeypatch.setattr("oddhop.base.ray.ATTEMPTS", 2)
    with pytest.raises(ClusterError, match="started 2 times"):
        driver(partial(blocks.die, tmp_path, 9), [0], quiet)


def test_another_version_is_refused(driver, monkeypatch):
    monkeypatch.setattr("oddhop.base.ray.__version__", "0.0.0")
    with pytest.raises(ClusterError, match=r"the run has 0\.0\.0; install the same version on all machines"):
        driver(blocks.same, [0], quiet)


@pytest.mark.parametrize("machine", [1, 3])
def test_a_killed_process_costs_no_result(driver, machines, machine, tmp_path):
    warm_up(driver)
    with struck("kill a worker process", machines, machine) as hit:
        driver(partial(blocks.write_square, tmp_path, 0.5), range(30), quiet)
    assert hit == [True]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {f"{n}.txt": str(n * n) for n in range(30)}


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("wrong", "needs a token, or rejects this one"), ("none", "there is no token"), ("off", "there is no token")],
)
def test_only_the_right_token_opens_the_cluster(machines, tmp_path, kind, answer):
    (tmp_path / "wrong").write_text("0" * 32)
    mode = "disabled" if kind == "off" else "token"
    environment = {**machines.environment(), "RAY_AUTH_TOKEN_PATH": str(tmp_path / kind), "RAY_AUTH_MODE": mode}
    command = machines.on(HEAD, [sys.executable, "-c", CONNECT])
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert answer in said.stdout.strip().splitlines()[-1]


def test_the_right_token_does_and_ray_says_nothing_into_our_output(machines):
    command = machines.on(HEAD, [sys.executable, "-c", CONNECT])
    said = subprocess.run(command, env=machines.environment(), capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.splitlines() == ["1", "2", "[3, 5]"]
    assert said.stderr == ""
