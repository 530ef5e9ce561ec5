"""Large networks: the same bytes for the same seed, neighbours alike, and the anomalies where the labels say."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import large
from benchmarks.large import Large, write_large
from oddhop.errors import SettingsError
from oddhop.tables.read import read_tables

SMALL = Large(6_000, 60_000, attributes=5, community=100, cliques=2, clique_size=10, swapped=20, seed=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "BLOCK", 4_096)
        write_large(SMALL, folder)
    return folder


def test_ids_are_every_number_once():
    assert sorted(SMALL.ids(np.arange(6_000)).tolist()) == list(range(6_000))


def test_the_network_is_as_asked(made):
    tables = read_tables(made / "edges", made / "nodes")
    assert len(tables.ids) == 6_000
    assert tables.counts.edge_rows == 60_000 + 2 * 45
    assert tables.counts.unknown_edges == 0
    degrees = np.bincount(tables.edge_index.ravel(), minlength=6_000)
    assert degrees.max() > 10 * np.median(degrees)
    x = np.column_stack([tables.columns.column(k).to_numpy() for k in range(5)])
    s, t = tables.edge_index
    apart = np.linalg.norm(x[s] - x[t], axis=1).mean()
    anyone = np.linalg.norm(x[s] - x[np.random.default_rng(0).permutation(t)], axis=1).mean()
    assert apart < 0.9 * anyone


def test_the_labels_name_the_anomalies(made):
    labels = pq.read_table(made / "labels.parquet").to_pandas()
    assert labels.id.is_unique
    assert labels.kind.value_counts().to_dict() == {"structural": 20, "contextual": 20}
    tables = read_tables(made / "edges", made / "nodes")
    joined = set(map(tuple, np.sort(tables.edge_index.T, axis=1).tolist()))
    members = labels.id[labels.kind == "structural"].to_numpy().reshape(2, 10)
    for clique in members:
        assert all((min(a, b), max(a, b)) in joined for a in clique for b in clique if a != b)


def test_the_same_seed_gives_the_same_bytes(made, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "BLOCK", 4_096)
    write_large(SMALL, tmp_path)
    for file in sorted(made.rglob("*.parquet")):
        assert (tmp_path / file.relative_to(made)).read_bytes() == file.read_bytes()


def test_too_many_anomalies_are_refused():
    with pytest.raises(SettingsError, match="no room for 480 anomalies"):
        Large(10_000, 10)
