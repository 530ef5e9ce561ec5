"""Boxes, arrows and words of a picture, and how long a text may be to fit into a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WIDE, TALL = 1036.0, 346.0  # the widths of a picture for wide and for narrow screens, in pixels
LETTER, BOLD = 6.1, 7.8  # pixels of a letter in small and in bold type
EDGE = 9.0  # between the border of a box and its text
LINE = 15.0
THINNEST, THICKEST = 1.5, 10.0


@dataclass(frozen=True)
class Box:
    """A place in the picture: a name and lines below it, or beside it in a flat one."""

    x: float
    y: float
    width: float
    height: float
    name: str
    title: str = ""
    lines: tuple[str, ...] = ()
    look: str = ""
    flat: bool = False

    @property
    def baseline(self) -> float:
        """Where the name stands."""
        below = 0 if self.flat else len(self.lines)
        return round(self.y + self.height / 2 - below * LINE / 2 + 4.5, 1)

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def moved(self, down: float) -> Box:
        """Return the box farther down."""
        return replace(self, y=round(self.y + down, 1))


@dataclass(frozen=True)
class Stroke:
    """A line from place to place, and its arrowhead."""

    path: str
    tip: str = ""
    width: float = THINNEST
    look: str = ""


@dataclass(frozen=True)
class Label:
    """A word in the picture; ``look`` has its classes."""

    x: float
    y: float
    text: str
    look: str = "t2"


@dataclass(frozen=True)
class Picture:
    """One layout of the picture: "wide", or "tall" for narrow screens."""

    look: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    strokes: tuple[Stroke, ...]
    labels: tuple[Label, ...]


def fitting(texts: Sequence[str], width: float) -> str:
    """Return the first of some texts that fits, or the last one cut."""
    most = max(int((width - 2 * EDGE) / LETTER), 4)
    found = next((one for one in texts if len(one) <= most), None)
    return texts[-1][: most - 1] + "…" if found is None else found


def letters(width: float) -> int:
    """Return how many letters a name may have in a box."""
    return max(int((width - 2 * EDGE) / BOLD), 4)


def thickness(weight: float, largest: float, thickest: float = THICKEST) -> float:
    """Return how thick a line is drawn."""
    return round(THINNEST + (thickest - THINNEST) * weight / largest, 1) if largest else THINNEST


def sideways(x1: float, y1: float, x2: float, y2: float, width: float, look: str = "") -> Stroke:
    """Return a curve from the right side of a box to the left side of another; backwards, it bends around."""
    side = 1 if x2 > x1 else -1
    end, bend = x2 - 6 * side, (x1 + x2) / 2
    path = f"M{x1:.0f} {y1:.1f}C{bend:.0f} {y1:.1f} {bend:.0f} {y2:.1f} {end:.0f} {y2:.1f}"
    return Stroke(path, _tip(x2, y2, -7 * side, width), width, look)


def around(x: float, y1: float, y2: float, width: float, look: str = "") -> Stroke:
    """Return a curve between two boxes of one column, on their right."""
    out = x + 34
    return Stroke(
        f"M{x:.0f} {y1:.1f}C{out:.0f} {y1:.1f} {out:.0f} {y2:.1f} {x + 6:.0f} {y2:.1f}",
        _tip(x, y2, 7, width),
        width,
        look,
    )


def downward(x: float, y1: float, y2: float, width: float) -> Stroke:
    """Return a straight arrow down or up."""
    side = 1 if y2 > y1 else -1
    return Stroke(f"M{x:.0f} {y1:.0f}V{y2 - 6 * side:.0f}", f"M{x:.0f} {y2:.0f}l-5 {-7 * side}h10z", width)


def _tip(x: float, y: float, back: float, width: float) -> str:
    half = max(4.5, 0.75 * width)
    return f"M{x:.0f} {y:.1f}l{back:.0f} {-half:.1f}v{2 * half:.1f}z"
