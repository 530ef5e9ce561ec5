"""Attributes on disk give the same bytes as in memory, whichever rows are asked for, and no more rows at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from oddhop import Graph
from oddhop.graph.disk import open_stored
from oddhop.graph.rows import AttributeRows, Columns, Kept, StoredRows
from oddhop.odd.blocks import Blocks, learn_blocks
from oddhop.odd.coordinates import KNOTS, learn_coordinates
from oddhop.odd.outlier import outlyingness
from oddhop.tables.ingest import ingest
from oddhop.tables.settings import EncodeSettings

NODES, BLOCK = 300, 64
RANGES = [(0, NODES), (0, 1), (63, 65), (64, 128), (100, 300), (299, 300), (7, 7)]
SHAPES = {  # columns of every block, and whether they come sparse; a text is encoded into 160 columns here
    "measures": ([3], False),
    "many measures": ([120], False),
    "counts": ([130], False),
    "words": ([160], True),
    "words and measures": ([160, 3], True),
    "counts and measures": ([130, 120], False),
}


@dataclass(frozen=True)
class Recording:
    """Rows that remember how many were asked for at a time."""

    x: AttributeRows
    asked: list[int] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.x.shape

    def __getitem__(self, rows: slice) -> Any:
        start, stop, _ = rows.indices(self.x.shape[0])
        self.asked.append(stop - start)
        return self.x[rows]


def columns_of(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "counts" in kind:
        counts = (rng.random((NODES, 130)) < 0.1) * rng.integers(1, 6, (NODES, 130))
        out |= {f"count{k}": column for k, column in enumerate(counts.T)}
    if "words" in kind:
        out["note"] = [" ".join(f"word{k}" for k in rng.integers(0, 250, 25)) for _ in range(NODES)]
    if "measures" in kind:
        width = 120 if kind in ("many measures", "counts and measures") else 3
        out |= {f"measure{k}": column.round(1) for k, column in enumerate(rng.normal(size=(width, NODES)))}
    return out


def ingested(home: Path, kind: str) -> Path:
    """Write a network with events and ingest it."""
    rng = np.random.default_rng(1)
    payer, payee = rng.integers(0, NODES, (2, 1_500))
    edges = pa.table({"payer": payer, "payee": payee, "amount": rng.lognormal(3, 1, payer.size)})
    pq.write_table(edges, home / "edges.parquet")
    pq.write_table(pa.table({"id": np.arange(NODES), **columns_of(kind, rng)}), home / "nodes.parquet")
    texts = EncodeSettings(kinds={"note": "text"} if "words" in kind else {})
    ingest(home / "edges.parquet", home / "nodes.parquet", home / "graph", encode=texts)
    return home / "graph"


def in_memory(x: Any) -> Any:
    return x.copy() if sp.issparse(x) else np.array(x)


def mapped(x: Any, home: Path) -> Any:
    """Write an array, or the parts of a CSR array, and map them."""
    if sp.issparse(x):
        parts = [mapped(getattr(x, name), home / name) for name in ("data", "indices", "indptr")]
        return sp.csr_array(tuple(parts), shape=x.shape, copy=False)
    home.mkdir(parents=True)
    np.save(home / "array.npy", x)
    return np.load(home / "array.npy", mmap_mode="r")


def learned(blocks: Blocks) -> list[bytes | float]:
    out: list[bytes | float] = []
    for part in blocks.parts:
        own = part.coordinates
        out += [array.tobytes() for array in (part.columns, own.weights, own.knots) if array is not None]
        preparations = [one for one in (own.preparation, part.preparation) if one is not None]
        out += [array.tobytes() for one in preparations for array in one.arrays().values()]
        out.append(part.weight)
    return out


def figures(x: AttributeRows, flow_count: int) -> tuple[list[bytes | float], list[np.ndarray]]:
    """Return all that is learned, and all figures of every node, after comparing them with those of some nodes."""
    blocks = learn_blocks(x, flow_count)

    def seen(start: int, stop: int) -> list[np.ndarray]:
        return [
            blocks.coordinates(x, start, stop),
            blocks.prepared(x, start, stop),
            outlyingness(blocks, x, start, stop),
        ]

    whole = seen(0, NODES)
    for start, stop in RANGES:
        for one, other in zip(whole, seen(start, stop), strict=True):
            assert one[start:stop].tobytes() == other.tobytes(), (start, stop)
    return learned(blocks), whole


@pytest.fixture(params=[BLOCK, pytest.param(65_536, marks=pytest.mark.slow)])
def rows_at_once(request, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("oddhop.graph.rows.ROWS_AT_ONCE", request.param)
    return int(request.param)


QUICK = ("measures", "words and measures")
SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in SHAPES if kind not in QUICK]


@pytest.mark.parametrize("kind", [*QUICK, *SLOW])
def test_the_same_bytes_wherever_the_attributes_lie_and_whichever_rows_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rows_at_once: int
) -> None:
    stored = open_stored(ingested(tmp_path, kind))
    graph = Graph.open(stored.folder)
    assert graph.flow_count
    assert sp.issparse(graph.attributes) == SHAPES[kind][1]
    assert [part.columns.size for part in learn_blocks(graph.attributes, graph.flow_count).parts] == SHAPES[kind][0]
    expected = figures(in_memory(graph.attributes), graph.flow_count)
    recording = Recording(StoredRows(stored))
    monkeypatch.setattr("oddhop.graph.rows.KEPT_BYTES", 200_000)  # some blocks and not all
    monkeypatch.setattr("oddhop.odd.coordinates.GATHERED_BYTES", 2 * 8 * NODES)
    for x in (mapped(graph.attributes, tmp_path / "mapped"), recording):
        told, seen = figures(x, graph.flow_count)
        assert told == expected[0]
        assert [one.tobytes() for one in seen] == [one.tobytes() for one in expected[1]]
    assert max(recording.asked) == min(rows_at_once, NODES)


@pytest.mark.parametrize("nodes", [1, 5, KNOTS, 2_002, 5_000])
def test_knots_are_exact_quantiles_however_many_columns_are_gathered(
    monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    x = np.random.default_rng(0).normal(size=(nodes, 5)).round(2) + 0.0
    shares = (np.arange(min(KNOTS, nodes)) + 0.5) / min(KNOTS, nodes)
    expected = np.quantile(x, shares, axis=0, method="inverted_cdf")
    for size in (1, 16 * nodes, 1 << 29):
        monkeypatch.setattr("oddhop.odd.coordinates.GATHERED_BYTES", size)
        np.testing.assert_array_equal(learn_coordinates(x).knots, expected)


def test_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Recording(np.arange(40.0).reshape(10, 4))
    kept = Kept(Columns(x, np.array([3, 1])))
    monkeypatch.setattr("oddhop.graph.rows.KEPT_BYTES", 8 * 2 * 5)
    for _ in range(3):
        for start in range(0, 10, 4):
            np.testing.assert_array_equal(kept[start : start + 4], x.x[start : start + 4, [3, 1]])
    assert x.asked == [4, 4, 2, 4, 2, 4, 2]
