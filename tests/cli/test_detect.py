from __future__ import annotations

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import oddhop
from oddhop.cli import app
from oddhop.tables.network import read_network
from oddhop.tables.read import read_tables
from tests.cli.conftest import DETECT, FAST, FAST_HCM, FEW, HCM, digests, refused, run
from tests.conftest import needs_torch


def test_two_tables_become_a_ranked_one(folder: Path, tables: dict[str, pa.Table]) -> None:
    told = run(*DETECT, "--out", "run", "--top", "5", "--verbose")
    assert sorted(digests(folder / "run")) == [
        "cases.json",
        "manifest.json",
        "model.oddhop",
        "report.html",
        "results.csv",
        "results.parquet",
        "state.parquet",
    ]
    result = pq.read_table(folder / "run/results.parquet")
    assert result.column_names[:3] == ["id", "score", "rank"]
    assert result["rank"].to_pylist() == list(range(1, 81))
    assert set(result["id"].to_pylist()) == set(tables["nodes"]["name"].to_pylist())
    assert result["flagged"].to_pylist() == [True] * 5 + [False] * 75
    assert "edges have a direction: from 'from' to 'to'" in told
    assert re.search("[0-9]+ events with amount 'amount'", told)
    assert "1 missing, marked" in told
    assert "Flagged  5 nodes" in told


def test_the_scores_are_those_of_the_library(folder: Path) -> None:
    run(
        *(*DETECT, "--out", "run", "--no-flows"),
        *("--set", "encode.kinds.town=ignore", "--set", "encode.kinds.note=ignore"),
    )
    scores = dict(pq.read_table(folder / "run/results.parquet").select(["id", "score"]).to_pandas().to_numpy().tolist())
    tables = read_tables("edges.csv", "nodes.csv")
    from oddhop.tables.encode import learn_encoding

    encoding = learn_encoding(tables.columns.select(["age"]))
    ids = tables.ids.to_numpy(zero_copy_only=False)
    graph = oddhop.Graph.from_arrays(tables.edge_index, encoding.apply(tables.columns)[0], ids)
    fitted = oddhop.Odd(simulate=False, n_resamples=2, random_state=0).fit(graph)
    assert scores == dict(fitted.result_.select(["id", "score"]).to_pandas().to_numpy().tolist())


def test_a_spreadsheet_runs_nothing(folder: Path) -> None:
    told = run(*DETECT, "--out", "run")
    names = pa.csv.read_csv(folder / "run/results.csv")["id"].to_pylist()
    assert "'=1+1" in names
    assert "=1+1" in pq.read_table(folder / "run/results.parquet")["id"].to_pylist()
    rows = (folder / "run/results.csv").read_text().splitlines()[1:]
    quoted = sum(cell.strip('"').startswith("'=") for row in csv.reader(rows) for cell in row)
    assert quoted >= 1
    assert re.search(rf"no formula: {quoted} cells?\b", told)


def test_the_manifest_tells_the_run_and_seals_its_files(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--top", "3")
    manifest = json.loads((folder / "run/manifest.json").read_bytes())
    assert manifest["seed"] == 0
    assert manifest["settings"]["odd"]["n_resamples"] == 2
    assert manifest["data"]["counts"]["ignored_columns"] == []
    assert manifest["data"]["roles"]["amount"] == ["amount"]
    assert manifest["data"]["nodes"] == 80
    assert manifest["results"]["flagged"] == 3
    assert {"numba", "numpy", "python"} <= set(manifest["versions"])
    assert ": ok" in run("verify", "run")
    (folder / "run/results.csv").write_text("forged")
    assert "was changed after the run" in refused(5, "verify", "run")[0]


def test_the_same_seed_gives_the_same_bytes_from_any_form_and_order(folder: Path, tables: dict[str, pa.Table]) -> None:
    run(*DETECT, "--out", "one")
    order = [(7 * k) % 80 for k in range(80)]
    (folder / "other").mkdir()  # the names of the files stay, for they are words of the cases
    pq.write_table(tables["nodes"].take(order), folder / "other/nodes.parquet")
    pq.write_table(tables["edges"].take(list(range(299, -1, -1))), folder / "other/edges.parquet")
    run("detect", "other/edges.parquet", "--nodes", "other/nodes.parquet", "--out", "two", "--seed", "0", *FEW)
    one, two = (digests(folder / name) for name in ("one", "two"))
    manifests = [json.loads((folder / name / "manifest.json").read_text()) for name in ("one", "two")]
    assert manifests[0].pop("tables") != manifests[1].pop("tables")
    assert manifests[0] == manifests[1]
    assert one | {"manifest.json": ""} == two | {"manifest.json": ""}


def test_a_model_scores_other_tables_as_its_own(folder: Path) -> None:
    run(*DETECT, "--out", "run", "--top", "4", "--explain", "80")
    told = run("score", "run/model.oddhop", "edges.parquet", "--nodes", "nodes.parquet", "--out", "again")
    assert "by the threshold of the model" in told
    assert pq.read_table("run/results.parquet").equals(pq.read_table("again/results.parquet"))
    run("fit", "edges.csv", "--nodes", "nodes.csv", "--seed", "0", *FAST, "--top", "4", "--model", "m.oddhop")
    assert Path("m.oddhop").read_bytes() == Path("run/model.oddhop").read_bytes()
    assert not Path("m.oddhop.checkpoints").exists()
    again = run("fit", "edges.csv", "--nodes", "nodes.csv", "--seed", "0", *FAST, "--model", "m.oddhop", "--resume")
    assert "m.oddhop exists; this fit will replace it" in again
    refused(4, "score", "m.oddhop", "edges.csv", "--nodes", "nodes.csv", "--out", "small", "--max-memory", "1M")
    told = run("verify", "m.oddhop")
    assert "columns: age, town, note" in told


def test_a_model_tells_what_is_new_in_a_table(folder: Path, tables: dict[str, pa.Table]) -> None:
    run("fit", "edges.csv", "--nodes", "nodes.csv", "--seed", "0", *FAST, "--model", "m.oddhop")
    nodes = tables["nodes"]
    moved = nodes.set_column(2, "town", pa.array(["Rome"] * 3 + nodes["town"].to_pylist()[3:]))
    pq.write_table(moved, "moved.parquet")
    told = run("score", "m.oddhop", "edges.csv", "--nodes", "moved.parquet", "--out", "s")
    assert "column 'town': 3 rows rare or not seen before" in told


@needs_torch
def test_settings_come_from_a_file_and_the_command_line_wins(folder: Path) -> None:
    Path("s.toml").write_text(
        '[hcm]\nburn_in = 5\nsamples = 2\nthin = 1\nchains = 2\nhidden = 4\n[read]\nid = "name"\n'
    )
    given = ["--settings", "s.toml", "--set", "hcm.hidden=6", "--detector", "hcm"]
    run("detect", "edges.csv", "--nodes", "nodes.csv", *given, "--out", "run")
    used = json.loads(Path("run/manifest.json").read_bytes())["settings"]
    assert (used["hcm"]["burn_in"], used["hcm"]["hidden"], used["read"]["id"]) == (5, 6, "name")


def test_errors_are_three_lines_and_a_code(folder: Path) -> None:
    lines = refused(3, "detect", "edge.csv", "--nodes", "nodes.csv", "--out", "run")
    assert "did you mean 'edges.csv'?" in lines[1]
    assert not Path("run").exists()
    assert "did you mean hcm.burn_in?" in refused(2, *DETECT, "--out", "run", "--set", "hcm.burnin=5")[1]
    assert "did you mean hcm.hop_classes?" in refused(2, *DETECT, "--out", "run", "--set", "hop_class=5")[1]
    assert "name=value" in refused(2, *DETECT, "--out", "run", "--set", "hcm.burn_in")[0]
    assert "no node table" in refused(3, "detect", "edges.csv", "--out", "run")[0]
    assert "and the limit is " in refused(4, *DETECT, "--out", "run", "--max-memory", "1M")[0]
    assert "size" in refused(2, *DETECT, "--out", "run", "--max-memory", "lots")[0]
    assert "cannot be read" in refused(6, "verify", "nothing.oddhop")[0]
    assert "no database was named" in refused(2, *DETECT, "--out", "run", "--write-to", "t")[0]
    assert "no database was given" in refused(2, "detect", "select 1", "--nodes", "nodes.csv", "--out", "run")[0]
    strict = refused(3, *DETECT, "--out", "run", "--strict")
    assert "repeat another" in strict[0] or "not read" in strict[0] or "itself" in strict[0]
    assert "leave out --strict" in strict[1]
    pq.write_table(pa.table({"a": ["x"], "b": ["y"], "c": ["z"]}), "three.parquet")
    assert "--source and --target" in refused(3, "plan", "three.parquet", "--nodes", "nodes.csv")[1]
    Path("bad.toml").write_text("[hcm\n")
    assert "not TOML" in refused(2, *DETECT, "--out", "run", "--settings", "bad.toml")[0]
    run(*DETECT, "--out", "run")
    assert "already has a complete run" in refused(5, *DETECT, "--out", "run")[0]
    assert "nothing to do" in run(*DETECT, "--out", "run", "--resume")
    shutil.copy("edges.csv", "other.csv")
    said = refused(5, "detect", "other.csv", *DETECT[2:], "--out", "run", "--resume")
    assert "run has a complete run of other tables: edges.csv, nodes.csv, and this command has other.csv" in said[0]


def test_debug_shows_where(folder: Path) -> None:
    done = CliRunner().invoke(app, ["verify", "nothing.oddhop", "--debug"])
    assert "Traceback" in done.stderr


def test_json_lines_for_programs(folder: Path) -> None:
    done = CliRunner().invoke(app, [*DETECT, "--out", "run", "--log-format", "json"])
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert events[0]["event"] == "read"
    assert events[-1]["event"] == "done"
    failed = CliRunner().invoke(app, [*DETECT, "--out", "run", "--log-format", "json"])
    assert json.loads(failed.stderr)["code"] == 5


def test_odd_is_what_runs_unless_told_otherwise(folder: Path) -> None:
    ours = ["detect", "edges.csv", "--nodes", "nodes.csv", "--seed", "0", "--top", "4"]
    told = run(*ours, "--out", "run")
    result = pq.read_table("run/results.parquet")
    assert set(result["kind"].to_pylist()) <= {"stranger", "outlier", "clique", "flow"}
    assert "cases, the most unusual first" in told
    assert json.loads(Path("run/manifest.json").read_bytes())["detector"] == "odd"
    run("score", "run/model.oddhop", "edges.parquet", "--nodes", "nodes.parquet", "--out", "again")
    assert pq.read_table("again/results.parquet").equals(result)
    assert "a model of Odd" in run("verify", "run/model.oddhop")
    run(*ours, "--out", "twice")
    first, second = digests(folder / "run"), digests(folder / "twice")
    assert first == second
    assert "views" in run("plan", "edges.csv", "--nodes", "nodes.csv")


@pytest.mark.parametrize(
    "command",
    [
        ["detect", "--out", "run", *FEW],
        pytest.param(["detect", "--out", "run", "--explain", "5", *FAST_HCM], marks=needs_torch),
        ["fit", "--model", "run/model.oddhop", *FAST],
    ],
)
@pytest.mark.parametrize("drawn", [False, True])
def test_a_resumed_run_takes_the_seed_that_it_began_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], drawn: bool
) -> None:
    Path("run").mkdir()
    monkeypatch.setattr("oddhop.detector.fit_folder.drawn_seed", lambda: 7)
    line = [command[0], "edges.csv", "--nodes", "nodes.csv", *command[1:]]
    first, other = ([], ["--seed", "7"]) if drawn else (["--seed", "7"], [])
    run(*line, *first)
    wanted = digests(folder / "run")
    shutil.rmtree("run")

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as at_the_end:
        at_the_end.setattr("oddhop.detector.base.GraphDetector.save", kill)
        assert CliRunner().invoke(app, [*line, *first]).exit_code != 0
    said = refused(5, *line, "--seed", "8", "--resume")
    assert "began with the seed 7, got the seed 8" in said[0]
    assert "resume it without --seed or with --seed 7, or choose another folder" in said[1]
    run(*line, *other, "--resume")
    assert digests(folder / "run") == wanted


@needs_torch
@pytest.mark.parametrize("line", [["detect", "--out", "run"], ["fit", "--model", "model.oddhop"]])
def test_a_run_without_a_checkpoint_says_that_it_starts_from_the_beginning(folder: Path, line: list[str]) -> None:
    said = "there is no checkpoint: nothing can be resumed, and the run starts from the beginning"
    command = [line[0], "edges.csv", "--nodes", "nodes.csv", *line[1:], "--seed", "0", *FAST_HCM, "--resume"]
    network = read_network("edges.csv", "nodes.csv")
    begun = Path("run/checkpoints" if line[0] == "detect" else "model.oddhop.checkpoints")

    def killed(at: str) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            if stage == at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            oddhop.HCM(**HCM, random_state=0).fit(network, run_folder=begun, resume=True, progress=progress)

    killed("hop pairs")
    assert sorted(file.name for file in begun.iterdir()) == [".lock", "manifest.json"]
    killed("scoring")
    assert said not in run(*command)
    shutil.rmtree("run", ignore_errors=True)
    killed("hop pairs")
    assert run(*command).count(said) == 1


def test_a_run_of_score_says_that_it_starts_from_the_beginning(folder: Path) -> None:
    run("fit", "edges.csv", "--nodes", "nodes.csv", "--model", "model.oddhop")
    line = ["score", "model.oddhop", "edges.csv", "--nodes", "nodes.csv", "--out", "run", "--log-format", "json"]
    done = CliRunner().invoke(app, [*line, "--resume"])
    assert [json.loads(one)["event"] for one in done.stderr.splitlines()].count("nothing_resumed") == 1


@needs_torch
def test_a_plan_reads_and_learns_nothing(folder: Path) -> None:
    before = sorted(Path().iterdir())
    told = run("plan", "edges.csv", "--nodes", "nodes.csv", "--detector", "hcm")
    assert sorted(Path().iterdir()) == before
    for word in ("hop pairs", "training", "scoring", "total: ", "at most"):
        assert word in told
    assert "and the limit is " in refused_after_output(
        4, "plan", "edges.csv", "--nodes", "nodes.csv", "--max-memory", "1M"
    )


def refused_after_output(code: int, *arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == code, done.output
    return done.stderr


@needs_torch
@pytest.mark.parametrize("moments", [pytest.param(4, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.long)])
def test_kill_at_several_moments_and_resume_gives_the_same_bytes(folder: Path, moments: int) -> None:
    slow = [*DETECT, *FAST_HCM, "--set", "hcm.burn_in=400", "--set", "hcm.hidden=32", "--workers", "1"]
    command = [sys.executable, "-c", "from oddhop.cli import app; app()", *slow]
    began = time.monotonic()
    subprocess.run([*command, "--out", "straight"], check=True, capture_output=True)
    whole = time.monotonic() - began
    wanted = digests(folder / "straight")
    died = 0
    for k in range(moments):
        out = f"killed{k}"
        began = time.monotonic()
        process = subprocess.Popen([*command, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=whole * (0.35 + 0.65 * k / moments))
            whole = time.monotonic() - began  # the machine has become faster
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            died += process.wait() == -signal.SIGKILL
        resume = ["--resume"] if Path(out).exists() else []
        run(*slow, "--out", out, *resume)
        assert digests(folder / out) == wanted, f"killed at moment {k}"
    assert died >= moments // 2
