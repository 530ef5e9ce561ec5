"""Tables in: edges and nodes from files, frames and databases, with the ids kept as they came."""

from oddhop.tables.read.joins import Counts, Roles
from oddhop.tables.read.memory import NetworkTables, read_tables
from oddhop.tables.read.sources import Query

__all__ = ["Counts", "NetworkTables", "Query", "Roles", "read_tables"]
