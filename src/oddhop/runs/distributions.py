"""How the values of every column are distributed, in few figures, so that two runs can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from oddhop.base.arrays import Floats, Ints

if TYPE_CHECKING:
    from oddhop.explain.columns import ColumnSpan

# In interquartile ranges from the median, as numbers are encoded. Zero has a bin of its own: many are 0 or 1.
EDGES = np.array([-4, -2, -1, -0.5, -0.25, -1e-9, 1e-9, 0.25, 0.5, 1, 2, 4], dtype=np.float32)
MOST_ATTRIBUTES = 2_000


@dataclass(frozen=True, eq=False)
class Distributions:
    """How many nodes have values in every bin, a table of attributes and bins for every column.

    ``encoders`` tells how each column was encoded: counts of other encodings do not compare.
    """

    counts: Mapping[str, Ints]
    encoders: Mapping[str, str]

    def to_json(self) -> str:
        """Return it as a JSON text."""
        return json.dumps({name: [self.encoders[name], self.counts[name].tolist()] for name in self.counts})

    @classmethod
    def from_json(cls, text: str) -> Distributions:
        """Read what :meth:`to_json` gave; a ValueError or TypeError where it is something else."""
        found = {name: (str(digest), np.array(table)) for name, (digest, table) in json.loads(text).items()}
        for name, (_, table) in found.items():
            if table.dtype.kind != "i" or table.ndim != 2 or table.shape[1] != EDGES.size + 1 or (table < 0).any():
                raise ValueError(f"the counts of the column {name!r} are damaged")
        return cls({name: table for name, (_, table) in found.items()}, {name: one for name, (one, _) in found.items()})

    def stability(self, later: Distributions) -> dict[str, float]:
        """Return the population stability index of every column that both have in one encoding.

        A column of several attributes has the largest index of these.
        """
        shared = [name for name, one in self.encoders.items() if later.encoders.get(name) == one]
        return {
            name: max(
                (index(one, two) for one, two in zip(self.counts[name], later.counts[name], strict=True)), default=0
            )
            for name in shared
            if self.counts[name].shape == later.counts[name].shape
        }


def index(old: npt.NDArray[Any], new: npt.NDArray[Any]) -> float:
    """Return the population stability index of two counts over the same bins.

    Half a figure is added to every bin, so that an empty one gives no infinity.
    """
    shares = [(counts + 0.5) / (counts + 0.5).sum() for counts in (old, new)]
    return float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())


def count_values(rows: Any, totals: Ints) -> None:
    """Add the values of some nodes to the counts, which have a row for every attribute."""
    values: Floats = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float32)
    for k in range(values.shape[1]):
        totals[k] += np.bincount(np.searchsorted(EDGES, values[:, k]), minlength=EDGES.size + 1)


def distributions(spans: Sequence[ColumnSpan], digests: Sequence[str], totals: Ints) -> Distributions:
    """Return the counts by column. ``totals`` has the attributes of the columns one after the other."""
    ends = np.cumsum([one.stop - one.start for one in spans])
    parts = np.split(totals, ends[:-1]) if len(spans) else []
    names = [one.name for one in spans]
    return Distributions(dict(zip(names, parts, strict=True)), dict(zip(names, digests, strict=True)))
