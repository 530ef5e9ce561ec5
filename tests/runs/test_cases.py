"""A run with a book of cases: nodes of one group are one case, and what was decided holds the next night."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from oddhop.casebook import NewVerdict, open_book
from oddhop.cli import app
from oddhop.errors import MemoryBudgetError, SettingsError
from oddhop.runs import Run, checked_run_settings, detect, fit, score
from oddhop.runs.folder import read_manifest
from oddhop.runs.reopen import report

CLIQUE = [f"n{k:03d}" for k in (3, 17, 40, 66, 81, 99)]
SETTINGS = checked_run_settings({"read": {"flows": False}, "odd": {"random_state": 0}})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables in which six nodes are all tied to each other, and a model."""
    home = tmp_path_factory.mktemp("nights")
    rng = np.random.default_rng(0)
    names = np.array([f"n{k:03d}" for k in range(120)])
    group = np.arange(120) % 3
    near = rng.integers(0, 40, (2, 260))
    which = rng.integers(0, 3, 260)
    ends = near * 3 + which
    ties = np.array([(a, b) for a in CLIQUE for b in CLIQUE if a < b]).T
    edges = pa.table({"from": [*names[ends[0]], *ties[0]], "to": [*names[ends[1]], *ties[1]]})
    nodes = pa.table({"id": names, "x": rng.normal(group, 0.3), "y": rng.normal(-group, 0.3)})
    for name, table in (("edges", edges), ("nodes", nodes)):
        pa.csv.write_csv(table, home / f"{name}.csv")
    fit(str(home / "edges.csv"), str(home / "nodes.csv"), model=home / "model.oddhop", settings=SETTINGS)
    return home


def night(home: Path, out: Path, edges: str = "edges.csv", *, top: int = 3, **more: object) -> Run:
    tables = str(home / edges), str(home / "nodes.csv")
    options = {"settings": SETTINGS, "top": top, "explain": 10, "cases": out.parent / "cases.db", **more}
    return score(home / "model.oddhop", *tables, out=out, **options)


def flagged(run: Run) -> list[str]:
    return run.result.filter(run.result["flagged"])["id"].to_pylist()


def judge(folder: Path, case: str, verdict: str) -> None:
    with open_book(folder / "cases.db") as book:
        assert book.judge([NewVerdict(case, verdict, who="ann")])


def test_a_budget_counts_cases_and_the_members_of_a_clique_are_one(home: Path, tmp_path: Path) -> None:
    run = night(home, tmp_path / "one", top=2)
    first = run.result.filter(pc.equal(run.result["case"], 1))
    assert set(first["id"].to_pylist()) == set(CLIQUE)
    assert run.result.filter(run.result["flagged"])["case"].unique().to_pylist() == [1, 2]
    assert len(flagged(run)) == 7
    scores = run.result["score"].to_numpy()
    assert np.array_equal(run.result["flagged"].to_numpy(), scores > run.figures["threshold"])
    nodes = night(home, tmp_path / "two", top=2, explain=0, cases=None)  # nothing is explained: nodes are counted
    assert len(flagged(nodes)) == 2
    assert nodes.result["reasons"].null_count == nodes.result.num_rows


def test_explained_nodes_have_their_reasons_in_the_results(home: Path, tmp_path: Path) -> None:
    run = night(home, tmp_path / "one", top=2, explain=10)
    explained = pc.is_valid(run.result["case"])
    assert pc.is_valid(run.result["reasons"]).equals(explained)
    first = run.result.slice(0, 1).to_pylist()[0]
    assert first["reasons"].startswith("6 nodes belong together")
    written = pa.csv.read_csv(tmp_path / "one" / "results.csv")["reasons"].to_pylist()
    assert written[0] == first["reasons"]
    assert [bool(one) for one in written] == explained.to_pylist()


@pytest.mark.parametrize("top", [None, "2"])
def test_the_same_nodes_are_flagged_and_listed_without_the_report(home: Path, tmp_path: Path, top: str | None) -> None:
    group = sorted([*CLIQUE, "n025", "n073"])
    ties = "".join(f'"{a}","{b}"\n' for a in group for b in group if a < b)
    (tmp_path / "edges.csv").write_text((home / "edges.csv").read_text() + ties)
    words = ["detect", str(tmp_path / "edges.csv"), "--nodes", str(home / "nodes.csv"), "--no-flows", "--seed", "0"]
    words += [] if top is None else ["--top", top]
    listed = {}
    for name, more in (("with", []), ("without", ["--no-report"])):
        line = [*words, "--out", str(tmp_path / name), *more]
        listed[name] = CliRunner().invoke(app, line, catch_exceptions=False).stdout
    assert "8 nodes" in listed["with"]
    assert listed["with"] == listed["without"]
    files = ("results.parquet", "results.csv", "model.oddhop")
    assert all((tmp_path / "with" / one).read_bytes() == (tmp_path / "without" / one).read_bytes() for one in files)
    assert not (tmp_path / "without" / "report.html").exists()


def test_where_memory_is_too_small_for_explanations_the_error_says_how_to_go_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explain(*_: object) -> None:
        raise MemoryBudgetError("Odd needs about 9.0 GiB for views, and the limit is 8.0 GiB", "raise max_memory")

    monkeypatch.setattr("oddhop.odd.detector.Odd._explain", explain)
    with pytest.raises(MemoryBudgetError, match="nodes cannot be explained and grouped into cases: Odd needs") as error:
        night(home, tmp_path / "run", cases=None, report=False)
    assert "--resume --explain 0" in error.value.command
    assert len(flagged(night(home, tmp_path / "run", cases=None, explain=0, resume=True))) == 3


def test_what_was_cleared_stays_away_until_it_changes(home: Path, tmp_path: Path) -> None:
    one = night(home, tmp_path / "one")
    assert one.figures["cases"] == {"new": 3}
    leader = one.result["case_id"][0].as_py()
    assert leader in CLIQUE
    judge(tmp_path, leader, "cleared")
    two = night(home, tmp_path / "two")
    assert two.figures["cases"] == {"cleared": 1, "new": 1, "open": 2}  # the budget of three is for others
    assert not set(flagged(two)) & set(CLIQUE)
    page = (tmp_path / "two" / "report.html").read_text()
    assert "1 cleared case is hidden" in page
    assert page.count('id="case-') == 10 - len(CLIQUE)
    # Two of the clique gain many neighbours.
    more = [(CLIQUE[k], f"n{j:03d}") for k in (0, 1) for j in range(1, 119, 6)]
    text = (home / "edges.csv").read_text() + "".join(f'"{a}","{b}"\n' for a, b in more)
    (home / "more.csv").write_text(text)
    three = night(home, tmp_path / "three", "more.csv", since=tmp_path / "two")
    assert three.figures["cases"]["back"] == 1
    assert set(flagged(three)) & set(CLIQUE)
    page = (tmp_path / "three" / "report.html").read_text()
    assert "cleared by ann" in page
    assert "neighbours are new" in page
    assert "What changed since two" in page
    with open_book(tmp_path / "cases.db") as book:
        assert [entry.verdict for entry in book.history(leader)] == ["open", "cleared", "open"]


def test_what_was_confirmed_is_shown_and_leaves_the_budget_to_others(home: Path, tmp_path: Path) -> None:
    leader = night(home, tmp_path / "one", top=1).result["case_id"][0].as_py()
    judge(tmp_path, leader, "confirmed")
    two = night(home, tmp_path / "two", top=1)
    assert two.figures["cases"] == {"confirmed": 1, "new": 1}
    assert set(CLIQUE) < set(flagged(two))


def test_a_run_that_was_killed_after_it_wrote_the_book_gives_the_same_bytes(home: Path, tmp_path: Path) -> None:
    night(home, tmp_path / "one")
    folder = night(home, tmp_path / "two", "edges.csv", top=4).folder
    names = [file.name for file in folder.iterdir() if not file.name.startswith(".")]
    whole = {name: (folder / name).read_bytes() for name in names}
    with open_book(tmp_path / "cases.db") as book:
        entries = list(book.entries())
    for name in ("manifest.json", "results.parquet", "report.html"):  # as after a kill
        (folder / name).unlink()
    again = night(home, tmp_path / "two", "edges.csv", top=4, resume=True)
    assert again.figures["cases"] == {"new": 1, "open": 3}
    assert {name: (folder / name).read_bytes() for name in names} == whole
    with open_book(tmp_path / "cases.db") as book:
        assert list(book.entries()) == entries


def test_a_report_written_again_tells_the_same_of_the_book_and_of_the_changes(home: Path, tmp_path: Path) -> None:
    leader = night(home, tmp_path / "one").result["case_id"][0].as_py()
    judge(tmp_path, leader, "cleared")
    folder = night(home, tmp_path / "two", since=tmp_path / "one").folder
    page = (folder / "report.html").read_text()
    assert "it was cleared" in page
    assert page == report(folder).read_text()
    assert page == report(folder, explain=10).read_text()
    assert read_manifest(folder)["cases"][leader]["hidden"]


def test_a_book_needs_a_budget_and_explanations(home: Path, tmp_path: Path) -> None:
    tables = str(home / "edges.csv"), str(home / "nodes.csv")
    with pytest.raises(SettingsError, match="no cases are to be flagged"):
        detect(*tables, out=tmp_path / "run", settings=SETTINGS, cases=tmp_path / "cases.db")
    with pytest.raises(SettingsError, match="needs explained nodes"):
        night(home, tmp_path / "run", explain=0)
    assert not (tmp_path / "cases.db").exists()


def test_the_command_says_what_is_new_and_what_is_hidden(home: Path, tmp_path: Path) -> None:
    words = ["score", home / "model.oddhop", home / "edges.csv", "--nodes", home / "nodes.csv", "--no-flows"]
    words += ["--cases", tmp_path / "cases.db", "--top", "2", "--explain", "10", "--out"]
    told = CliRunner().invoke(app, [str(word) for word in [*words, tmp_path / "one"]], catch_exceptions=False).output
    assert "2 new" in told
    assert "6 nodes" in told
    case = json.loads((tmp_path / "one" / "cases.json").read_text())["cases"][0]["id"]
    assert CliRunner().invoke(app, ["cases", "set", str(tmp_path / "cases.db"), case, "cleared"]).exit_code == 0
    told = CliRunner().invoke(app, [str(word) for word in [*words, tmp_path / "two"]], catch_exceptions=False).output
    assert "1 cleared case is hidden because little has changed since the verdict" in told
    assert "6 nodes" not in told


@pytest.mark.parametrize("name", ["status", "case_id"])
def test_a_kept_column_that_the_book_gives_is_refused_before_anything_is_done(
    home: Path, tmp_path: Path, name: str
) -> None:
    settings = checked_run_settings({"read": {"keep_columns": [name]}})
    with pytest.raises(
        SettingsError, match=f"with a book of cases the results have a column '{name}', and the node table has one too"
    ):
        night(home, tmp_path / "run", settings=settings)
    assert not (tmp_path / "cases.db").exists()
    assert not (tmp_path / "run").exists()
