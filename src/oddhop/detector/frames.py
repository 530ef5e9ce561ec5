"""A result as a pandas or Polars frame. Neither package is needed for anything else."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa

from oddhop.errors import MissingExtraError


class AsFrames:
    """Has a result, and gives it as a pandas or a Polars frame."""

    def _result_with_kept(self) -> pa.Table:
        """Return the result with the columns that were kept."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return ``result_`` as a pandas frame, with the columns that :func:`oddhop.read_network` kept.

        Examples
        --------
        >>> import numpy as np
        >>> from oddhop import Graph, Odd
        >>> rng = np.random.default_rng(0)
        >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
        >>> fitted = Odd(random_state=0).fit(graph)
        >>> fitted.to_pandas()["rank"].head(3).tolist(), fitted.to_polars()["rank"].head(3).to_list()
        ([1, 2, 3], [1, 2, 3])
        """
        _package("pandas")
        return self._result_with_kept().to_pandas()

    def to_polars(self) -> Any:
        """Return ``result_`` as a Polars frame; see :meth:`to_pandas`."""
        return _package("polars").from_arrow(self._result_with_kept())


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtraError(f"to_{name} needs {name}, which is not installed", f"pip install {name}") from None
