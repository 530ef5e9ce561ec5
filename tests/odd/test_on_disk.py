"""A network on disk is judged to the bytes of the same network in memory, and so is one whose fit was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop import Graph, Network, Odd
from oddhop.arrays import stores, task
from oddhop.arrays.run import on_threads
from oddhop.arrays.stores import FolderStore
from oddhop.arrays.wiring import Wiring
from oddhop.base import parallel
from oddhop.base.checkpoints import RunFolder
from oddhop.detector.cost import Size
from oddhop.errors import MemoryBudgetError, NothingToLearnError
from oddhop.graph.disk import open_stored
from oddhop.odd import butterfly, detector, null, null_groups, simulate
from oddhop.odd.cost import cost_on_disk
from oddhop.odd.homophily import learn_homophily
from oddhop.odd.settings import OddSettings
from oddhop.odd.source import Source
from oddhop.odd.stranger import Homophily
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network
from oddhop.tables.settings import ReadSettings
from tests.conftest import sha256
from tests.odd.networks import KINDS, SHOPS, elsewhere, written
from tests.odd.small_shop import shop
from tests.odd.stores import in_files

BLOCK = 64  # rows, so that small networks have several ranges
SLOW, LONG = pytest.mark.slow, pytest.mark.long  # what is quick here: one network of one kind, two of several


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "BLOCK", BLOCK)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of small files; no machine loses power here


def odd(**settings: Any) -> Odd:
    return Odd(**{"random_state": 0, "simulate": False, "n_resamples": 2, "workers": 1, **settings})


def told(fitted: Odd) -> tuple[str, ...]:
    learned = fitted.model_.learned
    assert learned.residuals is not None
    scores = sha256(fitted.anomaly_scores_), sha256(fitted.anomaly_std_)
    if learned.chance is not None:
        scores = *scores, sha256(learned.chance.scores)
    return *scores, sha256(learned.residuals), repr(fitted.information_), repr(learned.truncated)


def in_memory(folder: Path, **settings: Any) -> Odd:
    network = open_network(folder)
    return odd(**settings).fit(replace(network, folder=None))


def of_several_ranges(folder: Path, home: Path, partitions: int) -> bool:
    return len(FolderStore.of(folder, RunFolder(home, str(folder))).peers) >= partitions


@SLOW
@pytest.mark.parametrize(
    ("kind", "workers"),
    [
        # Those without times and those without related columns are fitted with simulated networks below.
        *((kind, {1: (1,), 3: (2,), 7: (4,)}) for kind in ("numbers", "words")),
        *((kind, {1: (1,), 3: (2,), 7: (4,)}) for kind in KINDS[5:]),
        ("flows and times", dict.fromkeys((1, 3, 7), (1, 2, 4))),
        *(pytest.param(kind, dict.fromkeys((1, 3, 7), (1, 2, 4)), marks=LONG) for kind in KINDS),
    ],
)
def test_scores_have_the_bytes_of_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, workers: dict[int, tuple[int, ...]]
) -> None:
    folders = {count: written(tmp_path / str(count), kind, count) for count in (1, 3, 7)}
    fitted = in_memory(folders[1])
    graph = open_network(folders[1]).graph
    views = fitted.model_.learned.views
    assert views.homophily.silent == (kind == "silent")
    assert (views.place < 1.0) == bool(graph.flow_count) == ("flows" in kind)
    assert (graph.events is not None and graph.events.columns.time is not None) == ("times" in kind)
    assert isinstance(graph.attributes, np.ndarray) != ("words" in kind)
    expected = told(fitted)

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the network is held in memory")

    monkeypatch.setattr(Source, "of_graph", refused)
    for count, folder in folders.items():
        assert of_several_ranges(folder, tmp_path, min(count, 3))
        for threads in workers[count]:
            network = open_network(folder)
            run = tmp_path / f"run-{count}-{threads}"
            assert told(odd(workers=threads).fit(network, run_folder=run)) == expected, (count, threads)
            assert not list(run.glob("*-*.npy"))  # all arrays are given back


@SLOW
@pytest.mark.parametrize(
    ("what", "workers"),
    [
        (SHOPS[0], {1: (1,), 3: (2,), 7: (4,)}),
        *((what, {1: (1,), 3: (2,), 7: (4,)}) for what in SHOPS[1:]),
        *(pytest.param(what, dict.fromkeys((1, 3, 7), (1, 2, 4)), marks=LONG) for what in SHOPS),
    ],
)
def test_several_kinds_have_the_bytes_of_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, workers: dict[int, tuple[int, ...]]
) -> None:
    monkeypatch.setattr(butterfly, "WEDGES_AT_ONCE", 50)
    monkeypatch.setattr(butterfly, "WEDGES", 4_000)  # some nodes are left out as hubs
    monkeypatch.setattr(butterfly, "WEDGES_PER_NODE", 0)
    monkeypatch.setattr(task, "EDGES_AT_ONCE", 100)
    folders = {count: written(tmp_path / str(count), what, count) for count in (1, 3, 7)}
    fitted = in_memory(folders[1])
    learned = fitted.model_.learned
    assert any(not one.relation.silent for one in learned.views.others)
    assert (learned.views.rate is not None) == ("friends" in what)
    expected = *told(fitted), learned.hubs
    monkeypatch.setattr(Source, "of_graph", None)
    for count, folder in folders.items():
        assert of_several_ranges(folder, tmp_path, min(count, 3))
        for threads in workers[count]:
            run = tmp_path / f"run-{count}-{threads}"
            again = odd(workers=threads).fit(open_network(folder), run_folder=run)
            assert (*told(again), again.model_.learned.hubs) == expected, (count, threads)
            assert not list(run.glob("*-*.npy"))


def test_a_model_that_was_fitted_on_disk_explains_and_judges_as_one_in_memory(tmp_path: Path) -> None:
    folder = written(tmp_path, "flows and times", 3)
    network = open_network(folder)
    on_disk, memory = odd().fit(network, run_folder=tmp_path / "run"), in_memory(folder)
    first = memory.result_["id"].to_pylist()[:3]
    assert on_disk.result_.equals(memory.result_)
    assert on_disk.explain(first, network) == memory.explain(first, network)
    on_disk.save(tmp_path / "one")
    memory.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert on_disk.rank(network).equals(memory.rank(network))


class Killed(BaseException):
    """What ends a fit; nobody catches it."""


class Countdown:
    """Ends a fit at the k-th call."""

    def __init__(self, left: float) -> None:
        self.left, self.calls = left, 0

    def __call__(self, *_: Any) -> None:
        self.calls += 1
        if self.calls > self.left:
            raise Killed


def in_finalizer() -> bool:
    """Return whether a handle is let go of: what is raised there does not end a fit."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def counted(monkeypatch: pytest.MonkeyPatch, countdown: Countdown) -> None:
    """Count every use of a file of the run: as a whole, before it is read, written or removed, and of checkpoints."""
    with_file, save, atomic = FolderStore._file, RunFolder.save, stores.atomic_file

    def file(self: FolderStore, key: str, span: tuple[int, int]) -> Any:
        if not in_finalizer():
            countdown()
        return with_file(self, key, span)

    @contextmanager
    def written_whole(path: Path) -> Iterator[Any]:
        countdown()
        with atomic(path) as content:
            yield content
        countdown()

    def checkpoint(self: RunFolder, *what: Any) -> None:
        countdown()
        save(self, *what)
        countdown()

    def unlink(self: Path, missing_ok: bool = False) -> None:
        if self.suffix == ".npy" and not in_finalizer():
            countdown()
        removed(self, missing_ok=missing_ok)

    removed = Path.unlink
    monkeypatch.setattr(Path, "unlink", unlink)
    monkeypatch.setattr(FolderStore, "_file", file)
    monkeypatch.setattr(stores, "atomic_file", written_whole)
    monkeypatch.setattr(RunFolder, "save", checkpoint)


def killed_at(
    network: Network, home: Path, monkeypatch: pytest.MonkeyPatch, ends: list[int], expected: Any, **settings: Any
) -> None:
    """End a fit at some uses of files, and go on."""
    for end in ends:
        run = home / f"run{end}"
        with monkeypatch.context() as patched:
            counted(patched, Countdown(end))
            with pytest.raises(Killed):
                odd(**settings).fit(network, run_folder=run)
        assert told(odd(**settings).fit(network, run_folder=run, resume=True)) == expected, end


def killed_and_resumed(network: Network, run: Path, ends: list[int], **how: Any) -> Odd:
    for end in ends:
        with pytest.raises(Killed):
            odd(**how).fit(network, run_folder=run, resume=run.exists(), progress=Countdown(end))
    return odd().fit(network, run_folder=run, resume=True)


@SLOW
@pytest.mark.parametrize(("workers", "times"), [(2, 6), pytest.param(1, 6, marks=LONG)])
def test_a_fit_that_ends_after_some_task_goes_on_to_the_same_bytes(tmp_path: Path, workers: int, times: int) -> None:
    folder = written(tmp_path, "flows and times", 3)
    expected, network, every = told(in_memory(folder)), open_network(folder), Countdown(np.inf)
    assert told(odd().fit(network, run_folder=tmp_path / "whole", progress=every)) == expected
    for k, end in enumerate(np.linspace(every.calls // 3, every.calls - 1, times).astype(int).tolist()):
        resumed = killed_and_resumed(network, tmp_path / str(k), [end], workers=workers)
        assert told(resumed) == expected, end
    # Time and again: each time a little is done.
    resumed = killed_and_resumed(network, tmp_path / "often", [every.calls // 6] * times, workers=workers)
    assert told(resumed) == expected


@SLOW
@pytest.mark.parametrize("part", [0, 1, *(pytest.param(part, marks=LONG) for part in (2, 3))])
def test_a_fit_that_ends_at_any_use_of_a_file_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    folder = written(tmp_path, "numbers", 3)
    expected, network, every = told(in_memory(folder)), open_network(folder), Countdown(np.inf)
    with monkeypatch.context() as patched:
        counted(patched, every)
        odd().fit(network, run_folder=tmp_path / "whole")
    ends = np.random.default_rng(part).integers(0, every.calls, 4 if part else 1).tolist()
    if part == 0:  # where arrays of the last network are given back
        ends += [every.calls - 20, every.calls - 7]
    killed_at(network, tmp_path, monkeypatch, ends, expected)


@SLOW
def test_how_neighbours_go_together_is_learned_after_a_kill_at_any_use_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    left, group = rng.integers(0, 300, 900), np.arange(300) % 3
    right = (left + 3 * rng.integers(1, 100, 900)) % 300  # of the same group
    graph = Graph.from_arrays([left, right], 2.0 * group[:, None] + rng.normal(size=(300, 2)))
    in_files(graph, tmp_path / "whole", 3)

    def learned(run: Path) -> Homophily:
        run.mkdir(exist_ok=True)
        wiring = Wiring(FolderStore.of(tmp_path / "whole" / "graph", RunFolder(run, run.name)), on_threads(1))
        with wiring.store.opened():
            return learn_homophily(wiring, wiring.given(graph.attributes))[0]

    every = Countdown(np.inf)
    with monkeypatch.context() as patched:
        counted(patched, every)
        expected = learned(tmp_path / "run")
    assert not expected.silent
    for end in range(0, every.calls, 3):
        with monkeypatch.context() as patched:
            counted(patched, Countdown(end))
            with pytest.raises(Killed):
                learned(tmp_path / f"run{end}")
        again = learned(tmp_path / f"run{end}")
        np.testing.assert_array_equal(again.turn, expected.turn)
        np.testing.assert_array_equal(again.correlation, expected.correlation)


@SLOW
@pytest.mark.parametrize("part", [0, 1, *(pytest.param(part, marks=LONG) for part in (2, 3))])
def test_a_fit_of_several_kinds_that_ends_at_any_use_of_a_file_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    folder = written(tmp_path, "shop, friends" if part % 2 else "shop, one device", 3)
    expected, network, every = told(in_memory(folder)), open_network(folder), Countdown(np.inf)
    with monkeypatch.context() as patched:
        counted(patched, every)
        assert told(odd().fit(network, run_folder=tmp_path / "whole")) == expected
    ends = np.random.default_rng(part).integers(0, every.calls, 8 if part else 2).tolist()
    killed_at(network, tmp_path, monkeypatch, [*ends, every.calls - 5], expected)


@pytest.mark.parametrize("what", ["shop, friends", "shop, merchants"])
def test_partitions_of_several_kinds_are_fitted_by_a_mapper(tmp_path: Path, what: str) -> None:
    folder = written(tmp_path, what, 3)
    fitted = odd().fit_partitions(folder, mapper=elsewhere, run_folder=tmp_path / "run")
    memory = in_memory(folder)
    assert fitted.result_.equals(memory.result_)
    first, network = memory.result_["id"].to_pylist()[:3], open_network(folder)
    assert fitted.explain(first, network) == memory.explain(first, network)


@pytest.fixture
def two_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(null, "SIMULATED_NODES", 0)
    monkeypatch.setattr(null_groups, "CENTRES_FROM", 250)
    monkeypatch.setattr(simulate, "DRAWN_AT_ONCE", 50)


@SLOW
@pytest.mark.usefixtures("two_simulations")
@pytest.mark.parametrize(
    "kind",
    [
        "silent",
        "flows",
        "shop, friends, flows",
        *(pytest.param(kind, marks=LONG) for kind in ("flows and times", "numbers", "words", *SHOPS[1:5])),
    ],
)
def test_simulated_networks_have_the_bytes_of_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folders = {count: written(tmp_path / str(count), kind, count) for count in (1, 3, 7)}
    expected = told(in_memory(folders[1], simulate=True))
    assert len(expected) == 6
    if "times" in kind:  # cycles have an effect
        with monkeypatch.context() as patched:
            patched.setattr(detector, "find_cycles", lambda *_: None)
            assert told(in_memory(folders[1]))[0] != expected[0]
    for count, workers in ((1, 1), (3, 2), (7, 4)):
        network, run = open_network(folders[count]), tmp_path / f"run{count}"
        assert told(odd(simulate=True, workers=workers).fit(network, run_folder=run)) == expected, count
        assert not list(run.glob("*-*.npy"))
    if kind != "flows and times":  # over partitions cycles are not searched
        fitted = odd(simulate=True).fit_partitions(folders[3], mapper=elsewhere, run_folder=tmp_path / "elsewhere")
        assert told(fitted) == expected


@SLOW
@pytest.mark.usefixtures("two_simulations")
@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("flows", 0),
        ("flows and times", 0),
        ("shop, friends", 0),
        *(pytest.param(kind, part, marks=LONG) for kind in ("flows and times", "shop, friends") for part in (1, 2, 3)),
    ],
)
def test_simulations_that_end_at_any_use_of_a_file_go_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, part: int
) -> None:
    folder = written(tmp_path, kind, 3)
    expected, network = told(in_memory(folder, simulate=True)), open_network(folder)
    calls = []
    for simulated in (False, True):
        every = Countdown(np.inf)
        with monkeypatch.context() as patched:
            counted(patched, every)
            odd(simulate=simulated).fit(network, run_folder=tmp_path / str(simulated))
        calls.append(every.calls)
    ends = np.random.default_rng(part).integers(*calls, 6 if part else 3).tolist()
    killed_at(network, tmp_path, monkeypatch, ends, expected, simulate=True)


def test_a_judged_kind_without_edges_is_refused_over_partitions(tmp_path: Path) -> None:
    made = shop()
    tables = {**made.tables, "tower": pa.table({"id": ["t1", "t2"], "height": [1.0, 2.0]}), "edges": made.edges}
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    nodes = {name: tmp_path / f"{name}.parquet" for name in tables if name != "edges"}
    ingest(tmp_path / "edges.parquet", nodes, tmp_path / "graph", ReadSettings(judge="tower"))
    with pytest.raises(NothingToLearnError, match="no edge connects a node of the kind 'tower'"):
        odd().fit_partitions(tmp_path / "graph", mapper=parallel.threads(1), run_folder=tmp_path / "run")


@pytest.mark.parametrize("kind", ["silent", "shop, friends"])
def test_simulations_over_partitions_are_refused_with_too_little_memory(tmp_path: Path, kind: str) -> None:
    run = {"mapper": parallel.threads(1), "run_folder": tmp_path / "run"}
    with pytest.raises(MemoryBudgetError, match="simulations"):
        odd(simulate=True, max_memory="100 MiB").fit_partitions(written(tmp_path / "one", kind, 3), **run)
    need = cost_on_disk(Size(1_000_000, 100_000_000, 20), OddSettings(simulate=True), workers=1).memory
    assert need["simulations"] >= 70 * 100_000_000  # f and the groups of every edge, and two orders


SCRIPT = """
import sys
from oddhop.arrays import stores
stores.BLOCK = int(sys.argv[3])
from oddhop import Odd
from oddhop.tables.network import open_network
fit = Odd(random_state=0, simulate=False, n_resamples=2, workers=2).fit
fit(open_network(sys.argv[1]), run_folder=sys.argv[2], resume=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("again", range(3))
def test_a_process_that_is_killed_at_any_moment_goes_on_to_the_same_bytes(tmp_path: Path, again: int) -> None:
    folder, run = written(tmp_path, "numbers", 3), tmp_path / "run"
    expected, started = told(in_memory(folder)), time.monotonic()
    odd(workers=2).fit(open_network(folder), run_folder=tmp_path / "whole")
    takes = time.monotonic() - started
    wait = float(np.random.default_rng(os.getpid() + again).uniform(0, 1.2 * takes))
    killed = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(run), str(BLOCK)])
    try:
        until = time.monotonic() + 120
        while not (run / "manifest.json").exists() and killed.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        assert (run / "manifest.json").exists()
        time.sleep(wait)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert told(odd().fit(open_network(folder), run_folder=run, resume=True)) == expected, wait
    assert open_stored(folder).partitions >= 3
