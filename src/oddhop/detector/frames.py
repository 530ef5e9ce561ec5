"""A result as a pandas or Polars frame. Neither package is needed for anything else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa

from oddhop.errors import MissingExtraError


def pandas_frame(table: pa.Table) -> Any:
    """Return a table as a pandas frame."""
    _package("pandas")
    return table.to_pandas()


def polars_frame(table: pa.Table) -> Any:
    """Return a table as a Polars frame."""
    return _package("polars").from_arrow(table)


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtraError(f"to_{name} needs {name}, which is not installed", f"pip install {name}") from None
