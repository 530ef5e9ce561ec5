"""Every form of a table gives the same network; what cannot be read is told by name."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from oddhop import Graph
from oddhop.errors import OddhopError, SettingsError, TableError
from oddhop.tables.encode import learn_encoding
from oddhop.tables.read import Query, read_tables
from oddhop.tables.settings import ReadSettings

ODD_IDS = ["a,b", 'say "hi"', "two\nlines", " spaced ", "naïve", "雪", "007", "7", "O'Brien", "; DROP TABLE nodes"]
IDS = [*ODD_IDS, "zoë"]
NODES = pa.table(
    {"id": IDS, "age": [3 * k for k in range(11)], "income": [0.1 * k for k in range(11)], "town": IDS[::-1]}
)
EDGES = pa.table({"source": IDS[:-1], "target": IDS[1:], "weight": [0.5] * 10})


def written(table: pa.Table, path) -> str:
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith((".csv", ".tsv")):
        delimiter = "\t" if name.endswith(".tsv") else ","
        pa_csv.write_csv(table, path.with_name(name), pa_csv.WriteOptions(delimiter=delimiter))
    else:
        lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
        path.with_name(name).write_text(lines, encoding="utf-8")
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.with_name(name).read_bytes()))
        path.with_name(name).unlink()
    return str(path)


def same(one, two) -> None:
    assert one.ids.equals(two.ids)
    assert one.columns.column_names == two.columns.column_names
    first, second = (learn_encoding(table.columns) for table in (one, two))  # what is text in a CSV is read here
    assert first.columns == second.columns
    assert np.array_equal(first.apply(one.columns)[0], second.apply(two.columns)[0])
    assert np.array_equal(one.edge_index, two.edge_index)
    assert (one.roles, one.counts) == (two.roles, two.counts)
    assert one.events.columns == two.events.columns
    for (_, array), (_, other) in zip(one.events.arrays(), two.events.arrays(), strict=True):
        assert array.dtype == other.dtype
        assert np.array_equal(array, other, equal_nan=array.dtype.kind == "f")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".ndjson", ".csv.gz", ".jsonl.gz"])
def test_every_file_gives_the_network_of_the_arrow_tables(tmp_path, suffix):
    edges, nodes = (written(t, tmp_path / f"{n}{suffix}") for t, n in ((EDGES, "edges"), (NODES, "nodes")))
    network = read_tables(edges, nodes)
    same(network, read_tables(EDGES, NODES))
    assert network.ids.to_pylist() == sorted(IDS)
    assert (network.roles.amount, network.counts.ignored_columns) == (("weight",), ())


@pytest.mark.parametrize(
    "make", [pa.Table.to_pandas, pl.from_arrow, pa.Table.to_reader], ids=["pandas", "polars", "reader"]
)
def test_every_frame_gives_the_network_of_the_arrow_tables(make):
    same(read_tables(make(EDGES), make(NODES)), read_tables(EDGES, NODES))


def test_forms_mix(tmp_path):
    same(read_tables(written(EDGES, tmp_path / "e.csv"), NODES.to_pandas()), read_tables(EDGES, NODES))
    same(read_tables(EDGES, written(NODES, tmp_path / "n.ndjson")), read_tables(EDGES, NODES))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".ndjson"])
def test_a_folder_and_a_pattern_are_one_table(tmp_path, suffix):
    (tmp_path / "parts").mkdir()
    for k in range(3):
        written(EDGES.slice(4 * k, 4), tmp_path / "parts" / f"part-{k}{suffix}")
    (tmp_path / "parts" / "_SUCCESS").touch()
    same(read_tables(tmp_path / "parts", NODES), read_tables(EDGES, NODES))
    same(read_tables(str(tmp_path / "parts" / "part-*"), NODES), read_tables(EDGES, NODES))


@pytest.mark.parametrize("name", ["it's", 'a "b"', "all*", "what?", "[ab]", "{x}", "back\\slash", "ü ' ; --"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".ndjson"])
def test_a_file_name_is_that_file_and_no_pattern(tmp_path, name, suffix):
    for decoy in ("allx", "whatx", "a", "b", "x", "backslash"):
        written(EDGES.slice(0, 1), tmp_path / f"{decoy}{suffix}")
    same(read_tables(written(EDGES, tmp_path / f"{name}{suffix}"), NODES), read_tables(EDGES, NODES))


def test_the_index_of_a_shuffled_pandas_frame_is_no_column_but_a_named_one_is():
    shuffled = NODES.to_pandas().sample(frac=1, random_state=0)
    same(read_tables(EDGES.to_pandas()[::-1], shuffled), read_tables(EDGES, NODES))
    named = read_tables(EDGES, shuffled.set_index("id"))
    assert named.roles.id == "id"
    assert named.columns.equals(read_tables(EDGES, NODES).columns)


def test_a_frame_is_not_changed():
    frame = NODES.to_pandas()
    read_tables(EDGES, frame)
    pd.testing.assert_frame_equal(frame, NODES.to_pandas())


def test_a_named_index_of_pandas_comes_first_whatever_its_name():
    named = NODES.to_pandas().rename(columns={"id": "who"}).set_index("who")
    assert read_tables(EDGES, named).roles.id == "who"
    for strange in ("[not JSON", "[" * 100_000, '{"index_columns": "x"}', '{"index_columns": [["x"], 3]}'):
        same(read_tables(EDGES, NODES.replace_schema_metadata({"pandas": strange})), read_tables(EDGES, NODES))


def test_semicolons_and_a_byte_order_mark_are_read(tmp_path):
    (tmp_path / "e.csv").write_text("source;target\n1;2\n", encoding="utf-8-sig")
    network = read_tables(tmp_path / "e.csv", pa.table({"id": [1, 2], "x": [0.0, 1.0]}))
    assert (network.roles.source, network.edge_index.tolist()) == ("source", [[0], [1]])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("wide.csv", "source,target\na,b\nc,d,e\n", "wide.csv, line 3: the header names 2 columns and the line has 3"),
        ("short.csv", "source,target\na,b\nc\n", "short.csv, line 3: the header names 2 columns and the line has 1"),
        ("open.csv", 'source,target\na,"b\nc,d\n', "open.csv"),
        ("head.csv", '"sou\nrce",target\na,b\n', "line break"),
        ("empty.csv", "", "is empty"),
        ("bare.csv", "1,2\n3,4\n", "looks like a value"),
        ("twice.csv", "source,source\n1,2\n", "more than one column 'source'"),
        ("bad.ndjson", '{"source": 1, "target": 2}\n{"source": oops}\n{"source": 1}\n', "line 2"),
        ("list.ndjson", "[1, 2]\n", "one JSON object a line"),
        ("mixed.ndjson", '{"source": 1, "target": 2}\n{"source": "1", "target": 2}\n', "all numbers or all strings"),
        ("fake.parquet", "no parquet at all", "fake.parquet"),
        ("fake.csv.gz", "no gzip at all", "fake.csv.gz"),
        ("edges.json", "[]", "write one object a line and call it .ndjson"),
        ("edges.what", "[]", "name the file by what it holds"),
    ],
)
def test_a_broken_file_is_named(tmp_path, name, content, says):
    (tmp_path / name).write_text(content)
    with pytest.raises(TableError) as caught:
        read_tables(tmp_path / name, NODES)
    assert says in str(caught.value)


def test_what_is_not_there_is_told(tmp_path):
    written(EDGES, tmp_path / "edges.csv")
    (tmp_path / "empty").mkdir()
    for named, says in [
        (tmp_path / "edgse.csv", r"does not exist; did you mean 'edges.csv'"),
        (tmp_path / "empty", "holds no table"),
        (tmp_path / "*.parquet", "no file matches"),
        ("https://example.org/e.csv", "https://, which is not read"),
        ("postgresql://db/x", "Query"),
        (Query("mysql://db/x", "select 1"), "postgresql://"),
        (os.devnull, "neither a file nor a folder"),
        ("", "path of a file"),
        ("a\0b", "path of a file"),
        (3, r"got builtins\.int"),
    ]:
        with pytest.raises(TableError, match=says):
            read_tables(named, NODES)


def test_a_folder_of_two_forms_or_two_headers_is_refused(tmp_path):
    written(EDGES, tmp_path / "a.csv")
    written(EDGES, tmp_path / "b.ndjson")
    with pytest.raises(TableError, match="CSV, NDJSON"):
        read_tables(tmp_path, NODES)
    written(EDGES.rename_columns(["source", "target", "w"]), tmp_path / "c.csv")
    with pytest.raises(TableError, match="one header"):
        read_tables(tmp_path / "*.csv", NODES)


def test_a_frame_that_is_no_table_is_a_typed_error():
    with pytest.raises(TableError):
        read_tables(EDGES, pd.DataFrame({"id": ["a", 1], "x": [1.0, 2.0]}))
    with pytest.raises(TableError):
        read_tables(pl.Series([1, 2]), NODES)


def test_memory_and_folder_settings_are_checked(tmp_path):
    same(read_tables(EDGES, NODES, ReadSettings(memory_limit="200MB", temp_folder=tmp_path)), read_tables(EDGES, NODES))
    assert not list(tmp_path.iterdir())
    with pytest.raises(SettingsError, match="memory_limit"):
        read_tables(EDGES, NODES, ReadSettings(memory_limit="lots"))
    with pytest.raises(TableError, match="temp_folder"):
        read_tables(EDGES, NODES, ReadSettings(temp_folder=tmp_path / "none"))


@pytest.mark.slow
def test_reading_works_on_disk_where_memory_ends(tmp_path):
    count = 400_000
    nodes = pa.table({"id": [f"node {k} with a long name" for k in range(count)], "x": np.arange(count) / 7})
    pq.write_table(nodes, tmp_path / "n.parquet")
    ends = nodes.column("id").take(pa.array((np.arange(2 * count) * 7919) % count))
    pq.write_table(pa.table({"u": ends.slice(0, count), "v": ends.slice(count)}), tmp_path / "e.parquet")
    tight = read_tables(tmp_path / "e.parquet", tmp_path / "n.parquet", ReadSettings(memory_limit="120MB"))
    same(tight, read_tables(tmp_path / "e.parquet", tmp_path / "n.parquet"))


def test_a_query_hides_its_password_and_needs_its_server():
    query = Query("postgresql://me:hunter2@localhost:1/none", "select 1")
    assert "hunter2" not in repr(query)
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(OddhopError) as caught:
        read_tables(query, NODES)
    assert "hunter2" not in str(caught.value)
    assert "localhost" in str(caught.value)


@pytest.mark.skipif("ODDHOP_POSTGRES" not in os.environ, reason="ODDHOP_POSTGRES names no database to read from")
def test_a_query_gives_the_network_of_the_arrow_tables():
    def values(table, columns):
        rows = ", ".join(
            "(" + ", ".join("'" + v.replace("'", "''") + "'" if isinstance(v, str) else f"{v!r}" for v in row) + ")"
            for row in zip(*table.to_pydict().values(), strict=True)
        )
        casts = ", ".join(f"{name}::{kind} as {name}" for name, kind in columns.items())
        return f"select {casts} from (values {rows}) as t({', '.join(columns)})"  # noqa: S608 - texts of this file

    uri = os.environ["ODDHOP_POSTGRES"]
    edges = values(EDGES, {"source": "text", "target": "text", "weight": "float8"})
    nodes = values(NODES, {"id": "text", "age": "int8", "income": "float8", "town": "text"})
    same(read_tables(Query(uri, edges), Query(uri, nodes)), read_tables(EDGES, NODES))
    with pytest.raises(TableError, match="nonsense"):
        read_tables(Query(uri, "select nonsense"), NODES)


def test_a_network_becomes_a_graph():
    tables = read_tables(EDGES, NODES)
    x = tables.columns.select(["age"]).to_pandas().to_numpy()
    graph = Graph.from_arrays(tables.edge_index, x, tables.ids.to_numpy(zero_copy_only=False))
    assert graph.node_ids.tolist() == sorted(IDS)
    assert graph.attributes.ravel().tolist() == tables.columns.column("age").to_pylist()
    assert graph.repairs.one_way == graph.edge_count == 10


def test_a_slow_query_draws_no_bar_into_the_output() -> None:
    # In a program without a file DuckDB takes itself to be used by a person, and shows one.
    lines = (
        "from oddhop.tables.read.database import database",
        "with database([]) as connection:",
        "    print(connection.execute(\"SELECT current_setting('enable_progress_bar')\").fetchone()[0])",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
