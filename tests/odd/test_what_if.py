"""Changes to a node: rows that differ in one column, and steps that a p-value at its floor would hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from oddhop import Graph, Network
from oddhop.explain.columns import Columns
from oddhop.explain.explanation import Baseline
from oddhop.odd.p_values import FLOOR
from oddhop.odd.rescore import FixedNetwork, fix_network
from oddhop.odd.views import fit_views
from oddhop.odd.what_if import Node, change_columns, counterfactual
from tests.odd.planted import CLIQUE, OUTLIER, planted


def node_of(held: FixedNetwork, graph: Graph, number: int) -> tuple[Node, np.ndarray, np.ndarray]:
    columns, company = Columns(Network.of(graph)), held.neighbours(number)
    node = Node(held, columns, number, columns.typical(company), np.arange(company.size))
    return node, columns.rows(np.array([number]))[0], np.ones(company.size, dtype=bool)


def test_rows_differ_in_one_column_each_dense_or_sparse() -> None:
    graph = planted()
    held = fix_network(fit_views(graph)[0], graph)
    sparse = graph.with_attributes(sp.csr_array(np.asarray(graph.attributes)))
    node, own, _ = node_of(held, graph, OUTLIER)
    thin, *_ = node_of(replace(held, graph=sparse), sparse, OUTLIER)
    spans = node.columns.spans[2:5]
    rows = node.rows(own, spans)
    assert [np.flatnonzero(row != own).tolist() for row in rows] == [[2], [3], [4]]
    assert np.array_equal(thin.rows(own, spans).toarray(), rows)


def test_the_columns_that_matter_come_first() -> None:
    graph = planted()
    held = fix_network(fit_views(graph)[0], graph)
    node, own, kept = node_of(held, graph, OUTLIER)
    changed = change_columns(node, own, kept, node.judged(own[None], kept[None]))
    assert changed.spans[0].name == "attribute 6"
    assert (np.diff(changed.worth) >= 0).all()
    assert (changed.worth < 0).all()
    assert changed.moves[0] == changed.moves.min()  # an outlier: its view speaks loudest, and heeds that column


def test_a_p_value_at_its_floor_does_not_end_the_search() -> None:
    graph = planted()
    views, _, _ = fit_views(graph)
    scarce = replace(views.usual, chance=1e-6 * views.usual.chance)  # no triangle comes about by chance
    slow = replace(views.bulks["clique"], scale=views.bulks["clique"].scale / 6)
    tight = replace(views, bulks={**views.bulks, "clique": slow}, usual=scarce)
    held = fix_network(tight, graph)
    node, own, kept = node_of(held, graph, int(CLIQUE[0]))
    as_it_is = node.judged(own[None], kept[None])
    assert as_it_is.evidence.log_p[2, 0] == FLOOR
    single = node.judged(own[None], node.without(kept, node.edges))
    assert (single.evidence.log_p[2] == FLOOR).all()
    changed = counterfactual(node, own, kept, [], as_it_is, Baseline(9.0))
    assert changed is not None
    assert changed.after < changed.before - 1
    assert {one.name for one in changed.changes[:3]} <= set(CLIQUE.tolist())
