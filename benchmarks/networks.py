"""Networks by name from a data folder, and the ``.mat`` files that papers publish."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.matfile import mat_parts
from benchmarks.sources import SOURCES
from oddhop.base.arrays import Bools
from oddhop.errors import DataFolderError
from oddhop.graph.graph import Graph

VARIABLE = "ODDHOP_DATA"
# What DOMINANT, CoLA, CARE-GNN and those after them call the parts of their files.
ADJACENCY, ATTRIBUTES = ("Network", "A", "network", "homo"), ("Attributes", "X", "attrb", "features")
LABELS = ("Label", "gnd", "label")
STRUCTURAL, CONTEXTUAL = ("str_anomaly_label",), ("attr_anomaly_label",)


@dataclass(frozen=True, eq=False)
class BenchmarkNetwork:
    """A network of the benchmark.

    Attributes
    ----------
    name : what it is called.
    graph : the network, undirected.
    anomalous : the given anomalies, or None where the file has no such labels.
    structural, contextual : the same by kind, where the file tells them apart.
    directed_edges : the edges in the direction of the original file, where it had one.
    """

    name: str
    graph: Graph
    anomalous: Bools | None = None
    structural: Bools | None = None
    contextual: Bools | None = None
    directed_edges: Any = None


def load_network(name: str, folder: str | os.PathLike[str] | None = None) -> BenchmarkNetwork:
    """Load a network by its name in the data folder, or a published ``.mat`` file by its path.

    ``folder`` is the data folder; left out, the environment variable ``ODDHOP_DATA`` names it. A file whose
    sha256 is not the known one is refused.

    Examples
    --------
    >>> from benchmarks.networks import load_network
    >>> load_network("hcm_amazon", "nowhere")
    Traceback (most recent call last):
        ...
    oddhop.errors.DataFolderError: nowhere/hcm_amazon/hcm_amazon.npz is not there; the network can be
    had as data/Amazon.mat of github.com/TienjinHuang/GraphAnomalyDetection, and a .mat file can be
    given by its path
    """
    if name.endswith(".mat"):
        return read_mat(name)
    if name not in SOURCES:
        raise DataFolderError(
            f"no network is called {name!r}", f"known are {', '.join(SOURCES)}, and paths of .mat files"
        )
    source = SOURCES[name]
    file = data_folder(folder) / name / f"{name}.npz"
    if not file.is_file():
        raise DataFolderError(
            f"{file} is not there",
            f"the network can be had as {source.where}, and a .mat file can be given by its path",
        )
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != source.sha256:
        raise DataFolderError(
            f"{file} has the sha256 {found} and {source.sha256} was expected", "it was changed or damaged, take it anew"
        )
    with np.load(file) as parts:
        if "x" in parts:
            x: Any = parts["x"]
        elif "x_data" in parts:
            columns = parts["x_indices"].astype(np.int32)
            x = sp.csr_array((parts["x_data"], columns, parts["x_indptr"]), shape=tuple(parts["x_shape"]))
        else:
            raise DataFolderError(f"{name} has no attributes, and every detector here needs some", "take another")
        edges = parts["edge_index"].astype(np.int64)
        directed = np.where(parts["raw_forward"], edges, edges[::-1]) if "raw_forward" in parts else None
        labels = parts["y"] == 1 if source.anomaly_labels else None
        kinds = [parts[key] == 1 if key in parts else None for key in ("y_structural", "y_contextual")]
    return BenchmarkNetwork(name, Graph.from_arrays(edges, x), labels, kinds[0], kinds[1], directed)


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the data folder that was named, here or by the environment."""
    named = folder or os.environ.get(VARIABLE)
    if not named:
        raise DataFolderError("no data folder is named", f"set {VARIABLE}, or pass --data (folder= in Python)")
    return Path(named)


def read_mat(path: str | os.PathLike[str]) -> BenchmarkNetwork:
    """Read a MATLAB file as DOMINANT, CoLA and CARE-GNN publish theirs: adjacency, attributes, labels, their kinds.

    Labels other than 0 and 1 are classes, and then no node is known to be anomalous.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, scipy.io, scipy.sparse as sp
    >>> from benchmarks.networks import read_mat
    >>> parts = {"Network": sp.csc_array(np.eye(3)[::-1]), "Attributes": np.eye(3), "Label": [[0], [1], [0]]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(f"{folder}/three.mat", parts)
    ...     network = read_mat(f"{folder}/three.mat")
    >>> network.graph, network.anomalous.tolist()
    (Graph(3 nodes, 1 edge, 3 attributes), [False, True, False])
    """
    file = Path(path)
    parts = mat_parts(file)
    adjacency, attributes = _part(parts, ADJACENCY), _part(parts, ATTRIBUTES)
    if adjacency is None or attributes is None:
        held = sorted(key for key in parts if not key.startswith("__"))
        raise DataFolderError(
            f"{file} must hold an adjacency under one of {ADJACENCY} and attributes under one of {ATTRIBUTES}",
            f"it holds {held}",
        )
    try:
        graph = Graph.from_scipy(sp.csr_array(adjacency), attributes)
    except (TypeError, ValueError) as error:
        raise DataFolderError(f"{file} holds no network: {error}", "take it anew") from None
    labels, structural, contextual = (_truth(_part(parts, names)) for names in (LABELS, STRUCTURAL, CONTEXTUAL))
    return BenchmarkNetwork(file.stem, graph, labels, structural, contextual)


def _part(parts: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((parts[name] for name in names if name in parts), None)


def _truth(values: Any) -> Bools | None:
    if values is None:
        return None
    dense = values.toarray() if sp.issparse(values) else np.asarray(values)
    if not np.isin(dense, (0, 1)).all():  # classes of nodes, as the clean networks have them, are no anomalies
        return None
    return np.asarray(dense.ravel() == 1)
