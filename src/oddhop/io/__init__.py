"""Tables in: edges and nodes from files, frames and databases, with the ids kept as they came."""

from oddhop.io.joins import Counts, Roles
from oddhop.io.sources import Query
from oddhop.io.tables import NetworkTables, network_graph, read_network

__all__ = ["Counts", "NetworkTables", "Query", "Roles", "network_graph", "read_network"]
