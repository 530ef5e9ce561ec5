"""Why one node has its score, as figures. What happened around it, in sentences, is its case: ``oddhop.cases``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.html import panel, table
from oddhop.tables.network import Network

Id: TypeAlias = int | str
SHOWN = 24
COLUMNS_SHOWN = 6
NOTABLE = 0.05  # larger p-values are not reported, and neighbours with a larger share of edges are not different
TELLING = 0.1  # of the score: a column that does less explains nothing by itself


@dataclass(frozen=True)
class Baseline:
    """What is typical in the network, to compare one node with.

    Attributes
    ----------
    threshold : scores at or above it are alerts.
    usual_hops, usual_spread : how far away neighbours look to the node in the middle, and how unsure that is; 0 where
        the detector predicts no hops.
    """

    threshold: float
    usual_hops: float = 0.0
    usual_spread: float = 0.0

    def alerts(self, score: Any) -> Any:
        """Return whether a score, or each score of an array, is an alert; rounding errors do not count."""
        return score >= self.threshold - 1e-5 * abs(self.threshold)


def alert_line(scores: Floats, threshold: float, top: int) -> float:
    """Return the threshold, or the score of the last of the first ``top`` nodes where nothing is flagged."""
    if np.isfinite(threshold) or not scores.size:
        return float(threshold)
    return float(np.sort(scores)[::-1][min(top, scores.size) - 1])


@dataclass(frozen=True)
class Neighbour:
    """One neighbour of the node, and how different it is.

    Attributes
    ----------
    score : of this edge alone; HCM's score of a node is the mean over its edges.
    rarity : the share of all edges of the network whose ends look as far apart; None if the detector does not say.
    hops, spread : the predicted hop count, and its standard deviation over the posterior samples; None if the detector
        predicts none.
    member : whether it is one of the group that makes the node odd, or shared by the group.
    node_kind : its kind, where there are several kinds of nodes.
    """

    id: Id
    score: float
    rarity: float | None = None
    hops: float | None = None
    spread: float | None = None
    member: bool = False
    node_kind: str = ""


@dataclass(frozen=True)
class View:
    """One view of the node: its name, its p-value, and its part of the score."""

    name: str
    p: float
    part: float


@dataclass(frozen=True)
class ColumnDifference:
    """One column of the node table in which the node differs from its neighbours.

    Attributes
    ----------
    column : its name.
    own, usual, elsewhere : its value here, among others, and in the whole network, in words.
    instead : the value that stood in for its own.
    effect : by how much the score changes with that value; negative if its own value raises the score.
    others : the nodes it is compared with.
    """

    column: str
    own: str
    usual: str
    elsewhere: str
    instead: str
    effect: float
    others: str = "neighbours"


@dataclass(frozen=True)
class Change:
    """One step of a counterfactual: an edge that is not there, or another value in a column."""

    kind: Literal["edge", "attribute"]
    name: Id
    to: str = ""


@dataclass(frozen=True)
class Counterfactual:
    """A few changes that lower the score, re-scored together.

    Attributes
    ----------
    changes : at most five.
    before, after : the score of the node as it is, and with all the changes made.
    baseline : has the alert threshold.
    """

    changes: tuple[Change, ...]
    before: float
    after: float
    baseline: Baseline

    @property
    def enough(self) -> bool:
        """Whether the changes bring the score below the alert threshold."""
        return not self.baseline.alerts(self.after)


@dataclass(frozen=True)
class Explanation:
    """Why a node has its score.

    Attributes
    ----------
    id, score, degree : the node, its score, and how many neighbours it has.
    baseline : what is usual in the network.
    kind : the kind of anomaly, where the detector names kinds.
    views : what each view says, where the detector has several.
    neighbours : those that matter most, the first ones first.
    far : how many of its neighbours are unlike it, where the detector says how rare such edges are.
    looked_at : how many neighbours the figures are about: all, or a draw where there are very many.
    columns : the columns that raise its score, the one that matters most for the main reason first.
    counterfactual : what would lower its score, or None where nothing was found, needed or tried.
    group : the nodes of its own kind that belong to its group or cycle.
    cycle : the nodes of the first cycle that it is on.
    hops, spread : how far away its neighbours look on average, and how unsure that is; None if no hops are predicted.
    """

    id: Id
    score: float
    degree: int
    baseline: Baseline
    kind: str | None = None
    views: tuple[View, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    far: int = 0
    looked_at: int = 0
    columns: tuple[ColumnDifference, ...] = ()
    counterfactual: Counterfactual | None = None
    group: tuple[Id, ...] = ()
    cycle: tuple[Id, ...] = ()
    hops: float | None = None
    spread: float | None = None

    @property
    def telling(self) -> bool:
        """Whether the first column alone explains at least a tenth of the score."""
        return bool(self.columns) and -self.columns[0].effect >= TELLING * self.score

    def __repr__(self) -> str:
        kind = f"{self.kind}, " if self.kind else ""
        return f"Explanation({self.id!r}, {kind}score {self.score:.3f})"

    def _repr_html_(self) -> str:
        kind = f"{self.kind}, " if self.kind else ""
        title = f"{self.id}: {kind}score {self.score:.3f}, alert threshold {self.baseline.threshold:.3f}"
        apart = [(one.column, one.own, one.usual, one.elsewhere, f"{one.effect:+.2f}") for one in self.columns]
        others = self.columns[0].others if self.columns else ""
        return panel(
            title,
            table(("view", "p-value", "part of the score"), [(one.name, one.p, one.part) for one in self.views]),
            table(("column", "here", f"among {others}", "in the network", "effect on the score"), apart),
            table(("neighbour", "score of the edge"), [(str(one.id), one.score) for one in self.neighbours]),
        )


def plain_explanation(network: Network, node: int, score: float, baseline: Baseline) -> Explanation:
    """Return what can be said of a node by its score alone: whom it is connected to, and whether it is an alert."""
    graph, degree = network.graph, int(network.graph.degrees[node])
    row = graph.indices[graph.indptr[node] : graph.indptr[node] + min(degree, SHOWN)]
    near = tuple(Neighbour(network.name(other), score) for other in row.tolist())
    return Explanation(network.name(node), score, degree, baseline, neighbours=near, looked_at=degree)
