"""A network on disk is the one that the reader in memory makes, whatever the tables hold."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oddhop.base.checkpoints import locked
from oddhop.errors import EncodingError, OddhopError, RunFolderError, SettingsError, TableError
from oddhop.tables.encode import learn_encoding
from oddhop.tables.ingest import growing_files, ingest
from oddhop.tables.ingest.growing_files import GrowingArray
from oddhop.tables.network import Network, open_network, read_network
from oddhop.tables.read.database import database
from oddhop.tables.settings import EncodeSettings, ReadSettings

PEOPLE = pa.table({"id": ["c", "a", "b", "d"], "age": [31, 52, 47, None], "town": ["Bonn", "Cork", "Bonn", None]})
TIES = pa.table({"u": ["a", "b", "b", "c", "d", "z", None], "v": ["b", "a", "a", "c", "a", "a", "b"]})


def written(folder: Path, form: str = "parquet", **tables: pa.Table) -> list[str]:
    write = pq.write_table if form == "parquet" else pa.csv.write_csv
    for name, table in tables.items():
        write(table, folder / f"{name}.{form}")
    return [str(folder / f"{name}.{form}") for name in tables]


def assert_same(one: Network, other: Network) -> None:
    assert one.graph.fingerprint == other.graph.fingerprint
    assert one.graph.repairs == other.graph.repairs
    assert one.graph.attribute_names == other.graph.attribute_names
    assert one.ids.equals(other.ids)
    assert one.ids.type == other.ids.type
    assert (one.encoding, one.roles, one.counts, one.differences) == (
        other.encoding,
        other.roles,
        other.counts,
        other.differences,
    )
    assert (one.originals is None or not one.originals.num_columns) == (
        other.originals is None or not other.originals.num_columns
    )
    if one.originals is not None and other.originals is not None:
        assert one.originals.equals(other.originals)


def both(files: list[str], folder: Path, **options: Any) -> tuple[Network, Network]:
    words = [one.model_dump() for name, one in options.items() if name in ("read", "encode")]
    settings = {name: value for one in words for name, value in one.items()}
    in_memory = read_network(*files, **settings, encoding=options.get("encoding"))
    ingest(*files, folder, **options, partition_entries=3)
    return open_network(folder), in_memory


ids = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d", "007", "7", "é", "=1"]))
numbers = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([10**18, -(10**18)]))


@given(
    edges=st.lists(st.tuples(ids, ids), max_size=20),
    nodes=st.lists(st.tuples(ids, numbers, ids), min_size=1, max_size=9),
    form=st.sampled_from(["csv", "parquet"]),
    strict=st.booleans(),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_messy_tables_give_what_the_reader_in_memory_gives(edges, nodes, form, strict):
    with tempfile.TemporaryDirectory() as home:
        ties = pa.table({k: pa.array([edge[k == "v"] for edge in edges], pa.string()) for k in ("u", "v")})
        kinds = {"id": pa.string(), "x": pa.int64(), "c": pa.string()}
        people = pa.table({name: pa.array([node[k] for node in nodes], kinds[name]) for k, name in enumerate(kinds)})
        files = written(Path(home), form, edges=ties, nodes=people)
        out = Path(home) / "graph"
        read = ReadSettings(strict=strict)
        expected = outcome(lambda: read_network(*files, strict=strict))
        if isinstance(expected, Network):
            ingest(*files, out, read, partition_entries=4)
            assert_same(open_network(out), expected)
        else:
            assert outcome(lambda: ingest(*files, out, read)) == expected
            assert not out.exists()


def outcome(make: Callable[[], Any]) -> Any:
    """What a function gives, or how it refuses."""
    try:
        return make()
    except OddhopError as error:
        return type(error), str(error)


MOMENT = dt.datetime(2026, 5, 1, 12)
KINDS_OF_IDS = {
    "integers without a gap": list(range(-2, 2)),
    "integers with gaps": [5, 900, -7, 2**62],
    "small integers": pa.array([-128, 127, 0, 1], pa.int8()),
    "large integers": pa.array([2**64 - 1, 2**63, 0, 1], pa.uint64()),
    "floats": [1.0, 2.0, 3.0, 4.0],
    "uuids": pa.array([uuid.UUID(int=k).bytes for k in (9, 3, 4, 1)], pa.uuid()),
    "moments": [MOMENT + dt.timedelta(days=k) for k in (3, 1, 2, 0)],
}


@pytest.mark.parametrize("kind", KINDS_OF_IDS)
def test_ids_of_any_type(tmp_path, kind):
    names = pa.array(KINDS_OF_IDS[kind])
    ties = pa.table({"u": names.take(pa.array([0, 1, 2, 2])), "v": names.take(pa.array([1, 2, 3, 1]))})
    files = written(tmp_path, edges=ties, nodes=pa.table({"id": names, "x": [1, 5, 2, 8]}))
    assert_same(*both(files, tmp_path / "graph"))


def test_folders_of_part_files_and_json(tmp_path):
    for k in range(3):
        (tmp_path / "edges").mkdir(exist_ok=True)
        written(tmp_path / "edges", **{f"part-{k}": pa.table({"src": [k, k + 1], "dst": [k + 1, k + 3]})})
    (tmp_path / "edges" / "_SUCCESS").touch()
    lines = [json.dumps({"id": k, "x": k * k, "on": k % 2 == 0}) for k in range(6)]
    (tmp_path / "nodes.ndjson").write_text("\n".join(lines))
    assert_same(*both([str(tmp_path / "edges"), str(tmp_path / "nodes.ndjson")], tmp_path / "graph"))


def test_many_attributes_of_text_are_stored_sparse(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(60)])
    notes = [" ".join(words[rng.integers(0, 60, 4)]) for _ in range(50)]
    days = [dt.date(2026, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 300, 50)]
    people = pa.table({"id": range(50), "note": notes, "since": days, "x": rng.normal(size=50)})
    ties = pa.table({"u": rng.integers(0, 50, 90), "v": rng.integers(0, 50, 90)})
    on_disk, in_memory = both(
        written(tmp_path, edges=ties, nodes=people), tmp_path / "graph", encode=EncodeSettings(kinds={"note": "text"})
    )
    assert_same(on_disk, in_memory)
    assert on_disk.originals.column_names == ["note", "since"]
    assert on_disk.graph.attributes.shape[1] > 256
    assert not on_disk.graph.attributes.data.flags.writeable


def test_an_encoding_is_used_again(tmp_path):
    files = written(tmp_path, edges=TIES, nodes=PEOPLE)
    other = learn_encoding(pa.table({"age": [1, 2, 300], "town": ["Rome", "Rome", "Cork"]}))
    on_disk, in_memory = both(files, tmp_path / "graph", encoding=other)
    assert_same(on_disk, in_memory)
    assert on_disk.differences
    with pytest.raises(EncodingError, match="height"):
        ingest(*files, tmp_path / "other", encoding=learn_encoding(pa.table({"height": [1, 2, 3]})))
    assert not (tmp_path / "other").exists()


def test_settings_reach_the_reader_and_the_encoder(tmp_path):
    files = written(tmp_path, edges=TIES.rename_columns(["p", "q"]), nodes=PEOPLE)
    options = {"read": ReadSettings(source="q", target="p"), "encode": EncodeSettings(kinds={"town": "ignore"})}
    assert_same(*both(files, tmp_path / "graph", **options))


def test_the_order_of_the_rows_changes_no_byte(tmp_path):
    bytes_of = []
    for k, order in enumerate(([0, 1, 2, 3, 4, 5, 6], [6, 3, 1, 0, 5, 2, 4])):
        (tmp_path / str(k)).mkdir()
        nodes = PEOPLE.take(pa.array([i for i in order if i < 4]))
        files = written(tmp_path / str(k), edges=TIES.take(pa.array(order)), nodes=nodes)
        ingest(*files, tmp_path / str(k) / "graph")
        kept = sorted((tmp_path / str(k) / "graph").iterdir())
        bytes_of.append({file.name: file.read_bytes() for file in kept if file.name != "manifest.json"})
    assert bytes_of[0] == bytes_of[1]
    assert sorted(bytes_of[0]) == [
        ".lock",
        "attributes.npy",
        "encoding.json",
        *(f"events_{name}.npy" for name in ("amounts", "indptr", "kinds", "partners", "times")),
        "ids.parquet",
        "indices.npy",
        "indptr.npy",
    ]


def test_a_folder_takes_one_network_and_one_run_at_a_time(tmp_path):
    files = written(tmp_path, edges=TIES, nodes=PEOPLE)
    out = tmp_path / "graph"
    with locked(out), pytest.raises(RunFolderError, match="another run is writing"):
        ingest(*files, out)
    first = ingest(*files, out).manifest
    assert ingest(*files, out).manifest == first
    with pytest.raises(RunFolderError, match="already has a network"):
        ingest(*files, out, partition_entries=2)
    with pytest.raises(SettingsError, match="partition_entries"):
        ingest(*files, tmp_path / "other", partition_entries=0)
    with pytest.raises(TableError, match="must be a file"):
        ingest(TIES, PEOPLE, tmp_path / "other")


def test_a_full_disk_keeps_what_was_done(tmp_path, monkeypatch):
    files = written(tmp_path, edges=TIES, nodes=PEOPLE)
    out = tmp_path / "graph"

    def full(self, rows):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(GrowingArray, "append", full)
        with pytest.raises(OSError, match="No space left"):
            ingest(*files, out)
    assert (out / "unfinished" / "pairs.json").exists()
    assert not list(out.rglob("*.tmp"))
    with pytest.raises(RunFolderError, match="has another run: settings was"):
        ingest(*files, out, partition_entries=2)
    ingest(*files, out)
    assert_same(open_network(out), read_network(*files))


def test_a_broken_line_is_told_and_leaves_nothing(tmp_path):
    nodes = written(tmp_path, "csv", nodes=PEOPLE)[0]
    (tmp_path / "edges.csv").write_text("u,v\na,b\nb,c,d\n")
    with pytest.raises(TableError, match="line 3"):
        ingest(tmp_path / "edges.csv", nodes, tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


def test_a_database_that_a_kill_left_half_made_does_not_stand_in_the_way(tmp_path):
    (tmp_path / "edges.csv").write_text("from,to\na,b\nb,c\n")
    (tmp_path / "nodes.csv").write_text("name,age\na,31\nb,25\nc,40\n")
    work = tmp_path / "graph" / "unfinished"
    work.mkdir(parents=True)
    (work / "tables.duckdb").write_bytes(b"half")
    assert ingest(tmp_path / "edges.csv", tmp_path / "nodes.csv", tmp_path / "graph").manifest.edges == 2
    (tmp_path / "half.duckdb").write_bytes(b"half" * 5_000)
    with pytest.raises(TableError, match="cannot be opened"), database([], file=tmp_path / "half.duckdb"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.parametrize("rows", [1, 100_000])
def test_a_disk_that_fills_while_ids_are_written_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    whole = growing_files.atomic_file

    @contextmanager
    def full(file: Path) -> Iterator[Any]:
        with whole(file) as content:
            os.dup2(os.open("/dev/full", os.O_WRONLY), content.fileno())
            yield content

    def write() -> None:
        with growing_files.growing_table(tmp_path / "ids.parquet") as append:
            append(pa.table({"id": np.random.default_rng(0).integers(0, 2**60, rows)}))

    write()
    assert pq.read_table(tmp_path / "ids.parquet").num_rows == rows
    (tmp_path / "ids.parquet").unlink()
    monkeypatch.setattr(growing_files, "atomic_file", full)
    with pytest.raises(OSError, match="No space left"):
        write()
    assert not list(tmp_path.iterdir())


def test_a_write_of_ids_that_failed_once_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def write() -> None:
        with growing_files.growing_table(tmp_path / "ids.parquet") as append:
            append(pa.table({"id": [1]}))
            with monkeypatch.context() as once:
                once.setattr(pq.ParquetWriter, "write_table", fail)
                append(pa.table({"id": [2]}))

    with pytest.raises(OSError, match="No space left"):
        write()
    assert not list(tmp_path.iterdir())
