"""A chain or a ring: its members one after the other, with what each handed on."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.cases.case import Case, CaseEvent, Id, Nouns, Run
from oddhop.cases.drawing.flows import DRAWN, span, total
from oddhop.cases.drawing.shapes import (
    LINE,
    TALL,
    WIDE,
    Box,
    Label,
    Picture,
    Stroke,
    downward,
    fitting,
    letters,
    sideways,
    thickness,
)
from oddhop.cases.words import amount_text, at, has_hours, moment_text, short_id

TOP, TALLER = 20.0, 34.0  # above the boxes, and what a line of its own adds to a box
IN_A_ROW, FEWEST = 7, 3
PATHS = ("chain", "ring")
BETWEEN = 98.0  # two rows of a long path
DOWN, BELOW = 78.0, 44.0  # from box to box on narrow screens, and the height of a box


@dataclass(frozen=True)
class Steps:
    """The path that is drawn: who is on it, what each handed to the next, and whether it comes back.

    ``more`` counts the members that are left out, and ``not_drawn`` the events that no step stands for.
    """

    order: tuple[Id, ...]
    events: tuple[tuple[CaseEvent, ...], ...]
    closed: bool
    run: Run | None = None
    more: int = 0
    not_drawn: int = 0


def steps_of(case: Case) -> Steps | None:
    """Return the path of a case, of its largest repetition where there are several; None where it has none."""
    closed = case.pattern == "ring"
    if len(case.order) < (FEWEST - closed) or case.pattern not in PATHS:
        return None
    order = case.order[:DRAWN]
    run = largest_run(case)
    inside = [one for one in case.events if one.inside]
    taken = [one for one in inside if run is None or (one.time is not None and run.first <= one.time <= run.last)]
    pairs = list(zip(order, (*order[1:], *order[:1]), strict=True))
    if not closed or len(order) < len(case.order):
        pairs.pop()
    steps = tuple(tuple(one for one in taken if (one.source, one.target) == pair) for pair in pairs)
    on_it = set(pairs)
    off = sum((one.source, one.target) not in on_it for one in inside)
    return Steps(
        order, steps, closed and len(steps) == len(order), run, len(case.order) - len(order), off + case.more_events
    )


def largest_run(case: Case) -> Run | None:
    """Return the repetition of a chain or a ring that is drawn, where there are several."""
    if len(case.runs) < 2 or case.pattern not in PATHS:
        return None
    return max(case.runs, key=lambda one: (one.amount, one.last))


def path(case: Case, steps: Steps, nouns: Nouns, *, wide: bool) -> Picture:
    """Lay out a path: in a row, in two rows of which the lower one comes back, or downwards on narrow screens."""
    known = {one.id: one for one in case.members}
    sums = [total(one) for one in steps.events]
    largest = max((one for one in sums if one is not None), default=0.0)
    times = [one.time for events in steps.events for one in events if one.time is not None]
    hours = len({at(one).date() for one in times}) == 1 if has_hours(times) else None
    across = -(-len(steps.order) // 2) if len(steps.order) > IN_A_ROW else len(steps.order)
    gap = 44.0 if across > 4 else 80.0
    width = min((WIDE - gap * (across - 1)) / across, 220.0) if wide else 196.0
    step = (WIDE - width) / max(across - 1, 1)
    boxes = []
    for k, name in enumerate(steps.order):
        row, column = divmod(k, across)
        x = (column if row == 0 else across - 1 - column) * step if wide else 0.0
        y = TOP + row * BETWEEN if wide else k * DOWN + 2
        told = known[name].profile if name in known else ""
        lines = (fitting([told], width),) if told else ()
        look = "focus" if name in case.focus or known.get(name) is None or known[name].role == "ring" else ""
        boxes.append(Box(x, y, width, BELOW, short_id(name, letters(width)), str(name), lines, look))
    strokes, labels = [], []
    for k, events in enumerate(steps.events):
        a, b = boxes[k], boxes[(k + 1) % len(boxes)]
        thick = thickness(sums[k] or 0.0, largest, 6.0) if largest else 2.5
        words = _words(events, nouns, hours=hours)
        if steps.closed and k == len(boxes) - 1:
            strokes += _back(a, b, thick, wide=wide, rows=len(boxes) > across)
            labels += _back_label(a, b, words, wide=wide, rows=len(boxes) > across)
        elif wide and a.y == b.y:
            x1, x2 = (a.x + a.width, b.x) if b.x > a.x else (a.x, b.x + b.width)
            strokes.append(sideways(x1, a.y + BELOW / 2, x2, b.y + BELOW / 2, thick))
            middle = (x1 + x2) / 2
            labels.append(Label(middle, a.y - 8, words[0], "b mid"))
            labels.append(Label(middle, a.y + BELOW + LINE, words[1], "t2 mid"))
        else:
            x = a.x + a.width / 2 if wide else 30.0
            strokes.append(downward(x, a.y + BELOW, b.y, thick))
            labels.append(Label(x + 14, (a.y + BELOW + b.y) / 2 + 4, " ".join(filter(None, words)), "b"))
    bottom = max(one.y + one.height for one in boxes) + (52 if wide and steps.closed else 20 if wide else 6)
    if steps.more:
        labels.append(Label(boxes[-1].x, boxes[-1].y + BELOW + LINE, f"and {steps.more:,} more", "t2"))
        bottom += LINE
    look, room = ("wide", WIDE) if wide else ("tall", TALL)
    return Picture(look, room, bottom, tuple(boxes), tuple(strokes), tuple(one for one in labels if one.text))


def _words(events: tuple[CaseEvent, ...], nouns: Nouns, *, hours: bool | None) -> tuple[str, str]:
    """Return the amount of a step and when it was: by the hour where ``hours`` are enough, by the day without."""
    amount, (first, _) = amount_text(total(events), nouns), span(events)
    times = f"{len(events)}\N{MULTIPLICATION SIGN}" if len(events) > 1 else ""
    if first is None or len(events) > 1:
        return amount or times, times if amount else ""
    day = moment_text(first, hours=False)
    if hours is None:
        return amount, day
    return amount, f"{at(first):%H:%M}" if hours else moment_text(first)


def _back(a: Box, b: Box, thick: float, *, wide: bool, rows: bool) -> list[Stroke]:
    """Return the line from the last member to the first one."""
    if wide and rows:
        return [downward(b.x + b.width / 2 - 30, a.y, b.y + BELOW, thick)]
    if wide:
        x1, x2, y = a.x + a.width / 2, b.x + b.width / 2, a.y + BELOW
        return [Stroke(f"M{x1:.0f} {y:.0f}v38H{x2:.0f}V{y + 6:.0f}", f"M{x2:.0f} {y:.0f}l-5 7h10z", thick)]
    x, out, y1, y2 = a.x + a.width, TALL - 24, a.y + BELOW / 2, b.y + BELOW / 2
    return [Stroke(f"M{x:.0f} {y1:.0f}H{out:.0f}V{y2:.0f}H{x + 6:.0f}", f"M{x:.0f} {y2:.0f}l7 -5v10z", thick)]


def _back_label(a: Box, b: Box, words: tuple[str, str], *, wide: bool, rows: bool) -> list[Label]:
    text = " ".join(filter(None, words))
    if wide and rows:
        return [Label(b.x + b.width / 2 - 18, (b.y + BELOW + a.y) / 2 + 4, text, "b")]
    if wide:
        back = ", ".join(filter(None, (f"{words[0]} back to the first".strip(), words[1])))
        return [Label((a.x + b.x + b.width) / 2, a.y + BELOW + 43, back, "b mid halo")]
    return [Label(TALL - 32, a.y + BELOW / 2 - 10, words[0], "b end")]
