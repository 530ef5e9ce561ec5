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
    then, now : the records of these nodes, row by row; None where a run keeps no state, and nothing is known.
    enough, at_all : who changed noticeably, and who is not exactly as before.
    edges_changed, columns_changed : the share of nodes with other neighbours, and with another value, by column.
    column_psi : how far the values of every column moved, over all nodes.
    """

    same_model: bool
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

    def news(self, ids: pa.Array, risen: Bools) -> Bools:
        """Return of which nodes the new place on the list is news.

        The node changed noticeably; or its rank rose beyond its old interval, and it changed at all, or a neighbour did
        noticeably. Where nothing is known, all are.
        """
        if self.enough is None or self.at_all is None:
            return np.ones(len(ids), dtype=bool)
        places = self._places(ids)
        slight = self.at_all[places]
        near = np.flatnonzero(risen & ~slight & ~self.enough[places])
        slight[near] = self._neighbours_changed(places[near]) > 0
        return np.asarray(self.enough[places] | slight & risen)

    def of(self, ids: pa.Array) -> list[str]:
        """Say why each of some nodes changed; both runs have them."""
        if self.then is None or self.now is None:
            return ["unknown"] * len(ids)
        places = self._places(ids)
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

    def _places(self, ids: pa.Array) -> Ints:
        known = self.now["id"].combine_chunks() if self.now is not None else ids
        places = pc.index_in(ids.cast(known.type), value_set=known)
        if places.null_count:
            raise RunFolderError(
                "state.parquet does not have all nodes of the results", "restore the runs from a copy or run again"
            )
        return np.asarray(places.to_numpy(), dtype=np.int64)


def reasons_of(old: State | None, new: State | None, *, same_model: bool) -> Reasons:
    """Compare what two runs keep of their nodes, a part of them at a time."""
    if old is None or new is None:
        return Reasons(same_model)
    then, now = old.records(), new.records()
    moved = column_indexes(then, now)
    ids = [one["id"].combine_chunks() for one in (then, now)]
    if ids[0].type != ids[1].type:
        ids = [one.cast(pa.large_string()) for one in ids]
    found = pc.index_in(ids[1], value_set=ids[0])
    then, now = then.take(found.drop_null()), now.filter(found.is_valid())
    enough, at_all, edges = (np.zeros(len(now), dtype=bool) for _ in range(3))
    counts: dict[str, int] = {}
    for start in range(0, max(len(now), 1), ROWS_AT_ONCE):
        part = changes(*(one.slice(start, ROWS_AT_ONCE) for one in (then, now)))
        rows = slice(start, start + ROWS_AT_ONCE)
        enough[rows], at_all[rows], edges[rows] = part.enough(), part.at_all(), part.edges()
        for name, mask in part.columns.items():
            counts[name] = counts.get(name, 0) + int((mask | part.slightly[name]).sum())
    size = max(len(now), 1)
    columns = {name: count / size for name, count in counts.items()}
    return Reasons(same_model, then, now, enough, at_all, float(edges.sum()) / size, columns, moved)
