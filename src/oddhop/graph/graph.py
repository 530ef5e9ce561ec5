"""The network: frozen, validated once, the same whatever order its rows came in."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from oddhop.base.arrays import Floats, Ints, frozen, lies_on_disk
from oddhop.errors import GraphError
from oddhop.graph.adjacency import Repairs, symmetric_csr, upper_indptr
from oddhop.graph.checks import (
    Attributes,
    check_rows,
    checked_attributes,
    checked_edges,
    checked_names,
    data_names,
    frozen_attributes,
    is_sparse,
    numbers,
    sorted_ids,
)
from oddhop.graph.disk import open_stored


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected attributed network in compressed rows.

    Make one with :meth:`from_arrays`, :meth:`from_scipy`, :meth:`from_networkx` or
    :meth:`from_pyg`, which check the input and never change it; :meth:`open` maps one from the disk.

    Attributes
    ----------
    indptr, indices : the adjacency, every edge in both rows, rows sorted, no loops.
    attributes : one row a node, a NumPy array or a SciPy CSR array.
    node_ids : sorted ids, integers or strings, or None when nodes are just numbered.
    attribute_names : one name a column, or None.
    repairs : counts of what had to be repaired in the input.

    Examples
    --------
    >>> from oddhop import Graph
    >>> graph = Graph.from_arrays(
    ...     [[0, 1], [1, 2]], [[1.0], [2.0], [3.0]], node_ids=["c", "a", "b"]
    ... )
    >>> graph
    Graph(3 nodes, 2 edges, 1 attribute)
    >>> graph.node_ids.tolist(), graph.attributes.ravel().tolist()
    (['a', 'b', 'c'], [2.0, 3.0, 1.0])
    """

    indptr: Ints
    indices: Ints
    attributes: Attributes
    node_ids: npt.NDArray[Any] | None = None
    attribute_names: tuple[str, ...] | None = None
    repairs: Repairs = field(default_factory=Repairs)

    @classmethod
    def from_arrays(
        cls,
        edge_index: npt.ArrayLike,
        attributes: npt.ArrayLike | sp.sparray | sp.spmatrix,
        node_ids: npt.ArrayLike | None = None,
        *,
        attribute_names: Sequence[str] | None = None,
    ) -> Graph:
        """Build a network from edges given as row positions, shape (2, edges).

        With ``node_ids`` the nodes are renumbered by sorted id, so that neither the order of the
        nodes nor that of the edges changes a score.

        Examples
        --------
        >>> from oddhop import Graph
        >>> Graph.from_arrays([[0, 1, 2], [1, 2, 0]], [[0.0], [0.5], [1.0]]).degrees.tolist()
        [2, 2, 2]
        """
        matrix = checked_attributes(attributes)
        nodes = int(matrix.shape[0])
        sources, targets = checked_edges(edge_index, nodes)
        ids = None
        if node_ids is not None:
            ids, order = sorted_ids(node_ids, nodes)
            position = np.empty(nodes, dtype=np.int64)
            position[order] = np.arange(nodes)
            sources, targets = position[sources], position[targets]
            matrix = matrix[order]
        indptr, indices, repairs = symmetric_csr(sources, targets, nodes)
        return cls(
            indptr=frozen(indptr),
            indices=frozen(indices),
            attributes=frozen_attributes(matrix),
            node_ids=None if ids is None else frozen(ids),
            attribute_names=checked_names(attribute_names, int(matrix.shape[1])),
            repairs=repairs,
        )

    @classmethod
    def from_scipy(
        cls,
        adjacency: sp.sparray | sp.spmatrix,
        attributes: npt.ArrayLike | sp.sparray | sp.spmatrix,
        node_ids: npt.ArrayLike | None = None,
        *,
        attribute_names: Sequence[str] | None = None,
    ) -> Graph:
        """Build a network from a square SciPy matrix; every non-zero entry is an edge.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from oddhop import Graph
        >>> Graph.from_scipy(sp.csr_array([[0, 2], [0, 0]]), [[0.0], [1.0]]).repairs
        Repairs(loops=0, duplicates=0, one_way=1, weights=1)
        """
        if not sp.issparse(adjacency) or adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
            raise GraphError(
                f"the adjacency must be a square SciPy matrix, got {type(adjacency).__name__} "
                f"of shape {getattr(adjacency, 'shape', None)}; for edge lists use Graph.from_arrays"
            )
        rows = np.shape(attributes)[0] if np.ndim(attributes) else 0
        if rows != adjacency.shape[0]:
            raise GraphError(
                f"the adjacency has {adjacency.shape[0]} rows and the attributes have {rows}; "
                "give one attribute row for each node"
            )
        entries = sp.coo_array(adjacency)
        present = entries.data != 0
        edge_index = np.stack([entries.row[present], entries.col[present]])
        graph = cls.from_arrays(edge_index, attributes, node_ids, attribute_names=attribute_names)
        weights = int(np.count_nonzero(entries.data[present] != 1))
        return replace(graph, repairs=replace(graph.repairs, weights=weights))

    @classmethod
    def from_networkx(cls, graph: Any, attributes: Sequence[str] | None = None) -> Graph:
        """Build a network from a NetworkX graph whose nodes carry numbers or vectors of numbers.

        ``attributes`` names the node data to use, in order; left out, all of it is used. Nodes
        must be all integers or all strings: they become the ids.

        Examples
        --------
        >>> import networkx as nx
        >>> from oddhop import Graph
        >>> ring = nx.cycle_graph(4)
        >>> nx.set_node_attributes(ring, {i: float(i) for i in ring}, "age")
        >>> Graph.from_networkx(ring).attribute_names
        ('age',)
        """
        nodes = list(graph.nodes)
        if not nodes:
            raise GraphError("the NetworkX graph has no nodes; give at least one")
        if isinstance(attributes, str):
            attributes = [attributes]
        names = list(attributes) if attributes is not None else data_names(graph)
        columns, column_names = [], []
        for name in names:
            missing = [node for node in nodes if name not in graph.nodes[node]]
            if missing:
                raise GraphError(
                    f"node data {name!r} is missing on {len(missing)} of {len(nodes)} nodes, "
                    f"first on {missing[0]!r}; fill it in or leave the name out of attributes="
                )
            values = numbers([graph.nodes[node][name] for node in nodes], f"node data {name!r}")
            values = values.reshape(len(nodes), -1)
            columns.append(values)
            width = values.shape[1]
            column_names += [name] if width == 1 else [f"{name}[{k}]" for k in range(width)]
        if not columns:
            raise GraphError(
                "the nodes of the NetworkX graph carry no data; set some with "
                "networkx.set_node_attributes, for example the degree"
            )
        position = {node: k for k, node in enumerate(nodes)}
        edges = [(position[u], position[v]) for u, v in graph.edges()]
        edge_index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
        matrix = np.hstack(columns)
        built = cls.from_arrays(edge_index, matrix, nodes, attribute_names=column_names)
        # NetworkX names an undirected edge once: that is its way, not a fault of the data.
        return built if graph.is_directed() else replace(built, repairs=replace(built.repairs, one_way=0))

    @classmethod
    def from_pyg(cls, data: Any) -> Graph:
        """Build a network from a PyTorch Geometric ``Data`` with ``x`` and ``edge_index``.

        Examples
        --------
        >>> import torch
        >>> from types import SimpleNamespace  # stands for torch_geometric.data.Data
        >>> from oddhop import Graph
        >>> data = SimpleNamespace(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
        >>> Graph.from_pyg(data)
        Graph(2 nodes, 1 edge, 2 attributes)
        """
        x, edge_index = getattr(data, "x", None), getattr(data, "edge_index", None)
        if x is None or edge_index is None:
            raise GraphError(
                "the PyG data needs both x and edge_index, got "
                f"x={'missing' if x is None else 'present'}, "
                f"edge_index={'missing' if edge_index is None else 'present'}"
            )
        # NumPy has no bfloat16; float32 holds all its values.
        values = x.detach().cpu()
        values = values.float() if "bfloat16" in str(values.dtype) else values
        return cls.from_arrays(edge_index.detach().cpu().numpy(), values.numpy())

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Graph:
        r"""Open a network that ``oddhop ingest`` wrote; its arrays are mapped from the disk.

        They are read once from end to end, and refused where a number in them would lead a kernel astray.
        The nodes are numbered; their ids are in ``oddhop.tables.network.open_network(folder).ids``.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from oddhop import Graph
        >>> from oddhop.tables.ingest import ingest
        >>> with tempfile.TemporaryDirectory() as home:
        ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
        ...     _ = edges.write_text("from,to\na,b\nb,c\n")
        ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\n")
        ...     _ = ingest(edges, nodes, Path(home, "graph"))
        ...     Graph.open(Path(home, "graph")).degrees.tolist()
        [1, 2, 1]
        """
        stored = open_stored(folder)
        graph = cls(
            indptr=frozen(stored.rows("indptr")),
            indices=frozen(stored.rows("indices")),
            attributes=frozen_attributes(stored.attributes()),
            attribute_names=stored.manifest.attribute_names,
            repairs=Repairs(**stored.manifest.repairs),
        )
        check_rows(graph.indptr, graph.indices, graph.attributes, str(stored.folder))
        return graph

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self.indptr.size - 1

    @property
    def edge_count(self) -> int:
        """The number of undirected edges."""
        return self.indices.size // 2

    @property
    def mapped(self) -> bool:
        """Whether the wiring lies on the disk and not in memory."""
        return lies_on_disk(self.indices)

    @property
    def attribute_count(self) -> int:
        """The number of attribute columns."""
        return int(self.attributes.shape[1])

    @property
    def degrees(self) -> Ints:
        """The number of neighbours of every node."""
        return np.diff(self.indptr)

    @property
    def entry_nodes(self) -> Ints:
        """The node whose neighbour each entry of ``indices`` is."""
        return np.repeat(np.arange(self.node_count), self.degrees)

    @property
    def value_count(self) -> int:
        """How many values of the attributes are stored."""
        return int(self.attributes.nnz if is_sparse(self.attributes) else self.attributes.size)

    @cached_property
    def upper(self) -> Ints:
        """Where the edges (u, v), u < v, of every u begin in the numbering of the edges."""
        starts: Ints = upper_indptr(self.indptr, self.indices)
        return starts

    @cached_property
    def fingerprint(self) -> str:
        """A sha256 of everything that a score can depend on.

        Examples
        --------
        >>> from oddhop import Graph
        >>> one = Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [2.0]])
        >>> two = Graph.from_arrays([[2, 1], [1, 0]], [[0.0], [1.0], [2.0]])
        >>> one.fingerprint == two.fingerprint
        True
        """
        digest = hashlib.sha256()
        parts: list[npt.NDArray[Any]] = [self.indptr, self.indices]
        if is_sparse(self.attributes):
            parts += [self.attributes.indptr, self.attributes.indices, self.attributes.data]
        else:
            parts.append(self.attributes)
        if self.node_ids is not None:
            parts.append(self.node_ids)
        for part in parts:
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        return digest.hexdigest()

    def with_attributes(self, attributes: Floats, names: Sequence[str] | None = None) -> Graph:
        """Give the same wiring with other attributes."""
        return replace(
            self,
            attributes=frozen_attributes(attributes),
            attribute_names=checked_names(names, int(attributes.shape[1])),
        )

    def __repr__(self) -> str:
        counts = [(self.node_count, "node"), (self.edge_count, "edge"), (self.attribute_count, "attribute")]
        return f"Graph({', '.join(f'{n:,} {what}' + 's' * (n != 1) for n, what in counts)})"
