"""The orbit picture as SVG: within a report, or by itself with a legend."""

from __future__ import annotations

import base64
import os
import textwrap
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from oddhop.base.files import write_atomically
from oddhop.base.html import shown
from oddhop.explain.explanation import Explanation
from oddhop.explain.orbit import NUMBERED, Orbit, Point, Satellite, arrowhead, orbit

LEGEND, LINE, LETTERS = 410.0, 19.0, 64  # the width of the legend, the height of a line, and the letters that fit
MOST_LINES = 3  # of one remark in the legend
# By itself it has a ground of its own: a notebook shows it as an image, which inherits no colours of the notebook.
STYLE = Markup(
    "<style>.oddhop-orbit{font:11px system-ui,sans-serif;max-width:100%;height:auto}"
    ".oddhop-orbit text{fill:#1b2430}"
    ".oddhop-orbit .ring,.oddhop-orbit .spoke{fill:none;stroke:#1b2430;opacity:.22}"
    ".oddhop-orbit .usual{fill:none;stroke:#2b9484;stroke-dasharray:5 4;stroke-width:1.4}"
    ".oddhop-orbit .tick{font-size:9px;text-anchor:middle;opacity:.75}.oddhop-orbit .faint{opacity:.75}"
    ".oddhop-orbit .tie{stroke:#7a6be0;stroke-width:.8;opacity:.45;fill:none}"
    ".oddhop-orbit .cycle{stroke:#7a6be0;stroke-width:1.8;fill:none}.oddhop-orbit .member{stroke:#7a6be0;"
    "stroke-width:2.4}.oddhop-orbit .s{stroke-width:5;stroke-linecap:round;opacity:.35;fill:none}"
    ".oddhop-orbit .n0{fill:#71889a}.oddhop-orbit .n1{fill:#4f8485}.oddhop-orbit .n2{fill:#a87a18}"
    ".oddhop-orbit .n3{fill:#cf6217}.oddhop-orbit .n4{fill:#c5362d}.oddhop-orbit .s0{stroke:#71889a}"
    ".oddhop-orbit .s1{stroke:#4f8485}.oddhop-orbit .s2{stroke:#a87a18}.oddhop-orbit .s3{stroke:#cf6217}"
    ".oddhop-orbit .s4{stroke:#c5362d}.oddhop-orbit .self{fill:#1b2430}"
    ".oddhop-orbit .num{fill:#fff;font-size:9px;font-weight:700;text-anchor:middle}"
    ".oddhop-orbit .title{font-size:13px;font-weight:600}</style>"
)


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows in the text, and that can be written to a file.

    Attributes
    ----------
    svg : the picture as one SVG document, which loads nothing and has no script.

    Examples
    --------
    >>> from oddhop.explain.picture import Picture
    >>> Picture("<svg/>")
    Picture(6 bytes of SVG)
    """

    svg: str

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the SVG to a file, whole or not at all."""
        write_atomically(Path(path), self.svg.encode())

    def __repr__(self) -> str:
        return f"Picture({len(self.svg.encode()):,} bytes of SVG)"

    def _repr_html_(self) -> str:
        # An image: of an SVG element, JupyterLab shows only the text in notebooks that somebody else has run.
        coded = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="picture of the case" style="max-width:100%" src="data:image/svg+xml;base64,{coded}">'

    def _repr_svg_(self) -> str:  # for viewers that show no HTML
        return self.svg


def picture(why: Explanation) -> Picture:
    """Draw an explanation: the node in the middle, each neighbour as far out as it looks, and a legend."""
    drawn = orbit(why)
    legend = _legend(why, drawn)
    half = max(drawn.size, LINE * (len(legend) + 2) / 2)
    place = Markup('<g transform="translate({} {})">{}</g>')
    lines = [place.format(drawn.size + 16, round(LINE * k - half + 20, 1), line) for k, line in enumerate(legend)]
    width, height = 2 * drawn.size + LEGEND, 2 * half
    form = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="oddhop-orbit" width="{}" height="{}" viewBox="{} {} {} {}" '
        'role="img" aria-label="{}">{}<rect x="{}" y="{}" width="{}" height="{}" fill="#fff"/>{}{}</svg>'
    )
    box = -drawn.size, -half, width, height
    parts = _name(why), STYLE, *box, _marks(drawn), Markup("").join(lines)
    return Picture(str(form.format(width, height, *box, *parts)))


def bare(why: Explanation) -> Markup:
    """Return the picture as an SVG element without style and legend, which the page that it stands on has."""
    drawn = orbit(why)
    form = Markup('<svg class="orbit" viewBox="{} {} {} {}" role="img" aria-label="{}">{}</svg>')
    return form.format(-drawn.size, -drawn.size, 2 * drawn.size, 2 * drawn.size, _name(why), _marks(drawn))


def _name(why: Explanation) -> str:
    return f"Neighbours of {shown(why.id)}; the more different, the farther from the centre"


def _marks(drawn: Orbit) -> Markup:
    spokes = "".join(f"M0 0L{one.x:.0f} {one.y:.0f}" for one in drawn.satellites if not one.partner)
    parts = [
        *(Markup('<circle class="ring" r="{}"/>').format(radius) for radius in drawn.rings),
        Markup('<circle class="usual" r="{}"/>').format(round(drawn.usual, 1)),
        Markup('<path class="spoke" d="{}"/>').format(spokes),
    ]
    for radius, tick in zip(drawn.rings, drawn.ticks, strict=True):
        parts.append(Markup('<text class="tick" y="{}">{}</text>').format(radius - 3, tick))
    if drawn.ties:
        parts.append(Markup('<path class="tie" d="{}"/>').format("".join(_line(*tie) for tie in drawn.ties)))
    if drawn.cycle:
        arrows = (_line(*step) + _line(*arrowhead(*step)) for step in drawn.cycle)
        parts.append(Markup('<path class="cycle" d="{}"/>').format("".join(arrows)))
    parts += [_satellite(one, number) for number, one in enumerate(drawn.satellites, 1)]
    return Markup("").join([*parts, Markup('<circle class="self" r="9"/>')])


def _satellite(one: Satellite, number: int) -> Markup:
    # Not by Markup.format, which takes ten times as long: a report draws thousands.
    numbered = number <= NUMBERED and not one.partner
    look = f"n n{one.shade}{' member' if one.member else ''}"
    x, y, label = f"{one.x:.0f}", f"{one.y:.0f}", f"<title>{escape(shown(one.label, 240))}</title>"
    spread = "" if one.inner == one.outer else f'<path class="s s{one.shade}" d="{_line(one.inner, one.outer)}"/>'
    if one.shape == "circle":
        mark = f'<circle class="{look}" cx="{x}" cy="{y}" r="{7.5 if numbered else 5}">{label}</circle>'
    else:
        mark = f'<path class="{look}" d="{one.outline(8 if numbered else 5)}">{label}</path>'
    beside = ""
    if numbered:
        beside = f'<text class="num" x="{x}" y="{round(one.y + 3.2, 1)}">{number}</text>'
    elif one.name:  # towards the middle, where there is room
        where = f'style="text-anchor:{"end" if one.x > 0 else "start"}" x="{x}" y="{round(one.y - 9, 1)}"'
        beside = f'<text class="tick" {where}>{escape(shown(one.name, 20))}</text>'
    return Markup(spread + mark + beside)  # noqa: S704 - the two texts from outside are escaped


def _line(*points: Point) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points)


def _legend(why: Explanation, drawn: Orbit) -> list[Markup]:
    """Return the lines beside the picture: whose it is, the numbered neighbours, and how to read it."""
    kind = f"{why.kind}, " if why.kind else ""
    title = Markup('<text class="title">{}</text>').format(shown(f"{why.id}: {kind}score {why.score:.2f}", 44))
    entry = Markup('<circle class="n n{0}" cx="7" cy="-3.5" r="7"/><text class="num" x="7" y="-0.3">{1}</text>')
    lines = [title]
    for number, one in enumerate(drawn.satellites[:NUMBERED], 1):
        if not one.partner:
            said = Markup('<text x="20">{}</text>').format(shown(one.label, LETTERS))
            lines.append(entry.format(one.shade, number) + said)
    rings = "rings: edges at least as different" if why.views else "rings: predicted hops"
    told = [f"{rings}; dashed: typical"]
    if drawn.not_shown:
        told.append(f"{drawn.not_shown:,} more neighbours are not drawn")
    if drawn.ties:
        told.append("thin lines: the edges among the members of the group")
    if drawn.cycle:
        told.append(f"arrows: the earliest cycle, {' → '.join(map(str, (*why.notable_cycle, why.notable_cycle[0])))}")
    outlined = [name for name, lines in (("the group", drawn.ties), ("the cycle", drawn.cycle)) if lines]
    if outlined:
        told.append(f"outlined: {' and '.join(outlined)}")
    if drawn.shapes:
        told.append(", ".join(f"{sign} {shown(kind, 20)}" for sign, kind in drawn.shapes))
    longest = MOST_LINES * (LETTERS - 8)  # so that it fits when it is folded between words
    folded = [line for one in told for line in textwrap.wrap(shown(one, longest), LETTERS, break_on_hyphens=False)]
    return [*lines, *(Markup('<text class="faint">{}</text>').format(one) for one in folded)]
