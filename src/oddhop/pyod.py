"""HCM and Odd as detectors of PyOD, for tables and tools that are written for its contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from oddhop.base.arrays import Floats
from oddhop.detector.base import GraphDetector
from oddhop.errors import MissingExtraError
from oddhop.graph.graph import Graph
from oddhop.tables.network import Network, as_network

try:
    from pyod.models.base import BaseDetector
    from sklearn.base import clone
except ModuleNotFoundError as error:
    raise MissingExtraError(f"oddhop.pyod needs {error.name}, which is not installed", "pip install pyod") from None


class PyODDetector(BaseDetector):  # type: ignore[misc]
    """A detector of oddhop with the contract of PyOD: high is anomalous, and the label 1 is.

    Parameters
    ----------
    detector : for example ``HCM(random_state=0)``. A copy of it is fitted; ``detector__NAME`` sets a parameter of it.
    contamination : the share of the nodes that get the label 1, above 0 and at most 0.5.

    Attributes
    ----------
    decision_scores_, labels_, threshold_ : what PyOD means by them, by node; nodes with ids are sorted by id.
    detector_ : the detector that was fitted, with ``result_`` and ``explain``.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Odd
    >>> from oddhop.pyod import PyODDetector
    >>> rng = np.random.default_rng(0)
    >>> x, edge_index = rng.normal(size=(60, 3)), rng.integers(0, 60, (2, 200))
    >>> found = PyODDetector(Odd(random_state=0), contamination=0.05).fit(x, edge_index=edge_index)
    >>> found.decision_scores_.shape, int(found.labels_.sum())
    ((60,), 3)
    """

    def __init__(self, detector: GraphDetector, contamination: float = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: Any = None, edge_index: Any = None) -> Self:  # noqa: N803 - the names are PyOD's
        """Fit on a ``Data`` of PyTorch Geometric, or on rows of attributes with ``edge_index``; ``y`` is ignored.

        Graphs of NetworkX and of oddhop are taken too.
        """
        network = _network(X, edge_index)
        self._set_n_classes(y)
        self.detector_: GraphDetector = clone(self.detector).fit(network)
        self.decision_scores_ = self.detector_.anomaly_scores_
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any, edge_index: Any = None) -> Floats:  # noqa: N803
        """Return the score of every node of a network, the one that was fitted or another with the same attributes."""
        network = X.network if isinstance(X, _Rows) else _network(X, edge_index)
        return -self.detector_.score_samples(network)

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:  # noqa: N803
        """Return PyOD's rescaled scores. As in PyOD they are in [0, 1], and no probabilities of an anomaly."""
        return super().predict_proba(_Rows(_network(X, None)), method, return_confidence)


@dataclass(frozen=True, eq=False)
class _Rows:
    """A network with the shape of its attributes, which PyOD asks for."""

    network: Network

    @property
    def shape(self) -> tuple[int, int]:
        return self.network.graph.node_count, self.network.graph.attribute_count


def _network(data: Any, edge_index: Any) -> Network:
    return as_network(data) if edge_index is None else Network.of(Graph.from_arrays(edge_index, data))
