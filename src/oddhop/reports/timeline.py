"""The events of a node on a time axis: received above, sent below, the larger the more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from oddhop.explain.flows import NodeFlows
from oddhop.explain.phrases import said_number

WIDTH, HEIGHT, MARGIN = 480.0, 96.0, 10.0
SMALLEST, LARGEST = 1.6, 9.0
TICKS = 4
DAY = 86_400.0


@dataclass(frozen=True)
class Mark:
    """One event: where it is drawn, how large, and how it is called."""

    x: float
    y: float
    radius: float
    shade: str
    label: str


@dataclass(frozen=True)
class Timeline:
    """The marks, and the ticks below them."""

    marks: tuple[Mark, ...]
    ticks: tuple[tuple[float, str], ...]
    width: float = WIDTH
    height: float = HEIGHT


def timeline(flows: NodeFlows) -> Timeline:
    """Lay out the events of a node."""
    first, last = (pick(one.time for one in flows.events) for pick in (min, max))
    largest = max(one.amount for one in flows.events) or 1.0
    marks = []
    for one in flows.events:
        share = (one.time - first) / (last - first) if last > first else 0.5
        radius = max(SMALLEST, LARGEST * (one.amount / largest) ** 0.5)
        way = ("received, " if one.received else "sent, ") if flows.directed else ""
        size = f"{flows.amount} {said_number(one.amount)}" if flows.amount else "an event"
        marks.append(
            Mark(
                x=round(MARGIN + share * (WIDTH - 2 * MARGIN), 1),
                y=HEIGHT / 2 + ((-1 if one.received else 1) * (LARGEST + 5) if flows.directed else 0.0),
                radius=round(radius, 1),
                shade="odd" if one.odd else "in" if one.received else "out",
                label=f"{_told(one.time, '%Y-%m-%d %H:%M')}, {way}{size}",
            )
        )
    form = "%Y-%m-%d" if last - first >= TICKS * DAY else "%m-%d %H:%M"
    steps = range(TICKS + 1) if last > first else range(1)
    ticks = tuple(
        (MARGIN + k * (WIDTH - 2 * MARGIN) / TICKS, _told(first + k * (last - first) / TICKS, form)) for k in steps
    )
    return Timeline(tuple(marks), ticks)


def _told(moment: float, form: str) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime(form)
