"""Folders key=value are columns of the table; folders of other names are refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop.errors import TableError
from oddhop.graph.disk import open_stored
from oddhop.tables.encode import learn_encoding
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network, read_network
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings

EDGES = pa.table({"source": ["a", "b", "c"], "target": ["b", "c", "a"]})
NODES = pa.table({"id": ["a", "b", "c"], "age": [31, 52, 47]})
PLAIN = ReadSettings(flows=False)


def put(table: pa.Table, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file) if file.suffix == ".parquet" else pa_csv.write_csv(table, file)


def split(table: pa.Table, column: str, folder: str, suffix: str) -> None:
    """Write a table as one folder a value of a column, two files in each."""
    for value in pc.unique(table[column]).to_pylist():
        rows = table.filter(pc.equal(table[column], value)).drop_columns([column])
        for k in range(2):
            part = rows.take(np.arange(k, rows.num_rows, 2))
            put(part, Path(folder, f"{column}={value}", f"part-{k}.{suffix}"))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_partition_column_is_a_column_of_the_table(folder, tables, detect, suffix):
    # The town stands last in the table, as it does where the folders have it.
    nodes = tables["nodes"].select(["name", "age", "note", "town"])
    pa_csv.write_csv(nodes, "people.csv")
    split(nodes, "town", "people", suffix)
    Path("people", "_SUCCESS").touch()
    assert detect("edges.csv", "people") == detect("edges.csv", "people.csv", out="csv")


def test_a_partitioned_folder_in_a_store(folder, tables, detect, bucket):
    nodes = tables["nodes"].select(["name", "age", "note", "town"])
    pa_csv.write_csv(nodes, "people.csv")
    split(nodes, "town", "people", "parquet")
    for file in (one for one in Path("people").rglob("*") if one.is_file()):
        bucket(f"lake/{file}", file.read_bytes())
    assert detect("edges.csv", "s3://shop/lake/people/") == detect("edges.csv", "people.csv", out="csv")


def test_values_are_texts_as_in_a_csv(tmp_path):
    put(NODES.slice(0, 1), tmp_path / "year=2026" / "month=05" / "day=2026-05-01" / "x.parquet")
    put(NODES.slice(1, 1), tmp_path / "year=2025" / "month=11" / "day=2025-11-30" / "x.parquet")
    put(NODES.slice(2), tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "month=" / "day=2025-11-30" / "x.parquet")
    found = read_tables(EDGES, tmp_path, PLAIN).columns
    assert found["year"].to_pylist() == ["2026", "2025", None]
    assert found["month"].to_pylist() == ["05", "11", None]
    kinds = {one.column: one.kind for one in learn_encoding(found).report}
    assert (kinds["year"], kinds["day"]) == ("number", "date")


def test_keys_and_values_of_odd_characters(tmp_path):
    root = tmp_path / "year=1999" / "it's [a] (table) AS own"  # what is above the table is no column of it
    for k, name in enumerate(["a b%2Fc=it's", "a b%2Fc=x=y;--", 'a b%2Fc=ü "q" [*]?']):
        put(NODES.slice(k, 1), root / name / "what?) AS own.parquet")
    found = read_tables(EDGES, root, PLAIN).columns
    assert found.column_names == ["age", "a b/c"]
    assert found["a b/c"].to_pylist() == ["it's", "x=y;--", 'ü "q" [*]?']


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1), min_size=1))
def test_any_value_comes_back(tmp_path_factory, values):
    from urllib.parse import quote

    values = sorted(value for value in set(values) if len(quote(value, safe="")) < 200)
    root = tmp_path_factory.mktemp("any")
    ids = [f"n{k}" for k in range(len(values))]
    for name, value in zip(ids, values, strict=True):
        put(pa.table({"id": [name], "x": [1]}), root / f"part=v{quote(value, safe='')}" / "f.parquet")
    if not ids:
        return
    edges = pa.table({"source": [ids[0]], "target": [ids[-1]]})
    found = read_tables(edges, root, PLAIN)
    by_id = dict(zip(found.ids.to_pylist(), found.columns["part"].to_pylist(), strict=True))
    assert [str(by_id[name]) for name in ids] == [f"v{value}" for value in values]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["a=1/x.parquet", "b=2/x.parquet"], r"one order of folders, got a= for 'a=1/x.parquet' and b= for 'b=2/x"),
        (["a=1/x.parquet", "a=1/b=2/x.parquet"], "one order of folders"),
        (["a=1/b=2/x.parquet", "b=2/a=1/x.parquet"], "one order of folders"),
        (["x.parquet", "a=1/x.parquet"], "one order of folders, got a= for 'a=1/x.parquet' and no folder for 'x.parq"),
        (["a=1/plain/x.parquet"], r"the subfolder 'a=1/plain', whose name is not key=value"),
        (["a=1/x.parquet", "plain/x.parquet"], r"the subfolder 'plain', whose name is not key=value"),
        (["plain/x.parquet"], r"holds no table; the subfolder 'plain' is not called key=value"),
        (["=1/x.parquet"], "not key=value"),
        (["a%FF=1/x.parquet"], "not key=value"),
        (["a=%00/x.parquet"], "not key=value"),
        (["a=1/A=2/x.parquet"], "the key 'A' twice"),
        (["AGE=1/x.parquet"], "'AGE' in the names of its folders and as a column"),
        (["a=1/x.parquet", "a=2/x.csv"], "one form"),
        (["a=1/x.ndjson"], "NDJSON in folders key=value"),
        (["a=1/notes.txt"], "holds no table"),
    ],
)
def test_folders_that_are_no_table_are_refused_by_name(tmp_path, files, says):
    for file in files:
        put(NODES, tmp_path / file)
    with pytest.raises(TableError, match=says):
        read_tables(EDGES, tmp_path, PLAIN)


def test_a_loop_of_links_ends(tmp_path):
    put(NODES, tmp_path / "a=1" / "x.parquet")
    (tmp_path / "a=1" / "a=2").symlink_to(tmp_path)
    with pytest.raises(TableError, match="twice"):
        read_tables(EDGES, tmp_path, PLAIN)


def test_ingest_reads_partitions(folder, tables):
    split(tables["edges"].append_column("month", pa.array(["05", "06"] * 150)), "month", "ties", "parquet")
    split(tables["nodes"].select(["name", "age", "note", "town"]), "town", "people", "csv")
    ingest("ties", "people", "graph")
    stored, read = open_network("graph"), read_network("ties", "people")
    assert stored.graph.fingerprint == read.graph.fingerprint
    assert open_stored("graph").manifest.nodes == 80
