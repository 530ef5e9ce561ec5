"""The orbit picture: a node in the middle, each neighbour as far out as it looks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from oddhop.explain.explanation import Explanation, Neighbour
from oddhop.explain.phrases import one_in

STEP = 34.0
FEWEST_RINGS = 4
NUMBERED = 8
SHARES = ("1 in 2", "1 in 10", "1 in 100", "1 in 1,000")  # of all edges look as far, where a detector tells that
SHAPES: dict[str, tuple[tuple[float, float], ...]] = {
    "circle": (),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    "diamond": ((0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)),
    "pentagon": ((0.0, -1.1), (1.05, -0.34), (0.65, 0.89), (-0.65, 0.89), (-1.05, -0.34)),
}
SIGNS = {"circle": "●", "square": "■", "triangle": "▲", "diamond": "◆", "pentagon": "⬟"}


Point = tuple[float, float]


@dataclass(frozen=True)
class Satellite:
    """A neighbour in the picture: where it stands, its spread, how dark it is, whether it is one of the group.

    ``shape`` says the kind of node. A partner is not a listed neighbour: it shares neighbours with the node in the
    middle, or is on its cycle; then no legend lists it, and its name stands beside it.
    """

    label: str
    x: float
    y: float
    inner: tuple[float, float]
    outer: tuple[float, float]
    shade: int
    member: bool = False
    shape: str = "circle"
    partner: bool = False
    name: str = ""

    def outline(self, size: float) -> str:
        """Return the shape as an SVG path around its place, so large."""
        corners = [(round(self.x + size * x, 1), round(self.y + size * y, 1)) for x, y in SHAPES[self.shape]]
        return "M" + "L".join(f"{x} {y}" for x, y in corners) + "Z" if corners else ""


@dataclass(frozen=True)
class Orbit:
    """The picture as figures; the middle is (0, 0) and y points down, as on a screen.

    ``rings`` are the radii of 1, 2, ... steps, or of shares of the edges, as ``ticks`` says, and ``usual`` that of what
    is usual. ``ties`` has the ends of the lines among the group, and ``cycle`` those of the arrows of a cycle. ``size``
    is the half of the picture's width. ``shapes`` has a sign and the name for every kind of node, where there are
    several.
    """

    satellites: tuple[Satellite, ...]
    rings: tuple[float, ...]
    usual: float
    size: float
    not_shown: int
    ticks: tuple[str, ...] = ()
    ties: tuple[tuple[Point, Point], ...] = ()
    cycle: tuple[tuple[Point, Point], ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()


def shapes_of(why: Explanation) -> dict[str, str]:
    """Return a shape for every kind of node in an explanation: a circle for its own, others in the order of names."""
    others = sorted({one.node_kind for one in why.neighbours} - {why.node_kind})
    rest = list(SHAPES)[1:]
    return {why.node_kind: "circle"} | {kind: rest[k % len(rest)] for k, kind in enumerate(others)}


def orbit(why: Explanation) -> Orbit:
    """Place the neighbours of a node around it, the farthest at twelve and the others after it, clockwise.

    The nodes of an unusual cycle come first, in the order of its events; those that are not listed are at the rim.
    """
    cycle, shapes = why.notable_cycle, shapes_of(why)
    start = cycle.index(why.id) if why.id in cycle else 0
    cycle = (*cycle[start:], *cycle[:start])
    farthest = max([FEWEST_RINGS, *(math.ceil(one.hops - 1e-6) for one in why.neighbours)])
    listed = (*why.neighbours, *why.partners)
    near = {why.id, *(one.id for one in listed)}
    away = [Neighbour(one, farthest, 0.0, 0.0, node_kind=why.node_kind) for one in cycle if one not in near]
    shown = (*listed, *away)
    on_cycle = {one: place for place, one in enumerate(cycle)}
    angles = _angles([on_cycle.get(one.id) for one in shown])
    satellites = []
    for number, (one, angle) in enumerate(zip(shown, angles, strict=True)):
        along = math.sin(angle), -math.cos(angle)
        reach = [STEP * min(max(one.hops + side * one.spread, 0.0), farthest + 0.4) for side in (-1, 0, 1)]
        (inner, here, outer) = ((radius * along[0], radius * along[1]) for radius in reach)
        dark = shade_of(one, why.baseline.threshold)
        partner = number >= len(why.neighbours)
        shape, member = shapes.get(one.node_kind, "circle"), one.member or one.id in on_cycle
        label = f"{one.id} (on the cycle)" if one.id in on_cycle else str(one.id)
        if not partner:
            label = _label(label, one, why)
        elif number < len(listed):
            label = f"{label}, shares neighbours with this node"
        name = str(one.id) if number >= len(listed) else ""
        satellites.append(Satellite(label, *here, inner, outer, dark, member, shape, partner, name))
    rings = tuple(STEP * k for k in range(1, farthest + 1))
    ticks = SHARES if why.views else tuple(str(k) for k in range(1, farthest + 1))
    ties = tuple(((satellites[a].x, satellites[a].y), (satellites[b].x, satellites[b].y)) for a, b in why.ties)
    where = {one.id: (drawn.x, drawn.y) for one, drawn in zip(shown, satellites, strict=True)} | {why.id: (0.0, 0.0)}
    arrows = tuple((where[a], where[b]) for a, b in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))
    usual, size = STEP * why.baseline.usual_hops, rings[-1] + STEP / 2 + 4
    told = tuple((SIGNS[shape], kind) for kind, shape in shapes.items()) if why.node_kind else ()
    return Orbit(tuple(satellites), rings, usual, size, why.not_shown, ticks, ties, arrows, told)


def _angles(places: list[int | None]) -> list[float]:
    """Return the angle of every node, clockwise from twelve: half of the circle is for the nodes on the cycle."""
    on_cycle = sorted(place for place in places if place is not None)
    others = len(places) - len(on_cycle)
    arc = (math.pi if others else math.tau) if on_cycle else 0.0
    angles, turn = [], 0
    for place in places:
        if place is None:
            angles.append(arc + (math.tau - arc) * turn / others)
            turn += 1
        else:
            angles.append(arc * on_cycle.index(place) / len(on_cycle))
    return angles


def arrowhead(start: Point, end: Point) -> tuple[Point, Point, Point]:
    """Return an arrowhead before the end of a line: one side, the tip and the other side."""
    length = max(math.hypot(end[0] - start[0], end[1] - start[1]), 1e-9)
    x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    sides = [(end[0] - 17 * x - side * 4 * y, end[1] - 17 * y + side * 4 * x) for side in (1, -1)]
    return sides[0], (end[0] - 9 * x, end[1] - 9 * y), sides[1]


def _label(name: str, one: Neighbour, why: Explanation) -> str:
    group = ", in the group" if one.member else ""
    if one.rarity is not None:
        return f"{name}: {one_in(one.rarity)} edges are at least as different{group}"
    return f"{name}{group}" if why.views else f"{name}: predicted distance {one.hops:.1f} ± {one.spread:.1f} hops"


def shade_of(one: Neighbour, threshold: float) -> int:
    """Return how dark a neighbour is drawn, 0 to 4; the two darkest do not look like neighbours."""
    if one.rarity is None:
        return shade(one.score, threshold)
    return sum(one.rarity <= bound for bound in (0.5, 0.2, 0.05, 0.01))


def shade(score: float, threshold: float) -> int:
    """Return how dark an edge is drawn, 0 to 4: the two darkest are alerts by themselves."""
    ratio = score / threshold if threshold > 0 else 0.0
    return sum(ratio >= bound for bound in (0.6, 0.8, 1.0 - 1e-5, 1.25))
