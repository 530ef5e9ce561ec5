"""Changes to a node: rows that differ in one column, and steps that a p-value at its floor would hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from oddhop import Graph, Network
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import Baseline
from oddhop.odd.changes import Context, Node, Situation, counterfactual, telling_columns
from oddhop.odd.p_values import FLOOR
from oddhop.odd.rescore import FixedNetwork, fix_network
from oddhop.odd.views import fit_views
from tests.odd.planted import CLIQUE, OUTLIER, planted


def node_of(held: FixedNetwork, graph: Graph, number: int, line: float) -> tuple[Node, Situation]:
    network, company = Network.of(graph), held.neighbours(number)
    columns = Columns(network)
    context = Context(held, network, columns, Baseline(line, 1.0, 0.0))
    node = Node(context, number, company, columns.typical(company), np.arange(company.size))
    return node, Situation(columns.rows(np.array([number]))[0], np.ones(company.size, dtype=bool))


def test_rows_differ_in_one_column_each_dense_or_sparse() -> None:
    graph = planted()
    held = fix_network(fit_views(graph)[0], graph)
    sparse = graph.with_attributes(sp.csr_array(np.asarray(graph.attributes)))
    node, now = node_of(held, graph, OUTLIER, 1.0)
    thin, _ = node_of(replace(held, graph=sparse), sparse, OUTLIER, 1.0)
    spans = node.context.columns.spans[2:5]
    rows = node.rows(now.row, spans)
    assert [np.flatnonzero(row != now.row).tolist() for row in rows] == [[2], [3], [4]]
    np.testing.assert_allclose(thin.rows(now.row, spans).toarray(), rows, atol=1e-12)


def test_the_columns_that_matter_come_first() -> None:
    graph = planted()
    held = fix_network(fit_views(graph)[0], graph)
    node, now = node_of(held, graph, OUTLIER, 1.0)
    telling = telling_columns(node, now, node.judged(now.row[None], now.kept[None]))
    assert telling.spans[0].name == "attribute 6"
    assert (np.diff(telling.worth) >= 0).all()
    assert (telling.worth < 0).all()
    assert telling.moves[0] == telling.moves.min()  # an outlier: its view speaks loudest, and heeds that column


def test_a_p_value_at_its_floor_does_not_end_the_search() -> None:
    graph = planted()
    views, _, _ = fit_views(graph)
    scarce = replace(views.usual, chance=1e-6 * views.usual.chance)  # no triangle comes about by chance
    tight = replace(views, clique=replace(views.clique, scale=views.clique.scale / 6), usual=scarce)
    held = fix_network(tight, graph)
    node, now = node_of(held, graph, int(CLIQUE[0]), 9.0)
    as_it_is = node.judged(now.row[None], now.kept[None])
    assert as_it_is.evidence.log_p[2, 0] == FLOOR
    single = node.judged(now.row[None], node.without(now, node.edges))
    assert (single.evidence.log_p[2] == FLOOR).all()
    changed = counterfactual(node, now, [], as_it_is)
    assert changed is not None
    assert changed.after < changed.before - 1
    assert {one.name for one in changed.changes[:3]} <= set(CLIQUE.tolist())
