"""A graph in words: what it holds, and what was repaired or left out."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from oddhop.base.html import named
from oddhop.graph.adjacency import Repairs

if TYPE_CHECKING:
    from oddhop.graph.graph import Graph

REPAIRS = {
    "loops": "edges from a node to itself, skipped",
    "duplicates": "repeated edges, skipped",
    "one_way": "edges given in one direction only; each end is a neighbour of the other",
    "weights": "edges with a weight, which is not used",
    "edge_columns": "columns of the edges, which are not used",
    "other_fields": "other fields, such as labels and masks, which are not used",
    "null_ends": "edge rows without a source or a target, skipped",
    "unknown_edges": "edge rows with a node that is not in the node table, skipped",
    "outside_window": "edge rows outside the time window or without a time, skipped",
    "duplicate_edges": "edge rows that repeat the two nodes and the direction of another row",
    "unknown_nodes": "nodes that are only in the edge table, kept with unknown columns",
    "null_ids": "node rows without an id, skipped",
    "repeated_ids": "repeated node rows, skipped",
    "lone_nodes": "nodes without an edge, kept but not scored",
}


def read_facts(graph: Graph) -> tuple[tuple[str, str], ...]:
    """Say what a network holds."""
    counts = (("nodes", graph.node_count), ("edges", graph.edge_count), ("attributes", graph.attribute_count))
    return tuple((name, f"{count:,}") for name, count in counts)


def more_facts(graph: Graph) -> tuple[tuple[str, str], ...]:
    """Say what else is known of a network without reading its rows: names, ids, events, kinds of nodes."""
    found = [("mean degree", f"{2 * graph.edge_count / graph.node_count:.1f}")]
    if graph.attribute_names is not None:
        found.append(("attribute names", named(graph.attribute_names)))
    if graph.events is not None:
        found.append(("events", f"{graph.events.event_count:,}"))
    if graph.kinds is not None:
        kinds = graph.kinds
        counts = [f"{name}: {kinds.bounds[k + 1] - kinds.bounds[k]:,}" for k, name in enumerate(kinds.names)]
        found += [("kinds of nodes", named(counts)), ("judged kind", kinds.names[kinds.judged])]
    return tuple(found)


def repair_facts(*counted: Repairs | Any) -> tuple[tuple[int, str], ...]:
    """Say what was repaired, from :class:`~oddhop.graph.adjacency.Repairs` and :class:`~oddhop.tables.read.Counts`."""
    found = [(getattr(one, part.name), REPAIRS.get(part.name)) for one in counted for part in fields(one)]
    return tuple((count, what) for count, what in found if what and count)
