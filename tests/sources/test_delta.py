"""A Delta table has the rows that its log names, here and in a store."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from oddhop.errors import TableError
from oddhop.tables.ingest import ingest
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings

deltalake = pytest.importorskip("deltalake")
NODES = pa.table({"id": ["a", "b", "c"], "age": [31, 52, 47]})
PLAIN = ReadSettings(flows=False)


def written(tables: dict[str, pa.Table]) -> None:
    """The edges in two commits, and rows that were deleted again: their file is there, and the log removed it."""
    edges, half = tables["edges"], tables["edges"].num_rows // 2
    wrong = pa.table({"from": ["p1"] * 9, "to": ["p70"] * 9, "amount": [1e6] * 9})
    deltalake.write_deltalake("edges", edges.slice(0, half))
    deltalake.write_deltalake("edges", wrong, mode="append")
    deltalake.write_deltalake("edges", edges.slice(half), mode="append")
    deltalake.DeltaTable("edges").delete("amount > 1000")
    deltalake.write_deltalake("nodes", tables["nodes"], partition_by=["town"])


def test_a_removed_file_is_not_read(folder, tables, detect, from_csv):
    written(tables)
    present = sum(pq.read_metadata(file).num_rows for file in Path("edges").glob("*.parquet"))
    assert present == tables["edges"].num_rows + 9
    assert detect("edges", "nodes") == from_csv


def test_a_delta_table_in_a_store(folder, tables, bucket, detect, from_csv):
    written(tables)
    for file in (one for name in ("edges", "nodes") for one in Path(name).rglob("*") if one.is_file()):
        bucket(f"lake/{file}", file.read_bytes())
    assert detect("s3://shop/lake/edges", "s3://shop/lake/nodes/") == from_csv


def test_columns_that_came_later_are_missing_before(tmp_path):
    table = tmp_path / "t"
    deltalake.write_deltalake(table, pa.table({"id": ["a"], "age": [31]}))
    more = pa.table({"id": ["b"], "age": [52], "town": ["Bonn"]})
    deltalake.write_deltalake(table, more, mode="append", schema_mode="merge")
    edges = pa.table({"source": ["a"], "target": ["b"]})
    table = table.rename(tmp_path / "it's a [table] ü #1 %20 ?")
    assert read_tables(edges, table, PLAIN).columns["town"].to_pylist() == [None, "Bonn"]


def test_without_the_package_the_pip_line_is_told(tmp_path, monkeypatch):
    (tmp_path / "_delta_log").mkdir()
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(TableError, match=r"pip install oddhop\[delta\]"):
        read_tables(tmp_path, NODES)


def edited(table: Path, **changed: str) -> None:
    """Change what the first commit says of the file that it adds."""
    log = table / "_delta_log" / "00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"].update(changed)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("path", ["../secret.parquet", "{folder}/secret.parquet", "file://{folder}/secret.parquet"])
def test_a_log_that_leads_elsewhere_is_refused(tmp_path, path):
    deltalake.write_deltalake(tmp_path / "t", pa.table({"source": ["a"], "target": ["b"]}))
    pq.write_table(pa.table({"source": ["b"], "target": ["c"]}), tmp_path / "secret.parquet")
    edited(tmp_path / "t", path=path.format(folder=tmp_path))
    with pytest.raises(TableError, match="outside"):
        read_tables(tmp_path / "t", NODES)


def test_a_broken_table_is_told_by_name(tmp_path):
    table = tmp_path / "t"
    deltalake.write_deltalake(table, pa.table({"source": ["a"], "target": ["b"]}))
    next(table.glob("*.parquet")).write_bytes(b"PAR1 cut")
    with pytest.raises(TableError, match="/t' cannot be read"):
        read_tables(table, NODES)
    next(table.glob("*.parquet")).unlink()
    with pytest.raises(TableError, match="/t' cannot be read"):
        read_tables(table, NODES)
    (table / "_delta_log" / "00000000000000000000.json").write_text("garbage")
    with pytest.raises(TableError, match="/t' is a Delta table that cannot be read"):
        read_tables(table, NODES)
    (table / "_delta_log" / "00000000000000000000.json").unlink()
    with pytest.raises(TableError, match="/t' is a Delta table that cannot be read"):
        read_tables(table, NODES)


def test_rows_that_are_deleted_inside_a_file_are_refused_by_name(tmp_path):
    config = {"delta.enableDeletionVectors": "true"}
    deltalake.write_deltalake(tmp_path, pa.table({"source": ["a"], "target": ["b"]}), configuration=config)
    log = tmp_path / "_delta_log" / "00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    lines = [{"protocol": protocol | features} if "protocol" in line else line for line in lines]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(TableError, match="deletionVectors"):
        read_tables(tmp_path, NODES)


def test_a_large_table_arrives_batch_by_batch(tmp_path):
    count = 300_000
    ids = pc.cast(pa.array(range(count)), pa.string())
    deltalake.write_deltalake(tmp_path, pa.table({"id": ids, "x": pa.array(range(count))}))
    edges = pa.table({"source": ids.slice(0, count - 1), "target": ids.slice(1)})
    assert read_tables(edges, tmp_path, PLAIN).counts.node_rows == count


def test_ingest_refuses_what_is_read_once(tmp_path):
    deltalake.write_deltalake(tmp_path / "t", pa.table({"source": ["a"], "target": ["b"]}))
    pq.write_table(NODES, tmp_path / "nodes.parquet")
    with pytest.raises(TableError, match="write it to Parquet first"):
        ingest(tmp_path / "t", tmp_path / "nodes.parquet", tmp_path / "graph")
