"""What changed of nodes between two records of them, and whether it is worth another look: the one rule for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True)
class Changed:
    """The changes of a case. Neighbours, columns and events are those of the members that are in both.

    Attributes
    ----------
    neighbours_then, neighbours_now : how many neighbours there were, and are.
    neighbours_came, neighbours_gone : how many of those now are new, and how many of those then are gone.
    members_now, members_came, members_gone : how many members there are, how many of them are new, how many are gone.
    columns : the columns that changed, and of how many members.
    slightly : the columns in which a number moved, but not far.
    totals : the number of events ("") and the sums of their amounts by name, then and now.
    enough : whether the case is worth another look.
    kind : what a member is called.

    Examples
    --------
    >>> from oddhop.casebook import Changed
    >>> what = Changed(10, 12, 3, 1, 1, columns=(("income", 1),), totals=(("", 8.0, 20.0),), enough=True)
    >>> what.sentences
    ['3 of 12 neighbours are new', '1 of 10 neighbours is gone', 'income changed', '12 events are new']
    """

    neighbours_then: int
    neighbours_now: int
    neighbours_came: int
    neighbours_gone: int
    members_now: int
    members_came: int = 0
    members_gone: int = 0
    columns: tuple[tuple[str, int], ...] = ()
    slightly: tuple[str, ...] = ()
    totals: tuple[tuple[str, float, float], ...] = ()
    enough: bool = False
    kind: str = "node"

    @property
    def sentences(self) -> list[str]:
        """What changed, in words; empty where nothing did."""
        out = []
        if self.members_came:
            out.append(_belong(self.members_came, self.kind, more="more "))
        if self.members_gone:
            out.append(_belong(self.members_gone, self.kind, how="no longer "))
        if self.neighbours_came:
            out.append(_of(self.neighbours_came, self.neighbours_now, "new"))
        if self.neighbours_gone:
            out.append(_of(self.neighbours_gone, self.neighbours_then, "gone"))
        kept = self.members_now - self.members_came
        for name, count in self.columns[:NAMED]:
            out.append(f"{name} changed" if kept == 1 else f"{name} changed for {count:,} of {kept:,} nodes")
        more = len(self.columns) - NAMED
        out += [f"{more:,} more columns changed"] * (more > 0)
        out += [f"{', '.join(self.slightly[:NAMED])} changed slightly"] * bool(self.slightly)
        for name, then, now in self.totals:
            if not name and now > then:
                out.append(f"{now - then:,.0f} {'event is' if now - then == 1 else 'events are'} new")
            elif name and _grew(then, now):
                out.append(f"the sum of {name} rose from {then:,.6g} to {now:,.6g}")
        return out


@dataclass(frozen=True, eq=False)
class Changes:
    """What changed of some nodes, an entry a node.

    ``degrees`` and ``totals`` are then and now, ``came`` and ``gone`` count neighbours. ``columns`` tells by name
    where a value changed, ``slightly`` where a number moved, but not far, and ``moments`` whose last event is another.
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

    def of(
        self, nodes: Any, *, kind: str = "node", members: tuple[int, int] = (0, 0), more_than: float = MORE_THAN
    ) -> Changed:
        """Return what changed of some nodes as one case; ``members`` came and went besides."""
        together = partial(_together, nodes)
        one = Changes(
            (together(self.degrees[0]), together(self.degrees[1])),
            together(self.came),
            together(self.gone),
            {name: (together(then), together(now)) for name, (then, now) in self.totals.items()},
            {name: together(mask) for name, mask in self.columns.items()},
            {name: together(mask) for name, mask in self.slightly.items()},
            together(self.moments),
        )
        kept, (joined, left) = int(self.came[nodes].size), members
        share = (joined + left) / max(kept + joined + left, 1)
        columns = tuple((name, int(count[0])) for name, count in one.columns.items() if count[0])
        return Changed(
            neighbours_then=int(one.degrees[0][0]),
            neighbours_now=int(one.degrees[1][0]),
            neighbours_came=int(one.came[0]),
            neighbours_gone=int(one.gone[0]),
            members_now=kept + joined,
            members_came=joined,
            members_gone=left,
            columns=columns,
            slightly=tuple(name for name, count in one.slightly.items() if count[0] and name not in dict(columns)),
            totals=tuple((name, float(then[0]), float(now[0])) for name, (then, now) in one.totals.items()),
            enough=bool(one.enough(more_than)[0]) or share > more_than,
            kind=kind,
        )


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
    members = len(new.records) - len(kept[1]), len(old.records) - len(kept[0])
    return changes(*kept).of(slice(None), kind=new.kind, members=members, more_than=more_than)


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


def _moved(old: pa.Table, new: pa.Table, name: str) -> tuple[Bools, Bools]:
    """Return whose value changed, and whose is not the same."""
    fields = [one.schema.field(name) for one in (old, new)]
    then, now = (one[name].to_numpy() for one in (old, new))
    if fields[0].type != pa.float32() or fields[1].type != pa.float32():
        return (other := np.asarray(then != now)), other
    scales = [one.metadata[SCALE] for one in fields if one.metadata is not None]
    then, now = (one.astype(np.float64) for one in (then, now))
    if len(set(scales)) == 2:  # the older one in the scale of today
        from oddhop.tables.encode.encoders import Scale  # which few comparisons need

        was, scale = (Scale(*json.loads(one)) for one in scales)
        then = np.where(np.isnan(then), np.nan, scale.apply(was.inverse(then)))
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


def _together(nodes: Any, values: Any) -> Any:
    return values[nodes].sum(keepdims=True)


def _grew(then: Any, now: Any) -> Any:
    return now - then > GROWTH * then


def _belong(count: int, kind: str, *, more: str = "", how: str = "") -> str:
    if count == 1:
        return f"1 {more}{kind} {how}belongs to the case"
    return f"{count:,} {more}{kind if kind.endswith('s') else f'{kind}s'} {how}belong to the case"


def _of(count: int, whole: int, what: str) -> str:
    return f"{count:,} of {whole:,} neighbours {'is' if count == 1 else 'are'} {what}"
