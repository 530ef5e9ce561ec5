"""A driver whose head is lost says so and ends; one that is killed does not hinder the next. Run with -m long."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cluster.machines import ADDRESS, HEAD, brought_up

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.long]

WORK = f"""
import sys
from functools import partial
from pathlib import Path
from oddhop.base.ray import cluster
from oddhop.errors import ClusterError
from tests.cluster import blocks
write, count = partial(blocks.write_square, Path(sys.argv[1]), 1.0), int(sys.argv[2])
try:
    with cluster({ADDRESS!r}) as run:
        run(write, range(count), lambda done: print(done, flush=True))
except ClusterError as error:
    sys.exit(str(error))
"""


def begin(machines, folder, count):
    command = machines.on(HEAD, [sys.executable, "-c", WORK, str(folder), str(count)])
    return subprocess.Popen(
        command, env=machines.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(machines, title):
    for process, name in machines.processes(HEAD).items():
        if name.endswith(title):
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize(
    ("lost", "said"), [("/gcs_server", "the head of the cluster, 10.0.0.1:6379, is lost"), ("/raylet", "has ended")]
)
def test_the_loss_of_the_head_ends_the_run_with_a_word(machines, tmp_path, lost, said):
    with brought_up() as own:  # for it will not survive
        driver = begin(own, tmp_path, 1000)
        assert driver.stdout.readline() == "1\n"
        end(own, lost)
        begun = time.monotonic()
        _, errors = driver.communicate(timeout=120)
        print(f"{lost}: {time.monotonic() - begun:.1f} s")
    assert driver.returncode == 1
    assert said in errors


def test_a_killed_driver_does_not_hinder_the_next(machines, tmp_path):
    first = begin(machines, tmp_path, 1000)
    assert first.stdout.readline() == "1\n"
    first.kill()
    first.communicate()
    begun = time.monotonic()
    second = begin(machines, tmp_path, 6)
    said, errors = second.communicate(timeout=120)
    print(f"the next driver: {time.monotonic() - begun:.1f} s")
    assert second.returncode == 0, errors
    assert said.split() == ["1", "2", "3", "4", "5", "6"]
