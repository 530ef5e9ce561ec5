"""When a case was: a strip of the whole period, and the events of the case on an axis below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from oddhop.cases.case import Case, CaseEvent, Cases, Run
from oddhop.cases.drawing.path import largest_run
from oddhop.cases.words import amount_text, at, has_hours, moment_text

DRAWN, BINS = 200, 150
PAD = 1.2  # percent of the width at either end of an axis
NOMINAL = 1036.0  # pixels; the width for which circles are kept apart
STRIP, WIDEST = 24.0, 8.0
LARGEST, EQUAL, SMALLEST, LEAST = 11.0, 4.5, 2.6, 14.0
WORDS = 14.0  # the height of the words above the circles, and below them
ROOM = 96.0  # the most that circles take above the line, and below it
STEPS = [timedelta(minutes=one) for one in (1, 5, 10, 15, 30, 60, 120, 180, 360, 720)]
STEPS += [timedelta(days=one) for one in (1, 2, 7, 14)]
NIGHT = 22, 6  # hours
NIGHTS, WEEKENDS = timedelta(days=3), timedelta(days=31)
TICKS = 8


@dataclass(frozen=True)
class Dot:
    """An event: its place in percent and in pixels from the line, its size, and what it was."""

    x: float
    y: float
    r: float
    look: str
    label: str


@dataclass(frozen=True)
class When:
    """The picture. All x are in percent of its width, so that text keeps its size.

    ``strip`` has two paths, of all days and of those of the case, in a box of 1,000 to 24; ``lens`` is the part of the
    period that the axis shows, ``bands`` are nights or weekends, and ``ticks`` the words below the axis.
    """

    dots: tuple[Dot, ...]
    above: float
    below: float
    ticks: tuple[tuple[float, str], ...]
    bands: tuple[tuple[float, float], ...] = ()
    band_word: str = ""
    strip: tuple[str, str] | None = None
    lens: tuple[float, float] | None = None
    largest: float | None = None
    sized: bool = False
    not_drawn: int = 0
    days: int = 1
    run: Run | None = None

    @property
    def usual(self) -> bool:
        """Whether other events are drawn, too."""
        return any(one.look for one in self.dots)

    @property
    def both(self) -> bool:
        """Whether place says direction."""
        return any(one.y for one in self.dots)


class Axis:
    """From times to percent."""

    def __init__(self, first: datetime, last: datetime) -> None:
        self.first, self.span = first, max(last - first, timedelta(seconds=1))
        self.last = first + self.span

    def x(self, time: datetime) -> float:
        """Return the place of a time."""
        return round(PAD + (time - self.first) / self.span * (100 - 2 * PAD), 2)


def when(case: Case, cases: Cases) -> When | None:
    """Lay out the events of a case in time; None where they have no times."""
    inside = [one for one in case.events if one.inside and one.time is not None]
    if not inside:
        return None
    hours = has_hours([one.time for one in inside if one.time])
    run = largest_run(case)
    near = [one for one in inside if run is None or run.first <= (one.time or "") <= run.last] or inside
    axis, step = _axis([at(one.time) for one in near if one.time], hours=hours)
    shown = [one for one in case.events if one.time and axis.first <= at(one.time) <= axis.last]
    if case.amount is None:  # they are no sums, such as ratings
        shown = [replace(one, amount=None) for one in shown]
    shown.sort(key=lambda one: (not one.inside, -(one.amount or 0.0), one.time or ""))
    dots, above, below = _dots(shown[:DRAWN], case, cases, axis, hours=hours)
    bands, word = _bands(axis, hours=hours)
    amounts = [one.amount for one in shown[:DRAWN] if one.inside and one.amount is not None]
    lost = len(near) - sum(one.inside for one in shown[:DRAWN]) + case.more_events
    days, strip, lens = _strip(case, cases, axis)
    ticks = _ticks(axis, step)
    sized = len(set(amounts)) > 1
    return When(
        dots, above, below, ticks, bands, word, strip, lens, max(amounts, default=None), sized, max(lost, 0), days, run
    )


def _axis(times: Sequence[datetime], *, hours: bool) -> tuple[Axis, timedelta | None]:
    """Return the axis around some times, and the step of its ticks; None where these are months."""
    first, last = min(times), max(times)
    around = max((last - first) * 0.12, timedelta(minutes=30) if hours else timedelta(days=2))
    first, last = first - around, last + around
    fitting = (one for one in STEPS if (last - first) / one <= TICKS and (hours or one >= timedelta(days=1)))
    return Axis(first, last), next(fitting, None)


def _ticks(axis: Axis, step: timedelta | None) -> tuple[tuple[float, str], ...]:
    """Return the places of full hours, days or months, and their words."""
    if step is None:
        months = round(axis.span / timedelta(days=30.4))
        every = next((one for one in (1, 2, 3, 6, 12, 24, 60, 120) if months / one <= TICKS), 240)
        count = axis.first.year * 12 + axis.first.month
        at_month = [datetime((k) // 12, k % 12 + 1, 1) for k in range(count, count + months + 2) if k % every == 0]
        word = "%b %Y" if months > 12 else "%b"
        return tuple((axis.x(one), f"{one:{word}}") for one in at_month if axis.first <= one <= axis.last)
    begin = datetime(axis.first.year, axis.first.month, axis.first.day)
    times = [begin + k * step for k in range(int((axis.last - begin) / step) + 1)]
    full = step >= timedelta(days=1)
    several = axis.first.date() != axis.last.date()
    words = [
        f"{one.day} {one:%b}" if full or (several and one.time() == one.min.time()) else f"{one:%H:%M}" for one in times
    ]
    return tuple((axis.x(one), word) for one, word in zip(times, words, strict=True) if one >= axis.first)


def _bands(axis: Axis, *, hours: bool) -> tuple[tuple[tuple[float, float], ...], str]:
    """Return the nights of up to three days, or the weekends of up to a month."""
    begin = datetime(axis.first.year, axis.first.month, axis.first.day) - timedelta(days=1)
    days = [begin + timedelta(days=k) for k in range(min(int(axis.span.days) + 3, 40))]
    if hours and axis.span <= NIGHTS:
        spans, word = [(day + timedelta(hours=NIGHT[0]), day + timedelta(hours=24 + NIGHT[1])) for day in days], "night"
    elif axis.span <= WEEKENDS:
        spans, word = [(day, day + timedelta(days=2)) for day in days if day.weekday() == 5], "weekend"
    else:
        return (), ""
    ends = [(max(a, axis.first), min(b, axis.last)) for a, b in spans]
    drawn = [(_edge(axis, a), _edge(axis, b)) for a, b in ends if a < b]
    return tuple((a, round(b - a, 2)) for a, b in drawn), word if drawn else ""


def _edge(axis: Axis, time: datetime) -> float:
    return 0.0 if time == axis.first else 100.0 if time == axis.last else axis.x(time)


def _dots(
    events: Sequence[CaseEvent], case: Case, cases: Cases, axis: Axis, *, hours: bool
) -> tuple[tuple[Dot, ...], float, float]:
    """Place the circles: into the focus above the line, out of it below, among it on the line; none on another."""
    focus = set(case.focus) or {one.id for one in case.members if one.flagged}
    amounts = {one.amount for one in events if one.inside and one.amount is not None}
    most = max(amounts, default=0.0) if len(amounts) > 1 else 0.0
    scale = 1.0
    while True:  # smaller, until all fit
        placed: list[tuple[float, float, float]] = []
        dots = []
        for one in events:
            side = (one.source in focus) - (one.target in focus)
            size = LARGEST * math.sqrt(min((one.amount or 0.0) / most, 1.0)) if most else EQUAL
            r = max(SMALLEST, size) * scale
            x = axis.x(at(one.time or ""))
            y = side * _free(x * NOMINAL / 100, r, side, placed) if side else 0.0
            placed.append((x * NOMINAL / 100, y, r))
            dots.append(
                Dot(x, round(y, 1), round(r, 1), "" if one.inside else "usually", _label(one, cases, hours=hours))
            )
        above, below = (max([LEAST, *(sign * one.y + one.r + 3 for one in dots)]) for sign in (-1, 1))
        if max(above, below) <= ROOM or scale < 0.25:
            return tuple(dots), min(above, 2 * ROOM) + WORDS, min(below, 2 * ROOM) + WORDS
        scale *= 0.75


def _free(x: float, r: float, side: int, placed: Sequence[tuple[float, float, float]]) -> float:
    """Return how far from the line a circle stands so that it is on no other."""
    near = []
    for px, py, pr in placed:
        reach, apart = (r + pr + 0.4), abs(px - x)
        if apart < reach and py * side >= 0:
            high = math.sqrt(reach * reach - apart * apart)
            near.append((abs(py) - high, abs(py) + high))
    y = r + 3
    for low, high in sorted(near):
        if low < y < high:
            y = high
    return y


def _label(one: CaseEvent, cases: Cases, *, hours: bool) -> str:
    amount = amount_text(one.amount, cases.nouns)
    time = moment_text(one.time or "", hours=hours)
    return f"{time}, {one.source} to {one.target}{f', {amount}' if amount else ''}"


def _strip(case: Case, cases: Cases, axis: Axis) -> tuple[int, tuple[str, str] | None, tuple[float, float] | None]:
    """Return the sums of so many days each as bars, and where the axis lies in the period."""
    if len(case.daily) < 2:
        return 1, None, None
    first = at(min(cases.first or case.daily[0][0], case.daily[0][0])[:10])
    last = at(max(cases.last or case.daily[-1][0], case.daily[-1][0])[:10]) + timedelta(days=1)
    whole = Axis(first, last)
    if axis.first <= whole.first and axis.last >= whole.last - timedelta(days=1):
        return 1, None, None
    days = max(1, -(-(last - first).days // BINS))
    count = -(-(last - first).days // days)
    sums = [[0.0, 0.0] for _ in range(count)]
    for day, own, other in case.daily:
        k = min((at(day) - first).days // days, count - 1)
        sums[k][0] += own
        sums[k][1] += own + other
    most = max(one[1] for one in sums) or 1.0
    paths = tuple("".join(_bar(k, count, one[which] / most) for k, one in enumerate(sums)) for which in (1, 0))
    lens = tuple(min(max(whole.x(one), PAD), 100 - PAD) for one in (axis.first, axis.last))
    return days, (paths[0], paths[1]), (lens[0], lens[1])


def _bar(k: int, count: int, share: float) -> str:
    if share <= 0:
        return ""
    wide = (1000 - 20 * PAD) / count
    tall, bar = max(1.5, STRIP * share), min(max(0.8 * wide, 2.5), WIDEST)
    return f"M{10 * PAD + (k + 0.5) * wide - bar / 2:.0f} {STRIP:.0f}v{-tall:.1f}h{bar:.1f}v{tall:.1f}z"
