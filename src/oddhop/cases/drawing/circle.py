"""A group on a circle, with lines between those who have to do with each other."""

from __future__ import annotations

import math

from oddhop.cases.case import Nouns
from oddhop.cases.drawing.flows import Flows
from oddhop.cases.drawing.shapes import LINE, TALL, WIDE, Box, Picture, Stroke, fitting, letters, thickness
from oddhop.cases.words import amount_text, count_text, short_id

HEIGHT, BOX = 46.0, {True: 168.0, False: 104.0}
ROUND = {True: (400.0, 128.0), False: (118.0, 190.0)}  # the half axes


def circle(flows: Flows, nouns: Nouns, wide: bool) -> Picture:
    """Lay out the places on a circle, the first one at twelve and the others after it, clockwise."""
    count, (across, down) = len(flows.places), ROUND[wide]
    down = down * min(1.0, 0.35 + count / 12)
    middle, boxes = ((WIDE if wide else TALL) / 2, down + HEIGHT / 2 + 4), []
    for k, one in enumerate(flows.places):
        turn = math.tau * k / count
        x, y = middle[0] + across * math.sin(turn), middle[1] - down * math.cos(turn)
        width = BOX[wide]
        own = [amount_text(one.sent, nouns) or (count_text(one.events, nouns) if one.events else "")]
        lines = tuple(fitting([line], width) for line in ([one.profile or own[0]]) if line)
        height = HEIGHT if lines else HEIGHT - LINE
        name = short_id(one.name, letters(width))
        boxes.append(
            Box(round(x - width / 2), round(y - height / 2), width, height, name, str(one.name), lines, one.look)
        )
    pairs: dict[tuple[int, int], float] = {}
    for flow in flows.flows:
        ends = (min(flow.source, flow.target), max(flow.source, flow.target))
        pairs[ends] = pairs.get(ends, 0.0) + flow.weight
    largest = max(pairs.values())
    strokes, varied = [], len(set(pairs.values())) > 1
    for (a, b), weight in pairs.items():
        (xa, ya), (xb, yb) = boxes[a].middle, boxes[b].middle
        thick = thickness(weight, largest, 5.0) if varied else 1.2
        strokes.append(Stroke(f"M{xa:.0f} {ya:.0f}L{xb:.0f} {yb:.0f}", "", thick, "tie"))
    height = 2 * down + HEIGHT + 8
    return Picture("wide" if wide else "tall", 2 * middle[0], height, tuple(boxes), tuple(strokes), ())
