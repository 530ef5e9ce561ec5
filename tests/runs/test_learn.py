"""Answers in, a learned ranking out: from a mapping, a file and a book of cases, by the function and the command."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from oddhop.casebook import NewVerdict, open_book
from oddhop.cli import app
from oddhop.errors import AnswersError
from oddhop.runs import learn, score
from oddhop.runs.answers import read_answers
from tests.runs.test_cases import CLIQUE, SETTINGS, home, night  # noqa: F401 - home is a fixture


@pytest.fixture(scope="module")
def run(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    return night(home, tmp_path_factory.mktemp("learn") / "run").folder


def test_without_answers_the_ranking_is_the_label_free_one(run: Path, tmp_path: Path) -> None:
    found = learn(run, {}, out=tmp_path / "out")
    then = pq.read_table(run / "results.parquet")
    for name in ("id", "rank", "score"):
        assert found.result[name].equals(then[name])
    assert [one.rank_label_free for one in found.questions[:3]] == [1, 2, 3]
    assert found.notice is None
    for words in (["explain", "out", "n000"], ["report", "out"], ["compare", str(run), "out"]):
        given = [str(tmp_path / "out") if word == "out" else word for word in words]
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 5
        assert "is a folder of oddhop learn" in done.stderr.replace("\n", " ")


def test_files_books_and_mappings_say_the_same(run: Path, tmp_path: Path) -> None:
    others = pq.read_table(run / "results.parquet").slice(6, 3)["id"].to_pylist()
    told = {**dict.fromkeys(CLIQUE, 1), others[0]: 0, others[1]: None}
    words = {1: "yes", 0: "0", None: ""}
    (tmp_path / "answers.csv").write_text("id,answer\n" + "".join(f"{k},{words[v]}\n" for k, v in told.items()))
    tables = [learn(run, told, out=tmp_path / "one").result]
    tables.append(learn(run, tmp_path / "answers.csv", out=tmp_path / "two").result)
    with open_book(run.parent / "cases.db") as book:
        cases = {one.members[0]: one.case_id for one in book.latest()}
        leader = next(case for first, case in cases.items() if first in CLIQUE)
        book.judge([NewVerdict(leader, "confirmed", who="ann"), NewVerdict(others[0], "cleared", who="ann")])
        book.judge([NewVerdict(others[1], "watch", who="ann")])
    tables.append(learn(run, run.parent / "cases.db", out=tmp_path / "three").result)
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert not tables[0]["rank"].equals(tables[0]["rank_label_free"])
    names = {file.name for file in (tmp_path / "one").iterdir() if not file.name.startswith(".")}
    assert names == {"learned.parquet", "learned.csv", "questions.csv", "feedback.oddhop", "manifest.json"}


def test_answers_are_learned_from_by_score_too_and_others_are_counted(home: Path, tmp_path: Path) -> None:  # noqa: F811
    tables = str(home / "edges.csv"), str(home / "nodes.csv")
    answers = pa.table({"id": [*CLIQUE, "nobody", "n000"], "answer": [0] * 7 + [1]})
    made = score(
        home / "model.oddhop", *tables, out=tmp_path / "run", settings=SETTINGS, explain=0, top=3, answers=answers
    )
    learned = pq.read_table(made.folder / "learned.parquet")
    assert learned["rank_label_free"].to_pylist() != learned["rank"].to_pylist()
    asked = pa.csv.read_csv(made.folder / "questions.csv")["id"].to_pylist()
    assert len(asked) == 20
    assert not set(asked) & set(CLIQUE)


def test_the_command_prints_the_new_ranking_with_the_next_questions_and_no_node_twice(
    run: Path, tmp_path: Path
) -> None:
    (tmp_path / "answers.csv").write_text(f"id,answer\n{CLIQUE[0]},no\nnobody,yes\n")
    words = ["learn", run, "--answers", tmp_path / "answers.csv", "--out", tmp_path / "out", "--questions", "4"]
    told = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False).output
    assert "1 answers are about nodes that this run does not score: skipped" in told
    learned = pq.read_table(tmp_path / "out" / "learned.parquet").slice(0, 10).to_pylist()
    asked = {one["id"]: f". {one['why']}" for one in pa.csv.read_csv(tmp_path / "out" / "questions.csv").to_pylist()}
    places = {row["id"]: f"rank {row['rank']}, before {row['rank_label_free']}" for row in learned}
    lines = told.splitlines()
    start = lines.index("First 10 nodes of the new ranking:") + 1
    assert lines[start : start + 10] == [f"  {one}: {place}{asked.get(one, '')}" for one, place in places.items()]
    assert len(asked) == 4
    assert any(one in asked for one in places)
    assert not any(told.count(f" {one}: ") > 1 for one in places)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,answer\na,maybe\n", "the answer about 'a' is not valid, got 'maybe'"),
        ("id,said\na,1\n", "columns id and answer"),
    ],
)
def test_other_tables_are_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(text)
    with pytest.raises(AnswersError, match=said):
        read_answers(tmp_path / "answers.csv")
    with pytest.raises(AnswersError, match="two answers"):
        read_answers(pa.table({"id": ["a", "a"], "answer": [1, 0]}))
