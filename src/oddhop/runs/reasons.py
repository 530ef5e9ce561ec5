"""Why nodes changed between two runs: their edges, their columns, or only the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Bools, Ints
from oddhop.errors import RunFolderError
from oddhop.runs.state import ALL, EVENTS, PREFIX, State

NAMED = 5
FLOWS = "the events of its edges"


@dataclass(frozen=True, eq=False)
class Reasons:
    """What changed in every node that both runs have.

    Attributes
    ----------
    ids : of those nodes; None where a run keeps no state, and nothing is known.
    edges : whose edges changed, with the degrees then and now.
    columns : whose columns changed, by the name of the column.
    unknown : the columns that the runs encoded differently, which do not compare.
    same_model : whether both runs were ranked by one model.
    """

    same_model: bool
    ids: pa.Array | None = None
    edges: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    degrees: tuple[Ints, Ints] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    columns: Mapping[str, Bools] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def edges_changed(self) -> float | None:
        """The share of nodes whose edges changed; None where that is not known."""
        return None if self.ids is None else _share(self.edges)

    @property
    def columns_changed(self) -> dict[str, float]:
        """The share of nodes in which a column changed, by its name."""
        return {name: _share(mask) for name, mask in self.columns.items()}

    @property
    def sentences(self) -> list[str]:
        """What is to be said of all nodes."""
        if self.ids is None:
            return ["a run has no state.parquet (it is of an older oddhop, or of a cluster): only ranks are compared"]
        said = [f"{_share(self.edges):.1%} of the nodes in both runs have different edges"]
        told = [f"{name} {share:.1%}" for name, share in self.columns_changed.items() if share]
        if told:
            said.append(f"nodes with a changed value, by column: {', '.join(told)}")
        if self.unknown:
            said.append(
                f"not compared, because the encodings differ: {_named(self.unknown)}; score both with one model"
            )
        return said

    def of(self, ids: pa.Array) -> list[str]:
        """Say why each of some nodes changed; both runs have them."""
        if self.ids is None:
            return ["unknown"] * len(ids)
        places = pc.index_in(ids.cast(self.ids.type), value_set=self.ids)
        if places.null_count:
            raise RunFolderError(
                "state.parquet does not have all nodes of the results", "restore the runs from a copy or run again"
            )
        return [self._said(int(place)) for place in places.to_numpy()]

    def _said(self, node: int) -> str:
        said = []
        if self.edges[node]:
            then, now = (int(one[node]) for one in self.degrees)
            said.append(f"its edges changed (degree {then:,}{', unchanged' if then == now else f' to {now:,}'})")
        changed = [name for name, mask in self.columns.items() if mask[node]]
        own = [name for name in changed if name != FLOWS]
        if own:
            said.append(f"{_named(own)} changed")
        if FLOWS in changed and not self.edges[node]:  # events follow from edges
            said.append("its events changed")
        if said:
            return "; ".join(said)
        if self.unknown:
            return f"its edges did not change; not compared: {_named(self.unknown)}"
        return "only other nodes changed" if self.same_model else "only other nodes or the model changed"


def reasons_of(old: State | None, new: State | None, *, same_model: bool) -> Reasons:
    """Compare what two runs keep of their nodes, a column at a time."""
    if old is None or new is None:
        return Reasons(same_model)
    then, now = old.column("id").combine_chunks(), new.column("id").combine_chunks()
    if then.type != now.type:
        then, now = then.cast(pa.large_string()), now.cast(pa.large_string())
    found = pc.index_in(now, value_set=then)
    here = np.flatnonzero(np.asarray(found.is_valid()))
    place = np.asarray(found.drop_null().to_numpy(), dtype=np.int64)

    def both(name: str) -> tuple[Ints, Ints]:
        return old.figures(name)[place], new.figures(name)[here]

    def differs(name: str) -> Bools:
        was, is_now = both(name)
        return np.asarray(was != is_now)

    every = [*new.encoders, *(name for name in old.encoders if name not in new.encoders)]
    alike = [name for name in every if old.encoders.get(name) == new.encoders.get(name)]
    return Reasons(
        same_model,
        now.take(pa.array(here)),
        differs("edges"),
        both("degree"),
        {_plain(name): differs(name) for name in alike},
        tuple(_plain(name) for name in every if name not in alike),
    )


def _plain(name: str) -> str:
    return {ALL: "a column", EVENTS: FLOWS}.get(name, name.removeprefix(PREFIX))


def _named(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _share(mask: Bools) -> float:
    return float(mask.mean()) if mask.size else 0.0
