"""The errors a user can meet: each says what was wrong, what was got, and what to do."""

from __future__ import annotations

from typing import Any


class OddhopError(Exception):
    """Base of every error that oddhop raises on purpose.

    Attributes
    ----------
    problem : what is wrong, and what was got.
    remedy : what to do about it, in Python.
    command : the same on the command line, where that differs.

    Examples
    --------
    >>> from oddhop.errors import GraphError, OddhopError
    >>> error = GraphError("the graph has no nodes", "give at least one")
    >>> str(error), error.remedy, isinstance(error, OddhopError)
    ('the graph has no nodes; give at least one', 'give at least one', True)
    """

    def __init__(self, problem: str = "", remedy: str = "", *, command: str = "") -> None:
        super().__init__(f"{problem}; {remedy}" if remedy else problem)
        self.problem, self.remedy, self.command = problem, remedy, command or remedy

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers of a cluster send errors to the driver: no part may get lost on the way.
        return _rebuilt, (type(self), self.problem, self.remedy, self.command)


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


class CaseBookError(OddhopError):
    """A book of cases cannot be opened, was damaged, has another schema, or lacks what was asked for."""


class AnswersError(OddhopError, ValueError):
    """Answers cannot be used as they are: not 1, 0 or None, two about one node, or about a node there is not."""


class MissingExtraError(OddhopError, ImportError):
    """What was asked for needs a package that is not installed."""


class ClusterError(OddhopError):
    """A cluster cannot be reached, refuses us, or has no machine left to run on."""


def _rebuilt(kind: type[OddhopError], problem: str, remedy: str, command: str) -> OddhopError:
    return kind(problem, remedy, command=command)
