"""Neighbour cosine: HCM's first stage as a detector, without training."""

from __future__ import annotations

from typing import Any

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.parallel import Progress
from oddhop.detector.base import GraphDetector
from oddhop.detector.contract import FitRun
from oddhop.detector.estimator import parameters_of
from oddhop.detector.flagging import budget
from oddhop.detector.ranking import rank_scores
from oddhop.detector.result_table import Judgement
from oddhop.detector.settings import DetectorSettings
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import Preparation
from oddhop.hcm.purify import EDGES_AT_ONCE, check_one_kind, edge_similarity, learn_attributes
from oddhop.hcm.settings import HCMSettings

PARTS, INFLATION = 5, 2 * 4**2 / 5  # the jackknife's variance of a score, of ours and of another sample's


class NeighbourCosine(GraphDetector):
    """A node is anomalous if its attributes are unlike those of its neighbours: the mean of 1 - cosine over its edges.

    Attributes are prepared as for HCM, and nothing is trained. Rank intervals are for another sample of the edges: each
    fifth is left out in turn. They depend on the seed, and no score does.

    Parameters
    ----------
    {settings}

    Examples
    --------
    >>> from oddhop import Graph, NeighbourCosine
    >>> x = [[1.0, 0.2], [0.9, 0.0], [1.1, 0.1], [-1.0, 0.3]]
    >>> graph = Graph.from_arrays([[0, 0, 1, 2], [1, 2, 2, 3]], x)
    >>> NeighbourCosine(random_state=0).fit(graph).result_["id"][0].as_py()
    3
    """

    name, settings_type = "cosine", DetectorSettings

    @parameters_of(DetectorSettings)
    def __init__(self) -> None: ...

    def _learn(self, graph: Graph, run: FitRun) -> tuple[Any, Judgement]:
        preparation = learn_attributes(graph, HCMSettings())
        return preparation.arrays(), _judgement(graph, preparation, run.settings, run.seed)

    def _judge(self, graph: Graph, progress: Progress) -> Judgement:  # noqa: ARG002
        return _judgement(graph, Preparation.of(self.model_.learned), self.model_.settings, self.model_.seed)


def neighbour_cosine(graph: Graph, seed: int = 0) -> tuple[Floats, Floats]:
    """Return the mean of 1 - cosine over the edges of each node, and the same without each fifth of all edges."""
    check_one_kind(graph.kinds)
    unlike, rng = 1.0 - edge_similarity(graph, "cosine"), np.random.default_rng(seed)
    sums, counts = np.zeros((2, PARTS, graph.node_count))
    for start in range(0, graph.edge_count, EDGES_AT_ONCE):
        left, right = graph.ends(start, start + EDGES_AT_ONCE)
        part, values = rng.integers(PARTS, size=left.size), unlike[start : start + EDGES_AT_ONCE]
        for end in (left, right):
            np.add.at(sums, (part, end), values)
            np.add.at(counts, (part, end), 1.0)
    others = np.maximum(graph.degrees, 1) - counts
    score = sums.sum(axis=0) / np.maximum(graph.degrees, 1)
    return score, np.where(others > 0, (sums.sum(axis=0) - sums) / np.maximum(others, 1), score)


def _judgement(graph: Graph, preparation: Preparation, settings: DetectorSettings, seed: int) -> Judgement:
    score, without = neighbour_cosine(preparation.apply(graph), seed)
    judged = graph.degrees > 0
    ranking = rank_scores(score, without, judged, budget(settings, int(judged.sum())), inflation=INFLATION)
    return Judgement(ranking, judged)
