"""Pairs of node numbers become sorted rows, as :mod:`oddhop.graph.adjacency` makes them in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oddhop.graph.adjacency import symmetric_csr
from oddhop.tables.ingest import sorted_rows as rows
from oddhop.tables.ingest.sorted_rows import choose_bounds, fill_buckets, sorted_rows

pytestmark = pytest.mark.kernels


@given(nodes=st.integers(2, 12), seed=st.integers(0, 2**32), count=st.integers(0, 60), most=st.integers(1, 50))
@settings(max_examples=60, deadline=None)
def test_rows_are_those_of_the_adjacency_in_memory(tmp_path_factory, nodes, seed, count, most):
    folder = tmp_path_factory.mktemp("rows")
    pairs = np.random.default_rng(seed).integers(0, nodes, (count, 2), dtype=np.int32)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs.tofile(folder / "pairs")
    where = fill_buckets(folder / "pairs", nodes, most, folder / "buckets")
    parts = [sorted_rows(folder / "buckets", where, k) for k in range(len(where.bounds) - 1)]
    indptr, indices, repairs = symmetric_csr(pairs[:, 0], pairs[:, 1], nodes)
    assert np.concatenate([part.degrees for part in parts]).tolist() == np.diff(indptr).tolist()
    assert np.concatenate([part.indices for part in parts]).tolist() == indices.tolist()
    assert parts[0].indices.dtype == indices.dtype
    assert sum(part.duplicates for part in parts) == repairs.duplicates
    assert sum(part.one_way for part in parts) == repairs.one_way
    sizes = np.diff(where.starts)
    assert all(
        size <= most or stop - start == 1
        for size, start, stop in zip(sizes, where.bounds, where.bounds[1:], strict=False)
    )


def test_blocks_of_pairs_do_not_matter(tmp_path, monkeypatch):
    np.random.default_rng(0).permuted(np.arange(40, dtype=np.int32)).tofile(tmp_path / "pairs")
    whole = fill_buckets(tmp_path / "pairs", 40, 9, tmp_path / "whole")
    monkeypatch.setattr(rows, "PAIRS_AT_ONCE", 3)
    assert fill_buckets(tmp_path / "pairs", 40, 9, tmp_path / "blocks") == whole
    for k in range(len(whole.bounds) - 1):
        one, other = (sorted_rows(tmp_path / name, whole, k).indices.tolist() for name in ("whole", "blocks"))
        assert one == other


def test_nodes_beyond_32_bits(tmp_path):
    first, nodes = 2**33, 2**33 + 4
    bounds = np.array([0, first, nodes])
    pairs = np.array([[first, first + 3], [5, first + 1], [first + 3, first], [first, first + 3]])
    shift = rows._shift(nodes)
    entries, ends = rows._grouped(pairs, bounds, shift)
    assert ends.tolist() == [1, 8]
    mine = np.sort(entries[1:])
    indices, degrees = np.empty(7, np.int64), np.zeros(4, np.int64)
    assert rows._merge(mine, first, shift, indices, degrees) == (3, 1, 0)
    assert indices[:3].tolist() == [first + 3, 5, first]
    assert degrees.tolist() == [1, 1, 0, 1]


def test_a_partition_fits_into_the_bits_of_an_entry(monkeypatch):
    monkeypatch.setattr(rows, "BITS", 6)
    assert rows._shift(9) == 5
    assert choose_bounds(np.ones(9, dtype=np.int64), 100) == (0, 2, 4, 6, 8, 9)


@pytest.mark.slow
def test_a_hub_of_ten_million_neighbours(tmp_path):
    degree = 10_000_000
    pairs = np.empty((degree, 2), dtype=np.int32)
    pairs[:, 0], pairs[:, 1] = degree, np.random.default_rng(0).permutation(degree)
    pairs.tofile(tmp_path / "pairs")
    where = fill_buckets(tmp_path / "pairs", degree + 1, 1 << 20, tmp_path / "buckets")
    hub = len(where.bounds) - 2
    assert where.bounds[hub:] == (degree, degree + 1)
    row = sorted_rows(tmp_path / "buckets", where, hub)
    assert np.array_equal(row.indices, np.arange(degree))
    assert row.one_way == 0  # counted in the rows of the others
