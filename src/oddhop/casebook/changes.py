"""What changed of nodes between two records of them, and whether it is worth another look: the one rule for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.casebook.record import ALL, COLUMN, DEGREE, EVENTS, LAST, NEIGHBOURS, NODE, SCALE, TOTAL, Fingerprint
from oddhop.errors import SettingsError

STEP = 0.5
"""How far a number may move, in interquartile ranges, before its column has changed."""
MORE_THAN = 0.2
GROWTH = 0.5
"""By which share the number of events, or a sum of amounts, must grow for that to be enough."""
NEARLY = 1e-4
"""Below this share a number is the same: scales that were learned again move its last digits."""
NAMED = 5


@dataclass(frozen=True, eq=False)
class Changes:
    """What changed of some nodes, an entry a node.

    Attributes
    ----------
    degrees : how many neighbours there were, and are.
    came, gone : how many of those now are new, and how many of those then are gone.
    totals : the number of events ("") and the sums of their amounts by name, then and now.
    columns : by name where a value changed.
    slightly : by name where a number moved, but not far.
    moments : whose last event is another one.
    """

    degrees: tuple[Ints, Ints]
    came: Ints
    gone: Ints
    totals: Mapping[str, tuple[Floats, Floats]]
    columns: Mapping[str, Bools]
    slightly: Mapping[str, Bools]
    moments: Bools

    def enough(self, more_than: float = MORE_THAN) -> Bools:
        """Return who changed noticeably: in a column, in many neighbours, or by many or large events."""
        moved = (self.came + self.gone) / np.maximum(self.degrees[1] + self.gone, 1)
        grew = [_grew(*both) for both in self.totals.values()]
        return np.asarray(np.logical_or.reduce([moved > more_than, *grew, *(one > 0 for one in self.columns.values())]))

    def edges(self) -> Bools:
        """Return whose neighbours are not all the same."""
        return np.asarray(self.came + self.gone > 0)

    def at_all(self) -> Bools:
        """Return who is not exactly as before."""
        other = [then != now for then, now in self.totals.values()]
        masks = [self.edges(), self.moments, *other, *self.columns.values(), *self.slightly.values()]
        return np.asarray(np.logical_or.reduce(masks))

    def together(self, nodes: Any = slice(None)) -> Changes:
        """Return the sums over some nodes, as of one."""
        return Changes(*(_summed(getattr(self, one.name), nodes) for one in fields(self)))


@dataclass(frozen=True, eq=False)
class Changed:
    """The changes of a case.

    Attributes
    ----------
    all : those of the members that are in both, together.
    kept, came, gone : how many members are in both, are new, and are gone.
    kind : what a member is called.
    more_than : the share of neighbours, or of members, beyond which a change is enough.
    """

    all: Changes
    kept: int = 1
    came: int = 0
    gone: int = 0
    kind: str = "node"
    more_than: float = MORE_THAN

    @property
    def enough(self) -> bool:
        """Whether the case is worth another look."""
        share = (self.came + self.gone) / max(self.kept + self.came + self.gone, 1)
        return share > self.more_than or bool(self.all.enough(self.more_than)[0])

    @property
    def sentences(self) -> list[str]:
        """What changed, in words; empty where nothing did."""
        out = []
        if self.came:
            out.append(_belong(self.came, self.kind, more="more "))
        if self.gone:
            out.append(_belong(self.gone, self.kind, how="no longer "))
        then, now = self.all.degrees
        for (count,), (whole,), what in ((self.all.came, now, "new"), (self.all.gone, then, "gone")):
            if count:
                out.append(f"{count:,} of {whole:,} neighbours {'is' if count == 1 else 'are'} {what}")
        columns = {name: int(count[0]) for name, count in self.all.columns.items() if count[0]}
        for name, members in list(columns.items())[:NAMED]:
            out.append(f"{name} changed" + f" for {members:,} of {self.kept:,} nodes" * (self.kept > 1))
        out += [f"{len(columns) - NAMED:,} more columns changed"] * (len(columns) > NAMED)
        slightly = [name for name, count in self.all.slightly.items() if count[0] and name not in columns]
        out += [f"{', '.join(slightly[:NAMED])} changed slightly"] * bool(slightly)
        for name, ((before,), (after,)) in self.all.totals.items():
            if not name and after > before:
                out.append(f"{after - before:,.0f} {'event is' if after - before == 1 else 'events are'} new")
            elif name and _grew(before, after):
                out.append(f"the sum of {name} rose from {before:,.6g} to {after:,.6g}")
        return out


def changed(old: Fingerprint, new: Fingerprint, *, more_than: float = MORE_THAN) -> Changed:
    """Compare the fingerprint of a verdict with the present one.

    Parameters
    ----------
    old, new : the fingerprints then and now.
    more_than : the share of neighbours that must have come or gone for a change to be enough. The same holds for
        members. A column that changed is enough by itself: a number that moved by more than half an interquartile
        range, and any other value. So are half as many events again, or amounts that sum up to half as much again.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import changed, fingerprint_of
    >>> def judged(edges):
    ...     return fingerprint_of(Network.of(Graph.from_arrays(edges, [[1.0], [2.0], [3.0], [4.0]])), np.array([0]))
    >>> what = changed(judged([[0, 0], [1, 2]]), judged([[0, 0, 0], [1, 2, 3]]))
    >>> what.enough, what.sentences
    (True, ['1 of 3 neighbours is new'])
    """
    if not 0 <= more_than <= 1:
        raise SettingsError(f"more_than must be a share from 0 to 1, got {more_than!r}", "leave it out for 0.2")
    kept = [
        one.records.filter(pc.is_in(one.records[NODE], value_set=other.records[NODE]))
        for one, other in ((old, new), (new, old))
    ]
    came, gone = len(new.records) - len(kept[1]), len(old.records) - len(kept[0])
    return Changed(changes(*kept).together(), len(kept[0]), came, gone, new.kind, more_than)


def changes(old: pa.Table, new: pa.Table) -> Changes:
    """Compare records row by row; both tables have the same nodes in the same order."""
    degrees = old[DEGREE].to_numpy(), new[DEGREE].to_numpy()
    came, gone = _neighbours(old, new, *degrees)
    columns: dict[str, Bools] = {}
    slightly: dict[str, Bools] = {}
    none = np.zeros(len(new), dtype=bool)
    # A column that a table gained or lost says nothing about the nodes.
    shared = [name for name in new.column_names if name in old.column_names]
    for name in shared:
        if name.startswith((COLUMN, ALL)):
            far, other = _moved(old, new, name)
            plain = "a column" if name.startswith(ALL) else name.removeprefix(COLUMN)
            columns[plain] = columns.get(plain, none) | far
            slightly[plain] = slightly.get(plain, none) | other & ~columns[plain]
    totals = {
        "" if name == EVENTS else name.removeprefix(TOTAL): (old[name].to_numpy(), new[name].to_numpy())
        for name in shared
        if name.startswith(TOTAL)
    }
    last = [one[LAST].to_numpy() for one in (old, new) if LAST in shared]
    moments = last[0] != last[1] if last else none
    return Changes(degrees, came, gone, totals, columns, slightly, moments)


def in_one_scale(old: pa.Table, new: pa.Table, name: str) -> tuple[Floats, Floats]:
    """Return the numbers of a column then and now; if the scale was learned again, both in that of now."""
    then, now = (one[name].to_numpy().astype(np.float64) for one in (old, new))
    scales = [known[SCALE] for one in (old, new) if (known := one.schema.field(name).metadata) is not None]
    if len(set(scales)) == 2:
        from oddhop.tables.encode.encoders import Scale  # which few comparisons need

        was, scale = (Scale(*json.loads(one)) for one in scales)
        then = np.where(np.isnan(then), np.nan, scale.apply(was.inverse(then)))
    return then, now


def _moved(old: pa.Table, new: pa.Table, name: str) -> tuple[Bools, Bools]:
    """Return whose value changed, and whose is not the same."""
    if any(one.schema.field(name).type != pa.float32() for one in (old, new)):
        other = np.asarray(old[name].to_numpy() != new[name].to_numpy())
        return other, other
    then, now = in_one_scale(old, new, name)
    step, filled = np.abs(now - then), np.isnan(then) != np.isnan(now)
    return (step > STEP) | filled, (step > NEARLY * (1 + np.abs(now))) | filled


def _neighbours(old: pa.Table, new: pa.Table, then: Ints, now: Ints) -> tuple[Ints, Ints]:
    """Count the neighbours that came and that went; of lists that were cut, by the part that both have whole."""
    both = [one[NEIGHBOURS].combine_chunks() for one in (old, new)]
    counts = [one.value_lengths().to_numpy() for one in both]
    hashes = [one.flatten().to_numpy().astype(np.uint64) for one in both]
    last = np.full(len(new), 1 << 32, dtype=np.uint64)  # after every hash
    for degree, count, some in zip((then, now), counts, hashes, strict=True):
        cut = (degree > count) & (count > 0)
        last[cut] = np.minimum(last[cut], some[(np.cumsum(count) - 1)[cut]])
    keyed = []
    for count, some in zip(counts, hashes, strict=True):
        rows = np.repeat(np.arange(len(new)), count)
        keyed.append((rows.astype(np.uint64) << np.uint64(32) | some)[some <= last[rows]])
    fresh = (keyed[1][~np.isin(keyed[1], keyed[0])] >> np.uint64(32)).astype(np.int64)
    seen = np.bincount((keyed[1] >> np.uint64(32)).astype(np.int64), minlength=len(new))
    share = np.bincount(fresh, minlength=len(new)) / np.maximum(seen, 1)
    came = np.rint(share * now).astype(np.int64)
    return came, np.maximum(then - (now - came), 0)


def _summed(part: Any, nodes: Any) -> Any:
    if isinstance(part, Mapping):
        return {name: _summed(one, nodes) for name, one in part.items()}
    if isinstance(part, tuple):
        return tuple(_summed(one, nodes) for one in part)
    return part[nodes].sum(keepdims=True)


def _grew(then: Any, now: Any) -> Any:
    return now - then > GROWTH * then


def _belong(count: int, kind: str, *, more: str = "", how: str = "") -> str:
    if count == 1:
        return f"1 {more}{kind} {how}belongs to the case"
    return f"{count:,} {more}{kind if kind.endswith('s') else f'{kind}s'} {how}belong to the case"
