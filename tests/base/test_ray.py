"""What the engine of a cluster does without one. tests/cluster has the rest."""

import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from oddhop.base import ray as engine
from oddhop.errors import ClusterError


class LostError(Exception):
    """Stands for any error of Ray."""


class TaskError(LostError):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class RayletError(LostError):
    pass


class PretendRay:
    """A Ray in this process: a block is done when it is waited for, unless it is to be lost."""

    exceptions = SimpleNamespace(RayError=LostError, RayTaskError=TaskError, LocalRayletDiedError=RayletError)

    def __init__(self, *, stuck=(), raises=None, processors=2):
        self.stuck, self.raises, self.processors = set(stuck), raises, processors
        self.begun = []

    def cluster_resources(self):
        return {"CPU": self.processors} if self.processors else {}

    def get_runtime_context(self):
        return SimpleNamespace(gcs_address="127.0.0.1:1")

    def remote(self, *, num_cpus, max_retries):
        return lambda task: SimpleNamespace(remote=lambda order: self.begin(task, order))

    def begin(self, task, order):
        self.begun.append(order[2])
        copy = self.begun.count(order[2])
        return (order[2], copy, task, order)

    def wait(self, references, *, num_returns, timeout):
        ready = [reference for reference in references if reference[:2] not in self.stuck]
        return ready[-1:], references

    def get(self, reference):
        _, _, task, order = reference
        if self.raises:
            raise self.raises
        return task(order)


@pytest.fixture
def quick(monkeypatch):
    """Let nobody be patient: what takes minutes on a cluster takes no time here."""
    for name in ("PAUSE", "LATE_AFTER", "LATE_FACTOR", "LOOK_EVERY", "PROBE_EVERY", "HEAD_LOST_AFTER"):
        monkeypatch.setattr(engine, name, 0.0)
    monkeypatch.setattr(engine, "MACHINES_LOST_AFTER", 0.0)
    monkeypatch.setattr(engine, "_answers", lambda address: True)


@pytest.fixture
def no_token(monkeypatch, tmp_path):
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def run(ray, blocks, report=lambda done: None):
    return engine._mapper(ray)(str, blocks, report)


def test_results_are_in_order_though_blocks_end_in_another(quick):
    done = []
    assert run(PretendRay(), range(9), done.append) == [str(block) for block in range(9)]
    assert done == list(range(1, 10))


def test_few_blocks_are_in_flight():
    ray, most = PretendRay(processors=3), []
    run(ray, range(30), lambda done: most.append(len(ray.begun) - done))
    assert max(most) < 2 * 3


def test_a_late_block_is_begun_again_and_the_first_result_wins(quick):
    ray = PretendRay(stuck=[(4, 1)])
    done = []
    assert run(ray, range(6), done.append) == ["0", "1", "2", "3", "4", "5"]
    assert ray.begun.count(4) == 2
    assert done == [1, 2, 3, 4, 5, 6]


def test_what_is_late():
    assert engine.late([(0, 0.0)], took=[], now=1e6) == []
    assert engine.late([(0, 0.0)], took=[1.0], now=29.0) == []
    assert engine.late([(0, 0.0)], took=[1.0], now=31.0) == [0]
    assert engine.late([(0, 0.0)], took=[60.0], now=200.0) == []
    assert engine.late([(0, 0.0), (0, 20.0)], took=[1.0], now=40.0) == []  # its copy is young
    assert engine.late([(0, 0.0), (0, 1.0), (0, 2.0)], took=[1.0], now=1e6) == []  # copies enough


def test_a_folder_that_stays_away_is_told(quick):
    ray = PretendRay(raises=TaskError(FileNotFoundError(2, "No such file or directory", "part.npy")))
    with pytest.raises(
        ClusterError, match=r"'part\.npy', on each of 6 attempts; check that all machines have the folder"
    ):
        run(ray, [0])
    assert len(ray.begun) == 6


def test_a_block_that_is_lost_each_time_is_told(quick):
    ray = PretendRay(raises=LostError("out of memory"))
    with pytest.raises(
        ClusterError, match=r"started 6 times, .*\(out of memory\); check that a machine has enough memory"
    ):
        run(ray, [0])


def test_the_loss_of_ray_on_this_machine_is_told(quick):
    with pytest.raises(ClusterError, match="Ray on this machine has stopped"):
        run(PretendRay(raises=RayletError()), [0])


def test_the_loss_of_every_machine_is_told(quick):
    with pytest.raises(ClusterError, match="no machine to run on"):
        run(PretendRay(stuck=[(0, 1)], processors=0), [0])


def test_the_loss_of_the_head_is_told(quick, monkeypatch):
    monkeypatch.setattr(engine, "_answers", lambda address: False)
    with pytest.raises(ClusterError, match=r"the head of the cluster, 127\.0\.0\.1:1, is lost"):
        run(PretendRay(stuck=[(0, 1)]), [0])


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (None, "no cluster was given"),
        ("head", "HOST:PORT, got 'head'"),
        ("ray://head", "HOST:PORT"),
        ("10.1.2.3:6379", "there is no token for it"),
        ("head.example:6379", "there is no token for it"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(no_token, address, said):
    with pytest.raises(ClusterError, match=said), engine.cluster(address):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_this_machine_needs_no_token_but_must_answer(no_token, host):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ClusterError, match="no cluster answers"), engine.cluster(f"{host}:{port}"):
            pass


def test_a_token_is_looked_for_where_ray_does(no_token, tmp_path, monkeypatch):
    assert not engine._has_token()
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("secret")
    assert engine._has_token()
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "missing"))
    assert not engine._has_token()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    assert engine._has_token()
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert not engine._has_token()


def test_without_ray_it_says_what_to_install(no_token, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(engine, "_answers", lambda address: True)
    with pytest.raises(ClusterError, match=r'pip install "oddhop\[ray\]"'), engine.cluster("127.0.0.1:6379"):
        pass


def test_ray_is_an_extra():
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())["project"]
    assert not any(needed.startswith("ray") for needed in project["dependencies"])
    assert any(needed.startswith("ray") for needed in project["optional-dependencies"]["ray"])


ONE_MACHINE = """
import sys
sys.modules["ray"] = None  # an import of it fails from here on
import oddhop
from oddhop.cli import app
app(["detect", "edges.csv", "--nodes", "nodes.csv", "--out", "run", "--detector", "odd"])
"""


def test_one_machine_never_imports_ray(tmp_path):
    edges = "".join(f"{node},{(node + 1) % 40}\n{node},{(node * 7) % 40}\n" for node in range(40))
    (tmp_path / "edges.csv").write_text("source,target\n" + edges)
    (tmp_path / "nodes.csv").write_text("id,size\n" + "".join(f"{node},{node % 5}\n" for node in range(40)))
    subprocess.run([sys.executable, "-c", ONE_MACHINE], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    assert list((tmp_path / "run").glob("*.parquet"))
