"""The picture of a case, for wide and for narrow screens."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.cases.case import Case, Nouns, Run
from oddhop.cases.drawing.circle import circle
from oddhop.cases.drawing.columns import columns
from oddhop.cases.drawing.flows import flows_of
from oddhop.cases.drawing.path import path, steps_of
from oddhop.cases.drawing.shapes import Picture


@dataclass(frozen=True)
class Drawn:
    """Both layouts of the picture, and what is to be said of it.

    ``thicker`` says whether lines differ in their thickness, ``not_drawn`` counts the events that no line stands for,
    and ``run`` is the repetition that is drawn.
    """

    pictures: tuple[Picture, ...] = ()
    thicker: bool = False
    not_drawn: int = 0
    run: Run | None = None


def drawn(case: Case, nouns: Nouns) -> Drawn:
    """Draw a case: as a path, as a group with its ties, or from left to right; empty where nothing joins anybody."""
    steps = steps_of(case)
    if steps is not None:
        both = (path(case, steps, nouns, wide=wide) for wide in (True, False))
        return Drawn(tuple(both), not_drawn=steps.not_drawn, run=steps.run)
    flows = flows_of(case, nouns)
    if not flows.flows:
        return Drawn(not_drawn=flows.not_drawn)
    weights = {one.weight for one in flows.flows if not one.usual}
    layout = circle if all(one.role in ("group", "ring") for one in flows.places) else columns
    return Drawn((layout(flows, nouns, True), layout(flows, nouns, False)), len(weights) > 1, flows.not_drawn)
