"""A network in memory or on disk, as the views read it: the wiring, and the attributes of every kind of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oddhop.arrays.handles import Handle
from oddhop.arrays.run import Runner
from oddhop.arrays.stores import FolderStore, MemoryStore
from oddhop.arrays.wiring import Wiring
from oddhop.base.arrays import Floats, Ints
from oddhop.errors import GraphError
from oddhop.graph.events import Events
from oddhop.graph.graph import Graph
from oddhop.graph.kinds import NodeKinds
from oddhop.graph.rows import ROWS_AT_ONCE, AttributeRows, Columns, NodeRows, StoredRows
from oddhop.odd.blocks import Blocks, learn_blocks


@dataclass(frozen=True, eq=False)
class NodeTable:
    """The nodes of a kind.

    Attributes
    ----------
    nodes : the nodes, which have no edges here where there are several kinds.
    attributes, flow_count : of the nodes, and how many of them were made of events.
    """

    nodes: Wiring
    attributes: AttributeRows
    flow_count: int

    def learn_blocks(self) -> Blocks:
        """Learn how the attributes become coordinates."""
        return learn_blocks(self.attributes, self.flow_count)

    def coordinates(self, blocks: Blocks) -> Handle:
        """Make the coordinates of the nodes."""
        made: Handle = self.nodes.rows(_coordinates, self.nodes.ids, self.attributes, blocks, rows=ROWS_AT_ONCE)
        return made


@dataclass(frozen=True, eq=False)
class Source:
    """A network.

    Attributes
    ----------
    wiring : of all nodes.
    kinds : of the nodes; None where there is one.
    tables : the nodes of every kind by its name, which is empty where there is one.
    events : of the network, or None.
    """

    wiring: Wiring
    kinds: NodeKinds | None
    tables: Mapping[str, NodeTable]
    events: Events | None

    @classmethod
    def of_graph(cls, graph: Graph, runner: Runner) -> Source:
        """Read a network in memory."""
        wiring = Wiring(MemoryStore(graph.indptr, graph.indices), runner)
        kinds = graph.kinds
        if kinds is None:
            tables = {"": NodeTable(wiring, graph.attributes, graph.flow_count)}
        else:
            own = {name: graph.of_kind(k) for k, name in enumerate(kinds.names)}
            tables = {
                name: NodeTable(_nodes_of(wiring, kinds, k), own[name].attributes, own[name].flow_count)
                for k, name in enumerate(kinds.names)
            }
        return cls(wiring, kinds, tables, graph.events)

    @classmethod
    def of_folder(cls, store: FolderStore, runner: Runner) -> Source:
        """Read a network on disk; its attributes and events are mapped, some at a time."""
        manifest, wiring = store.stored.manifest, Wiring(store, runner)
        kinds = manifest.node_kinds
        if kinds is None:
            tables = {"": NodeTable(wiring, StoredAttributes(store), manifest.flow_count)}
        else:
            first_flow, tables = len(manifest.attribute_names) - manifest.flow_count, {}
            for k, name in enumerate(kinds.names):
                count = int(np.count_nonzero(kinds.columns_of(k) >= first_flow))
                tables[name] = NodeTable(_nodes_of(wiring, kinds, k), StoredAttributes(store, k), count)
        flows = tables["" if kinds is None else kinds.names[kinds.judged]].flow_count
        return cls(wiring, kinds, tables, store.stored.events() if flows else None)

    @property
    def name(self) -> str:
        """The name of the judged kind."""
        return "" if self.kinds is None else self.kinds.names[self.kinds.judged]

    @property
    def judged(self) -> NodeTable:
        """The judged nodes."""
        return self.tables[self.name]

    @property
    def rows(self) -> slice:
        """The numbers of the judged nodes."""
        return slice(0, self.wiring.nodes) if self.kinds is None else self.kinds.nodes(self.kinds.judged)

    def coordinates(self, blocks: Mapping[str, Blocks]) -> dict[str, Handle]:
        """Make the coordinates of all kinds by what was learned; kinds that are not known are refused."""
        if self.tables.keys() != blocks.keys():
            known, given = (sorted(names - {self.name}) for names in (blocks.keys(), self.tables.keys()))
            raise GraphError(
                f"the model was fitted on nodes connected to {known or 'no other kind'}, got {given}",
                "give the same kinds of nodes, and judge the same kind",
            )
        made = {name: table.coordinates(blocks[name]) for name, table in self.tables.items()}
        for x in made.values():
            x.wiring.make(x)
        return made


def _nodes_of(wiring: Wiring, kinds: NodeKinds, kind: int) -> Wiring:
    return Wiring(wiring.store.part(kinds.nodes(kind)), wiring.runner)


@dataclass(frozen=True, eq=False)
class StoredAttributes:
    """The attributes of a network on disk, or of the nodes of one kind, mapped some rows at a time."""

    store: FolderStore
    kind: int | None = None

    @property
    def key(self) -> str:
        """What they are known by, beside the run."""
        return f"attributes {self.kind}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes and columns."""
        return self._rows.shape

    def __getitem__(self, rows: slice) -> Floats:
        """Map a block of rows."""
        found: Floats = self._rows[rows]
        return found

    @property
    def _rows(self) -> AttributeRows:
        x, kinds = StoredRows(self.store.stored), self.store.stored.manifest.node_kinds
        if kinds is None or self.kind is None:
            return x
        return Columns(NodeRows(x, kinds.nodes(self.kind)), kinds.columns_of(self.kind))


def _coordinates(ids: Ints, attributes: AttributeRows, blocks: Blocks) -> Floats:
    return blocks.coordinates(attributes, int(ids[0]), int(ids[-1]) + 1)
