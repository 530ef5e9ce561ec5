"""DOMINANT and CoLA of PyOD, Radar and ANOMALOUS of PyGOD, with their own defaults (the extra ``benchmarks``).

Radar and ANOMALOUS learn matrices of nodes x nodes and nodes x attributes: with thousands of attributes a step
of theirs takes the better part of a minute. Over 2,000 columns they are given the 20 leading components, which
is what the paper gives its own method.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.errors import SettingsError
from oddhop.graph.checks import is_sparse
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import learn_preparation

WIDEST = 2_000


def dominant(graph: Graph, *, seed: int = 0) -> Floats:
    """Return PyOD's DOMINANT score: how badly a graph autoencoder rebuilds a node (Ding 2019)."""
    return _pyod("pyod.models.pyg_dominant", "DOMINANT", graph, seed)


def cola(graph: Graph, *, seed: int = 0) -> Floats:
    """Return PyOD's CoLA score: how badly a node matches its own neighbourhood (Liu 2021)."""
    return _pyod("pyod.models.pyg_cola", "CoLA", graph, seed)


def radar(graph: Graph, *, seed: int = 0) -> Floats:
    """Return PyGOD's Radar score: the residual of a node's attributes (Li 2017)."""
    return _pygod("Radar", graph, seed)


def anomalous(graph: Graph, *, seed: int = 0) -> Floats:
    """Return PyGOD's ANOMALOUS score: the residual after a choice of attributes (Peng 2018)."""
    return _pygod("ANOMALOUS", graph, seed)


def _pyod(module: str, name: str, graph: Graph, seed: int) -> Floats:
    fitted = _fit(module, name, _dense(graph), _edges(graph), seed)
    return np.asarray(fitted.decision_scores_, dtype=np.float64)


def _pygod(name: str, graph: Graph, seed: int) -> Floats:
    prepared = graph
    if graph.attribute_count > WIDEST:
        prepared = learn_preparation(graph.attributes, scale="none", pca_components=20, pca_above=WIDEST).apply(graph)
    # PyGOD takes the last node that has an edge for the last of all: let it change places with the last.
    place = np.arange(graph.node_count)
    last = int(np.flatnonzero(graph.degrees)[-1]) if graph.edge_count else -1
    place[[last, -1]] = place[[-1, last]]
    fitted = _fit("pygod.detector", name, _dense(prepared)[place], place[_edges(graph)], seed)
    return np.asarray(fitted.decision_score_.numpy()[place], dtype=np.float64)


def _fit(module: str, name: str, x: Floats, edges: Ints, seed: int) -> Any:
    # Imported here: they are large, optional, and full of warnings that are not ours to mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch = import_module("torch")
            detector = getattr(import_module(module), name)
            data = import_module("torch_geometric.data").Data
        except ImportError as error:
            raise SettingsError(f"{name} is in another package: pip install -e '.[benchmarks]' ({error})") from None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return detector().fit(data(x=torch.from_numpy(x), edge_index=torch.from_numpy(edges)))


def _edges(graph: Graph) -> Ints:
    return np.stack([graph.entry_nodes, graph.indices]).astype(np.int64)


def _dense(graph: Graph) -> Floats:
    x = graph.attributes
    return np.array(x.toarray() if is_sparse(x) else x, dtype=np.float32)
