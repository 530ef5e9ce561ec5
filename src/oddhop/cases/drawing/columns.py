"""A case from left to right: who pays in, who passes on, who collects."""

from __future__ import annotations

from collections.abc import Sequence

from oddhop.cases.case import Nouns
from oddhop.cases.drawing.flows import Flow, Flows, Place
from oddhop.cases.drawing.shapes import (
    LINE,
    TALL,
    WIDE,
    Box,
    Label,
    Picture,
    Stroke,
    around,
    fitting,
    letters,
    sideways,
    thickness,
)
from oddhop.cases.words import amount_text, at, count_text, moment_text, role_text, short_id

BOX = {True: (300.0, 300.0, 226.0, 184.0, 150.0), False: (200.0, 146.0, 100.0)}  # their width, by the number of columns
TOP, GAP = 20.0, 8.0
FLAT, MANY = 27.0, 6  # the height of a flat box, and how many boxes stand in a column before they are flat
LABELLED = 4  # so many arrows between two columns have their amounts beside them


def columns(flows: Flows, nouns: Nouns, wide: bool) -> Picture:
    """Lay out the places in columns, and the flows between them."""
    places, room = flows.places, WIDE if wide else TALL
    count = max(one.column for one in places) + 1
    if count > len(BOX[wide]):
        places, count = _merged(places, len(BOX[wide])), len(BOX[wide])
    width = BOX[wide][count - 1]
    step = (room - width) / max(count - 1, 1)
    boxes: dict[int, Box] = {}
    stacks = [[k for k, one in enumerate(places) if one.column == column] for column in range(count)]
    days = _within_a_day(places)
    heads = []
    for column, stack in enumerate(stacks):
        flat, y = len(stack) > MANY and wide, TOP
        for k in stack:
            boxes[k] = _box(places[k], nouns, column * step, y, width, flat=flat, wide=wide, hours=days)
            y += boxes[k].height + GAP
        heads += _head([places[k] for k in stack], nouns, column * step)
    height = max(one.y + one.height for one in boxes.values())
    for stack in stacks:  # each column in the middle of the height
        down = (height - max(boxes[k].y + boxes[k].height for k in stack)) / 2
        boxes |= {k: boxes[k].moved(down) for k in stack}
    strokes, labels = _arrows(flows.flows, places, boxes, nouns, wide=wide)
    look = "wide" if wide else "tall"
    return Picture(look, room, height + 4, tuple(boxes.values()), tuple(strokes), (*heads, *labels))


def _merged(places: Sequence[Place], most: int) -> tuple[Place, ...]:
    """Return the places in fewer columns: those before the last column that find no room share the one before it."""
    last = max(one.column for one in places)
    return tuple(one.at(most - 1 if one.column == last else min(one.column, most - 2)) for one in places)


def _head(stack: Sequence[Place], nouns: Nouns, x: float) -> list[Label]:
    """Return what a column does, where all of it does one thing."""
    roles = {one.role for one in stack}
    if any(one.look == "ghost" for one in stack) or len(roles) > 1 or roles & {"alone", "group"}:
        return []
    return [Label(x, 10, role_text(stack[0].role, sum(one.count for one in stack), nouns), "t2 b")]


def _within_a_day(places: Sequence[Place]) -> bool:
    times = [at(time) for one in places for time in (one.first, one.last) if time is not None]
    return len({one.date() for one in times}) == 1 and len(set(times)) > 1


def _box(one: Place, nouns: Nouns, x: float, y: float, width: float, *, flat: bool, wide: bool, hours: bool) -> Box:
    name = short_id(one.name, 16 if flat and one.look not in ("ghost", "out") else letters(width))
    span = _span(one, hours=hours) if wide else ""
    sums = [("sent", one.sent), ("received", one.received)]
    room = width - 8.0 * len(name) if flat else width
    lines = [] if wide and one.sent is not None and one.received is not None and flat else [one.profile]
    if wide:
        for what, amount in sums:
            if amount is not None and (what == "received" or one.received is None):
                lines.append(_sum(what, amount, one, nouns, span, room))
    else:
        short = {"sent": "out", "received": "in"}
        lines += [f"{short[what]} {amount_text(amount, nouns)}" for what, amount in sums[::-1] if amount is not None]
    if one.sent is None and one.received is None and one.events and one.look != "ghost":
        lines.append(count_text(one.events, nouns))
    title, look = str(one.name), one.look
    if flat:
        parts = [part for part in lines[::-1] if part]
        beside = fitting([", ".join(parts), *parts[:1]], room)
        return Box(x, y, width, FLAT, name, title, (beside,), look, flat=True)
    told = tuple(fitting([line], width) for line in lines if line)
    return Box(x, y, width, 8 + LINE * (1 + len(told)) + 6, name, title, told, look)


def _sum(what: str, amount: float, one: Place, nouns: Nouns, span: str, width: float) -> str:
    text = amount_text(amount, nouns) if what == "sent" else f"received {amount_text(amount, nouns)}"
    if what == "received" or not one.events:
        return text
    events = count_text(one.events, nouns)
    timed = [f"{text} in {events}, {span}"] if span else []
    return fitting([*timed, f"{text} in {events}", f"{text}, {one.events:,}\N{MULTIPLICATION SIGN}", text], width)


def _span(one: Place, *, hours: bool) -> str:
    if one.first is None or one.last is None:
        return ""
    first, last = (f"{at(time):%H:%M}" if hours else moment_text(time, hours=False) for time in (one.first, one.last))
    return first if first == last else f"{first} to {last}"


def _arrows(
    flows: Sequence[Flow], places: Sequence[Place], boxes: dict[int, Box], nouns: Nouns, *, wide: bool
) -> tuple[list[Stroke], list[Label]]:
    largest = max((one.weight for one in flows if not one.usual), default=0.0)
    ports = _ports(flows, boxes)
    strokes, labels = [], []
    for k, one in enumerate(flows):
        look, thick = ("usually", 1.5) if one.usual else ("", thickness(one.weight, largest, 10.0 if wide else 6.5))
        a, b = boxes[one.source], boxes[one.target]
        y1, y2 = ports[k]
        if a.x == b.x:
            strokes.append(around(a.x + a.width, y1, y2, thick, look))
            continue
        ahead = b.x > a.x
        x1, x2 = (a.x + a.width, b.x) if ahead else (a.x, b.x + b.width)
        strokes.append(sideways(x1, y1, x2, y2, thick, look))
        beside = [
            other
            for other in flows
            if {places[other.source].column, places[other.target].column}
            == {places[one.source].column, places[one.target].column}
        ]
        if wide and one.amount is not None and not one.usual and len(beside) <= LABELLED and abs(x2 - x1) > 70:
            labels.append(
                Label((x1 + x2) / 2, (y1 + y2) / 2 - thick / 2 - 4, amount_text(one.amount, nouns), "b mid halo")
            )
    return strokes, labels


def _ports(flows: Sequence[Flow], boxes: dict[int, Box]) -> list[tuple[float, float]]:
    """Return where every flow leaves and arrives: in the order of the other ends, so that few cross."""
    at_box: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for k, one in enumerate(flows):
        a, b = boxes[one.source], boxes[one.target]
        at_box.setdefault((one.source, b.x >= a.x), []).append((b.y, k))
        at_box.setdefault((one.target, b.x <= a.x), []).append((a.y, k))
    found: dict[tuple[int, int], float] = {}
    for (place, _), mine in at_box.items():
        box = boxes[place]
        for rank, (_, k) in enumerate(sorted(mine)):
            found[k, place] = round(box.y + box.height * (rank + 1) / (len(mine) + 1), 1)
    return [(found[k, one.source], found[k, one.target]) for k, one in enumerate(flows)]
