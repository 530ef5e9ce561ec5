"""Attributes over partitions: learned by one task that reads block by block, prepared and convolved by many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.files import Arrays
from oddhop.base.kernels import compiled
from oddhop.graph.disk import fingerprint
from oddhop.graph.preparation import Preparation, learn_from_rows, zeros_and_ones
from oddhop.graph.rows import StoredRows
from oddhop.hcm.purify import Side
from oddhop.partitions.cross_edges import by_peer
from oddhop.partitions.task import Task, TaskRunner

ENTRIES_AT_ONCE = 65_536
STAGE = "preparing"


@dataclass(frozen=True)
class Prepared:
    """How attributes are prepared, by which similarity edges are judged, and what the network is known by."""

    preparation: Preparation
    similarity: str
    fingerprint: str


def prepare(work: Task, runner: TaskRunner) -> Prepared:
    """Learn how attributes are prepared, and prepare and convolve those of every partition."""
    arrays, told = work.remembered("preparation", lambda: runner.each(STAGE, _learned, [work], 0, 3)[0])
    preparation = Preparation.of(arrays)
    binary = runner.each(STAGE, partial(_prepared, work, preparation), work.partitions, 1, 3)
    runner.each(STAGE, partial(_convolved, work), work.partitions, 2, 3)
    words = all(zeros for zeros, _ in binary) and any(one for _, one in binary)
    return Prepared(preparation, "jaccard" if words else "cosine", told["fingerprint"])


def _learned(work: Task) -> tuple[Arrays, dict[str, Any]]:
    settings = work.settings
    learned = learn_from_rows(
        StoredRows(work.stored),
        scale=settings.scale,
        pca_components=settings.pca_components,
        pca_above=settings.pca_above,
    )
    return learned.arrays(), {"fingerprint": fingerprint(work.graph)}


def _prepared(work: Task, preparation: Preparation, number: int) -> tuple[bool, bool]:
    """Prepare the rows of a partition; tell whether all are 0 or 1, and whether there is a 1."""
    if not work.has("prepared", number):
        start, stop = work.span(number)
        degrees = np.diff(work.stored.rows("indptr", start, stop + 1))
        rows = preparation.some(StoredRows(work.stored), start, stop, work.settings.dtype)
        side = Side.of(rows)
        work.write("weights", number, (1.0 / np.sqrt(degrees + 1.0)).astype(rows.dtype))
        work.write("norms", number, np.stack([side.shrink, side.norms]))
        work.write("prepared", number, rows)
    return zeros_and_ones(work.read("prepared", number))


def side_of(work: Task, number: int) -> Side:
    """Return the prepared rows of a partition with what a similarity asks of them, as they were written."""
    shrink, norms = work.read("norms", number)
    return Side(work.read("prepared", number), shrink, norms)


def _convolved(work: Task, number: int) -> None:
    if work.has("convolved", number):
        return
    part, own, weights = work.stored.partition(number), work.read("prepared", number), work.read("weights", number)
    out = own * weights[:, None]
    for peer, entries in by_peer(part.indptr, part.indices, work.bounds, ENTRIES_AT_ONCE):
        other, other_weights = work.read("prepared", peer), work.read("weights", peer)
        for some in entries:
            add_rows(other, other_weights, some.rows, some.columns, out)
    out *= weights[:, None]
    work.write("convolved", number, out)


@compiled
def add_rows(vectors: Floats, weights: Floats, rows: Ints, columns: Ints, out: Floats) -> None:
    """Add to some rows the vectors of those that they meet, each times its weight."""
    for k in range(rows.size):
        for c in range(vectors.shape[1]):
            out[rows[k], c] += weights[columns[k]] * vectors[columns[k], c]
