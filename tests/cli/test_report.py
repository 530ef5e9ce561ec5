"""``oddhop explain`` and ``oddhop report``: from the folder of a run to reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import DETECT, FAST_HCM, refused, run
from tests.conftest import needs_torch


def test_detect_leaves_a_report_that_names_the_nodes_and_is_sealed(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--top", "5", "--explain", "7")
    page = (folder / "run/report.html").read_text()
    known = json.loads((folder / "run/cases.json").read_text())["cases"]
    for name in pq.read_table(folder / "run/results.parquet")["id"].to_pylist()[:7]:
        assert f">{name}<" in page
    assert [f'id="case-{one["number"]}"' in page for one in known] == [True] * len(known)
    assert "report.html: ok" in run("verify", "run")


def test_no_report_is_written_where_none_is_wanted_and_one_can_be_had_later(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--no-report")
    assert not (folder / "run/report.html").exists()
    run("report", "run", "--explain", "3")
    assert 1 <= (folder / "run/report.html").read_text().count('id="case-') <= 3
    assert "report.html: ok" in run("verify", "run")


@needs_torch
def test_a_node_is_explained_by_its_id(folder: Path) -> None:
    run(*DETECT, *FAST_HCM, "--out", "run", "--top", "5", "--no-report")
    first = pq.read_table(folder / "run/results.parquet").slice(0, 1).to_pylist()[0]
    assert f"{first['id']}: score {first['score']:.2f}" in run("explain", "run", first["id"])
    told = run("explain", "run", first["id"], "--json")
    figures = json.loads(told[told.index("{\n") :])
    assert figures["score"] == pytest.approx(first["score"])
    assert figures["sentences"][0].startswith("Those it is linked to look ")
    assert "no node is called 'nobody'" in refused(3, "explain", "run", "nobody")[0]


def test_other_tables_than_those_of_the_run_are_refused(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--no-report")
    people = (folder / "nodes.csv").read_text()
    (folder / "nodes.csv").write_text(people.replace("Bonn", "Cork", 1))
    lines = refused(5, "report", "run")
    assert "the tables are not those of the run" in lines[0]
    (folder / "moved.csv").write_text(people)
    run("report", "run", "--nodes", "moved.csv")


def test_odd_leaves_reasons_too(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--top", "5", "--explain", "7")
    first = pq.read_table(folder / "run/results.parquet").slice(0, 1).to_pylist()[0]
    assert f"{first['id']}: {first['kind']}, score {first['score']:.2f}, rank 1 of 80" in run(
        "explain", "run", first["id"]
    )
    told = run("explain", "run", first["id"], "--json")
    figures = json.loads(told[told.index("{\n") :])
    assert [one["name"] for one in figures["views"]] == ["stranger", "outlier", "clique", "flow", "cycle"]
    assert run("cases", "list", "run").count("\n") > len(figures["cases"])
    assert json.loads(run("cases", "list", "run", "--json").splitlines()[0])["number"] == 1
    mine = [one for one in figures["cases"] if first["id"] in [member["id"] for member in one["members"]]]
    assert mine == figures["cases"]
    assert mine[0] in json.loads((folder / "run/cases.json").read_text())["cases"]


def test_what_the_run_kept_of_a_node_is_told_without_its_tables(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--top", "5", "--explain", "7")
    ids = pq.read_table(folder / "run/results.parquet")["id"].to_pylist()
    for name in ("edges.csv", "nodes.csv"):
        (folder / name).rename(folder / f"kept-{name}")
    known = json.loads((folder / "run/cases.json").read_text())["cases"]
    figures = {one["id"]: one for case in known for one in case["technical"]}
    assert set(ids[:7]) <= set(figures)
    told = json.loads(run("explain", "run", ids[0], "--json"))
    assert (told["score"], told["columns"]) == (figures[ids[0]]["score"], figures[ids[0]]["columns"])
    assert f"{ids[0]}: " in run("explain", "run", ids[0])
    other = next(one for one in ids if one not in figures)
    refused(3, "explain", "run", other)  # of which the run kept nothing
    moved = "--edges", "kept-edges.csv", "--nodes", "kept-nodes.csv"
    assert f"{other}: " in run("explain", "run", other, *moved)
