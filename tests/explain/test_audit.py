"""The audit speaks up where it should, and is silent where it should be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from oddhop import Graph, Odd, read_network
from oddhop.explain.audit import Finding, agreement, audit_ranking, follow_time_or_id, neighbour_distances, norms
from oddhop.hcm.diagnostics import ties
from oddhop.odd.findings import related


@pytest.fixture(scope="module")
def network() -> Graph:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 200, (2, 900)) ** 2 // 200  # some have many neighbours
    return Graph.from_arrays(edges, rng.normal(size=(200, 4)) * rng.uniform(0.1, 3, (200, 1)))


def ranked(graph: Graph, score: np.ndarray, sure: float = 0.9) -> pa.Table:
    judged = graph.degrees > 0
    order = np.argsort(-np.where(judged, score, -np.inf), kind="stable")
    chance = np.full(score.size, sure)
    return pa.table({"id": order, "score": score[order], "judged": judged[order], "top_probability": chance})


def audit(graph: Graph, score: np.ndarray, own: tuple[Finding, ...] = ()) -> tuple[Finding, ...]:
    return audit_ranking(graph, graph, score, graph.degrees > 0, own)


def by_name(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {one.check: one for one in findings}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["degree", "attribute norm", "distance to neighbours"])
def test_a_ranking_that_is_a_trivial_one_is_said_to_be(network: Graph, name: str, sign: int) -> None:
    trivial = {
        "degree": network.degrees.astype(float),
        "attribute norm": norms(network),
        "distance to neighbours": neighbour_distances(network),
    }[name]
    found = by_name(audit(network, sign * trivial**3))[name]
    assert found.level == "warning"
    assert found.figure * sign > 0.99
    assert ("reversed" in found.sentence) == (sign < 0)


def test_a_ranking_of_its_own_is_fine(network: Graph) -> None:
    noise = np.random.default_rng(1).uniform(size=200)
    own = agreement(ranked(network, noise), 10, "in a fresh run", "unsure"), ties(100, 50)
    findings = audit(network, noise, own)
    assert {one.level for one in findings} == {"fine"}
    assert len(findings) == 6


def test_chains_that_disagree_ties_and_lone_nodes_are_told(network: Graph) -> None:
    noise = np.random.default_rng(1).uniform(size=200)
    own = agreement(ranked(network, noise, sure=0.3), 10, "in a fresh run", "unsure"), ties(100, 51)
    found = by_name(audit(network, noise, own))
    assert found["top"].level == "warning"
    assert "In a fresh run, about 3 of the top" in found["top"].sentence
    assert found["ties"].level == "warning"
    lonely = Graph.from_arrays([[0], [1]], np.arange(5.0)[:, None])
    told = by_name(audit(lonely, np.ones(5)))["judged"]
    assert (told.level, told.figure) == ("warning", 0.6)


def test_of_odd_it_says_whether_strangers_can_be_detected() -> None:
    heard, silent = related(0.5), related(0.0)
    assert (heard.level, silent.level) == ("fine", "warning")
    assert heard.figure == 0.5
    assert "Odd cannot find nodes that are unlike their neighbours" in silent.sentence


def test_distances_are_those_of_the_definition_dense_and_sparse(network: Graph) -> None:
    x, node = np.asarray(network.attributes), 7
    neighbours = network.indices[network.indptr[node] : network.indptr[node + 1]]
    expected = np.linalg.norm(x[neighbours] - x[node], axis=1).mean()
    assert neighbour_distances(network)[node] == pytest.approx(expected)
    x = np.where(np.abs(x) > 1, x, 0.0)
    dense, sparse = (network.with_attributes(one) for one in (x, sp.csr_array(x)))
    np.testing.assert_allclose(neighbour_distances(sparse), neighbour_distances(dense), atol=1e-9)
    np.testing.assert_allclose(norms(sparse), norms(dense))


def test_ids_of_text_find_their_nodes() -> None:
    rng = np.random.default_rng(0)
    ids = np.array([f"n{k}" for k in rng.permutation(60)])
    graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 2)), ids)
    fitted = Odd(random_state=0).fit(graph)
    by_degree = fitted.result_.set_column(1, "score", fitted.result_["degree"].cast("double"))
    assert by_name(fitted.audit(graph, by_degree))["degree"].figure == pytest.approx(1.0)


def test_a_flow_column_that_follows_time_is_warned_about() -> None:
    rng = np.random.default_rng(0)
    nodes, source = 200, np.repeat(np.arange(200), 5)
    when = np.datetime64("2026-01-01", "s") + 3_600 * source + rng.integers(0, 60, source.size)
    table = {"from": source, "to": rng.integers(0, nodes, source.size), "amount": 1.0 + source, "when": when}
    people = pa.table({"id": np.arange(nodes), "x": rng.normal(size=nodes)})
    told = follow_time_or_id(read_network(pa.table(table), people).graph)
    assert any("'amount out sum' almost follows the order of the ids" in one.sentence for one in told)
    table["amount"] = rng.permutation(table["amount"])
    calm = follow_time_or_id(read_network(pa.table(table), people).graph)
    assert not any("'amount out sum'" in one.sentence for one in calm)
