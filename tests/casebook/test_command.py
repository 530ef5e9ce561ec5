from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from oddhop.casebook import Entry, Fingerprint, open_book
from oddhop.cli import app


def run(*words: str, code: int = 0, typed: str | None = None) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["cases", *words], input=typed)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


@pytest.fixture
def filled(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    with open_book(where) as book:
        book.append([Entry("c1", "open", ("p17", "=1+1", "a", "b"), Fingerprint(), rank=1, score=2.5)])
        book.append([Entry("c2", "open", ("c",), note="\x1b]0;x")])
    return where


def test_cases_are_listed_judged_and_listed_by_verdict(filled: str) -> None:
    told, _ = run("list", filled)
    assert [line.split()[:2] for line in told.splitlines()] == [["c1", "open"], ["c2", "open"]]
    assert "=1+1, a, b and 1 more" in told
    assert "\x1b" not in told
    assert run("set", filled, "c1", "cleared", "--reason", "family", "--who", "ann")[0] == "c1: cleared\n"
    assert "already" in run("set", filled, "c1", "cleared", "--reason", "family", "--who", "ann")[0]
    told, _ = run("list", filled, "--verdict", "cleared", "--json")
    (line,) = map(json.loads, told.splitlines())
    assert (line["case_id"], line["who"], line["reason"], line["rank"]) == ("c1", "ann", "family", 1)
    assert line["members"] == ["=1+1", "a", "b", "p17"]
    assert line["fingerprint"]["columns"]["node"] == ["uint32", [], ""]


def test_the_user_is_who_says_so(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "bo")
    run("set", filled, "c1", "watch")
    assert json.loads(run("list", filled, "--verdict", "watch", "--json")[0])["who"] == "bo"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_verdicts_come_from_a_table_all_or_none(filled: str, tmp_path: Path, form: str) -> None:
    write = pa.csv.write_csv if form == "csv" else pq.write_table
    file = str(tmp_path / f"verdicts.{form}")
    rows = {"note": ["x, y", None], "case": ["c1", "c2"], "Verdict": ["cleared", "confirmed"], "who": ["ann", None]}
    write(pa.table(rows), file)
    assert run("set", filled, "--from", file, "--who", "bo")[0] == "c1: cleared\nc2: confirmed\n"
    with open_book(filled) as book:
        now = book.current()
    assert [(now[case].who, now[case].note) for case in ("c1", "c2")] == [("ann", "x, y"), ("bo", "")]
    for wrong, code in (
        ({"case": ["c1", "c9"], "verdict": ["open", "open"]}, 10),
        ({"case": ["c1", "c2"], "verdict": ["open", "no"]}, 2),
        ({"case": ["c1", "c1"], "verdict": ["open", "watch"]}, 3),
        ({"case": ["c1", None], "verdict": ["open", "watch"]}, 3),
        ({"cases": ["c1"], "verdict": ["open"]}, 3),
    ):
        write(pa.table(wrong), file)
        run("set", filled, "--from", file, code=code)
    with open_book(filled) as book:
        assert book.current() == now


def test_the_book_is_exported(filled: str, tmp_path: Path) -> None:
    run("set", filled, "c1", "cleared", "--note", "=cmd()", "--who", "ann")
    assert "3 entries" in run("export", filled, "out.parquet")[0]
    table = pq.read_table("out.parquet")
    assert table.num_rows == 3
    assert table["members"].to_pylist()[0] == ["=1+1", "a", "b", "p17"]
    run("export", filled, "out.csv")
    text = Path("out.csv").read_text()
    assert '"\'=cmd()"' in text
    back = pa.csv.read_csv("out.csv")
    assert json.loads(back["members"].to_pylist()[0]) == ["=1+1", "a", "b", "p17"]
    run("export", filled, "out.xlsx", code=2)


def test_an_empty_book_is_exported_too(where: str, tmp_path: Path) -> None:
    open_book(where).close()
    run("export", where, str(tmp_path / "out.csv"))
    assert pa.csv.read_csv(tmp_path / "out.csv").num_rows == 0


def test_erasing_asks_first(filled: str) -> None:
    words = ("erase", filled, "p17", "--who", "ann", "--reason", "request 12")
    for typed in ("n\n", ""):
        assert "nothing was erased" in run(*words, code=1, typed=typed)[0]
    assert "erased from 1 cases" in run(*words, typed="y\n")[0]
    assert "has nothing about this node" in run(*words, "--yes")[0]
    assert "p17" not in run("list", filled, "--json")[0]


def test_what_is_wrong_is_said(filled: str, tmp_path: Path) -> None:
    assert "does not exist" in run("list", str(tmp_path / "none.db"), code=10)[1]
    assert not (tmp_path / "none.db").exists()
    assert "one of open" in run("list", filled, "--verdict", "guilty", code=2)[1]
    assert "oddhop cases list" in run("set", filled, "c9", "open", code=10)[1]
    run("set", filled, "c1", code=2)
    run("set", filled, "c1", "open", "--from", "x.csv", code=2)
    told = run("list", "postgresql://ann:s3cret@127.0.0.1:1/none", "--log-format", "json", code=10)[1]
    assert "s3cret" not in told
    assert json.loads(told)["code"] == 10


def test_every_example_of_the_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_book("cases.db") as book:
        book.append([Entry("c1", "open", ("p17",))])
    for command in ("list", "set", "export", "erase"):
        told = CliRunner().invoke(app, ["cases", command, "--help"], terminal_width=200)
        found = re.search(r"Example:\s+oddhop cases (.+)", told.output)
        assert found
        run(*shlex.split(found[1]))


@pytest.mark.parametrize("case", ["two\nlines", " a  b ", '"quoted"', '"half', "a\tb", "plain", "ü"])
def test_an_id_is_set_as_it_is_listed(tmp_path: Path, case: str) -> None:
    with open_book(tmp_path / "cases.db") as book:
        book.append([Entry(case, "open", members=("a",))])
    [line] = run("list", str(tmp_path / "cases.db"))[0].splitlines()
    run("set", str(tmp_path / "cases.db"), line.partition("  open  ")[0], "cleared", "--who", "ann")
    with open_book(tmp_path / "cases.db") as book:
        assert book.current()[case].verdict == "cleared"
