"""What other libraries call a network, taken apart into edges and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from oddhop.errors import GraphError
from oddhop.graph.checks import numbers


def edges_of_scipy(adjacency: Any, attributes: Any) -> tuple[npt.NDArray[Any], int]:
    """Return the edges of a square SciPy matrix, and how many of them have a weight."""
    if not sp.issparse(adjacency) or adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise GraphError(
            f"the adjacency must be a square SciPy matrix, got {type(adjacency).__name__} "
            f"of shape {getattr(adjacency, 'shape', None)}",
            "for edge lists use Graph.from_arrays",
        )
    rows = np.shape(attributes)[0] if np.ndim(attributes) else 0
    if rows != adjacency.shape[0]:
        raise GraphError(
            f"the adjacency has {adjacency.shape[0]} rows and the attributes have {rows}",
            "give one attribute row for each node",
        )
    entries = sp.coo_array(adjacency)
    present = entries.data != 0
    edges = np.stack([entries.row[present], entries.col[present]])
    return edges, int(np.count_nonzero(entries.data[present] != 1))


def parts_of_networkx(
    graph: Any, attributes: Sequence[str] | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], list[Any], list[str], int]:
    """Return edges, attributes, nodes and attribute names of a NetworkX graph, and how many edge columns are unused."""
    nodes = list(graph.nodes)
    if not nodes:
        raise GraphError("the NetworkX graph has no nodes", "give at least one node")
    if isinstance(attributes, str):
        attributes = [attributes]
    every = (name for node in graph.nodes for name in graph.nodes[node])  # in order of appearance
    names: list[str] = list(attributes) if attributes is not None else list(dict.fromkeys(every))
    columns, column_names = [], []
    for name in names:
        missing = [node for node in nodes if name not in graph.nodes[node]]
        if missing:
            raise GraphError(
                f"node data {name!r} is missing on {len(missing)} of {len(nodes)} nodes, first on {missing[0]!r}",
                "fill it in, or remove the name from attributes=",
            )
        values = numbers([graph.nodes[node][name] for node in nodes], f"node data {name!r}")
        values = values.reshape(len(nodes), -1)
        columns.append(values)
        width = values.shape[1]
        column_names += [name] if width == 1 else [f"{name}[{k}]" for k in range(width)]
    if not columns:
        raise GraphError(
            "the nodes of the NetworkX graph have no data",
            "set data with networkx.set_node_attributes, for example the degree",
        )
    position = {node: k for k, node in enumerate(nodes)}
    edges = [(position[u], position[v]) for u, v in graph.edges()]
    edge_index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    edge_columns = {name for *_, data in graph.edges(data=True) for name in data}
    return edge_index, np.hstack(columns), nodes, column_names, len(edge_columns)


def parts_of_pyg(data: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int, int]:
    """Return edges and attributes of a PyTorch Geometric ``Data``; and how many edge columns and fields are unused."""
    x, edge_index = getattr(data, "x", None), getattr(data, "edge_index", None)
    if x is None or edge_index is None:
        raise GraphError(
            f"the PyG data has x {_there(x)} and edge_index {_there(edge_index)}", "give data that has both"
        )
    # NumPy has no bfloat16; float32 holds all its values.
    values = x.detach().cpu()
    values = values.float() if "bfloat16" in str(values.dtype) else values
    edge_attributes = getattr(data, "edge_attr", None)
    edge_columns = 0
    if edge_attributes is not None:
        edge_columns = int(edge_attributes.shape[1]) if edge_attributes.ndim > 1 else 1
    fields = data.keys() if callable(getattr(data, "keys", None)) else vars(data)
    other = [name for name in fields if name not in ("x", "edge_index", "edge_attr")]
    return edge_index.detach().cpu().numpy(), values.numpy(), edge_columns, len(other)


def _there(value: Any) -> str:
    return "missing" if value is None else "present"
