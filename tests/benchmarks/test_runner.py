"""The runner: budgets are kept and recorded, a killed run goes on, one bad cell loses one cell."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.comparison.cells import SCRIPT, TRAINING, Cell, Injection, curve_of, figures_of, load_problem, scores_of
from benchmarks.comparison.child import _warm_up, run, versions
from benchmarks.comparison.runner import read_lines, run_cell, run_cells
from benchmarks.comparison.suites import INJECTED, INJECTIONS, SUITES, suite
from oddhop.errors import OddhopError, RunFolderError, SettingsError

# coauthor_cs stands in for ACM, too: nothing is chosen by it any more.
HELD_OUT = {
    "bond_inj_amazon",
    "citation_injected",
    "dblp_injected",
    "tolokers",
    "ctu13_botnet_20110815",
    "coauthor_physics",
    "amazon_photo",
}
QUICK = {"burn_in": 3, "samples": 2, "thin": 1, "chains": 2, "hidden": 4}


def test_suites_keep_away_from_held_out_networks_and_have_every_cell_once() -> None:
    for name in SUITES:
        cells = suite(name)
        assert bool(HELD_OUT & {cell.network for cell in cells}) == (name == "held-out")
        assert len({cell.key for cell in cells}) == len(cells)
    with pytest.raises(SettingsError, match="there are paper, published, sweeps, more, held-out, growth, ci"):
        suite("everything")


def test_the_first_cells_of_the_paper_suite_are_hcm_on_the_papers_networks() -> None:
    first = suite("paper")[: INJECTIONS * len(INJECTED)]
    assert {(cell.network, cell.detector) for cell in first} == {(name, "HCM") for name in INJECTED}


def test_a_cell_survives_json() -> None:
    cell = Cell("cora", "HCM", 3, Injection(5, 1, "paper-text"), {"hop_classes": 5}, 10.0)
    again = Cell.from_dict(json.loads(json.dumps(asdict(cell))))
    assert again == cell
    assert again.key == cell.key
    assert Cell("cora", "HCM", seconds=1.0).key == Cell("cora", "HCM").key


def test_every_kind_of_cell_gives_figures() -> None:
    problem = load_problem(Cell("synthetic 300", "degree"), None)
    odd = problem.graph.degrees > 20
    judged = replace(problem, anomalous=odd)
    for detector, settings in (("HCM", QUICK), ("HCM readings", QUICK), (SCRIPT, {"hidden": 4}), ("degree", {})):
        cell = Cell("synthetic 300", detector, settings=settings)
        found = figures_of(scores_of(cell, judged), judged)
        assert all(0 <= one["roc_auc"] <= 1 for one in found.values())
    assert found["score"]["roc_auc"] == 1.0
    curve = curve_of(Cell("synthetic 300", TRAINING, settings={**QUICK, "burn_in": 48}), judged)
    assert (curve["steps"], len(curve["roc_auc"])) == ([25.0, 50.0], 2)
    with pytest.raises(SettingsError, match="no known anomalies"):
        curve_of(Cell("synthetic 300", TRAINING, settings=QUICK), problem)
    with pytest.raises(SettingsError, match="no detector is called 'oracle'"):
        scores_of(Cell("synthetic 300", "oracle"), problem)
    with pytest.raises(OddhopError, match="not finite"):
        figures_of({"score": odd * float("nan")}, judged)


def test_a_record_has_seconds_memory_and_versions_or_an_error() -> None:
    record = run(Cell("synthetic 1000", "neighbour distance"), None)
    assert (record["status"], record["nodes"], record["figures"]) == ("done", 100, {})
    assert record["seconds"] >= 0
    assert record["versions"] == versions()
    failed = run(Cell("synthetic 1000", "oracle"), None)
    assert (failed["status"], "oracle" in failed["error"]) == ("failed", True)


def test_a_cell_along_the_arrows_warms_up_along_arrows() -> None:
    _warm_up(Cell("hcm_amazon", "HCM", settings={"directed": True}))


@pytest.mark.slow
def test_cells_run_apart_budgets_hold_and_lines_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    cells = [
        Cell("synthetic 300", "degree"),
        Cell("synthetic 300", "oracle"),
        Cell("synthetic 3000", "degree", seconds=0.2),
        Cell("synthetic 3000", "LOF", bytes=2**20),
    ]
    assert run_cells(cells, file, jobs=2) == 4
    status = {(line["detector"], line["network"]): line["status"] for line in read_lines(file)}
    assert list(status.values()).count("done") == 1
    assert status["oracle", "synthetic 300"] == "failed"
    assert status["degree", "synthetic 3000"].startswith("over time")  # by the clock, where the machine is busy
    assert status["LOF", "synthetic 3000"] == "over memory"
    spent = next(line["spent"] for line in read_lines(file) if line["status"] == "over memory")
    assert spent["bytes"] > 2**20
    # A run that was killed while it wrote leaves half a line; the next one goes on after it.
    with file.open("a") as lines:
        lines.write('{"key": "torn')
    assert run_cells([*cells, Cell("synthetic 300", "attribute norm")], file) == 1
    assert len(read_lines(file)) == 5
    assert run_cells(cells[:2], file, retry=True) == 1


@pytest.mark.slow
def test_no_cell_outlives_a_killed_run_and_a_file_has_one_run_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    script = (
        "from benchmarks.comparison.cells import Cell; from benchmarks.comparison.runner import run_cells; "
        f"run_cells([Cell('synthetic 100000', 'HCM')], {str(file)!r})"
    )
    parent = subprocess.Popen([sys.executable, "-c", script])
    try:
        child = _child_of(parent.pid)
        with pytest.raises(RunFolderError, match="another run is writing"):
            run_cells([Cell("synthetic 300", "degree")], file)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert read_lines(file) == []


def _child_of(pid: int) -> int:
    for _ in range(600):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if Path(f"/proc/{pid}").exists() else []
        threads = list(Path(f"/proc/{pid}/task").glob("*/children"))
        found += [child for thread in threads for child in thread.read_text().split()]
        running = [int(child) for child in found if "comparison.child" in _command(child)]
        if running:
            return running[0]
        time.sleep(0.1)
    raise AssertionError("no child was started")


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_process_that_dies_is_a_failed_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    line = run_cell(Cell("synthetic 300", "degree"))
    assert (line["status"], line["detector"]) == ("failed", "degree")


def test_cells_of_this_process_have_the_figures_of_their_own_process(tmp_path: Path) -> None:
    cells = [Cell("synthetic 300", name) for name in ("degree", "neighbour cosine")]
    assert run_cells(cells, tmp_path / "here.jsonl", here=True) == 2
    assert run_cells(cells, tmp_path / "here.jsonl", here=True) == 0
    lines = read_lines(tmp_path / "here.jsonl")
    assert [line["status"] for line in lines] == ["done", "done"]
    own = run_cell(cells[1])
    same = ("key", "detector", "network", "nodes", "edges", "figures", "versions")
    assert {name: lines[1][name] for name in same} == {name: own[name] for name in same}
