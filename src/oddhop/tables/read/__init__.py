"""Tables in: edges and nodes from files, frames and databases, with the ids kept as they came."""

from oddhop.tables.read.joins import Counts, Roles
from oddhop.tables.read.read import NetworkTables, network_graph, read_tables
from oddhop.tables.read.sources import Query

__all__ = ["Counts", "NetworkTables", "Query", "Roles", "network_graph", "read_tables"]
