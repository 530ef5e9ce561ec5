"""The flow view: what attributes do not predict of the flows, in any unit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop import Odd, load, read_network
from oddhop.odd.flow import learn_flows
from oddhop.odd.views import fit_views


def test_flows_that_attributes_predict_are_usual_and_the_others_are_not() -> None:
    rng = np.random.default_rng(0)
    size = rng.normal(size=(2_000, 2))
    flows = size @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(size=(2_000, 6))
    flows[7] = -flows[7] + 1.0
    figure = learn_flows(flows, size).figure(flows, size, 0, 2_000)
    assert int(np.argmax(figure)) == 7
    assert np.corrcoef(figure, np.abs(size).sum(axis=1))[0, 1] < 0.1


def test_the_figure_is_that_of_mahalanobis_over_the_residuals() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(500, 3)), rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    design = np.column_stack([np.ones(500), x])
    z = (y - y.mean(axis=0)) / y.std(axis=0)
    left = z - design @ np.linalg.lstsq(design, z, rcond=None)[0]
    left /= left.std(axis=0)
    inverse = np.linalg.inv(np.cov(left.T, bias=True) + 0.05 * np.eye(4))
    expected = 0.5 * np.log(np.einsum("ij,jk,ik->i", left, inverse, left))
    np.testing.assert_allclose(learn_flows(y, x).figure(y, x, 0, 500), expected, rtol=1e-8)


def test_without_attributes_flows_are_compared_with_all() -> None:
    flows = np.random.default_rng(2).normal(size=(300, 3))
    flows[4] += 9.0
    none = np.empty((300, 0))
    assert int(np.argmax(learn_flows(flows, none).figure(flows, none, 0, 300))) == 4


def trade() -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(3)
    large = np.arange(600) % 2 == 0
    source, target = rng.integers(0, 600, (2, 4_000))
    amount = np.where(large[source], 900.0, 20.0) * rng.lognormal(0, 0.3, 4_000)
    amount[source == 10] = 20.0  # large by its profile, and pays like a small one
    when = np.datetime64("2026-01-01", "s") + rng.integers(0, 28 * 86_400, 4_000)
    edges = pa.table({"payer": source, "payee": target, "amount": amount, "when": when})
    turnover = np.where(large, 5e6, 8e4) * rng.lognormal(0, 0.3, 600)
    return edges, pa.table({"id": np.arange(600), "turnover": turnover, "age": rng.normal(40, 9, 600)})


def test_a_misfit_is_found_by_its_flow_and_named_so() -> None:
    edges, nodes = trade()
    detector = Odd(random_state=0, simulate=False).fit(edges, nodes=nodes)
    row = {name: column[0] for name, column in detector.result_.slice(0, 1).to_pydict().items()}
    assert (row["id"], row["kind"]) == (10, "flow")
    told = "The events of this node are unusual for its attributes."
    assert told in detector.explain(10).sentences
    without = Odd(random_state=0, simulate=False).fit(read_network(edges, nodes, flows=False))
    rank = dict(zip(without.result_["id"].to_pylist(), without.result_["rank"].to_pylist(), strict=True))
    assert rank[10] > 20


def test_stranger_outlier_and_clique_are_the_same_with_and_without_flows() -> None:
    edges, nodes = trade()
    with_flows, without = (fit_views(read_network(edges, nodes, flows=flows).graph)[1] for flows in (True, False))
    np.testing.assert_array_equal(with_flows.log_p[:3], without.log_p[:3])


@pytest.mark.slow
def test_a_saved_model_judges_the_same_and_reads_the_same_edge_columns(tmp_path) -> None:
    edges, nodes = trade()
    detector = Odd(random_state=0, simulate=False).fit(edges, nodes=nodes)
    detector.save(tmp_path / "model.oddhop")
    more = edges.append_column("fee", pa.array(np.arange(edges.num_rows) * 1.5))
    again = load(tmp_path / "model.oddhop").rank(more, nodes=nodes)
    assert again["id"].to_pylist() == detector.result_["id"].to_pylist()
    np.testing.assert_allclose(again["score"].to_numpy(), detector.result_["score"].to_numpy())
