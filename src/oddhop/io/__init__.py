"""Tables in: edges and nodes from files, frames and databases, with the ids kept as they came."""

from oddhop.io.sources import Query
from oddhop.io.tables import Counts, NetworkTables, Roles, network_graph, read_network

__all__ = ["Counts", "NetworkTables", "Query", "Roles", "network_graph", "read_network"]
