"""Why HCM finds a node odd: the neighbours that look far, the columns that make them so, what would change it.

Every figure comes from scoring the node again after a change: an edge taken away, or the value of a column replaced
by what is typical of the neighbours. Nothing is fitted to the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.parallel import Progress, map_blocks, silent
from oddhop.base.randomness import EXPLAIN, generator
from oddhop.explain.columns import Columns, ColumnSpan
from oddhop.explain.counterfactual import Step, search, worth_telling
from oddhop.explain.explanation import (
    COLUMNS_TOLD,
    SHOWN,
    Baseline,
    Change,
    ColumnDifference,
    Counterfactual,
    Explanation,
    Neighbour,
)
from oddhop.graph.adjacency import index_dtype
from oddhop.graph.graph import Graph
from oddhop.hcm.arrows import arrows
from oddhop.hcm.model import Inputs
from oddhop.hcm.model_file import HCMModel
from oddhop.hcm.rescore import Frozen, Surroundings, felt_by, freeze, hops_after, surroundings
from oddhop.tables.network import Network

LOOKED_AT = 512
COLUMNS_TRIED = 12
CHANGES_TRIED = 10
SAMPLES_A_CHAIN = 2
FROZEN_BYTES = 2**26
DRAWN = (
    "The explanation uses {looked_at:,} of the {degree:,} neighbours of this node, drawn at random. The explanation "
    "shows no changes that would lower the score, because the detector did not search for them."
)
DEEP = "In a model with more than two layers, the effect of a change is computed only up to the neighbours of the node."


def explain_nodes(
    model: HCMModel,
    network: Network,
    nodes: Ints,
    baseline: Baseline,
    *,
    workers: int = 1,
    progress: Progress = silent,
) -> Iterator[Explanation]:
    """Explain some nodes of a network, given by their numbers, one after the other."""
    graph, learned, settings = network.graph, model.learned, model.settings
    if settings.directed:
        arrows(graph)  # refuses a network without
    prepared = learned.preparation.apply(graph, settings.dtype)
    inputs = Inputs.of(prepared, settings.dtype)
    context = _Context(model, network, Columns(network), baseline)
    groups = [_looked_at(graph, int(node), model.seed) for node in nodes]
    weights = learned.posterior.weights
    vectors = settings.hidden * weights[..., 0].size * max(settings.layers - 1, 1)
    most_rows = max(1, FROZEN_BYTES // (vectors * weights.itemsize))
    for some in _batches(groups, most_rows):
        rows = np.unique(np.concatenate(some)).astype(index_dtype(graph.node_count))
        frozen = freeze(learned.posterior, inputs, prepared, rows, workers=workers, progress=progress)
        yield from map_blocks(partial(_explain, context, frozen), some, workers=workers)


@dataclass(frozen=True, eq=False)
class _Context:
    """What is the same for all nodes that are explained."""

    model: HCMModel
    network: Network
    columns: Columns
    baseline: Baseline

    def edge_scores(self, hops: torch.Tensor) -> torch.Tensor:
        """Return the score of every edge from hops of shape (samples, ..., edges)."""
        mean = hops.mean(dim=0)
        if self.model.settings.score == "ahp":
            return mean
        far, unsure = (1.0 / peak if peak > 0 else 0.0 for peak in self.model.learned.maxima)
        return far * mean + unsure * hops.var(dim=0, unbiased=False)

    def node_scores(self, hops: torch.Tensor, removed: Bools) -> torch.Tensor:
        """Return the mean over the edges that are left, (changes,)."""
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
    """Return a node and its neighbours, or an even draw of them where there are very many."""
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    if neighbours.size > LOOKED_AT:
        neighbours = np.sort(generator(seed, EXPLAIN, node).choice(neighbours, LOOKED_AT, replace=False))
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


def _explain(context: _Context, frozen: Frozen, group: Ints) -> Explanation:
    network, node = context.network, int(group[0])
    degree = int(network.graph.degrees[node])
    if degree == 0:
        return Explanation.of_lone_node(network.name(node), context.baseline)
    with torch.no_grad():
        around = surroundings(frozen, group)
        hops = hops_after(around, _still(around), np.zeros((1, group.size - 1), dtype=bool))[:, 0]
        edges = context.edge_scores(hops).numpy()
    mean, spread = hops.mean(dim=0).numpy(), hops.std(dim=0, unbiased=False).numpy()
    # By distance, not by score: where the model is merely unsure it says little about this edge.
    order = np.argsort(-mean, kind="stable")[:SHOWN]
    tried = _try(context, around, order)
    effects = dict(zip(order.tolist(), tried.effects.tolist(), strict=False)) if degree > 1 else {}
    drawn = group.size - 1 < degree
    score = float(edges.mean())
    listed = tuple(
        Neighbour(
            id=network.name(int(group[1 + k])),
            hops=float(mean[k]),
            spread=float(spread[k]),
            score=float(edges[k]),
            effect=effects.get(k),
        )
        for k in order.tolist()
    )
    return Explanation(
        id=network.name(node),
        score=score,
        degree=degree,
        hops=float(mean.mean()),
        spread=float((spread**2).mean()) ** 0.5,
        baseline=context.baseline,
        kind=None,
        neighbours=listed,
        far=int(context.baseline.alerts(edges).sum()),
        looked_at=group.size - 1,
        columns=_column_differences(context, group, tried),
        counterfactual=None if drawn else _counterfactual(context, frozen, around, tried, score),
        notes=(DRAWN.format(degree=degree, looked_at=group.size - 1),) * drawn,
        caveats=(DEEP,) * (context.model.settings.layers > 2),
    )


def _still(around: Surroundings) -> torch.Tensor:
    return torch.zeros((1, around.x.shape[1]), dtype=around.x.dtype)


def _few(context: _Context) -> Ints:
    """Pick some samples of every chain; reasons need no more."""
    chains, samples = context.model.learned.posterior.weights.shape[:2]
    within = np.unique(np.linspace(0, samples - 1, min(SAMPLES_A_CHAIN, samples)).round().astype(np.int64))
    return np.asarray((np.arange(chains)[:, None] * samples + within).ravel())


def _try(context: _Context, around: Surroundings, order: Ints) -> _Candidates:
    """Score the node again after every single change: the farthest edges, and the columns that matter most."""
    few = _few(context)
    lighter = replace(
        around,
        outside=tuple(one if one.dim() == 2 else one[torch.from_numpy(few)] for one in around.outside),
        weights=tuple(one[torch.from_numpy(few)] for one in around.weights),
    )
    node, neighbours = int(around.nodes[0]), around.nodes[1:]
    edges = order if neighbours.size > 1 else order[:0]  # without its last edge a node is not judged at all
    spans, deltas, told = _column_changes(context, lighter, node, neighbours)
    count = edges.size + len(spans)
    removed = np.zeros((count + 1, neighbours.size), dtype=bool)
    removed[np.arange(edges.size), edges] = True
    all_deltas = torch.cat([_still(around).expand(edges.size, -1), deltas, _still(around)])
    with torch.no_grad():
        scores = context.node_scores(hops_after(lighter, all_deltas, removed), removed).numpy()
    changes = [Change("edge", context.network.name(int(neighbours[k]))) for k in edges]
    changes += [Change("attribute", span.name, to) for span, to in zip(spans, told, strict=True)]
    return _Candidates(changes, spans, all_deltas[:-1], removed[:-1], scores[:-1] - scores[-1])


def _column_changes(
    context: _Context, around: Surroundings, node: int, neighbours: Ints
) -> tuple[list[ColumnSpan], torch.Tensor, list[str]]:
    """Choose columns by their first-order effect; give them, the change of prepared attributes, and the new value."""
    columns, prepare = context.columns, context.model.learned.preparation
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
        context.edge_scores(hops).mean().backward()
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


def _column_differences(context: _Context, group: Ints, tried: _Candidates) -> tuple[ColumnDifference, ...]:
    first = len(tried.changes) - len(tried.spans)
    effects = tried.effects[first:]
    columns = context.columns
    lacked = columns.lacked(columns.rows(group[:1])[0])[[columns.span_of[one.start] for one in tried.spans]]
    # What it has comes before what it lacks, as most nodes do.
    order = [k for k in np.lexsort((effects, lacked)) if effects[k] < 0][:COLUMNS_TOLD]
    return tuple(
        context.columns.difference(
            tried.spans[k], int(group[0]), group[1:], tried.changes[first + k].to, float(effects[k])
        )
        for k in order
    )


def _counterfactual(
    context: _Context, frozen: Frozen, around: Surroundings, tried: _Candidates, before: float
) -> Counterfactual | None:
    """Take the single changes together, the strongest first; one that does not lower the score is passed over."""
    order = iter([k for k in np.argsort(tried.effects, kind="stable")[:CHANGES_TRIED] if tried.effects[k] < 0])
    together: list[int] = []

    def next_step(taken: Sequence[Change], after: float) -> Step | None:  # noqa: ARG001 - ``together`` has them
        for candidate in order:
            some = [*together, candidate]
            removed: Bools = np.logical_or.reduce(tried.removed[some])[None]
            if removed.all():  # without its last edge a node is not judged at all
                continue
            deltas = tried.deltas[some].sum(dim=0, keepdim=True)
            with torch.no_grad():
                felt = felt_by(frozen, around, removed[0])
                again = float(context.node_scores(hops_after(around, deltas, removed, [felt]), removed)[0])
            if again < after - worth_telling(before):
                together.append(candidate)
                return Step(tried.changes[candidate], again)
        return None

    return search(before, context.baseline, next_step)
