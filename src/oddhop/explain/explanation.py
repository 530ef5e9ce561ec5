"""Why a node stands out, as figures and as plain sentences. Any detector can fill these shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.explain.flows import NodeFlows
from oddhop.explain.phrases import spoken
from oddhop.tables.network import Network

Id: TypeAlias = int | str
SHOWN = 24
COLUMNS_TOLD = 6
NAMED_AT_MOST = 3
TELLING = 0.1  # of the score: a column that does less explains nothing by itself


@dataclass(frozen=True)
class Baseline:
    """What is usual in the network, to hold one node against.

    Attributes
    ----------
    threshold : a score from here on is an alert.
    usual_hops, usual_spread : how far away neighbours look, and how unsure that is, to the node in the middle.
    """

    threshold: float
    usual_hops: float
    usual_spread: float

    def alerts(self, score: Any) -> Any:
        """Tell whether a score, or every one of an array, is an alert; the last bits do not count."""
        return score >= self.threshold - 1e-5 * abs(self.threshold)


def alert_line(scores: Floats, threshold: float, top: int) -> float:
    """Give the threshold, or the score of the last of the first ``top`` nodes where nothing is flagged.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.explain.explanation import alert_line
    >>> alert_line(np.array([1.0, 3.0, 2.0]), np.inf, 2)
    2.0
    """
    if np.isfinite(threshold):
        return float(threshold)
    return float(np.sort(scores)[::-1][min(top, scores.size) - 1])


@dataclass(frozen=True)
class Neighbour:
    """One neighbour of the node, and how far away it looks.

    Attributes
    ----------
    hops, spread : the predicted hop count, and its standard deviation over the posterior samples; where a detector
        predicts no hops, how far out it is drawn, and 0.
    score : of this edge alone; HCM's score of a node is the mean over its edges.
    effect : by how much the score of the node changes if the edge is taken away; None if not tried.
    rarity : the share of all edges of the network whose ends look as far apart; None if the detector does not say.
    member : whether it is one of the group that makes the node odd.
    flow : what passed between the two, in words; empty without events.
    profile : the columns of the node table that were kept, in words.
    node_kind : its kind, where there are several kinds of nodes.
    """

    id: Id
    hops: float
    spread: float
    score: float
    effect: float | None = None
    rarity: float | None = None
    member: bool = False
    flow: str = ""
    profile: str = ""
    node_kind: str = ""


@dataclass(frozen=True)
class View:
    """What one view says of the node: its name, its p-value, and what it adds to the score."""

    name: str
    p: float
    part: float


@dataclass(frozen=True)
class ColumnDifference:
    """One column of the user's, where the node differs from its neighbours.

    Attributes
    ----------
    column : its name.
    own, usual, elsewhere : its value here, among others, and in the whole network, in words.
    instead : the value that stood in for its own.
    effect : by how much the score changes with that value; negative where its own makes it odd.
    others : whom it is compared with.
    """

    column: str
    own: str
    usual: str
    elsewhere: str
    instead: str
    effect: float
    others: str = "its neighbours"

    @property
    def sentence(self) -> str:
        """The difference, in words."""
        network = f"; in the network {self.elsewhere}" if self.elsewhere else ""
        return f"{self.column}: {self.own}; among {self.others} {self.usual}{network}."


@dataclass(frozen=True)
class Change:
    """One step of a counterfactual: an edge that is not there, or another value in a column."""

    kind: Literal["edge", "attribute"]
    name: Id
    to: str = ""

    @property
    def condition(self) -> str:
        """The change as an if-clause."""
        if self.kind == "edge":
            return f"it were not connected to {self.name}"
        return f"its {self.name} were {self.to}"


@dataclass(frozen=True)
class Counterfactual:
    """A few changes that lower the score, re-scored together.

    Attributes
    ----------
    changes : at most five.
    before, after : the score of the node as it is, and with all the changes made.
    baseline : has the alert line that it was held against.
    """

    changes: tuple[Change, ...]
    before: float
    after: float
    baseline: Baseline

    @property
    def enough(self) -> bool:
        """Whether the changes bring the node under the alert line."""
        return not self.baseline.alerts(self.after)

    @property
    def sentence(self) -> str:
        """What would change the verdict, in words."""
        edges = [str(one.name) for one in self.changes if one.kind == "edge"]
        clauses = [f"it were not connected to {spoken(edges)}"] if edges else []
        clauses += [one.condition for one in self.changes if one.kind == "attribute"]
        line = f"under the alert line of {self.baseline.threshold:.2f}"
        verdict = line if self.enough else f"still not {line}"
        return f"If {spoken(clauses)}, its score would fall from {self.before:.2f} to {self.after:.2f}, {verdict}."


@dataclass(frozen=True)
class Explanation:
    """Why a node has its score.

    Attributes
    ----------
    id, score, degree : the node, its score, and how many neighbours it has.
    hops, spread : how far away its neighbours look on average, and how unsure that is.
    baseline : what is usual in the network.
    kind : the kind of oddness, where the detector names kinds.
    neighbours : the ones that look farthest away, the farthest first.
    far : how many of all its neighbours (or of those drawn) would be an alert by themselves.
    looked_at : how many neighbours were looked at: all, or an even draw where there are very many.
    columns : the columns that make it odd, the one that matters most first.
    counterfactual : what would lower its score, or None where nothing was found or needed.
    notes : what the reader should know about how this was made.
    views : what each view says, where the detector has several.
    reasons : the first sentences, in the words of the detector; left out, they are about steps.
    ties : pairs of the listed neighbours and partners, by their places, that belong to the group and are joined.
    partners : nodes of its own kind that share neighbours with it, where there are several kinds.
    node_kind : its kind, where there are several.
    cycle : the nodes of the first cycle that it is on.
    flows : what its events say; None without events.
    profile : the columns of the node table that were kept, in words.
    """

    id: Id
    score: float
    degree: int
    hops: float
    spread: float
    baseline: Baseline
    kind: str | None
    neighbours: tuple[Neighbour, ...]
    far: int
    looked_at: int
    columns: tuple[ColumnDifference, ...]
    counterfactual: Counterfactual | None
    notes: tuple[str, ...] = ()
    views: tuple[View, ...] = ()
    reasons: tuple[str, ...] = ()
    ties: tuple[tuple[int, int], ...] = ()
    flows: NodeFlows | None = None
    profile: str = ""
    partners: tuple[Neighbour, ...] = ()
    node_kind: str = ""
    cycle: tuple[Id, ...] = ()

    @property
    def group(self) -> tuple[Id, ...]:
        """The listed nodes of its own kind that make it odd together with it."""
        members = [one for one in (*self.neighbours, *self.partners) if one.member and one.node_kind == self.node_kind]
        return tuple(dict.fromkeys((*(one.id for one in members), *self.cycle)))

    @classmethod
    def of_lone_node(cls, id: Id, baseline: Baseline) -> Explanation:  # noqa: A002 - as the field is called
        """Return the explanation of a node without neighbours, which is not judged."""
        return cls(id, 0.0, 0, 0.0, 0.0, baseline, None, (), 0, 0, (), None)

    @property
    def not_shown(self) -> int:
        """How many neighbours are not listed."""
        return self.degree - len(self.neighbours)

    @property
    def telling(self) -> bool:
        """Whether the first of the columns explains a good part of the score by itself."""
        return bool(self.columns) and -self.columns[0].effect >= TELLING * self.score

    @property
    def sentences(self) -> tuple[str, ...]:
        """The explanation in plain sentences, the most important first."""
        if not self.degree:
            return ("It has no neighbours, so there is nothing to judge it by.",)
        told = list(self.reasons) or [self._distance(), *([self._far_ones()] if self.far else [])]
        told += self.flows.sentences if self.flows else ()
        if self.telling or (self.columns and self.kind != "clique"):
            told.append(self._apart())
        if self.counterfactual:
            told.append(self.counterfactual.sentence)
        elif self.baseline.alerts(self.score) and self.looked_at == self.degree:
            told.append("No change of up to five edges or values that was tried lowers its score.")
        return (*told, *self.notes)

    def _distance(self) -> str:
        whose = "Its only neighbour looks" if self.degree == 1 else f"Its {self.degree:,} neighbours look"
        mean = "" if self.degree == 1 else " on average"
        usual = f"usual is {self.baseline.usual_hops:.1f}, give or take {self.baseline.usual_spread:.1f}"
        return f"{whose} {self.hops:.1f} steps away{mean}, give or take {self.spread:.1f}; {usual}."

    def _apart(self) -> str:
        one = self.columns[0]
        values = f"its {one.column}: {one.own}; among {one.others} {one.usual}"
        if self.telling:
            return f"What sets it apart most is {values}."
        return f"No column explains much by itself; the one that matters most is {values}."

    def _far_ones(self) -> str:
        if self.degree == 1:
            return f"{self.neighbours[0].id} does not look like a neighbour."
        far = [str(one.id) for one in self.neighbours if self.baseline.alerts(one.score)]
        names = far[:NAMED_AT_MOST]
        others = self.far - len(names)
        named = spoken([*names, f"{others:,} more"] if others and names else names or [f"{others:,}, not listed"])
        drawn = f"the {self.looked_at:,} neighbours looked at" if self.looked_at < self.degree else "them"
        looks = "does not look like a neighbour" if self.far == 1 else "do not look like neighbours"
        return f"{self.far:,} of {drawn} {looks}: {named}."


def plain_explanation(network: Network, node: int, score: float, baseline: Baseline) -> Explanation:
    """Return what can be said of a node by its score alone: whom it is connected to, and whether it is an alert."""
    graph = network.graph
    degree = int(graph.degrees[node])
    row = graph.indices[graph.indptr[node] : graph.indptr[node] + min(degree, SHOWN)]
    line = "above" if baseline.alerts(score) else "below"
    return Explanation(
        id=network.name(node),
        score=score,
        degree=degree,
        hops=1.0,
        spread=0.0,
        baseline=baseline,
        kind=None,
        neighbours=tuple(Neighbour(network.name(other), 1.0, 0.0, score) for other in row.tolist()),
        far=0,
        looked_at=degree,
        columns=(),
        counterfactual=None,
        reasons=(f"Its score of {score:.2f} is {line} the alert line of {baseline.threshold:.2f}.",),
    )
