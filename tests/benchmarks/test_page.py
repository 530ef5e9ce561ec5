"""The page: written from the lines alone, and a cell that was not run says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.comparison import suites
from benchmarks.comparison.cells import REVISIONS, TRAINING, Cell, Injection
from benchmarks.comparison.page import write_page
from benchmarks.comparison.suites import suite
from oddhop.errors import TableError


def line(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    def pair() -> dict[str, float]:
        area = float(rng.uniform(0.6, 0.9))
        return {"roc_auc": area, "roc_auc_error": 0.02, "average_precision": 0.3, "average_precision_error": 0.02}

    names = {"HCM": ("ahp", "iv", "hav"), "HCM readings": ("ahp", "hav", "argmax ahp", "argmax hav")}
    scores = names.get(cell.detector, ("ahp", "hav") if "script" in cell.detector else ("score",))
    figures = {
        name: {**pair(), "structural": pair(), "contextual": pair(), "mean_anomalous": 2.0, "mean_normal": 1.0}
        for name in scores
    }
    edges = int(cell.network.split()[1]) if cell.network.startswith("synthetic") else 5000
    told: dict[str, Any] = {"key": cell.key, **cell.identity, "status": "done", "commit": "abc"}
    told |= {"seconds": edges / 1e3, "wall_seconds": edges / 1e3, "wall": 3.0 + edges / 1e3}
    told |= {
        "memory": edges * 100,
        "edges": edges,
        "nodes": 900,
        "attributes": 9,
        "anomalies": 28,
        "versions": {"python": "3.11"},
    }
    curve = {"steps": [25.0, 50.0], "roc_auc": [0.5, 0.7], "loss": [1.0, 0.9]}
    return told | ({"curve": curve} if cell.detector == TRAINING else {"figures": figures})


def written(cells: list[Cell], folder: Path) -> str:
    rng = np.random.default_rng(0)
    lines = folder / "cells.jsonl"
    lines.write_text("".join(json.dumps(line(cell, rng)) + "\n" for cell in cells))
    write_page(lines, folder / "benchmark.md")
    return (folder / "benchmark.md").read_text()


def test_with_all_cells_the_page_has_every_figure(tmp_path: Path) -> None:
    cells = [cell for name in suites.SUITES for cell in suite(name)]
    text = written(cells, tmp_path)
    assert "not run" not in text.replace("not run yet", "")
    assert "$" not in text
    for name in ("summary", "means", "sweeps", "training", "growth"):
        assert f"(pictures/benchmark-{name}.svg)" in text
        assert (tmp_path / "pictures" / f"benchmark-{name}.svg").read_text().startswith("<?xml")
    assert "| LOF | .491 |" in text


def test_claims_stand_beside_what_the_lines_say(tmp_path: Path) -> None:
    cells = [*suite("paper"), Cell("blogcatalog_raw", "LOF", injection=Injection(10, 0, "leak-controlled"))]
    text = written(cells, tmp_path)
    assert "| BlogCatalog | 5,196 / 900 | 171,743 / 5,000 | 8,189 / 9 | 300 / 28 |" in text
    assert "| Amazon | paper | .620 | .708 | +.088 |" in text
    for reading in ("one way, as written", "one way, deviations on their edges", "undirected"):
        assert f"| Enron | script, {reading} | ." in text


def test_the_mean_decides_whether_a_figure_is_reached_and_the_best_run_stands_beside_it(tmp_path: Path) -> None:
    rng, lines = np.random.default_rng(0), tmp_path / "cells.jsonl"
    told = [line(cell, rng) for cell in suites.group("flickr_raw", "HCM")]
    for one, area in zip(told, (0.70, 0.71, 0.70, 0.71, 0.80), strict=True):
        for score in ("ahp", "iv", "hav"):
            one["figures"][score] |= {"roc_auc": area, "roc_auc_error": 0.01}
    for one, area in zip(told, (0.80, 0.81, 0.80, 0.81, 0.80), strict=True):
        one["figures"]["hav"]["roc_auc"] = area
    lines.write_text("".join(json.dumps(one) + "\n" for one in told))
    write_page(lines, tmp_path / "benchmark.md")
    text = (tmp_path / "benchmark.md").read_text()
    assert "| Flickr | AHP | .791 | .724 [.671, .777] | missed | .800 |" in text
    assert "| Flickr | HAV | .792 | .804 [.795, .813] | surpassed | .810 |" in text
    assert "is lower on Flickr by AHP; higher on Flickr by HAV. Not run with the present default: BlogCatalog" in text
    assert "Our best run comes within .020 of the paper on Flickr, but it takes labels to choose it" in text


def test_training_adds_what_hcm_has_above_its_first_stage_paired_over_injections(tmp_path: Path) -> None:
    rng, lines = np.random.default_rng(0), tmp_path / "cells.jsonl"
    told = []
    for name, scores in (("HCM", ("ahp", "iv", "hav")), ("neighbour cosine", ("score",))):
        for turn, cell in enumerate(suites.group("acmv9", name)):
            area = 0.5 + 0.05 * turn + (0.1 + 0.001 * turn) * (name == "HCM")
            told.append(line(cell, rng))
            for score in scores:
                told[-1]["figures"][score]["roc_auc"] = area
    lines.write_text("".join(json.dumps(one) + "\n" for one in told))
    write_page(lines, tmp_path / "benchmark.md")
    text = (tmp_path / "benchmark.md").read_text()
    assert "| **training adds to AHP** | not run | not run | +.102 ± .002 | not run |" in text
    assert "the ROC-AUC of AHP is higher in 1 of 1 columns (ACM (acmv9)), lower in 0, and undecided in 0." in text


def test_a_method_is_not_the_best_while_another_has_no_result(tmp_path: Path) -> None:
    rng, lines = np.random.default_rng(0), tmp_path / "cells.jsonl"
    told = [line(cell, rng) for name in ("HCM", "LOF") for cell in suites.group("flickr_raw", name)]
    for one in told[5:]:
        one["figures"] = {"score": {"roc_auc": 0.3, "roc_auc_error": 0.01}}
    lines.write_text("".join(json.dumps(one) + "\n" for one in told))
    write_page(lines, tmp_path / "benchmark.md")
    assert re.search(r"LOF \.300; 5 others without a result: undecided", (tmp_path / "benchmark.md").read_text())


def test_figures_of_the_default_before_this_one_are_left_out(tmp_path: Path) -> None:
    rng, lines = np.random.default_rng(0), tmp_path / "cells.jsonl"
    now, before = (line(suites.group(name, "HCM")[0], rng) for name in ("hcm_amazon", "hcm_enron"))
    before |= {"revision": REVISIONS["HCM"] - 1, "key": "of another revision"}
    lines.write_text("".join(json.dumps(one) + "\n" for one in (now, before)))
    write_page(lines, tmp_path / "benchmark.md")
    text = (tmp_path / "benchmark.md").read_text()
    row = next(one for one in text.splitlines() if one.startswith("| HCM ahp |"))
    assert "(1 of 10 runs) | .670 / not run |" in row
    assert "Not run with the present default: Flickr, BlogCatalog, ACM (acmv9), ACM (coauthor_cs) and Enron." in text


def test_the_page_says_how_many_runs_a_sweep_and_a_curve_have(tmp_path: Path) -> None:
    label, values = next(iter(suites.SWEEPS.items()))
    cells = [*suites.sweep("flickr_raw", values[0.0]), *suites.sweep("flickr_raw", values[0.1])[:1]]
    text = written(cells, tmp_path)
    assert f"| {label} | 2 of 6 values, 1 and 3 runs each | not run | not run |" in text
    assert "0 of 10 seeds with SGLD and 0 of 10 seeds with SGD" in text


def test_the_same_lines_give_the_same_bytes(tmp_path: Path) -> None:
    cells = suite("growth")
    first, picture = written(cells, tmp_path), (tmp_path / "pictures" / "benchmark-growth.svg").read_bytes()
    assert written(cells, tmp_path) == first
    assert (tmp_path / "pictures" / "benchmark-growth.svg").read_bytes() == picture


def test_cells_that_were_not_run_say_so(tmp_path: Path) -> None:
    text = written([Cell("hcm_amazon", "LOF")], tmp_path)
    assert "| HCM ahp | .791 / not run |" in text
    assert "| drop ratio R | not run | not run | not run |" in text
    assert "| Flickr | AHP | .791 | not run | not run | not run | not run | not run |" in text
    assert "*ROC-AUC of AHP during training, mean and standard deviation over seeds: not run.*" in text


def test_a_run_over_its_budget_is_told_and_comes_last(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = [cell for cell in suite("held-out") if cell.detector in ("LOF", "degree", "DOMINANT")]
    told = [line(cell, rng) for cell in cells]
    late = next(one for one in told if one["detector"] == "DOMINANT" and one["network"] == "amazon_photo")
    late |= {"status": "over time", "figures": {}}
    lines = tmp_path / "cells.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in told))
    write_page(lines, tmp_path / "benchmark.md")
    text = (tmp_path / "benchmark.md").read_text()
    ranked = text[text.index("mean rank among 3 |") :].splitlines()
    row = next(one for one in ranked if one.startswith("| DOMINANT |"))
    assert "| over time |" in row
    assert re.search(r"\| [12]\.[0-9] \[[0-9.]+, [0-9.]+\] \|$", row)
    assert next(one for one in ranked if one.startswith("| MADAN |")).endswith("| - |")


def test_versions_that_differ_are_all_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    told = [line(Cell("hcm_amazon", name), rng) for name in ("LOF", "degree")]
    told[1]["versions"] = {"python": "3.12"}
    (tmp_path / "cells.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    write_page(tmp_path / "cells.jsonl", tmp_path / "benchmark.md")
    assert "python 3.11 and 3.12" in (tmp_path / "benchmark.md").read_text()


def test_without_lines_there_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="has no lines"):
        write_page(tmp_path / "none.jsonl", tmp_path / "benchmark.md")
    said = CliRunner().invoke(app, ["report", "--lines", str(tmp_path / "none.jsonl")])
    assert said.exit_code == 3
    assert "has no lines" in said.output
