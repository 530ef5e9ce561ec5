"""How far the data of a run have moved from those of an earlier one, and whether its model should be fitted again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats, Ints
from oddhop.casebook.changes import in_one_scale
from oddhop.casebook.record import COLUMN, TOTAL

BINS, LEVELS, NAMED = 10, 20, 5
MOST_PSI, MOST_UNSEEN = 0.25, 0.05
UNSEEN = {"rare or not seen before": "pooled", "far beyond what was seen before": "tamed", "missing, where": "missing"}
"""What a difference of the tables begins with, and what counts the same rows in the tables of the fit."""


@dataclass(frozen=True)
class Drift:
    """The drift of the data between two runs.

    Attributes
    ----------
    score_psi : the population stability index of the scores.
    column_psi : that of every column, and of the events of a node.
    edges_changed, columns_changed : the share of the nodes of both runs whose edges changed, or a column; None and
        empty where that is not known.
    unseen : by column the share of rows with values that the fit did not see.
    differences : what the encoding of the new run repaired or skipped, a sentence each.
    fit_again : why the model should be fitted again; empty where it need not be.
    """

    score_psi: float
    column_psi: Mapping[str, float]
    edges_changed: float | None
    columns_changed: Mapping[str, float]
    unseen: Mapping[str, float]
    differences: tuple[str, ...]
    fit_again: tuple[str, ...]


def stability_index(old: Floats, new: Floats) -> float:
    """Return the population stability index; each bin has a tenth of the old values."""
    if not old.size or not new.size:
        return 0.0
    bounds, times = np.unique(np.quantile(old, np.linspace(0, 1, BINS + 1)[1:-1]), return_counts=True)
    # A figure that a tenth of the old ones have has a bin of its own, or a move away from it would not be seen.
    bounds = np.sort(np.concatenate([bounds, np.nextafter(bounds[times > 1], np.inf)]))
    places = (np.searchsorted(bounds, figures, side="right") for figures in (old, new))
    return index(*(np.bincount(one, minlength=bounds.size + 1) for one in places))


def index(old: Ints, new: Ints) -> float:
    """Return the population stability index of two counts over the same bins.

    Half a figure is added to every bin, so that an empty one gives no infinity.
    """
    shares = [(counts + 0.5) / (counts + 0.5).sum() for counts in (old, new)]
    return float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())


def column_indexes(old: pa.Table, new: pa.Table) -> dict[str, float]:
    """Return the index of every column of two tables of records.

    The bins are tenths of the old numbers, or the twenty most frequent of the old values and one for all others.
    """
    out = {}
    for name in new.column_names:
        if name not in old.column_names or not name.startswith((COLUMN, TOTAL)):
            continue
        plain = f"the {name.removeprefix('total:')} of a node" if name.startswith(TOTAL) else name.removeprefix(COLUMN)
        if pa.types.is_floating(new.schema.field(name).type) and pa.types.is_floating(old.schema.field(name).type):
            # What is missing has a bin of its own.
            out[plain] = stability_index(*(np.nan_to_num(one, nan=-1e9) for one in in_one_scale(old, new, name)))
            continue
        then, now = (one[name].to_numpy() for one in (old, new))
        values, counts = np.unique(then, return_counts=True)
        known = values[np.argsort(-counts, kind="stable")[:LEVELS]]
        bins = [
            [*(np.count_nonzero(one == value) for value in known), (~np.isin(one, known)).sum()] for one in (then, now)
        ]
        out[plain] = index(*map(np.array, bins))
    return out


def unseen_shares(manifest: Mapping[str, Any], judged: str) -> dict[str, float]:
    """Return by column the share of rows with values that the fit did not see.

    The fit pooled rare categories and tamed far numbers too: as many rows as it did are not counted. ``judged`` is the
    kind of node that was judged. How many nodes another kind has is not told, so its shares are the least possible.
    """
    data, rows = manifest["data"], manifest["results"]["rows"]
    others = max(data["nodes"] - rows, 1)
    known = {one["column"]: one for one in data["columns"]}
    shares: dict[str, float] = {}
    for one in data["differences"]:
        counted = next((count for what, count in UNSEEN.items() if one["what"].startswith(what)), None)
        if counted is None:
            continue
        name, nodes = one["column"], rows if not judged or one["column"].startswith(f"{judged}.") else others
        more = one["count"] - known.get(name, {}).get(counted, 0)
        if more > 0:
            shares[name] = shares.get(name, 0.0) + min(more / max(nodes, 1), 1.0)
    return shares


def drift_of(
    manifest: Mapping[str, Any],
    scores: tuple[Floats, Floats],
    column_psi: Mapping[str, float],
    judged: str,
    edges_changed: float | None,
    columns_changed: Mapping[str, float],
) -> Drift:
    """Gather the figures of the new run, ``scores`` being those of the old and the new one, ``column_psi`` by column.

    A run of ``detect`` was fitted on its own tables, so it never asks to fit again.
    """
    psi, unseen = stability_index(*scores), unseen_shares(manifest, judged)
    reasons = []
    if psi > MOST_PSI:
        reasons.append(f"the scores changed (PSI {psi:.2f}, above {MOST_PSI})")
    reasons += [
        f"the values of {name!r} changed (PSI {one:.2f}, above {MOST_PSI})"
        for name, one in sorted(column_psi.items(), key=lambda item: -item[1])[:NAMED]
        if one > MOST_PSI
    ]
    reasons += [
        f"{share:.0%} of the rows of {name!r} have values that were not seen in the fit (above {MOST_UNSEEN:.0%})"
        for name, share in unseen.items()
        if share > MOST_UNSEEN
    ]
    differences = tuple(
        f"column {one['column']!r}: {one['count']:,} rows {one['what']}" for one in manifest["data"]["differences"]
    )
    again = tuple(reasons) if manifest["command"] == "score" else ()
    return Drift(psi, dict(column_psi), edges_changed, dict(columns_changed), unseen, differences, again)
