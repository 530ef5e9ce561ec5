"""One table may come by standard input, in a form that its first bytes tell."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from oddhop.cli import app
from oddhop.errors import TableError
from oddhop.tables.ingest import ingest
from oddhop.tables.read import read_tables
from tests.cli.conftest import FEW

NODES = pa.table({"id": ["a", "b"], "age": [31, 52]})


@pytest.mark.parametrize("name", ["edges.csv", "edges.parquet", "edges.ndjson", "edges.tsv"])
def test_piped_edges_give_the_bytes_of_csv(folder, tables, detect, from_csv, name):
    lines = (json.dumps(row) + "\n" for row in tables["edges"].to_pylist())
    Path("edges.ndjson").write_text("".join(lines))
    Path("edges.tsv").write_text(Path("edges.csv").read_text().replace(",", "\t"))
    assert detect("-", "nodes.csv", stdin=Path(name).read_bytes()) == from_csv


def test_piped_nodes_give_the_bytes_of_csv(folder, detect, from_csv):
    assert detect("edges.csv", "-", stdin=Path("nodes.csv").read_bytes()) == from_csv


@pytest.mark.slow
def test_a_real_pipe_and_a_report_that_reads_it_again(folder):
    oddhop = [str(Path(sys.executable).parent / "oddhop")]
    detect = [*oddhop, "detect", "-", "--nodes", "nodes.csv", "--out", "run", "--seed", "0", "--top", "3", *FEW]
    with Path("edges.csv").open("rb") as edges:
        subprocess.run(detect, stdin=edges, check=True, capture_output=True)
    with Path("edges.csv").open("rb") as edges:
        subprocess.run([*oddhop, "report", "run"], stdin=edges, check=True, capture_output=True)
    named = [*oddhop, "report", "run", "--edges", "edges.csv"]
    subprocess.run(named, stdin=subprocess.DEVNULL, check=True, capture_output=True)
    done = subprocess.run([*oddhop, "report", "run"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 3
    assert "standard input (-), which is empty" in done.stderr


@pytest.mark.parametrize("nodes", ["-", "person=-"])
def test_two_tables_by_standard_input_are_refused(folder, nodes):
    done = CliRunner().invoke(app, ["plan", "-", "--nodes", nodes], input=Path("edges.csv").read_bytes())
    assert done.exit_code == 3
    assert "standard input (-) is named for 2 tables" in done.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "is empty"), (b"\x1f\x8b\x08\x00", "gunzip"), (b"PAR1 cut", "cannot be read"), (b"\xff\xfe", "is empty")],
)
def test_what_is_no_table_is_told(monkeypatch, tmp_path, content, says):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False))
    with pytest.raises(TableError, match=says):
        read_tables("-", NODES)
    assert not list(tmp_path.iterdir())


def test_a_terminal_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(TableError, match="terminal"):
        read_tables("-", NODES)


def test_ingest_refuses_it_by_name(tmp_path):
    with pytest.raises(TableError, match="files of this machine to be ingested, got '-'"):
        ingest("-", tmp_path / "nodes.csv", tmp_path / "graph")
