"""A cell of the benchmark: one detector on one network with one seed, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.baselines import BASELINES
from benchmarks.comparison.authors_script import authors_script
from benchmarks.comparison.readings import read_posterior, training_curve
from benchmarks.inject import Scheme, inject
from benchmarks.metrics import figures
from benchmarks.networks import BenchmarkNetwork, load_network
from benchmarks.synthetic import synthetic
from oddhop.base.arrays import Bools, Floats
from oddhop.base.settings import checked
from oddhop.errors import OddhopError, SettingsError
from oddhop.graph.graph import Graph
from oddhop.hcm.detector import HCM
from oddhop.hcm.settings import HCMSettings
from oddhop.odd.detector import Odd

SECONDS, BYTES = 600.0, 8 * 2**30
HCM_NAME, READINGS, SCRIPT, TRAINING = "HCM", "HCM readings", "authors' script", "HCM training"
ODD_NAME = "Odd"
DETECTORS = (HCM_NAME, ODD_NAME, *BASELINES)
"""What every table compares; beside them stand readings of HCM that only the benchmark knows."""
SYNTHETIC = "synthetic "
REVISIONS = {"AMEN": 2, "ResGCN": 2, SCRIPT: 2, HCM_NAME: 3, READINGS: 2, TRAINING: 2, ODD_NAME: 4}
"""Raised when a detector is corrected, so that what it gave before counts as not run."""


@dataclass(frozen=True)
class Injection:
    """Anomalies to put into a clean network: ``cliques`` of 15, and as many with foreign attributes."""

    cliques: int
    seed: int = 0
    reading: Scheme = "dominant"


@dataclass(frozen=True)
class Cell:
    """One run: detector, network, seed, and the budget it has.

    Examples
    --------
    >>> from benchmarks.comparison.cells import Cell
    >>> Cell("hcm_amazon", "HCM", settings={"layers": 4}).key
    '{"detector":"HCM","injection":null,"network":"hcm_amazon","revision":3,"seed":0,"settings":{"layers":4}}'
    """

    network: str
    detector: str
    seed: int = 0
    injection: Injection | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = SECONDS
    bytes: int = BYTES

    @property
    def identity(self) -> dict[str, Any]:
        """What the result depends on: all but the budget."""
        revision = {"revision": REVISIONS[self.detector]} if self.detector in REVISIONS else {}
        return {name: value for name, value in asdict(self).items() if name not in ("seconds", "bytes")} | revision

    @property
    def key(self) -> str:
        """The identity as text, the same whatever order its parts were given in."""
        return json.dumps(self.identity, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Cell:
        """Read what ``dataclasses.asdict`` gave."""
        injection = values["injection"]
        return cls(**{**values, "injection": Injection(**injection) if injection else None})


@dataclass(frozen=True, eq=False)
class Problem:
    """A network with its known anomalies, ready for a detector."""

    graph: Graph
    anomalous: Bools | None
    structural: Bools | None
    contextual: Bools | None
    directed_edges: Any = None


def load_problem(cell: Cell, folder: str | None) -> Problem:
    """Load the network of a cell and put its anomalies in."""
    if cell.network.startswith(SYNTHETIC):
        edges = int(cell.network.removeprefix(SYNTHETIC))
        return Problem(synthetic(max(edges // 10, 20), edges, 20), None, None, None)
    network: BenchmarkNetwork = load_network(cell.network, folder)
    if cell.injection is None:
        return Problem(network.graph, network.anomalous, network.structural, network.contextual, network.directed_edges)
    made = inject(
        network.graph, random_state=cell.injection.seed, cliques=cell.injection.cliques, scheme=cell.injection.reading
    )
    return Problem(made.graph, made.anomalous, made.structural, made.contextual)


def scores_of(cell: Cell, problem: Problem) -> dict[str, Floats]:
    """Run the detector of a cell; give its scores by name."""
    graph, settings = problem.graph, dict(cell.settings)
    if cell.detector == HCM_NAME:
        if settings.get("directed") and problem.directed_edges is not None:
            graph = Graph.from_arrays(problem.directed_edges, graph.attributes, directed=True)
        table = HCM(random_state=cell.seed, workers=1, **settings).fit(graph).result_
        order = np.argsort(table["id"].to_numpy(), kind="stable")
        return {name: table[name].to_numpy()[order] for name in ("ahp", "iv", "hav")}
    if cell.detector == ODD_NAME:
        return {"score": Odd(random_state=cell.seed, workers=1, **settings).fit(graph).anomaly_scores_}
    if cell.detector == READINGS:
        raw = bool(settings.pop("raw_similarity", False))
        return read_posterior(graph, checked(HCMSettings, settings), cell.seed, raw_similarity=raw)
    if cell.detector == SCRIPT:
        directed = problem.directed_edges if settings.pop("directed", False) else None
        return authors_script(graph, seed=cell.seed, directed_edges=directed, **settings)
    if cell.detector in BASELINES and not settings:
        return {"score": BASELINES[cell.detector](graph, seed=cell.seed)}
    raise SettingsError(
        f"no detector is called {cell.detector!r} with the settings {settings}",
        f"known are {', '.join((*DETECTORS, READINGS, SCRIPT, TRAINING))}",
    )


def curve_of(cell: Cell, problem: Problem) -> dict[str, list[float]]:
    """Train as a cell says; give the curve of its ROC-AUC."""
    if problem.anomalous is None:
        raise SettingsError(f"{cell.network} has no known anomalies", "a training curve is judged by them")
    return training_curve(problem.graph, problem.anomalous, checked(HCMSettings, dict(cell.settings)), cell.seed)


def figures_of(scores: Mapping[str, Floats], problem: Problem) -> dict[str, Any]:
    """Judge scores by the known anomalies; nothing where there are none."""
    for name, values in scores.items():
        bad = int(np.count_nonzero(~np.isfinite(values)))
        if bad:
            raise OddhopError(f"{bad} of {values.size} values of {name} are not finite")
    if problem.anomalous is None:
        return {}
    return {
        name: figures(values, problem.anomalous, problem.structural, problem.contextual)
        for name, values in scores.items()
    }
