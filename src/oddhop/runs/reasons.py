"""Why nodes changed between two runs: their own data, those of their neighbours, or only others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Bools, Ints
from oddhop.casebook.changes import Changed, changes
from oddhop.casebook.record import NEIGHBOURS, NODE
from oddhop.errors import RunFolderError
from oddhop.runs.drift import column_indexes
from oddhop.runs.state import State

ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class Reasons:
    """What changed in every node that both runs have.

    Attributes
    ----------
    same_model : whether both runs were ranked by one model.
    rows : of every node of the new run its row in these tables; -1 where the old run does not have it.
    then, now : the records, row by row; None where a run keeps no state, and nothing is known.
    enough, at_all : who changed noticeably, and who is not exactly as before.
    edges_changed, columns_changed : the share of nodes with other neighbours, and with another value, by column.
    column_psi : how far the values of every column moved, over all nodes.
    """

    same_model: bool
    rows: Ints
    then: pa.Table | None = None
    now: pa.Table | None = None
    enough: Bools | None = None
    at_all: Bools | None = None
    edges_changed: float | None = None
    columns_changed: Mapping[str, float] = field(default_factory=dict)
    column_psi: Mapping[str, float] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """What is to be said of all nodes."""
        if self.edges_changed is None:
            return ["a run has no state.parquet of this version of oddhop: only ranks are compared"]
        out = [f"{self.edges_changed:.1%} of the nodes in both runs have different edges"]
        told = [f"{name} {share:.1%}" for name, share in self.columns_changed.items() if share]
        return out + [f"nodes with a changed value, by column: {', '.join(told)}"] * bool(told)

    def news(self, nodes: Ints, risen: Bools) -> Bools:
        """Return of which nodes of the new run, by their places in its results, the place on the list is news.

        The node changed noticeably; or its rank rose beyond its old interval, and it changed at all, or a neighbour did
        noticeably. Where nothing is known, all are.
        """
        if self.enough is None or self.at_all is None:
            return np.ones(nodes.size, dtype=bool)
        places = self.rows[nodes]
        slight = self.at_all[places]
        near = np.flatnonzero(risen & ~slight & ~self.enough[places])
        slight[near] = self._neighbours_changed(places[near]) > 0
        return np.asarray(self.enough[places] | slight & risen)

    def of(self, nodes: Ints) -> list[str]:
        """Say why each of some nodes changed, by their places in the new results; both runs have them."""
        if self.then is None or self.now is None:
            return ["unknown"] * nodes.size
        places = self.rows[nodes]
        found = changes(*(one.take(pa.array(places)) for one in (self.then, self.now)))
        said = ["; ".join(Changed(found.together([k])).sentences) for k in range(len(places))]
        moved, near = found.at_all(), self._neighbours_changed(places)
        others = "only other nodes changed" if self.same_model else "only other nodes or the model changed"
        for k, sentence in enumerate(said):
            around = f"{near[k]:,} of its neighbours changed" if near[k] > 1 else "1 of its neighbours changed"
            said[k] = sentence or ("its events changed" if moved[k] else around if near[k] else others)
        return said

    def _neighbours_changed(self, places: Ints) -> Ints:
        """Count the neighbours that changed noticeably, of those that a record names and that both runs judge."""
        if self.now is None or self.enough is None or not places.size:
            return np.zeros(places.size, dtype=np.int64)
        changed = self.now[NODE].to_numpy()[self.enough]
        lists = self.now[NEIGHBOURS].take(pa.array(places)).combine_chunks()
        rows = np.repeat(np.arange(places.size), lists.value_lengths().to_numpy())
        return np.bincount(rows[np.isin(lists.flatten().to_numpy(), changed)], minlength=places.size)


def reasons_of(
    old: State | None, new: State | None, ids: tuple[pa.Array, pa.Array], place: Ints, *, same_model: bool
) -> Reasons:
    """Compare what two runs keep of their nodes, a part of them at a time.

    ``ids`` are those of the results of both, in one type, and ``place`` where the old results have each of the new.
    """
    kept = np.flatnonzero(place >= 0)
    rows = np.full(place.size, -1)
    rows[kept] = np.arange(kept.size)
    if old is None or new is None:
        return Reasons(same_model, rows)
    then, now = old.records(), new.records()
    moved = column_indexes(then, now)
    then, now = (
        one.take(_rows_of(one, some.take(pa.array(which))))
        for one, some, which in ((then, ids[0], place[kept]), (now, ids[1], kept))
    )
    enough, at_all, edges = (np.zeros(len(now), dtype=bool) for _ in range(3))
    counts: dict[str, int] = {}
    for start in range(0, max(len(now), 1), ROWS_AT_ONCE):
        part = changes(*(one.slice(start, ROWS_AT_ONCE) for one in (then, now)))
        some = slice(start, start + ROWS_AT_ONCE)
        enough[some], at_all[some], edges[some] = part.enough(), part.at_all(), part.edges()
        for name, mask in part.columns.items():
            counts[name] = counts.get(name, 0) + int((mask | part.slightly[name]).sum())
    size = max(len(now), 1)
    columns = {name: count / size for name, count in counts.items()}
    return Reasons(same_model, rows, then, now, enough, at_all, float(edges.sum()) / size, columns, moved)


def _rows_of(records: pa.Table, ids: pa.Array) -> pa.Array:
    """Return the rows of some nodes in the records of a run."""
    rows = pc.index_in(ids, value_set=records["id"].combine_chunks().cast(ids.type))
    if rows.null_count:
        raise RunFolderError(
            "state.parquet does not have all nodes of the results", "restore the runs from a copy or run again"
        )
    return rows
