"""The errors of oddhop: each says what was wrong, what was got, and what to do."""

from __future__ import annotations

from typing import Any


class OddhopError(Exception):
    """Base class of all errors of oddhop.

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
    """The given network cannot be used."""


class TableError(OddhopError, ValueError):
    """A table of edges or nodes cannot be found or read, or its content is not valid."""


class DataFolderError(TableError):
    """A network of the benchmark is not in the data folder, or has the wrong content."""


class SettingsError(OddhopError, ValueError):
    """A setting has the wrong type, is out of range, or contradicts another setting."""


class NothingToLearnError(GraphError):
    """The network is well formed, but there is nothing to learn from."""


class EncodingError(OddhopError, ValueError):
    """A table cannot be encoded as attributes, or not with these settings."""


class TrainingDivergedError(OddhopError, ArithmeticError):
    """The loss of training was not finite, even with smaller steps."""


class MemoryBudgetError(OddhopError, MemoryError):
    """The run needs more memory than is available."""


class RunFolderError(OddhopError):
    """A run folder is in use, or already has a run."""


class ModelFileError(OddhopError):
    """A model file or a checkpoint cannot be read, was changed, or has another schema."""


class CaseBookError(OddhopError):
    """A book of cases cannot be opened, is damaged, has another schema, or does not have the case."""


class AnswersError(OddhopError, ValueError):
    """Answers are not valid: not 1, 0 or None, two about one node, or about a node that does not exist."""


class MissingExtraError(OddhopError, ImportError):
    """A package that is needed is not installed."""


class ClusterError(OddhopError):
    """A cluster cannot be reached, rejects the connection, or has no machine to run on."""


def _rebuilt(kind: type[OddhopError], problem: str, remedy: str, command: str) -> OddhopError:
    return kind(problem, remedy, command=command)
