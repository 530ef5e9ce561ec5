"""A folder is opened if it is whole, and maps what is asked for; a damaged one is refused with a reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import oddhop
from oddhop import Graph, Odd
from oddhop.base.arrays import lies_on_disk
from oddhop.detector.cost import Size, check_memory
from oddhop.errors import GraphError, MemoryBudgetError
from oddhop.graph.adjacency import upper_edges
from oddhop.graph.checks import rows_are_mirrored, rows_are_whole
from oddhop.graph.disk import HEADER, ArrayEntry, Manifest, is_stored, open_stored, verify_stored
from oddhop.graph.preparation import learn_preparation
from oddhop.hcm.purify import purify
from oddhop.hcm.settings import HCMSettings
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network, read_network
from tests.conftest import QUICK, needs_torch


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Two towns of forty, in partitions of at most 100 entries."""
    folder = tmp_path_factory.mktemp("stored")
    rng = np.random.default_rng(0)
    half = rng.integers(0, 40, (2, 150))
    u, v = np.concatenate([half, half + 40], axis=1)
    pq.write_table(pa.table({"u": u, "v": v}), folder / "edges.parquet")
    town = np.repeat([0.0, 2.0], 40)
    columns = {f"x{k}": town + rng.normal(size=80) for k in range(4)}
    pq.write_table(pa.table({"id": range(80), **columns}), folder / "nodes.parquet")
    ingest(folder / "edges.parquet", folder / "nodes.parquet", folder / "graph", partition_entries=100)
    return folder


@pytest.fixture
def copy(made, tmp_path) -> Path:
    return Path(shutil.copytree(made / "graph", tmp_path / "graph"))


@needs_torch
def test_what_lies_on_the_disk_is_not_counted_as_memory(made):
    from oddhop.hcm.cost import memory

    opened = Graph.open(made / "graph")
    held = read_network(made / "edges.parquet", made / "nodes.parquet").graph
    needed, settings = memory(Size.of(opened), HCMSettings(), workers=1), HCMSettings()
    room = max(needed.memory.values())
    check_memory(needed, room, "on disk")
    with pytest.raises(MemoryBudgetError):
        check_memory(memory(Size.of(held), settings, workers=1), room, "in memory")


def test_an_opened_graph_is_mapped_and_frozen(made):
    graph = Graph.open(made / "graph")
    for array in (graph.indptr, graph.indices, graph.attributes):
        assert lies_on_disk(array)
        assert type(array) is np.ndarray  # as the compiled kernels know it
        assert not array.flags.writeable
    other = graph.with_attributes(graph.attributes)
    assert np.shares_memory(other.attributes, graph.attributes)
    assert np.shares_memory(other.indices, graph.indices)


@needs_torch
def test_stages_give_on_disk_what_they_give_in_memory(made):
    on_disk = Graph.open(made / "graph")
    in_memory = read_network(made / "edges.parquet", made / "nodes.parquet").graph
    assert on_disk.fingerprint == in_memory.fingerprint
    assert on_disk.attributes.dtype == np.float32
    for detector in (oddhop.HCM(**QUICK), Odd(random_state=0)):
        one, other = (detector.fit(graph).anomaly_scores_.tobytes() for graph in (on_disk, in_memory))
        assert one == other
    purified = purify(on_disk, 0.2, seed=0)
    assert np.array_equal(purified.indices, purify(in_memory, 0.2, seed=0).indices)
    prepared = [
        learn_preparation(g.attributes, scale="standard", pca_components=2, pca_above=3).apply(g)
        for g in (on_disk, in_memory)
    ]
    assert np.array_equal(prepared[0].attributes, prepared[1].attributes)


def test_partitions_are_slices_of_the_whole(made):
    stored, graph = open_stored(made / "graph"), Graph.open(made / "graph")
    assert stored.partitions > 4
    for k in range(stored.partitions):
        part = stored.partition(k)
        assert lies_on_disk(part.indices)
        assert lies_on_disk(stored.attributes(part.start, part.stop))
        assert part.indices.base.size * 4 < 2_000  # the map itself: this slice, not the file
        for node in range(part.start, part.stop):
            row = part.indices[part.indptr[node - part.start] : part.indptr[node - part.start + 1]]
            assert row.tolist() == graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist()
        assert np.array_equal(stored.attributes(part.start, part.stop), graph.attributes[part.start : part.stop])
    assert (stored.partition(0).start, part.stop) == (0, graph.node_count)


def test_partitions_of_sparse_attributes(tmp_path):
    notes = [f"word{k} and word{3 * k} or word{k % 5}" for k in range(30)]
    pq.write_table(pa.table({"id": range(30), "note": notes}), tmp_path / "nodes.parquet")
    pq.write_table(pa.table({"u": range(29), "v": range(1, 30)}), tmp_path / "edges.parquet")
    stored = ingest(tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "graph", partition_entries=9)
    whole = Graph.open(tmp_path / "graph").attributes
    for k in range(stored.partitions):
        part = stored.partition(k)
        rows = stored.attributes(part.start, part.stop)
        assert np.array_equal(rows.toarray(), whole[part.start : part.stop].toarray())


def test_what_is_no_network_is_told_apart(made, tmp_path):
    assert is_stored(made / "graph")
    assert not is_stored(made)
    assert not is_stored("select 1")
    with pytest.raises(GraphError, match="has no network; give a folder made by oddhop ingest"):
        Graph.open(tmp_path)
    (tmp_path / "unfinished").mkdir()
    with pytest.raises(GraphError, match="did not end; run the same oddhop ingest command again"):
        Graph.open(tmp_path)


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy", "attributes.npy", "ids.parquet", "encoding.json"])
def test_a_file_cut_short_or_gone_is_refused(copy, name):
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[:-1])
    with pytest.raises(GraphError, match=f"{name} must have .* bytes, got .*; restore it from a copy or ingest again"):
        Graph.open(copy)
    (copy / name).unlink()
    with pytest.raises(GraphError, match=f"{name} is missing"):
        Graph.open(copy)


@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy", "attributes.npy", "ids.parquet", "encoding.json"])
def test_a_changed_byte_is_found(copy, name):
    assert len(list(verify_stored(copy))) == 10
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(GraphError, match=f"{name}"):
        list(verify_stored(copy))


def test_a_header_that_lies_is_refused(copy):
    content = (copy / "indices.npy").read_bytes()
    (copy / "indices.npy").write_bytes(content.replace(b"<i4", b"<u4", 1))
    with pytest.raises(GraphError, match="not the array of the manifest"):
        Graph.open(copy)


def test_files_of_another_network_are_refused(copy):
    content = (copy / "indptr.npy").read_bytes()
    indptr = np.load(copy / "indptr.npy")
    np.save(copy / "indptr.npy", np.sort(np.random.default_rng(0).integers(0, 9, indptr.size)))
    with pytest.raises(GraphError, match="does not match the partitions"):
        Graph.open(copy)
    (copy / "indptr.npy").write_bytes(content)
    encoding = json.loads((copy / "encoding.json").read_bytes())
    (copy / "encoding.json").write_text(json.dumps(encoding).replace('"x1"', '"y1"'))
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["files"]["encoding.json"]["bytes"] = (copy / "encoding.json").stat().st_size
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(GraphError, match="do not belong together"):
        open_network(copy)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, "format: Input should be 1"),
        ({"edges": 7}, "the arrays must have the shapes"),
        ({"bounds": [0, 90, 80]}, "the partitions must go from 0 to 80"),
        ({"entries": [0, 1]}, "partitions must go"),
        ({"files": {"../../secret.npy": {"bytes": 0, "sha256": "0" * 64}}}, "files"),
        ({"files": {}}, "these files are missing"),
        ({"arrays": {}}, "the arrays must have the shapes"),
        ({"more": 1}, "more: Extra inputs"),
        ({"nodes": "80"}, "nodes: Input should be a valid integer"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(copy, change, says):
    manifest = json.loads((copy / "manifest.json").read_bytes())
    (copy / "manifest.json").write_text(json.dumps({**manifest, **change}))
    with pytest.raises(GraphError, match=f"is not a manifest that this oddhop reads: .*{says}"):
        Graph.open(copy)


@needs_torch
def test_more_entries_than_32_bits_count(tmp_path):
    """A shape alone: the file has holes where nobody looks."""
    entries = 2**31 + 2  # an even number, for every edge has two
    indptr = np.array([0, 2, 2, entries - 3, entries])
    tail = np.array([0, 1, 2], dtype=np.int32)
    arrays = {
        "indptr": ArrayEntry(dtype="<i8", shape=(5,)),
        "indices": ArrayEntry(dtype="<i4", shape=(entries,)),
        "attributes": ArrayEntry(dtype="<f4", shape=(4, 1)),
    }
    for name, entry in arrays.items():
        with (tmp_path / f"{name}.npy").open("wb") as file:
            file.write(entry.header)
            file.truncate(HEADER + entry.shape[0] * entry.row_bytes)
    for name, place, values in (
        ("indptr", 0, indptr),
        ("indices", 4 * (entries - 3), tail),
        ("attributes", 0, np.array([1, 2, 4, 8], dtype=np.float32)),
    ):
        with (tmp_path / f"{name}.npy").open("r+b") as file:
            file.seek(HEADER + place)
            file.write(values.tobytes())
    manifest = Manifest(
        kind="oddhop graph",
        format=1,
        oddhop="0",
        nodes=4,
        edges=entries // 2,
        bounds=(0, 3, 4),
        entries=(0, entries - 3, entries),
        attribute_names=("x",),
        arrays=arrays,
        files={
            f"{name}.npy": {"bytes": (tmp_path / f"{name}.npy").stat().st_size, "sha256": "0" * 64} for name in arrays
        },
        repairs={},
        roles={},
        counts={},
        differences=[],
        tables={},
        settings={},
    )
    (tmp_path / "manifest.json").write_text(manifest.model_dump_json())
    with pytest.raises(GraphError, match=r"the arrays of .* are damaged"):
        Graph.open(tmp_path)  # which reads them
    stored = open_stored(tmp_path)
    graph = Graph(stored.rows("indptr"), stored.rows("indices"), stored.attributes())
    assert graph.edge_count == 2**30 + 1
    assert graph.degrees.tolist() == [2, 0, entries - 5, 3]
    part = open_stored(tmp_path).partition(1)
    assert (part.indptr.tolist(), part.indices.tolist()) == ([0, 3], [0, 1, 2])
    # As if all but the last row pointed upward: the edge before the end lies beyond 32 bits.
    upper = np.array([0, 2, 2, entries - 3, entries])
    left, right = upper_edges(graph.indptr, graph.indices, upper, entries - 2, entries)
    assert (left.tolist(), right.tolist()) == ([3, 3], [1, 2])
    torch = pytest.importorskip("torch")
    from oddhop.hcm.convolution import Convolution

    rows = Convolution(graph.indptr, graph.indices, np.ones(4)).rows(3, 4)
    assert rows.times(torch.tensor(np.asarray(graph.attributes, dtype=np.float64))).tolist() == [[15.0]]


def _changed(folder: Path, name: str, dtype: str, where, what) -> None:
    """Change some numbers of an array, as a bad disk or someone hostile could."""
    content = bytearray((folder / f"{name}.npy").read_bytes())
    np.frombuffer(content, dtype, offset=HEADER)[where] = what
    (folder / f"{name}.npy").write_bytes(content)


@pytest.mark.parametrize(
    ("name", "where", "what"),
    [
        ("indices", 0, 80),
        ("indices", 5, 2**31 - 1),
        ("indices", 0, -1),
        ("indices", slice(0, 3), 7),
        ("indices", slice(None), 0),
        ("indptr", 2, 2**40),
        ("indptr", 2, -3),
        ("attributes", 9, np.nan),
    ],
)
def test_numbers_that_a_kernel_would_follow_astray_are_refused(copy, name, where, what):
    _changed(copy, name, {"indices": "<i4", "indptr": "<i8", "attributes": "<f4"}[name], where, what)
    with pytest.raises(GraphError, match=r"are damaged|does not match the partitions"):
        Graph.open(copy)


def test_an_edge_in_one_row_alone_and_a_loop_are_refused():
    whole = np.array([0, 1, 2]), np.array([1, 0])
    assert rows_are_whole(*whole, 2)
    assert rows_are_mirrored(*whole)
    assert not rows_are_mirrored(np.array([0, 1, 1]), np.array([1]))
    assert not rows_are_mirrored(np.array([0, 0, 1]), np.array([0]))
    assert not rows_are_mirrored(np.array([0, 1, 2]), np.array([0, 1]))
    assert not rows_are_mirrored(np.array([0, 1, 2, 4]), np.array([2, 2, 0, 0]))


def test_sparse_attributes_that_lead_astray_are_refused(tmp_path):
    notes = [f"word{k} and word{3 * k} or word{k % 5}" for k in range(30)]
    pq.write_table(pa.table({"id": range(30), "note": notes}), tmp_path / "nodes.parquet")
    pq.write_table(pa.table({"u": range(29), "v": range(1, 30)}), tmp_path / "edges.parquet")
    stored = ingest(tmp_path / "edges.parquet", tmp_path / "nodes.parquet", tmp_path / "graph")
    folder = tmp_path / "graph"
    for name, dtype, where, what in (
        ("attributes_indices", "<i4", 3, 10**6),
        ("attributes_indptr", "<i4", 0, 1),
        ("attributes_indptr", "<i4", -1, 7),
        ("attributes_indptr", "<i4", 4, 10**6),
        ("attributes_data", "<f4", 4, np.inf),
    ):
        before = (folder / f"{name}.npy").read_bytes()
        _changed(folder, name, dtype, where, what)
        with pytest.raises(GraphError, match="damaged"):
            Graph.open(folder)
        if name == "attributes_indptr" and where == 4:
            with pytest.raises(GraphError, match="got a request for rows"):
                stored.attributes(4, 9)
        (folder / f"{name}.npy").write_bytes(before)
    Graph.open(folder)


def test_an_encoding_too_deep_to_read_is_refused(copy):
    (copy / "encoding.json").write_text("[" * 100_000)
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["files"]["encoding.json"]["bytes"] = 100_000
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(GraphError, match="was changed after it was written"):
        open_network(copy)


def test_a_network_that_is_opened_was_not_read_from_tables(made):
    opened, read = Graph.open(made / "graph"), read_network(made / "edges.parquet", made / "nodes.parquet").graph
    assert Size.of(read, from_tables=True).values == read.value_count
    assert Size.of(read).values is None
    size = Size.of(opened, from_tables=True)
    assert (size.values, size.mapped, size.reading) == (None, True, 0)
    assert (size.nodes, size.edges) == (read.node_count, read.edge_count)
