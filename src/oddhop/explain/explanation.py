"""Why a node stands out, as figures and as plain sentences. Any detector can fill these shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.html import panel, sentences, table
from oddhop.explain.flows import NodeFlows
from oddhop.explain.phrases import spoken
from oddhop.tables.network import Network

Id: TypeAlias = int | str
SHOWN = 24
COLUMNS_TOLD = 6
NAMED_AT_MOST = 3
NOTABLE = 0.05  # larger p-values are not reported, and neighbours with a larger share of edges are not different
TELLING = 0.1  # of the score: a column that does less explains nothing by itself


@dataclass(frozen=True)
class Baseline:
    """What is typical in the network, to compare one node with.

    Attributes
    ----------
    threshold : scores at or above it are alerts.
    usual_hops, usual_spread : how far away neighbours look, and how unsure that is, to the node in the middle.
    """

    threshold: float
    usual_hops: float
    usual_spread: float

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
    hops, spread : the predicted hop count, and its standard deviation over the posterior samples; where a detector
        predicts no hops, from 1 to 4 the more different it is, and 0.
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

    @property
    def sentence(self) -> str:
        """The difference, in words."""
        network = f"; whole network: {self.elsewhere}" if self.elsewhere else ""
        return f"{self.column}: {self.own}; {self.others}: {self.usual}{network}."


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
            return f"the edge to {self.name} did not exist"
        return f"the value of '{self.name}' were {self.to}"


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

    @property
    def sentence(self) -> str:
        """The changes and their effect, in words."""
        edges = [str(one.name) for one in self.changes if one.kind == "edge"]
        clauses = [f"the edge{'s' if len(edges) > 1 else ''} to {spoken(edges)} did not exist"] if edges else []
        clauses += [one.condition for one in self.changes if one.kind == "attribute"]
        line = f"the alert threshold of {self.baseline.threshold:.2f}"
        verdict = f"is below {line}" if self.enough else f"still reaches {line}"
        score = f"the score of this node would fall from {self.before:.2f} to {self.after:.2f}"
        return f"If {spoken(clauses)}, {score}. A score of {self.after:.2f} {verdict}."


@dataclass(frozen=True)
class Explanation:
    """Why a node has its score.

    Attributes
    ----------
    id, score, degree : the node, its score, and how many neighbours it has.
    hops, spread : how far away its neighbours look on average, and how unsure that is.
    baseline : what is usual in the network.
    kind : the kind of anomaly, where the detector names kinds.
    neighbours : the ones that look farthest away, the farthest first.
    far : how many of all its neighbours (or of those drawn) would be an alert by themselves.
    looked_at : how many neighbours were looked at: all, or an even draw where there are very many.
    columns : the columns that raise its score, the one that matters most for the main reason first.
    counterfactual : what would lower its score, or None where nothing was found or needed.
    changes_tested : whether changes were looked for that would.
    notes : limits of this explanation.
    caveats : limits of all explanations of the run, in the same words for every node.
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
    caveats: tuple[str, ...] = ()
    views: tuple[View, ...] = ()
    reasons: tuple[str, ...] = ()
    ties: tuple[tuple[int, int], ...] = ()
    flows: NodeFlows | None = None
    profile: str = ""
    partners: tuple[Neighbour, ...] = ()
    node_kind: str = ""
    cycle: tuple[Id, ...] = ()
    changes_tested: bool = True

    @property
    def group(self) -> tuple[Id, ...]:
        """The listed nodes of its own kind that form its group or cycle."""
        members = [one for one in (*self.neighbours, *self.partners) if one.member and one.node_kind == self.node_kind]
        return tuple(dict.fromkeys((*(one.id for one in members), *self.cycle)))

    @classmethod
    def of_lone_node(cls, id: Id, baseline: Baseline) -> Explanation:  # noqa: A002 - as the field is called
        """Return the explanation of a node without neighbours, which has no score."""
        return cls(id, 0.0, 0, 0.0, 0.0, baseline, None, (), 0, 0, (), None)

    @property
    def not_shown(self) -> int:
        """The number of neighbours that are not listed."""
        return self.degree - len(self.neighbours)

    @property
    def telling(self) -> bool:
        """Whether the first column alone explains at least a tenth of the score."""
        return bool(self.columns) and -self.columns[0].effect >= TELLING * self.score

    @property
    def sentences(self) -> tuple[str, ...]:
        """The explanation in plain sentences, the most important first."""
        return (*self.own_sentences, *self.caveats)

    @property
    def own_sentences(self) -> tuple[str, ...]:
        """The same without the caveats, which a page shows once for all nodes."""
        if not self.degree:
            return ("This node has no neighbours, so it cannot be scored.",)
        told = list(self.reasons) or [self._distance(), *([self._far_ones()] if self.far else [])]
        if self.flows:
            told = [*([self.flows.headline] if self.flows.headline else []), *told, *self.flows.sentences]
        # A detector without views says by its score alone that something is unusual.
        unusual = not self.views or min(one.p for one in self.views) < NOTABLE
        # No column has a part in a cycle of events, and hardly one in a clique or a flow.
        if self.columns and unusual and self.kind != "cycle" and (self.telling or self.kind not in ("clique", "flow")):
            told.append(self._apart())
        alert = bool(self.baseline.alerts(self.score))
        if self.counterfactual:
            told.append(self.counterfactual.sentence)
        elif self.changes_tested and self.looked_at == self.degree and self.kind != "cycle" and alert:
            told.append("No tested change of up to five edges or values lowers the score of this node.")
        return (*told, *self.notes)

    def __repr__(self) -> str:
        kind = f"{self.kind}, " if self.kind else ""
        return f"Explanation({self.id!r}, {kind}score {self.score:.3f})"

    def _repr_html_(self) -> str:
        kind = f"{self.kind}, " if self.kind else ""
        who = f"{self.id} ({self.profile})" if self.profile else str(self.id)
        title = f"{who}: {kind}score {self.score:.3f}, alert threshold {self.baseline.threshold:.3f}"
        apart = [(one.column, one.own, one.usual, one.elsewhere, f"{one.effect:+.2f}") for one in self.columns]
        others = self.columns[0].others if self.columns else ""
        return panel(
            title,
            sentences(self.sentences),
            table(("column", "here", f"among {others}", "in the network", "effect on the score"), apart),
        )

    def _distance(self) -> str:
        whose = "The only neighbour of this node has"
        if self.degree > 1:
            whose = f"The {self.degree:,} neighbours of this node have"
        mean = "" if self.degree == 1 else "mean "
        usual = f"A predicted distance of {self.baseline.usual_hops:.1f} ± {self.baseline.usual_spread:.1f} hops"
        return f"{whose} a {mean}predicted distance of {self.hops:.1f} ± {self.spread:.1f} hops. {usual} is typical."

    def _apart(self) -> str:
        one = self.columns[0]
        if not self.telling:
            return "No single column explains much of the score of this node."
        values = f"The value of this node in '{one.column}' is {one.own}. Values of the {one.others}: {one.usual}."
        return f"The main reason depends most on the column '{one.column}'. {values}"

    def _far_ones(self) -> str:
        if self.degree == 1:
            return f"The predicted distance of {self.neighbours[0].id} is large or uncertain."
        far = [str(one.id) for one in self.neighbours if self.baseline.alerts(one.score)]
        names = far[:NAMED_AT_MOST]
        others = self.far - len(names)
        named = spoken([*names, f"{others:,} more"] if others and names else names or [f"{others:,}, not listed"])
        drawn = f"{self.looked_at:,} sampled" if self.looked_at < self.degree else f"{self.degree:,}"
        some = f"{self.far:,} of the {drawn} neighbours of this node"
        return f"For {some}, the predicted distance is large or uncertain: {named}."


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
        changes_tested=False,
        reasons=(f"The score of this node, {score:.2f}, is {line} the alert threshold of {baseline.threshold:.2f}.",),
    )
