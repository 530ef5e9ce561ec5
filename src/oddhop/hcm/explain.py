"""Why HCM finds a node odd: the neighbours that look far, the columns that make them so, what would change it.

Every figure is had by scoring the node again after a change: an edge taken away, or the value of a column replaced
by what is typical of the neighbours. Nothing is fitted to the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import torch

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import Progress, map_blocks, silent
from oddhop.explain.columns import Columns, ColumnSpan, called
from oddhop.explain.explanation import (
    MOST_CHANGES,
    SHOWN,
    TRAITS_TOLD,
    WORTH_TELLING,
    Change,
    Counterfactual,
    Explanation,
    Id,
    Neighbour,
    Trait,
    Yardstick,
    alert_line,
)
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.checks import checked_nodes
from oddhop.graph.graph import Graph
from oddhop.hcm.model import Inputs
from oddhop.hcm.model_file import Model
from oddhop.hcm.rescore import Frozen, Surroundings, felt_by, freeze, hops_after, surroundings
from oddhop.tables.encode import Encoding

LOOKED_AT = 512
COLUMNS_TRIED = 12
CHANGES_TRIED = 10
SAMPLES_A_CHAIN = 2
FROZEN_BYTES = 2**26
DRAWN = "Of its {degree:,} neighbours an even draw of {looked_at:,} was looked at, and no change was searched for."
DEEP = "With more than two layers the effects of a change are followed to its neighbours only."


def yardstick(result: pa.Table, threshold: float, top: int) -> Yardstick:
    """Give what is usual in a result table; where nothing is flagged the first ``top`` nodes make the alert line."""
    judged = result.filter(result["judged"])
    line = alert_line(judged["score"].to_numpy(), threshold, top)
    hops, variance = (float(np.median(judged[name].to_numpy())) for name in ("ahp", "iv"))
    return Yardstick(line, hops, variance**0.5)


def explain_nodes(
    model: Model,
    graph: Graph,
    nodes: Sequence[int] | Ints,
    measure: Yardstick,
    *,
    ids: pa.Array | None = None,
    encoding: Encoding | None = None,
    originals: pa.Table | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Iterator[Explanation]:
    """Explain some nodes of a network, one after the other.

    Parameters
    ----------
    model : a fitted one: ``model_`` of :class:`oddhop.HCM`.
    graph : the network, with the attributes that the model was fitted on.
    nodes : by their number in the graph.
    measure : what is usual in the network, see :func:`yardstick`.
    ids : what the nodes are called, in the order of their numbers; left out, as the graph calls them.
    encoding : how columns of a table became the attributes, to speak of these columns.
    originals : the columns as they were, one row a node, to quote texts from.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import HCM, Graph
    >>> from oddhop.hcm.explain import explain_nodes, yardstick
    >>> rng = np.random.default_rng(0)
    >>> side = np.repeat([0, 1], 20)
    >>> edges = rng.integers(0, 20, (2, 120)) + 20 * rng.integers(0, 2, 120)
    >>> likes = 3.0 * np.eye(2)[side] + rng.normal(0, 0.3, (40, 2))
    >>> likes[0] = likes[30]
    >>> graph = Graph.from_arrays(edges, likes, attribute_names=["tea", "coffee"])
    >>> fitted = HCM(burn_in=200, samples=2, thin=2, top_k=1, random_state=0).fit(graph)
    >>> [why] = explain_nodes(fitted.model_, graph, [0], yardstick(fitted.result_, fitted.threshold_, 1))
    >>> why.traits[0].column in ("tea", "coffee"), why.counterfactual.after < why.score
    (True, True)
    """
    wanted = checked_nodes(nodes, graph.node_count)
    prepared = model.preparation.apply(graph, model.settings.dtype)
    inputs = Inputs.of(prepared, model.settings.dtype)
    bench = _Bench(model, graph, Columns(graph, encoding, originals), measure, ids)
    groups = [_looked_at(graph, int(node), model.seed) for node in wanted]
    vectors = model.posterior.shape.hidden * model.posterior.weights[..., 0].size * max(model.settings.layers - 1, 1)
    most_rows = max(1, FROZEN_BYTES // (vectors * model.posterior.weights.itemsize))
    for some in _batches(groups, most_rows):
        rows = np.unique(np.concatenate(some)).astype(index_dtype(graph.node_count))
        frozen = freeze(model.posterior, inputs, prepared, rows, workers=workers, progress=progress)
        yield from map_blocks(partial(_explain, bench, frozen), some, workers=workers)


@dataclass(frozen=True, eq=False)
class _Bench:
    """What is the same for all nodes."""

    model: Model
    graph: Graph
    columns: Columns
    measure: Yardstick
    ids: pa.Array | None

    def name(self, node: int) -> Id:
        """Give what a node is called."""
        return called(self.graph, self.ids, node)

    def edge_scores(self, hops: torch.Tensor) -> torch.Tensor:
        """Give the score of every edge from hops of shape (samples, ..., edges)."""
        mean = hops.mean(dim=0)
        if self.model.settings.score == "ahp":
            return mean
        far, unsure = (1.0 / peak if peak > 0 else 0.0 for peak in self.model.maxima)
        return far * mean + unsure * hops.var(dim=0, unbiased=False)

    def node_scores(self, hops: torch.Tensor, removed: Bools) -> torch.Tensor:
        """Give the mean over the edges that are left, (changes,)."""
        left = torch.from_numpy(~removed).to(hops.dtype)
        return (self.edge_scores(hops) * left).sum(dim=1) / left.sum(dim=1)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Single changes: edges first, then columns; ``effects`` is what each does to the score."""

    changes: list[Change]
    spans: list[ColumnSpan]
    deltas: torch.Tensor
    removed: Bools
    effects: Floats


def _looked_at(graph: Graph, node: int, seed: int) -> Ints:
    """Give a node and its neighbours, or an even draw of them where there are very many."""
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    if neighbours.size > LOOKED_AT:
        neighbours = np.sort(np.random.default_rng([seed, node]).choice(neighbours, LOOKED_AT, replace=False))
    return np.concatenate([[node], neighbours]).astype(np.int64)


def _batches(groups: Sequence[Ints], most_rows: int) -> Iterator[list[Ints]]:
    batch: list[Ints] = []
    rows: set[int] = set()
    for group in groups:
        more = rows.union(group.tolist())
        if batch and len(more) > most_rows:
            yield batch
            batch, more = [], set(group.tolist())
        batch.append(group)
        rows = more
    if batch:
        yield batch


def _explain(bench: _Bench, frozen: Frozen, group: Ints) -> Explanation:
    graph, node = bench.graph, int(group[0])
    degree = int(graph.degrees[node])
    if degree == 0:
        return Explanation(bench.name(node), 0.0, 0, 0.0, 0.0, bench.measure, None, (), 0, 0, (), None)
    with torch.no_grad():
        around = surroundings(frozen, group)
        hops = hops_after(around, _still(around), np.zeros((1, group.size - 1), dtype=bool))[:, 0]
        edges = bench.edge_scores(hops).numpy()
    mean, spread = hops.mean(dim=0).numpy(), hops.std(dim=0, unbiased=False).numpy()
    # By distance, not by score: where the model is merely unsure it says little about this edge.
    order = np.argsort(-mean, kind="stable")[:SHOWN]
    tried = _try(bench, around, order)
    effects = dict(zip(order.tolist(), tried.effects.tolist(), strict=False)) if degree > 1 else {}
    drawn = group.size - 1 < degree
    score = float(edges.mean())
    notes = [DRAWN.format(degree=degree, looked_at=group.size - 1)] * drawn + [DEEP] * (bench.model.settings.layers > 2)
    return Explanation(
        id=bench.name(node),
        score=score,
        degree=degree,
        hops=float(mean.mean()),
        spread=float((spread**2).mean()) ** 0.5,
        yardstick=bench.measure,
        kind=None,
        neighbours=tuple(
            Neighbour(
                bench.name(int(group[1 + k])), float(mean[k]), float(spread[k]), float(edges[k]), effects.get(int(k))
            )
            for k in order
        ),
        far=int(bench.measure.alerts(edges).sum()),
        looked_at=group.size - 1,
        traits=_traits(bench, group, tried),
        counterfactual=None if drawn else _counterfactual(bench, frozen, around, tried, score),
        notes=tuple(notes),
    )


def _still(around: Surroundings) -> torch.Tensor:
    return torch.zeros((1, around.x.shape[1]), dtype=around.x.dtype)


def _few(bench: _Bench) -> Ints:
    """Pick some samples of every chain; reasons need no more."""
    chains, samples = bench.model.posterior.weights.shape[:2]
    within = np.unique(np.linspace(0, samples - 1, min(SAMPLES_A_CHAIN, samples)).round().astype(np.int64))
    return np.asarray((np.arange(chains)[:, None] * samples + within).ravel())


def _try(bench: _Bench, around: Surroundings, order: Ints) -> _Candidates:
    """Score the node again after every single change: the farthest edges, and the columns that matter most."""
    few = _few(bench)
    lighter = replace(
        around,
        outside=tuple(one if one.dim() == 2 else one[torch.from_numpy(few)] for one in around.outside),
        weights=tuple(one[torch.from_numpy(few)] for one in around.weights),
    )
    node, neighbours = int(around.nodes[0]), around.nodes[1:]
    edges = order if neighbours.size > 1 else order[:0]  # without its last edge a node is not judged at all
    spans, deltas, told = _column_changes(bench, lighter, node, neighbours)
    count = edges.size + len(spans)
    removed = np.zeros((count + 1, neighbours.size), dtype=bool)
    removed[np.arange(edges.size), edges] = True
    all_deltas = torch.cat([_still(around).expand(edges.size, -1), deltas, _still(around)])
    with torch.no_grad():
        scores = bench.node_scores(hops_after(lighter, all_deltas, removed), removed).numpy()
    changes = [Change("edge", bench.name(int(neighbours[k]))) for k in edges]
    changes += [Change("attribute", span.name, to) for span, to in zip(spans, told, strict=True)]
    return _Candidates(changes, spans, all_deltas[:-1], removed[:-1], scores[:-1] - scores[-1])


def _column_changes(
    bench: _Bench, around: Surroundings, node: int, neighbours: Ints
) -> tuple[list[ColumnSpan], torch.Tensor, list[str]]:
    """Choose columns by their first-order effect; give them, the change of prepared attributes, and the new value."""
    columns, prepare = bench.columns, bench.model.preparation
    own = columns.rows(np.array([node]))[0]
    gap = columns.typical(neighbours) - own
    differing = np.flatnonzero(gap)
    if not differing.size:
        return [], torch.empty((0, around.x.shape[1]), dtype=around.x.dtype), []
    # Row c: what the whole difference in attribute c does to the prepared attributes.
    if prepare.components is None:
        moves = np.zeros((differing.size, prepare.width))
        moves[np.arange(differing.size), differing] = (
            gap[differing] / prepare.unit[differing] / prepare.spread[differing]
        )
    else:
        moves = prepare.components[differing] * (gap[differing] / prepare.unit[differing])[:, None] / prepare.spread
    owner = columns.span_of[differing]
    spans, place = np.unique(owner, return_inverse=True)
    deltas = np.zeros((spans.size, prepare.width))
    np.add.at(deltas, place, moves)
    if spans.size > COLUMNS_TRIED:
        at = _still(around).requires_grad_()
        hops = hops_after(around, at, np.zeros((1, neighbours.size), dtype=bool))
        bench.edge_scores(hops).mean().backward()
        assert at.grad is not None  # noqa: S101 - for the type checker
        first_order = deltas @ at.grad[0].numpy()
        order = np.argsort(first_order, kind="stable")
        lacked = columns.lacked(own)[spans[order]]
        # Of what it lacks as most nodes do, half at most, or nothing that it has might be tried.
        others = order[lacked][: COLUMNS_TRIED // 2]
        chosen = np.concatenate([order[~lacked][: COLUMNS_TRIED - others.size], others])
        spans, deltas = spans[chosen], deltas[chosen]
    picked = [columns.spans[k] for k in spans]
    typical = own + gap
    told = [columns.say(span, typical[span.start : span.stop]) for span in picked]
    return picked, torch.from_numpy(deltas).to(around.x.dtype), told


def _traits(bench: _Bench, group: Ints, tried: _Candidates) -> tuple[Trait, ...]:
    first = len(tried.changes) - len(tried.spans)
    effects = tried.effects[first:]
    columns = bench.columns
    lacked = columns.lacked(columns.rows(group[:1])[0])[[columns.span_of[one.start] for one in tried.spans]]
    # What it has comes before what it lacks, as most nodes do.
    order = [k for k in np.lexsort((effects, lacked)) if effects[k] < 0][:TRAITS_TOLD]
    return tuple(
        bench.columns.trait(tried.spans[k], int(group[0]), group[1:], tried.changes[first + k].to, float(effects[k]))
        for k in order
    )


def _counterfactual(
    bench: _Bench, frozen: Frozen, around: Surroundings, tried: _Candidates, before: float
) -> Counterfactual | None:
    """Take one change after the other, the strongest first, as long as each lowers the score, until it is no alert."""
    order = [k for k in np.argsort(tried.effects, kind="stable")[:CHANGES_TRIED] if tried.effects[k] < 0]
    if not bench.measure.alerts(before):
        return None
    taken: list[int] = []
    after = before
    for candidate in order:
        some = [*taken, candidate]
        removed: Bools = np.logical_or.reduce(tried.removed[some])[None]
        if removed.all():  # without its last edge a node is not judged at all
            continue
        deltas = tried.deltas[some].sum(dim=0, keepdim=True)
        with torch.no_grad():
            felt = felt_by(frozen, around, removed[0])
            again = float(bench.node_scores(hops_after(around, deltas, removed, [felt]), removed)[0])
        if again < after - WORTH_TELLING * before:
            taken, after = some, again
        if len(taken) == MOST_CHANGES or not bench.measure.alerts(after):
            break
    changes = tuple(tried.changes[k] for k in taken)
    return Counterfactual(changes, before, after, bench.measure) if changes else None
