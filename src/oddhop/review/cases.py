"""The cases of a run that is reviewed: which nodes share one, what it is called, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Ints
from oddhop.errors import SettingsError
from oddhop.runs.reopen import OpenedRun


@dataclass(frozen=True)
class Seen:
    """A case as the run has it.

    Attributes
    ----------
    case_id : what the book calls it.
    place : among the cases of the run in the original order, from 0 on.
    rows, nodes : its members in the result and in the network, the first one first.
    id, rank, score : of its first member.
    """

    case_id: str
    place: int
    rows: tuple[int, ...]
    nodes: tuple[int, ...]
    id: Any
    rank: int
    score: float


class Cases:
    """All cases of a run in the original order. A node that the run did not explain is a case by itself.

    A case that the run opened in a book has its id from there. Any other is called by the id of its first member, as
    :mod:`oddhop.runs.cases` does it.
    """

    def __init__(self, opened: OpenedRun) -> None:
        self.network, self.result = opened.network, opened.result.filter(opened.result["judged"])
        start = self.network.graph.judged.start
        self._number = self.network.numbers(self.result["id"])
        self._texts = _texts(self.network.judged_ids)
        self._row = np.full(len(self._texts), -1, dtype=np.int64)  # of a node by its place among those to be judged
        self._row[self._number - start] = np.arange(self._number.size)
        groups: dict[int, list[int]] = {}
        numbers = self.result["case"].drop_null().to_pylist() if "case" in self.result.column_names else []
        for row, number in enumerate(numbers):  # the explained ones are the first
            groups.setdefault(number, []).append(row)
        self._groups, self._explained = list(groups.values()), len(numbers)
        self._place_of = {row: place for place, rows in enumerate(self._groups) for row in rows}
        self._named = {
            name: self.place(row)
            for row, name in enumerate(self.result["case_id"].to_pylist()[: self._explained])
            if name is not None
        } if "case_id" in self.result.column_names and "case_id" not in self.network.kept else {}  # fmt: skip
        self._names = {place: name for name, place in self._named.items()}

    def __len__(self) -> int:
        return len(self._groups) + int(self.result.num_rows) - self._explained

    def place(self, row: int) -> int:
        """Return the place of the case of a row."""
        return self._place_of[row] if row < self._explained else len(self._groups) + row - self._explained

    def at(self, place: int) -> Seen:
        """Return the case at a place."""
        grouped = place < len(self._groups)
        rows = self._groups[place] if grouped else [self._explained + place - len(self._groups)]
        first = self.result.slice(rows[0], 1).select(["id", "rank", "score"]).to_pylist()[0]
        nodes = tuple(self._number[rows].tolist())
        name = self._names.get(place) or str(self.network.name(nodes[0]))
        return Seen(name, place, tuple(rows), nodes, first["id"], first["rank"], first["score"])

    def of_node(self, id: Any) -> Seen:  # noqa: A002 - as the column is called
        """Return the case of a judged node."""
        start = self.network.graph.judged.start
        return self.at(self.place(int(self._row[int(self.network.numbers([id])[0]) - start])))

    def named(self, case_id: str) -> Seen:
        """Return the case that is called so; refuse a name that none has."""
        found = self._named.get(case_id)
        if found is None:
            row = int(self.rows([case_id])[0])
            found = self.place(row) if row >= 0 else None
        if found is None or (seen := self.at(found)).case_id != case_id:
            raise SettingsError(f"the run has no case {case_id!r}", "load the page again")
        return seen

    def rows(self, members: Sequence[str]) -> Ints:
        """Return the rows of nodes whose ids are given as texts; -1 where there is no such judged node."""
        found = pc.index_in(pa.array(members, pa.string()), value_set=self._texts)
        places = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return np.where(places < 0, -1, self._row[places])


def _texts(ids: Any) -> pa.Array:
    """Return ids as the book has them."""
    ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    if pa.types.is_integer(ids.type) or pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
        return ids.cast(pa.string())
    return pa.array([str(one) for one in ids.to_pylist()], pa.string())
