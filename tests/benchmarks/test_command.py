"""The command ``python -m benchmarks``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.comparison.runner import read_lines
from benchmarks.networks import load_network


def invoke(*arguments: object) -> object:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.slow
def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    lines = tmp_path / "cells.jsonl"
    arguments = ("run", "--suite", "growth", "--match", "degree", "--match", 'synthetic 1000"')
    first = invoke(*arguments, "--lines", lines, "--data", tmp_path)
    assert first.exit_code == 0, first.output
    assert "2 cells run, 0 already done" in first.output
    assert {line["status"] for line in read_lines(lines)} == {"done"}
    assert "0 cells run, 2 already done" in invoke(*arguments, "--lines", lines, "--data", tmp_path).output


def test_an_unknown_suite_is_refused_in_one_sentence(tmp_path: Path) -> None:
    said = invoke("run", "--suite", "everything", "--lines", tmp_path / "cells.jsonl")
    assert said.exit_code == 2
    assert "no suite is called 'everything'" in said.output


def test_inject_writes_a_mat_file_that_can_be_loaded_by_its_path(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    adjacency = sp.random_array((100, 100), density=0.05, rng=rng, format="csc")
    scipy.io.savemat(tmp_path / "in.mat", {"Network": adjacency, "Attributes": rng.random((100, 5))})
    said = invoke("inject", tmp_path / "in.mat", "--out", tmp_path / "out.mat", "--cliques", 2, "--clique-size", 5)
    assert said.exit_code == 0, said.output
    made = load_network(str(tmp_path / "out.mat"))
    assert (int(made.structural.sum()), int(made.contextual.sum()), int(made.anomalous.sum())) == (10, 10, 20)


def test_inject_writes_tables_with_the_answers_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"n{k:03}" for k in range(80)]
    pq.write_table(pa.table({"id": names, "age": rng.normal(size=80)}), tmp_path / "nodes.parquet")
    ends = rng.integers(0, 80, (2, 240))
    table = {"source": [names[k] for k in ends[0]], "target": [names[k] for k in ends[1]]}
    pq.write_table(pa.table(table), tmp_path / "edges.parquet")
    given = (tmp_path / "edges.parquet", "--nodes", tmp_path / "nodes.parquet")
    said = invoke("inject", *given, "--out", tmp_path / "out", "--cliques", 2, "--clique-size", 4)
    assert said.exit_code == 0, said.output
    nodes, labels = (pq.read_table(tmp_path / "out" / f"{name}.parquet") for name in ("nodes", "labels"))
    assert nodes.column_names == ["id", "age"]
    assert nodes["id"].to_pylist() == names
    assert sum(labels["structural"].to_pylist()) == sum(labels["contextual"].to_pylist()) == 8
    assert invoke("inject", "cora2", "--out", tmp_path / "out.mat").exit_code == 3
