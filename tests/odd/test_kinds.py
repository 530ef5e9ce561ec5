from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pytest

import oddhop
from oddhop import Graph, Network, Odd
from oddhop.arrays.stores import ENTRIES
from oddhop.base.files import pack_arrays, unpack_arrays
from oddhop.errors import GraphError, ModelFileError, NothingToLearnError, TableError
from oddhop.odd import butterfly
from oddhop.odd.kinds import hub_counts, split_edges
from oddhop.odd.pairs import Side
from oddhop.odd.views import fit_views
from tests.odd.small_shop import ACCOUNTS, DEVICES, FARM, FARM_DEVICES, MERCHANTS, RING, shop
from tests.odd.stores import in_memory


def _odd(**settings: Any) -> Odd:
    return Odd(**{"random_state": 0, "simulate": False, "n_resamples": 2, **settings})


def _read(edges: Any, tables: Any, judge: str = "account", **settings: Any) -> Network:
    return oddhop.read_network(edges, tables, judge=judge, **settings)


@pytest.fixture(scope="module")
def network() -> Network:
    made = shop()
    return _read(made.edges, made.tables)


@pytest.fixture(scope="module")
def fitted(network: Network) -> Odd:
    return _odd().fit(network)


def _renamed(table: pa.Table, names: dict[str, str]) -> pa.Table:
    for column in ("from_kind", "to_kind"):
        values = [names[one] for one in table[column].to_pylist()]
        table = table.set_column(table.column_names.index(column), column, pa.array(values))
    return table


def _shuffled(table: pa.Table, seed: int) -> pa.Table:
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


def test_the_farm_comes_first_as_a_clique(fitted: Odd) -> None:
    first = fitted.result_.slice(0, len(FARM))
    assert set(first["id"].to_pylist()) == set(FARM)
    assert set(first["kind"].to_pylist()) == {"clique"}
    assert fitted.result_.num_rows == ACCOUNTS
    assert fitted.anomaly_scores_.shape == (ACCOUNTS,)
    assert not any(one.relation.silent for one in fitted.model_.learned.views.others)


@pytest.mark.parametrize(
    "names",
    [
        {"account": "z", "device": "y", "merchant": "x"},
        {"account": "person", "device": "a phone", "merchant": "µ shop"},
    ],
)
def test_what_kinds_are_called_changes_no_bit(fitted: Odd, names: dict[str, str]) -> None:
    made = shop()
    tables = {names["device"]: made.devices, names["account"]: made.accounts}
    other = _read(_renamed(made.edges, names), tables, judge=names["account"])
    np.testing.assert_array_equal(_odd().fit(other).anomaly_scores_, fitted.anomaly_scores_)


def test_the_order_of_tables_and_rows_changes_no_bit(fitted: Odd) -> None:
    made = shop()
    tables = {"device": _shuffled(made.devices, 1), "account": _shuffled(made.accounts, 2)}
    other = _odd().fit(_read(_shuffled(made.edges, 3), tables))
    np.testing.assert_array_equal(other.anomaly_scores_, fitted.anomaly_scores_)
    assert other.result_.equals(fitted.result_)


@pytest.mark.slow
def test_a_kind_over_two_files_changes_no_bit(fitted: Odd, tmp_path: Path) -> None:
    made = shop()
    pa_csv.write_csv(made.accounts.slice(0, 111), tmp_path / "accounts-1.csv")
    pa_csv.write_csv(made.accounts.slice(111), tmp_path / "accounts-2.csv")
    pa_csv.write_csv(made.devices, tmp_path / "devices.csv")
    pa_csv.write_csv(made.edges, tmp_path / "edges.csv")
    tables = {"account": str(tmp_path / "accounts-*.csv"), "device": str(tmp_path / "devices.csv")}
    other = _odd().fit(_read(str(tmp_path / "edges.csv"), tables))
    np.testing.assert_array_equal(other.anomaly_scores_, fitted.anomaly_scores_)


@pytest.mark.parametrize("settings", [{"workers": 1}, {"workers": 3, "random_state": 5}])
def test_neither_workers_nor_the_seed_change_a_score(fitted: Odd, network: Network, settings: dict[str, Any]) -> None:
    other = _odd(**settings).fit(network)
    np.testing.assert_array_equal(other.anomaly_scores_, fitted.anomaly_scores_)


@pytest.mark.slow
def test_simulated_networks_do_not_depend_on_workers(network: Network) -> None:
    one, three = (_odd(simulate=True, workers=workers).fit(network).model_.learned for workers in (1, 3))
    assert one.chance is not None
    assert three.chance is not None
    np.testing.assert_array_equal(one.chance.scores, three.chance.scores)


def test_a_model_goes_through_a_file(fitted: Odd, network: Network, tmp_path: Path) -> None:
    fitted.save(tmp_path / "odd")
    loaded = Odd.load(tmp_path / "odd")
    np.testing.assert_array_equal(loaded.score_samples(network), -fitted.anomaly_scores_)
    np.testing.assert_array_equal(fitted.score_samples(network), -fitted.anomaly_scores_)
    assert loaded.rank(network).equals(fitted.result_)
    one, two = (model.explain(FARM[0], network) for model in (loaded, fitted))
    assert one == two


@pytest.mark.parametrize(
    "change",
    [
        lambda a, i: i["others"].pop(0),
        lambda a, i: i["others"][1].__setitem__(0, "device"),
        lambda a, i: a["other0.far.correlation"].fill(0),
        lambda a, i: a["other0.near.correlation"].fill(0),
        lambda a, i: a.pop("other0.rate.tilts"),
        lambda a, i: i.pop("others"),
        lambda a, i: i.update(others=[["device", 3, 4]]),
        lambda a, i: i["others"][0].__setitem__(1, 99),
        lambda a, i: i["others"].append(["shop", 0]),
        lambda a, i: i.update(hubs=[1]),
        lambda a, i: a["other0.edges.share"].fill(1.5),
        lambda a, i: a["other0.edges.share"].fill(-0.1),
        lambda a, i: a["other0.edges.share"].fill(np.nan),
        lambda a, i: a.pop("other0.relation.near_columns"),
        lambda a, i: a["other0.relation.near_columns"].fill(1_000),
        lambda a, i: a["other0.relation.near_columns"].fill(-1),
        lambda a, i: a.update({"other0.relation.far_usual": np.zeros(0)}),
        lambda a, i: a.update({"other0.relation.far_columns": a["other0.relation.far_columns"].astype(float)}),
        lambda a, i: a["other0.relation.unrelated"].fill(1),
        lambda a, i: a["other0.relation.unrelated"].fill(-0.5),
        lambda a, i: a.pop("other1.near.centre"),
        lambda a, i: a["other0.near.within"].fill(0),
        lambda a, i: a["other0.far.correlation"].fill(1.0),
        lambda a, i: a.update({"other0.far.correlation": a["other0.far.correlation"][:-1]}),
        lambda a, i: a.update({"other0.near.whiten": a["other0.near.whiten"][:-1]}),
        lambda a, i: a.update({"other0.rate.tilts": a["other0.rate.tilts"][:-1]}),
        lambda a, i: a.update({"other0.rate.tilts": np.zeros(0), "other0.rate.cumulants": np.zeros(0)}),
        lambda a, i: a["other0.rate.spread"].fill(-1),
        lambda a, i: a["other0.block0.preparation.unit"].fill(0),
        lambda a, i: a["other0.block0.columns"].fill(50),
    ],
)
def test_a_model_whose_kinds_do_not_fit_together_is_refused(fitted: Odd, tmp_path: Path, change: Any) -> None:
    fitted.save(tmp_path / "odd")
    arrays, info = unpack_arrays((tmp_path / "odd").read_bytes(), "it")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays, info["learned"])
    (tmp_path / "odd").write_bytes(pack_arrays(arrays, info))
    with pytest.raises(ModelFileError):
        Odd.load(tmp_path / "odd")


def test_another_network_with_the_same_kinds_is_ranked(fitted: Odd, network: Network) -> None:
    made = shop(seed=2)
    other = _read(made.edges, made.tables, encoding=network.encoding)
    ranked = fitted.rank(other)
    assert ranked.num_rows == ACCOUNTS
    assert len(set(ranked["id"].to_pylist()[:12]) & set(FARM)) >= 6
    read = fitted.rank(made.edges, nodes=made.tables)
    assert read.equals(ranked)
    assert fitted.explain(FARM[0], other).id == FARM[0]


def test_other_kinds_are_refused(fitted: Odd, network: Network) -> None:
    made = shop()
    keep = pa.array([one == "device" for one in made.edges["to_kind"].to_pylist()])
    for other in (
        _read(made.edges, made.tables, judge="device"),
        _read(made.edges.filter(keep), made.tables),
        _read(_renamed(made.edges, {"account": "account", "device": "device", "merchant": "shop"}), made.tables),
    ):
        with pytest.raises((GraphError, TableError)):
            fitted.rank(other)
        with pytest.raises((GraphError, TableError)):
            fitted.score_samples(other)
    # An end of an unknown kind goes like one with an unknown id; a kind of the model must not be missing.
    with pytest.raises((GraphError, TableError)):
        fitted.rank(made.edges.filter(keep), nodes={"account": made.accounts})
    with pytest.raises((GraphError, TableError)):
        fitted.rank(oddhop.Graph.from_arrays([[0, 1], [1, 2]], np.zeros((3, network.graph.attribute_count))))


def test_every_table_has_one_row_a_judged_node(fitted: Odd) -> None:
    features = fitted.features()
    assert features.num_rows == ACCOUNTS
    assert features.column_names[:3] == ["id", "stranger score", "outlier score"]
    assert features.column_names[3:6] == ["clique score, adjusted for degree", "clique score", "flow score"]
    assert features.column_names[-1] == "degree"
    for name in features.column_names[1:]:
        assert np.isfinite(features[name].to_numpy()).all()
    assert all(one.sentence for one in fitted.audit())
    page = oddhop.report(fitted, cases=10)
    assert len(page.cases.cases) == 10
    html = page.html()
    assert all(name in html for name in FARM)


@pytest.mark.parametrize(
    ("judge", "count"), [pytest.param("merchant", MERCHANTS, marks=pytest.mark.slow), ("device", DEVICES)]
)
def test_any_kind_can_be_judged(judge: str, count: int, tmp_path: Path) -> None:
    made = shop()
    network = _read(made.edges, made.tables, judge=judge)
    detector = _odd().fit(network)
    assert detector.result_.num_rows == count
    assert np.isfinite(detector.anomaly_scores_).all()
    detector.save(tmp_path / "odd")
    np.testing.assert_array_equal(Odd.load(tmp_path / "odd").score_samples(network), -detector.anomaly_scores_)
    assert detector.features().num_rows == count
    assert detector.audit()
    assert len(oddhop.report(detector, cases=5).cases.cases) == 5
    if judge == "device":
        assert set(detector.result_["id"].to_pylist()[:3]) == set(FARM_DEVICES)


@pytest.mark.parametrize("flows", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_kind_without_columns_is_judged_with_and_without_flows(flows: bool) -> None:
    made = shop()
    detector = _odd().fit(_read(made.edges, made.tables, judge="merchant", flows=flows))
    assert np.isfinite(detector.anomaly_scores_).all()
    for why in detector.explain(detector.result_["id"].to_pylist()[:3]):
        assert {one.name for one in why.views} >= {"stranger", "clique"}


def test_judged_nodes_may_be_joined_to_each_other(tmp_path: Path) -> None:
    made = shop(friends=True)
    network = _read(made.edges, made.tables)
    detector = _odd().fit(network)
    assert detector.model_.learned.views.rate is not None
    first = detector.result_.slice(0, len(RING))
    assert set(first["id"].to_pylist()) == set(RING)
    why = detector.explain(RING[0])
    members = {one.id for one in why.neighbours if one.member}
    assert members <= set(RING)
    assert len(members) >= 5
    assert all(one.rarity is not None for one in why.neighbours if one.node_kind == "account")
    assert set(first["kind"].to_pylist()) == {"clique"}
    np.testing.assert_array_equal(_odd(workers=3).fit(network).anomaly_scores_, detector.anomaly_scores_)
    detector.save(tmp_path / "odd")
    np.testing.assert_array_equal(Odd.load(tmp_path / "odd").score_samples(network), -detector.anomaly_scores_)
    assert len(oddhop.report(detector, cases=3).cases.cases) == 3


def test_where_everybody_has_one_device_a_network_is_judged(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    taste = rng.normal(size=300)
    device = np.argsort(np.argsort(taste + rng.normal(size=300) / 4)) // 10
    edges = pa.table(
        {
            "from": [f"a{k}" for k in range(300)],
            "to": [f"d{k}" for k in device],
            "from_kind": ["account"] * 300,
            "to_kind": ["device"] * 300,
        }
    )
    accounts = pa.table({"id": [f"a{k}" for k in range(300)], "taste": taste})
    network = _read(edges, {"account": accounts}, target_kind="to_kind")
    detector = _odd(simulate=True).fit(network)
    assert detector.information_ > 0
    detector.save(tmp_path / "odd")
    np.testing.assert_array_equal(Odd.load(tmp_path / "odd").score_samples(network), -detector.anomaly_scores_)


def _entries(side: Side, first: int) -> dict[tuple[int, int], float]:
    """Return the entries of a side by their ends, those of the other kind counted from ``first``."""
    owners = np.repeat(np.arange(side.wiring.nodes), np.diff(side.wiring.indptr.read()))
    ends = zip(owners.tolist(), (side.wiring.indices.read() + first).tolist(), strict=True)
    return dict(zip(ends, side.residuals.read().tolist(), strict=True))


def graph_entry(graph: Graph, a: int, b: int) -> int:
    """Return the place of an entry in the rows of a network."""
    row = graph.indices[graph.indptr[a] : graph.indptr[a + 1]]
    return int(graph.indptr[a] + np.searchsorted(row, b))


def test_edges_are_split_by_the_kind_at_their_other_end() -> None:
    made = shop(friends=True)
    graph = _read(made.edges, made.tables).graph
    kinds = graph.kinds
    assert kinds is not None
    residuals = np.arange(graph.indices.size, dtype=float)
    sizes = {"account": ACCOUNTS, "device": DEVICES, "merchant": MERCHANTS}
    wiring = in_memory(graph)
    coordinates = {name: wiring.given(np.zeros((size, 0))) for name, size in sizes.items()}
    edges = split_edges(wiring, wiring.given(residuals, ENTRIES), kinds, coordinates)
    own = edges.own
    found = _entries(own, 0)
    for one in edges.joined:
        start = kinds.nodes(kinds.names.index(one.kind)).start
        found |= _entries(one.near, start)
        back = {(b + start, a): r for (b, a), r in _entries(one.far, 0).items()}
        assert back == {(a, b): float(graph_entry(graph, a, b)) for a, b in back}
    rows = [(a, e) for a in range(ACCOUNTS) for e in range(graph.indptr[a], graph.indptr[a + 1])]
    expected = {(a, int(graph.indices[e])): float(e) for a, e in rows}
    assert found == expected
    assert own.wiring.entry_count // 2 + sum(one.count for one in edges.joined) == graph.edge_count
    np.testing.assert_allclose(edges.shares * graph.edge_count, [one.count for one in edges.joined])
    np.testing.assert_array_equal(edges.degrees, graph.degrees[graph.judged])


def test_hubs_are_counted_and_said(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _odd().fit(network).model_.learned.hubs == {}
    monkeypatch.setattr(butterfly, "WEDGES", 400)
    monkeypatch.setattr(butterfly, "WEDGES_PER_NODE", 0)
    edges = fit_views(network.graph)[2].edges
    counts = hub_counts(edges)
    for one in edges.joined:
        degrees = np.sort(np.diff(one.far.wiring.indptr.read()))
        allowed = np.flatnonzero(np.cumsum(degrees**2) <= 400)
        assert counts[one.kind] >= degrees.size - allowed.size
    detector = _odd().fit(network)
    assert detector.model_.learned.hubs == counts
    assert sum("too many neighbours" in one.sentence for one in detector.audit()) == len(counts)


def test_a_later_network_may_lack_a_sort_of_edges(fitted: Odd, network: Network) -> None:
    made = shop()
    keep = pa.array([one == "device" for one in made.edges["to_kind"].to_pylist()])
    some = pa.concat_tables([made.edges.filter(keep), made.edges.filter(pc.invert(keep)).slice(0, 1)])
    quiet = _read(some, made.tables, encoding=network.encoding)
    assert np.isfinite(fitted.score_samples(quiet)).all()
    assert fitted.rank(quiet).num_rows == ACCOUNTS


def test_a_graph_of_arrays_with_kinds_is_explained(fitted: Odd, network: Network) -> None:
    graph = replace(network.graph, events=None)
    detector = _odd().fit(graph)
    first = detector.result_["id"][0].as_py()
    assert detector.explain(first).neighbours


def test_a_judged_kind_without_edges_is_refused() -> None:
    made = shop()
    lone = pa.table({"id": ["t1", "t2", "t3"], "height": [1.0, 2.0, 3.0]})
    network = _read(made.edges, {**made.tables, "tower": lone}, judge="tower")
    with pytest.raises(NothingToLearnError, match="no edge connects a node of the kind 'tower'"):
        _odd().fit(network)
