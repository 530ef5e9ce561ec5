"""The public face of a detector: scikit-learn's names mean what scikit-learn means by them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from oddhop.base.arrays import Floats, Ints
from oddhop.base.checkpoints import RunFolder, open_run, recorded
from oddhop.errors import GraphError, RunFolderError
from oddhop.graph.graph import Graph
from oddhop.settings import HCMSettings, OddSettings
from oddhop.version import __version__

DO_NOT_CHANGE_A_SCORE = ("workers", "max_memory", "random_state")


class GraphDetector(OutlierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the detectors.

    A detector has ``anomaly_scores_`` (high is odd), ``threshold_`` and ``offset_ = -threshold_``
    once fitted, and scores other graphs with the same attributes.
    """

    threshold_: float
    offset_: float

    @abstractmethod
    def fit(self, graph: Graph, y: Any = None) -> GraphDetector:
        """Learn from a network; ``y`` is ignored."""

    @abstractmethod
    def _anomaly_scores(self, graph: Graph) -> Floats:
        """Score the nodes of a checked graph; high is odd."""

    def score_samples(self, graph: Graph) -> Floats:
        """Give minus the anomaly score of every node, scikit-learn's direction: low is odd."""
        check_is_fitted(self, "threshold_")
        scores = self._anomaly_scores(checked_graph(graph))
        check_finite(scores)
        return -scores

    def decision_function(self, graph: Graph) -> Floats:
        """Give ``score_samples(graph) - offset_``: negative for nodes over the threshold.

        With no threshold (contamination="auto" and no top_k) every node is infinitely far from it.
        """
        return self.score_samples(graph) - self.offset_

    def predict(self, graph: Graph) -> Ints:
        """Give -1 for flagged nodes and +1 for the others."""
        scores = self.score_samples(graph)
        return np.where(-scores >= self.threshold_, -1, 1)

    def fit_predict(self, graph: Graph, y: Any = None) -> Ints:  # noqa: ARG002 - scikit-learn's signature
        """Fit, and give -1 for flagged nodes and +1 for the others."""
        return self.fit(graph).predict(graph)


@contextmanager
def begun_run(
    settings: HCMSettings | OddSettings, graph: Graph, run_folder: str | os.PathLike[str] | None, *, resume: bool
) -> Iterator[tuple[int, RunFolder | None]]:
    """Give the seed of a fit, and its folder where it has one; a resumed fit takes the seed it began with."""
    with begun_as(settings, {"data": graph.fingerprint}, run_folder, resume=resume) as begun:
        yield begun


@contextmanager
def begun_as(
    settings: HCMSettings | OddSettings,
    data: Mapping[str, Any],
    run_folder: str | os.PathLike[str] | None,
    *,
    resume: bool,
) -> Iterator[tuple[int, RunFolder | None]]:
    """Give the same for data that is known by something else than a graph's fingerprint."""
    seed = settings.random_state
    if seed is None:
        seed = recorded(run_folder, "seed") if run_folder is not None and resume else None
        if seed is not None and (type(seed) is not int or seed < 0):
            raise RunFolderError(f"{run_folder} has a manifest with the seed {seed!r}; start anew in another folder")
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    identity = {
        **settings.model_dump(exclude=set(DO_NOT_CHANGE_A_SCORE)),
        "seed": seed,
        **data,
        "version": __version__,
    }
    opened = open_run(run_folder, identity, resume=resume) if run_folder is not None else nullcontext(None)
    with opened as folder:
        yield seed, folder


def check_finite(scores: Floats) -> None:
    """Refuse scores that are none; a fitted model gives finite ones on all that its network was like."""
    wrong = int(np.count_nonzero(~np.isfinite(scores)))
    if wrong:
        raise GraphError(
            f"{wrong} of {scores.size} scores are not finite: the model does not fit this network; "
            "look for attributes of another unit, or fit again"
        )


def checked_graph(graph: Graph) -> Graph:
    """Refuse anything but a Graph, and say how to make one."""
    if not isinstance(graph, Graph):
        raise GraphError(
            f"a detector takes an oddhop.Graph, got {type(graph).__name__}; make one with "
            "Graph.from_arrays, from_scipy, from_networkx or from_pyg"
        )
    return graph
