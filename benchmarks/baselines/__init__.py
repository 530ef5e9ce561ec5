"""Baselines behind one protocol: a graph and a seed in, one score a node out, high is odd.

>>> from oddhop import Graph
>>> from benchmarks.baselines import BASELINES
>>> BASELINES["degree"](Graph.from_arrays([[0, 0], [1, 2]], [[1.0], [2.0], [4.0]]), seed=0).tolist()
[2.0, 1.0, 1.0]
"""

from __future__ import annotations

from typing import Protocol

from benchmarks.baselines.amen import amen
from benchmarks.baselines.borrowed import anomalous, cola, dominant, radar
from benchmarks.baselines.madan import madan
from benchmarks.baselines.tabular import isolation_forest, lof
from benchmarks.baselines.trivial import (
    attribute_norm,
    degree,
    degree_and_distance,
    dropped_share,
    neighbour_cosine,
    neighbour_distance,
)
from oddhop.base.arrays import Floats
from oddhop.graph.graph import Graph


class ScoreFunction(Protocol):
    """What every baseline is: fit a graph, give scores."""

    def __call__(self, graph: Graph, *, seed: int = 0) -> Floats:
        """Return one score a node; high is odd."""


def _resgcn(graph: Graph, *, seed: int = 0) -> Floats:
    """Return the scores of ResGCN; it needs torch, so it is imported when called."""
    from benchmarks.baselines.resgcn import resgcn

    return resgcn(graph, seed=seed)


TRIVIAL: dict[str, ScoreFunction] = {
    "degree": degree,
    "attribute norm": attribute_norm,
    "neighbour distance": neighbour_distance,
    "degree + distance": degree_and_distance,
    "neighbour cosine": neighbour_cosine,
    "dropped share": dropped_share,
}
"""Scores that learn nothing."""

BASELINES: dict[str, ScoreFunction] = {
    "LOF": lof,
    "AMEN": amen,
    "Radar": radar,
    "ANOMALOUS": anomalous,
    "DOMINANT": dominant,
    "MADAN": madan,
    "ResGCN": _resgcn,
    "CoLA": cola,
    "isolation forest": isolation_forest,
    **TRIVIAL,
}
"""All of them by name: the paper's seven first, in its order."""

__all__ = ["BASELINES", "TRIVIAL", "ScoreFunction"]
