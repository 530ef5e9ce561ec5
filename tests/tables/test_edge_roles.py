"""Edge columns as people have them: odd types, models that know better, and nothing dropped without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oddhop import read_network
from oddhop.errors import EncodingError, GraphError, OddhopError, TableError
from oddhop.odd import views
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings

PEOPLE = pa.table({"id": [0, 1, 2, 3], "x": [3.0, 1.0, 2.0, 4.0]})
SOURCE, TARGET = [0, 1, 2, 3, 1], [1, 2, 3, 0, 0]
SECOND = 1_706_727_393


def edges(**more) -> pa.Table:
    return pa.table({"source": SOURCE, "target": TARGET, **more})


@pytest.mark.parametrize(
    ("kind", "unit"), [(pa.int32(), 1), (pa.int64(), 10**3), (pa.int64(), 10**9), (pa.float64(), 1)]
)
def test_unix_times_of_any_unit_are_times(kind, unit) -> None:
    stamps = pa.array([(SECOND + k) * unit for k in range(5)], pa.int64()).cast(kind)
    events = read_tables(edges(timestamp=stamps), PEOPLE).events
    assert sorted(set(events.times.tolist())) == [(SECOND + k) * 10**6 for k in range(5)]


def test_what_is_named_like_a_time_or_an_id_is_no_amount() -> None:
    steps, numbers = [0.0, 1.0, 2.0, 3.0, 3.0], [10.0, 11.0, None, 13.0, 14.0]
    roles = read_tables(edges(timestamp=steps, transaction_id=numbers), PEOPLE).roles
    assert (roles.amount, roles.time) == ((), None)
    assert [name for name, _ in roles.unread] == ["timestamp", "transaction_id"]


def test_a_column_has_one_role_and_an_unknown_one_is_told() -> None:
    table = edges(euros=[1.0, 2, 3, 4, 5], way=["a", "b", "a", "b", "a"])
    for settings in ({"amount": ("euros",), "edge_kind": ("euros",)}, {"amount": ("source",)}, {"time": "source"}):
        with pytest.raises(TableError, match="two roles"):
            read_tables(table, PEOPLE, ReadSettings(**settings))
    with pytest.raises(TableError, match="did you mean 'euros'"):
        read_tables(table, PEOPLE, ReadSettings(amount=("euro",)))
    with pytest.raises(TableError, match="not made of numbers"):
        read_tables(table, PEOPLE, ReadSettings(amount=("way",)))


def test_values_that_cannot_be_used_are_counted_and_said(tmp_path) -> None:
    table = edges(euros=[1.0, float("inf"), None, 4.0, 5.0], way=["a", None, "a", "b", "b"])
    tables = read_tables(table, PEOPLE)
    assert tables.roles.missing == (("euros", 1), ("way", 1))
    told = tables.roles.sentences(tables.events)
    assert any("1 events have no usable value in 'euros'" in one for one in told)
    assert any("1 events have an infinite 'euros'" in one for one in told)
    assert np.nanmax(tables.events.amounts) == 1e300
    pq.write_table(table, tmp_path / "e.parquet")
    pq.write_table(PEOPLE, tmp_path / "n.parquet")
    ingest(tmp_path / "e.parquet", tmp_path / "n.parquet", tmp_path / "graph")
    assert open_network(tmp_path / "graph").roles == tables.roles


def test_a_model_reads_kinds_in_whatever_type_they_come() -> None:
    whole = edges(code=[0, 1, 2, 1, 0])
    model = read_network(whole, PEOPLE, edge_kind=("code",), amount=())
    frame = whole.to_pandas()
    frame["code"] = frame["code"].astype("float64")
    again = read_network(frame, PEOPLE, encoding=model.encoding)
    np.testing.assert_array_equal(again.graph.attributes, model.graph.attributes)
    frame.loc[0, "code"] = 7.0
    assert read_network(frame, PEOPLE, encoding=model.encoding).roles.missing == (("code", 1),)
    flags = edges(paid=[True, False, True, True, False])
    model = read_network(flags, PEOPLE)
    text = pd.DataFrame({"source": SOURCE, "target": TARGET, "paid": ["True", "False", "True", "True", "no"]})
    assert read_network(text, PEOPLE, encoding=model.encoding).roles.missing == (("paid", 1),)


def test_a_direction_that_was_set_is_told_as_set() -> None:
    assert read_network(edges(), PEOPLE, directed=False).roles.direction == "edges have no direction, as set"
    told = read_network(edges(), PEOPLE, directed=True).roles.direction
    assert told == "edges have a direction, as set: from 'source' to 'target'"


def test_a_model_is_not_contradicted() -> None:
    table = edges(euros=[1.0, 2, 3, 4, 5])
    encoding = read_network(table, PEOPLE).encoding
    for settings in ({"amount": ()}, {"directed": False}, {"time": "euros"}):
        with pytest.raises(TableError, match="the model was fitted with"):
            read_network(table, PEOPLE, encoding=encoding, **settings)
    with pytest.raises(EncodingError, match="flows are off"):
        read_network(table, PEOPLE, encoding=encoding, flows=False)
    with pytest.raises(TableError, match="no column 'euros'"):
        read_network(edges(), PEOPLE, encoding=encoding)


def test_in_a_month_without_events_a_node_has_none_and_keeps_what_is_known_of_it() -> None:
    stamps = pa.array([SECOND + k for k in range(5)], pa.int64())
    model = read_network(edges(timestamp=stamps), PEOPLE)
    none = read_network(edges(timestamp=stamps).slice(0, 0), PEOPLE, encoding=model.encoding)
    assert none.graph.attribute_names == model.graph.attribute_names
    assert (none.graph.edge_count, none.graph.flow_count) == (0, model.graph.flow_count)
    column = dict(zip(none.graph.attribute_names, np.asarray(none.graph.attributes).T, strict=True))
    assert not column["events out"].any()
    assert not column["events in"].any()
    np.testing.assert_array_equal(column["x"], np.asarray(model.graph.attributes)[:, 0])
    assert np.isfinite(none.graph.attributes).all()


def test_a_flow_column_can_be_ignored_and_nothing_else() -> None:
    network = read_network(edges(), PEOPLE, kinds={"events in": "ignore"})
    assert "events in" not in network.graph.attribute_names
    assert network.graph.flow_count == network.encoding.flow_count
    with pytest.raises(EncodingError, match="made from events"):
        read_network(edges(), PEOPLE, kinds={"events in": "number"})


def test_without_flows_rows_are_pairs_and_said_to_be() -> None:
    tables = read_tables(edges(euros=[1.0, 2, 3, 4, 5]), PEOPLE, ReadSettings(flows=False))
    assert (tables.roles.directed, tables.roles.direction, tables.events) == (None, "", None)


def test_columns_that_cannot_be_kept_are_refused_at_once() -> None:
    for kept in (("id",), ("x", "x"), ("y",)):
        with pytest.raises(OddhopError):
            read_network(edges(), PEOPLE, keep_columns=kept)


def test_a_model_with_flows_refuses_a_graph_without() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"source": rng.integers(0, 50, 200), "target": rng.integers(0, 50, 200)})
    network = read_network(table, pa.table({"id": range(50), "x": rng.normal(size=50)}))
    fitted = views.fit_views(network.graph)[0]
    plain = network.graph.with_attributes(np.asarray(network.graph.attributes))
    with pytest.raises(GraphError, match="flow columns"):
        views.judge(fitted, plain)


def test_the_index_that_pandas_writes_is_no_amount(tmp_path: Path) -> None:
    frame = edges(euros=[1.0, 2, 3, 4, 5]).to_pandas()
    pd.concat([frame, frame]).to_parquet(tmp_path / "e.parquet")  # the index repeats, so it is written as a column
    roles = read_network(tmp_path / "e.parquet", PEOPLE).roles
    assert roles.amount == ("euros",)
    assert ("__index_level_0__", "like an id by its name") in roles.unread
