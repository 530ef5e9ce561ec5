"""Tables to a network on disk, in memory that does not grow with the edges."""

from oddhop.tables.ingest.folder import ingest

__all__ = ["ingest"]
