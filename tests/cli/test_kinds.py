"""Several kinds of nodes on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from oddhop.runs import checked_run_settings
from oddhop.runs.folder import read_manifest
from oddhop.runs.log import LOGGED
from oddhop.runs.read import read_for_run
from oddhop.tables.network import open_network
from tests.cli.conftest import FAST, refused, run
from tests.tables.test_kinds import made, written

NODES = ["--nodes", "account=accounts.csv", "--nodes", "device=devices.csv"]
KINDS = [*NODES, "--judge", "account", "--source-kind", "account"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    written(tmp_path, *made())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tables_of_several_kinds_are_ingested(folder: Path) -> None:
    run("ingest", "edges.csv", *KINDS, "--out", "graph", "--set", "encode.kinds.account.age=ignore")
    network = open_network(folder / "graph")
    assert network.graph.kinds.names == ("account", "device")
    assert "account.age" not in network.graph.attribute_names
    assert "device.age" in network.graph.attribute_names
    run("ingest", "edges.csv", *NODES, "--source-kind", "account", "--out", "again", "--like", "graph")
    assert open_network(folder / "again").graph.fingerprint == network.graph.fingerprint
    assert "65 nodes" in run("verify", "graph")
    lines = refused(3, "ingest", "edges.csv", "--nodes", "account=accounts.csv", "--out", "other", "--like", "graph")
    assert "fitted with 'account', 'device'" in lines[0]
    assert "--nodes KIND=PATH" in lines[1]


def test_a_run_names_its_tables_by_kind_and_reads_them_again(folder: Path) -> None:
    run("detect", "edges.csv", *KINDS, "--out", "run", "--no-report", "--seed", "0", *FAST)
    manifest = read_manifest(folder / "run")
    assert manifest["tables"]["nodes"] == {"account": "accounts.csv", "device": "devices.csv"}
    assert manifest["data"]["roles"]["kinds"].startswith("2 kinds of nodes: 40 account (judged), 25 device")
    settings = checked_run_settings(manifest["settings"])
    encoding = read_for_run(LOGGED, settings, "edges.csv", manifest["tables"]["nodes"]).encoding
    again = read_for_run(LOGGED, settings, "edges.csv", manifest["tables"]["nodes"], encoding=encoding)
    assert again.graph.fingerprint == manifest["data"]["fingerprint"]


def test_a_run_of_several_kinds_from_end_to_end(folder: Path) -> None:
    told = run("detect", "edges.csv", *KINDS, "--out", "run", "--seed", "0", "--top", "5", *FAST, "--explain", "6")
    assert "40 account (judged), 25 device" in told
    result = pq.read_table(folder / "run/results.parquet")
    assert sorted(result["id"].to_pylist()) == list(range(1, 41))
    page = (folder / "run/report.html").read_text()
    assert page.count('id="case-') == 6
    assert "report.html: ok" in run("verify", "run")
    first = result.slice(0, 1).to_pylist()[0]
    assert f"{first['id']}: {first['kind']}, score {first['score']:.2f}" in run("explain", "run", str(first["id"]))
    words = run("explain", "run", str(first["id"]), "--json")
    figures = json.loads(words[words.index("{\n") :])
    assert figures["id"] == first["id"]
    assert figures["score"] == pytest.approx(first["score"])
    assert {one["name"]: one["p"] for one in figures["views"]}["clique"] == pytest.approx(first["p_clique"])
    assert any(first["id"] in [member["id"] for member in case["members"]] for case in figures["cases"])
    assert "no account is called '99'" in refused(3, "explain", "run", "99")[0]
    run("report", "run", "--explain", "2")
    assert (folder / "run/report.html").read_text().count('id="case-') == 2
    assert "report.html: ok" in run("verify", "run")
    Path("moved.csv").write_bytes(Path("devices.csv").read_bytes())
    run("report", "run", "--nodes", "account=accounts.csv", "--nodes", "device=moved.csv", "--explain", "1")
    Path("devices.csv").write_text(Path("devices.csv").read_text().replace("\n1,", "\n1,1", 1))
    assert "the tables are not those of the run" in refused(5, "report", "run")[0]


def test_what_was_fitted_scores_the_same_kinds_later(folder: Path) -> None:
    run("detect", "edges.csv", *KINDS, "--out", "run", "--seed", "0", *FAST, "--no-report")
    run("fit", "edges.csv", *KINDS, "--model", "model.oddhop", "--seed", "0", *FAST)
    run("score", "model.oddhop", "edges.csv", *NODES, "--source-kind", "account", "--out", "scores")
    run("ingest", "edges.csv", *KINDS, "--out", "graph")
    run("score", "model.oddhop", "graph", "--out", "by-disk")
    wanted = pq.read_table(folder / "run/results.parquet")
    for out in ("scores", "by-disk"):
        found = pq.read_table(folder / out / "results.parquet")
        assert found["case"].null_count == 0  # all were explained
        assert found.drop_columns(["case"]).equals(wanted.drop_columns(["case"]))
    assert ": ok" in run("verify", "scores")
    run("ingest", "edges.csv", *NODES, "--source-kind", "account", "--judge", "device", "--out", "other")
    assert refused(3, "score", "model.oddhop", "other", "--out", "never")
    assert not (folder / "never").exists()


def test_settings_say_the_same_as_options(folder: Path) -> None:
    Path("kinds.toml").write_text('[read]\njudge = "account"\nsource_kind = "account"\n')
    assert "Estimated memory of a run" in run("plan", "edges.csv", *NODES, "--settings", "kinds.toml")
    told = run("plan", "edges.csv", *NODES, "--set", "read.judge=account", "--set", "read.source_kind=account")
    assert "Estimated memory of a run" in told


def test_what_is_not_said_is_asked(folder: Path) -> None:
    lines = refused(3, "plan", "edges.csv", *NODES, "--source-kind", "account")
    assert "40 account, 25 device" in lines[0]
    assert "--judge" in lines[1]
    lines = refused(3, "plan", "edges.csv", *NODES, "--judge", "account")
    assert "--source-kind" in lines[1]
    assert "'devices.csv'" in refused(2, "plan", "edges.csv", *NODES[:3], "devices.csv")[0]
    assert "two tables of the kind" in refused(2, "plan", "edges.csv", *NODES, *NODES[:2])[0]
    lines = refused(3, "detect", "edges.csv", *KINDS, "--detector", "hcm", "--out", "hcm")
    assert "HCM and neighbour cosine support one kind of node" in lines[0]


def test_a_name_with_an_equals_sign_may_be_a_path(folder: Path) -> None:
    Path("day=1.csv").write_bytes(Path("accounts.csv").read_bytes())
    assert "Estimated memory of a run" in run("plan", "edges.csv", "--nodes", "day=1.csv")
    assert "no database was given" in refused(2, "plan", "edges.csv", "--nodes", "select id from a where b=1")[0]
    assert "no database was given" in refused(2, "plan", "edges.csv", "--nodes", "account=select id from a")[0]
