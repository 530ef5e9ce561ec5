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

from oddhop.base.arrays import Bools, Floats, Ints, frozen, lies_on_disk
from oddhop.base.html import facts, panel, sentences
from oddhop.errors import GraphError
from oddhop.graph import convert
from oddhop.graph.adjacency import Repairs, keep_edges, symmetric_csr, upper_edges, upper_indptr
from oddhop.graph.checks import (
    Attributes,
    check_rows,
    checked_attributes,
    checked_edges,
    checked_names,
    frozen_attributes,
    is_sparse,
    sorted_ids,
)
from oddhop.graph.disk import open_stored
from oddhop.graph.events import Events
from oddhop.graph.in_words import more_facts, read_facts, repair_facts
from oddhop.graph.kinds import NodeKinds


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
    events : the rows of the edge table one by one, with direction, times and amounts, or None.
    flow_count : how many of the attributes, the last ones, were made of events.
    kinds : which nodes and attributes belong to which kind, or None where there is one kind.
    keys : 64 bits for every node that are the same in any network that has it, or None. No score depends on them.

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
    events: Events | None = None
    flow_count: int = 0
    kinds: NodeKinds | None = None
    keys: Ints | None = None

    @classmethod
    def from_arrays(
        cls,
        edge_index: npt.ArrayLike,
        attributes: npt.ArrayLike | sp.sparray | sp.spmatrix,
        node_ids: npt.ArrayLike | None = None,
        *,
        attribute_names: Sequence[str] | None = None,
        directed: bool = False,
    ) -> Graph:
        """Build a network from edges given as row positions, shape (2, edges).

        With ``node_ids`` the nodes are renumbered by sorted id, so that neither the order of the
        nodes nor that of the edges changes a score. With ``directed`` the direction of the edges is
        kept in ``events``; the adjacency is the same.

        Examples
        --------
        >>> from oddhop import Graph
        >>> Graph.from_arrays([[0, 1, 2], [1, 2, 0]], [[0.0], [0.5], [1.0]]).degrees.tolist()
        [2, 2, 2]
        >>> Graph.from_arrays([[1], [0]], [[0.0], [0.5]], directed=True).events.columns.directed
        True
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
            events=Events.of_arcs(sources, targets, nodes) if directed else None,
        )

    @classmethod
    def from_scipy(
        cls,
        adjacency: sp.sparray | sp.spmatrix,
        attributes: npt.ArrayLike | sp.sparray | sp.spmatrix,
        node_ids: npt.ArrayLike | None = None,
        *,
        attribute_names: Sequence[str] | None = None,
        directed: bool = False,
    ) -> Graph:
        """Build a network from a square SciPy matrix; every non-zero entry is an edge from its row to its column.

        ``directed`` is that of :meth:`from_arrays`.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from oddhop import Graph
        >>> Graph.from_scipy(sp.csr_array([[0, 2], [0, 0]]), [[0.0], [1.0]]).repairs
        Repairs(loops=0, duplicates=0, one_way=1, weights=1, edge_columns=0, other_fields=0)
        """
        edges, weights = convert.edges_of_scipy(adjacency, attributes)
        graph = cls.from_arrays(edges, attributes, node_ids, attribute_names=attribute_names, directed=directed)
        return replace(graph, repairs=replace(graph.repairs, weights=weights))

    @classmethod
    def from_networkx(cls, graph: Any, attributes: Sequence[str] | None = None, *, directed: bool = False) -> Graph:
        """Build a network from a NetworkX graph whose nodes have numbers or vectors of numbers.

        ``attributes`` names the node data to use, in order. Without it all node data is used, also a community or a
        label that nodes should not be scored by. ``attribute_names`` has what was used. Nodes must be all integers
        or all strings: they become the ids. ``directed`` is that of :meth:`from_arrays`. Data of the edges, such as
        amounts and times, is not used; ``repairs`` counts it. To use it, give tables:
        ``fit(networkx.to_pandas_edgelist(graph), nodes=frame)``.

        Examples
        --------
        >>> import networkx as nx
        >>> from oddhop import Graph
        >>> ring = nx.cycle_graph(4)
        >>> nx.set_node_attributes(ring, {i: float(i) for i in ring}, "age")
        >>> nx.set_node_attributes(ring, {i: i % 2 for i in ring}, "community")
        >>> Graph.from_networkx(ring).attribute_names
        ('age', 'community')
        >>> Graph.from_networkx(ring, ["age"]).attribute_names
        ('age',)
        """
        if directed and not graph.is_directed():
            raise GraphError("directed=True, and the NetworkX graph is undirected", "give a DiGraph")
        edges, matrix, nodes, names, edge_columns = convert.parts_of_networkx(graph, attributes)
        built = cls.from_arrays(edges, matrix, nodes, attribute_names=names, directed=directed)
        # NetworkX names an undirected edge once: that is its way, not a fault of the data.
        one_way = built.repairs.one_way if graph.is_directed() else 0
        return replace(built, repairs=replace(built.repairs, one_way=one_way, edge_columns=edge_columns))

    @classmethod
    def from_pyg(cls, data: Any, *, directed: bool = False) -> Graph:
        """Build a network from a PyTorch Geometric ``Data`` with ``x`` and ``edge_index``.

        Edge attributes, labels and masks are not used; ``repairs`` counts them. ``directed`` is that of
        :meth:`from_arrays`.

        Examples
        --------
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from oddhop import Graph
        >>> labelled = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1]))
        >>> graph = Graph.from_pyg(labelled)
        >>> graph, graph.repairs.other_fields
        (Graph(2 nodes, 1 edge, 2 attributes), 1)
        """
        edges, values, edge_columns, other_fields = convert.parts_of_pyg(data)
        graph = cls.from_arrays(edges, values, directed=directed)
        return replace(graph, repairs=replace(graph.repairs, edge_columns=edge_columns, other_fields=other_fields))

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
            events=stored.events(),
            flow_count=stored.manifest.flow_count,
            kinds=stored.manifest.node_kinds,
        )
        if graph.events is not None:
            graph.events.check(graph.node_count, str(stored.folder))
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
        """Whether the edges are on the disk and not in memory."""
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
    def judged(self) -> slice:
        """The nodes that are judged, of one kind or all."""
        return slice(0, self.node_count) if self.kinds is None else self.kinds.nodes(self.kinds.judged)

    @property
    def entry_nodes(self) -> Ints:
        """The node whose neighbour each entry of ``indices`` is."""
        return np.repeat(np.arange(self.node_count), self.degrees)

    @property
    def value_count(self) -> int:
        """The number of stored attribute values."""
        return int(self.attributes.nnz if is_sparse(self.attributes) else self.attributes.size)

    @cached_property
    def upper(self) -> Ints:
        """Where the edges (u, v), u < v, of every u begin in the numbering of the edges."""
        starts: Ints = upper_indptr(self.indptr, self.indices)
        return starts

    def ends(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return both ends of the edges numbered ``start`` to ``stop``, or to the last edge.

        Examples
        --------
        >>> from oddhop import Graph
        >>> path = Graph.from_arrays([[0, 2], [1, 1]], [[0.0], [1.0], [2.0]])
        >>> [end.tolist() for end in path.ends(0, 10)]
        [[0, 1], [1, 2]]
        """
        ends: tuple[Ints, Ints] = upper_edges(self.indptr, self.indices, self.upper, start, min(stop, self.edge_count))
        return ends

    def adjacency(self) -> sp.csr_array:
        """Return the adjacency as a SciPy array of ones.

        Examples
        --------
        >>> from oddhop import Graph
        >>> Graph.from_arrays([[0], [1]], [[0.0], [1.0]]).adjacency().toarray().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        ones = np.ones(self.indices.size)
        return sp.csr_array((ones, self.indices, self.indptr), shape=2 * (self.node_count,))

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
        if self.events is not None:
            digest.update(f"{self.events.columns} {self.flow_count}".encode())
            parts += [array for _, array in self.events.arrays()]
        if self.kinds is not None:  # what a kind is called changes no score
            digest.update(f"{self.kinds.bounds} {self.kinds.columns} {self.kinds.judged}".encode())
        for part in parts:
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        return digest.hexdigest()

    def with_edges(self, keep: Bools) -> Graph:
        """Return the network with only the marked edges; they are numbered as in :meth:`ends`.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop import Graph
        >>> path = Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [2.0]])
        >>> path.with_edges(np.array([False, True])).degrees.tolist()
        [0, 1, 1]
        """
        indptr, indices = keep_edges(self.indptr, self.indices, self.upper, keep)
        return replace(self, indptr=frozen(indptr), indices=frozen(indices))

    def of_kind(self, kind: int) -> Graph:
        """Return the nodes of one kind with the attributes of that kind, without edges.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from oddhop import Graph
        >>> from oddhop.graph.kinds import NodeKinds
        >>> graph = Graph.from_arrays([[0, 1], [2, 2]], [[1.0, 0.0], [2.0, 0.0], [0.0, 7.0]])
        >>> graph = replace(graph, kinds=NodeKinds(("account", "device"), (0, 2, 3), (0, 1), judged=0))
        >>> graph.of_kind(1).attributes.tolist()
        [[7.0]]
        """
        if self.kinds is None:
            return self
        columns = self.kinds.columns_of(kind)
        own = self.attributes[self.kinds.nodes(kind)][:, columns]
        if is_sparse(own):
            own.sort_indices()
        nodes = int(own.shape[0])
        return Graph(
            indptr=frozen(np.zeros(nodes + 1, dtype=np.int64)),
            indices=frozen(np.zeros(0, dtype=self.indices.dtype)),
            attributes=frozen_attributes(own),
            attribute_names=None if self.attribute_names is None else tuple(self.attribute_names[k] for k in columns),
            flow_count=int(np.count_nonzero(columns >= self.attribute_count - self.flow_count)),
        )

    def with_attributes(self, attributes: Floats, names: Sequence[str] | None = None) -> Graph:
        """Return the network with the same edges and other attributes."""
        return replace(
            self,
            attributes=frozen_attributes(attributes),
            attribute_names=checked_names(names, int(attributes.shape[1])),
            flow_count=0,
            kinds=None,
        )

    def __repr__(self) -> str:
        counts = [(self.node_count, "node"), (self.edge_count, "edge"), (self.attribute_count, "attribute")]
        return f"Graph({', '.join(f'{n:,} {what}' + 's' * (n != 1) for n, what in counts)})"

    def _repr_html_(self) -> str:
        mended = [f"{count:,} {what}." for count, what in repair_facts(self.repairs)]
        return panel("Graph", facts([*read_facts(self), *more_facts(self)]), sentences(mended))
