"""Degenerate networks, each for every detector in a child of its own: finite scores, a plain error, NaN, or a crash."""

from __future__ import annotations

import os
import resource
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from oddhop import HCM, Graph, Odd
from oddhop.errors import OddhopError

SECONDS = 60
FINITE, REFUSED, NOT_FINITE, OTHER_ERROR = 0, 1, 2, 3
OUTCOMES = {FINITE: "finite scores", REFUSED: "refused", NOT_FINITE: "not finite", OTHER_ERROR: "another error"}
SHAPES: dict[str, nx.Graph] = {
    "one node": nx.empty_graph(1),
    "no edges": nx.empty_graph(6),
    "one edge": nx.path_graph(2),
    "cycle of 4": nx.cycle_graph(4),
    "star": nx.star_graph(11),
    "path": nx.path_graph(12),
    "clique": nx.complete_graph(10),
    "two sides": nx.complete_bipartite_graph(4, 6),
    "in pieces, the last node alone": nx.disjoint_union_all([nx.path_graph(3), nx.cycle_graph(4), nx.empty_graph(2)]),
    "random": nx.gnm_random_graph(24, 60, seed=0),
}
ATTRIBUTES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "normal": lambda x: x,
    "constant": lambda x: np.full_like(x, 7.0),
    "zero": lambda x: np.zeros_like(x),
    "one NaN": lambda x: _with(x, np.nan),
    "one Inf": lambda x: _with(x, np.inf),
    "times 1e20": lambda x: 1e20 * x,
    "times 1e-20": lambda x: 1e-20 * x,
    "one cell of 1e30": lambda x: _with(x, 1e30),
    "zeros and ones": lambda x: (x > 0).astype(float),
    "150 columns": lambda x: np.tile(x, (1, 50)),
}
IDS = ("numbers", "texts", "numbers with gaps", "one unknown")
Detect = Callable[[np.ndarray, np.ndarray, Any], np.ndarray]


def _with(x: np.ndarray, value: float) -> np.ndarray:
    x = x.copy()
    x[len(x) // 2, 1] = value
    return x


def cells() -> list[tuple[str, str, str]]:
    """Return the 400 cells."""
    return [(shape, kind, ids) for shape in SHAPES for kind in ATTRIBUTES for ids in IDS]


def visit(name: str, every: int = 1) -> dict[str, Any]:
    """Hand every n-th cell to a detector; count the outcomes."""
    counts: Counter[str] = Counter()
    wrong = []
    detect = DETECTORS[name]
    _in_child(detect, "random", "normal", "numbers")
    for cell in cells()[::every]:
        outcome = _in_child(detect, *cell)
        counts[outcome] += 1
        if outcome not in ("finite scores", "refused"):
            wrong.append(f"{', '.join(cell)}: {outcome}")
    return {"test": "degenerate zoo", "detector": name, "cells": len(cells()[::every]), **counts, "errors": wrong}


def _in_child(detect: Detect, shape: str, kind: str, ids: str) -> str:
    process = os.fork()
    if process == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os._exit(_outcome(detect, shape, kind, ids))
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return OUTCOMES.get(code, f"crash: {signal.Signals(-code).name if code < 0 else code}")
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return "over a minute"


def _outcome(detect: Detect, shape: str, kind: str, ids: str) -> int:
    network = SHAPES[shape]
    nodes = network.number_of_nodes()
    edges = np.array(network.edges, dtype=np.int64).reshape(-1, 2).T
    x = ATTRIBUTES[kind](np.random.default_rng(0).normal(size=(nodes, 3)))
    names: Any = None
    if ids == "texts":
        names = np.array([f"n{k * 7919 % 100}" for k in range(nodes)])
    elif ids == "numbers with gaps":
        names = 1_000_000 * np.arange(nodes)[::-1]
    elif ids == "one unknown":
        edges = np.concatenate([edges, [[0], [nodes]]], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scores = np.asarray(detect(edges, x, names))
        except (OddhopError, ValueError):
            return REFUSED
        except Exception:
            return OTHER_ERROR
    return FINITE if scores.shape == (nodes,) and np.isfinite(scores).all() else NOT_FINITE


def _hcm(edges: np.ndarray, x: np.ndarray, names: Any) -> np.ndarray:
    quick = HCM(burn_in=12, samples=2, thin=2, chains=2, hidden=8, random_state=0, workers=1)
    return quick.fit(Graph.from_arrays(edges, x, names)).anomaly_scores_


def _odd(edges: np.ndarray, x: np.ndarray, names: Any) -> np.ndarray:
    return Odd(random_state=0, workers=1).fit(Graph.from_arrays(edges, x, names)).anomaly_scores_


def _foreign(module: str, name: str, **settings: Any) -> Detect:
    """A detector that takes a network of PyG: ids are places there, and whoever has others puts them in as they are."""

    def detect(edges: np.ndarray, x: np.ndarray, names: Any) -> np.ndarray:
        from importlib import import_module

        import torch

        if names is not None and names.dtype.kind == "i" and edges.size:
            edges = names[edges]
        both = torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1))
        data = import_module("torch_geometric.data").Data(x=torch.from_numpy(x).float(), edge_index=both)
        fitted = getattr(import_module(module), name)(**settings).fit(data)
        score = fitted.decision_scores_ if hasattr(fitted, "decision_scores_") else fitted.decision_score_
        return np.asarray(score)

    return detect


# DOMINANT and CoLA of PyGOD draw neighbours by pyg-lib, which does not install everywhere.
# So few rounds of training that a cell takes about a second: nothing here asks how good a score is.
DETECTORS: dict[str, Detect] = {
    "HCM": _hcm,
    "Odd": _odd,
    "PyOD DOMINANT": _foreign("pyod.models.pyg_dominant", "DOMINANT", epochs=5),
    "PyOD CoLA": _foreign("pyod.models.pyg_cola", "CoLA", epochs=5),
    "PyGOD Radar": _foreign("pygod.detector", "Radar", epoch=5),
    "PyGOD ANOMALOUS": _foreign("pygod.detector", "ANOMALOUS", epoch=5),
}
