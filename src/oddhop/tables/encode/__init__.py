"""Attributes from the columns of a table, with a frozen encoding that treats later tables alike."""

from oddhop.tables.encode.encoding import ColumnReport, Difference, Encoding
from oddhop.tables.encode.learn import Learning, learn_encoding

__all__ = ["ColumnReport", "Difference", "Encoding", "Learning", "learn_encoding"]
