"""The errors a user can meet: each says what was wrong, what was got, and what to do."""

from __future__ import annotations


class OddhopError(Exception):
    """Base of every error that oddhop raises on purpose.

    Examples
    --------
    >>> from oddhop.errors import GraphError, OddhopError
    >>> issubclass(GraphError, OddhopError)
    True
    """


class GraphError(OddhopError, ValueError):
    """The network handed in cannot be used as it is."""


class TableError(OddhopError, ValueError):
    """A table of edges or nodes cannot be found or read, or does not say what it must."""


class DataFolderError(TableError):
    """A network of the benchmark is not in the data folder, or is not the one it should be."""


class SettingsError(OddhopError, ValueError):
    """A setting is of the wrong kind, out of range, or at odds with another."""


class NothingToLearnError(GraphError):
    """The network is well formed but holds nothing that hop counts could be learned from."""


class EncodingError(OddhopError, ValueError):
    """A table cannot be turned into attributes as it is, or as was asked."""


class TrainingDivergedError(OddhopError, ArithmeticError):
    """Training met a non-finite loss again and again, even with smaller steps."""


class MemoryBudgetError(OddhopError, MemoryError):
    """The run would need more memory than it may take."""


class RunFolderError(OddhopError):
    """A run folder is in use, or holds a run already: this one or another."""


class ModelFileError(OddhopError):
    """A model file or a checkpoint cannot be read, was changed, or has another schema."""


class ClusterError(OddhopError):
    """A cluster cannot be reached, refuses us, or has no machine left to run on."""
