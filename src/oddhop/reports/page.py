"""The case report: from figures to one HTML file that needs nothing else and asks nobody."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from oddhop.base.arrays import Floats
from oddhop.base.files import write_atomically
from oddhop.explain.audit import Finding
from oddhop.explain.cases import case_numbers
from oddhop.explain.explanation import Baseline, Explanation
from oddhop.explain.guide import PLAIN, Guide
from oddhop.explain.orbit import NUMBERED, orbit, shade_of
from oddhop.explain.phrases import one_in
from oddhop.explain.picture import bare
from oddhop.reports.timeline import timeline
from oddhop.tables.encode.encoding import ColumnReport
from oddhop.version import __version__

BINS = 56
WIDTH, HEIGHT = 640.0, 150.0
OPENED = 3
FRAME_HEIGHT = 640  # pixels, in a notebook


@dataclass(frozen=True)
class Standing:
    """What the book of cases has about a case: its status, whether it is hidden, and sentences."""

    status: str
    hidden: bool = False
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangesSince:
    """What changed since another run: its name, sentences, and rows of (what, id, rank then, rank now, why)."""

    since: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, str, int | None, int | None, str], ...]


@dataclass(frozen=True)
class Case:
    """One node of the report: where it ranks, how certain that is, and why.

    ``case`` is the number of its case, which the members of a group share, ``leader`` the rank of its first member, and
    ``standing`` what the book of cases says of it.
    """

    rank: int
    rank_low: int
    rank_high: int
    top_probability: float
    flagged: bool
    why: Explanation
    case: int = 0
    leader: int = 0
    standing: Standing | None = None

    @property
    def hidden(self) -> bool:
        """Whether the book of cases hides it."""
        return self.standing is not None and self.standing.hidden


@dataclass(frozen=True)
class CaseReport:
    """The content of the page.

    Attributes
    ----------
    title : what network this is.
    made : when, as text.
    facts : what was read, (name, value).
    repairs : what was repaired or left out, (count, what).
    edge_facts : what was read of the edge table besides its ends, and what was not, a sentence each.
    columns : what became of every column, where an encoding was learned.
    settings : how the detector was set, (name, value).
    findings : of the audit.
    baseline : what is typical, and the alert threshold.
    scores : of all nodes that were judged.
    cases : the highest score first.
    changes : what changed since another run, where that was asked for.
    guide : how to read it, in the words of the detector.
    """

    title: str
    made: str
    facts: tuple[tuple[str, str], ...]
    repairs: tuple[tuple[int, str], ...]
    columns: tuple[ColumnReport, ...]
    settings: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    baseline: Baseline
    scores: Floats
    cases: tuple[Case, ...]
    guide: Guide = PLAIN
    edge_facts: tuple[str, ...] = ()
    changes: ChangesSince | None = None

    def html(self) -> str:
        """Return the page as one HTML document that loads no other file."""
        return render(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all."""
        write_atomically(Path(path), render(self).encode("utf-8", "replace"))

    def __repr__(self) -> str:
        return f"CaseReport({self.title!r}, {len(self.cases):,} nodes explained)"

    def _repr_html_(self) -> str:
        # A frame of its own, so that the page keeps its style and its policy, and its script sees nothing else.
        page = render(self).encode("utf-8", "replace").decode()
        # A link such as "#cases" is one of the notebook in a browser, unless it names the frame.
        page = page.replace('href="#', 'href="about:srcdoc#').replace("&", "&amp;").replace('"', "&quot;")
        style = f"width:100%;height:{FRAME_HEIGHT}px;border:1px solid rgba(128,128,128,.4)"
        frame = f'<iframe sandbox="allow-scripts" title="case report" style="{style}" srcdoc="{page}">'
        # Jupyter shows this text in place of the frame in notebooks that somebody else has run.
        return f"{frame}The case report is not shown. Run this cell, or trust the notebook.</iframe>"


def cases_of(
    result: pa.Table, explanations: Iterable[Explanation], standing: Mapping[str, Standing] | None = None
) -> tuple[Case, ...]:
    """Join explanations, given in the order of the result table from its first row on, with their rows.

    ``standing`` is what the book says, by the ids of its cases, which are a column of the result then.
    """
    told = list(explanations)
    known = standing or {}
    ids = result["case_id"].to_pylist()[: len(told)] if "case_id" in result.column_names else [None] * len(told)
    names = ("rank", "rank_low", "rank_high", "top_probability", "flagged")
    columns = [result[name].to_pylist()[: len(told)] for name in names]
    leaders: dict[int, int] = {}
    cases = []
    rows = zip(*columns, told, case_numbers(told), ids, strict=True)
    for rank, low, high, chance, flagged, why, case, name in rows:
        leader = leaders.setdefault(case, rank)
        cases.append(Case(rank, low, high, chance, flagged, why, case, leader, known.get(name)))
    return tuple(cases)


def render(report: CaseReport) -> str:
    """Return the report as one HTML document.

    Text from outside is escaped everywhere. The page's own policy lets nothing run but the script in it, and
    nothing load at all.
    """
    style, script = _part("report.css"), _part("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    shown = tuple(case for case in report.cases if not case.hidden)
    page: str = _template("template.html").render(
        report=replace(report, cases=shown),
        hidden=[case for case in report.cases if case.hidden and case.leader == case.rank],
        policy=policy,
        style=Markup(style),  # noqa: S704 - a file of the package
        script=Markup(script),  # noqa: S704 - a file of the package
        version=__version__,
        histogram=_histogram(report.scores, report.baseline.threshold),
        alerts=int(report.baseline.alerts(report.scores).sum()),
        kinds=sorted({case.why.kind for case in shown if case.why.kind}),
        groups=_groups(shown),
        warnings=[one for one in report.findings if one.level == "warning"],
        caveats=list(dict.fromkeys(one for case in shown for one in case.why.caveats)),
        opened=OPENED,
        numbered=NUMBERED,
    )
    return page


def card(case: Case, group: Sequence[Case], guide: Guide) -> str:
    """Return the card of a case as HTML, its text escaped; ``group`` has the nodes of the case, the first one first."""
    parts = _template("card.html").module
    return f"{parts.card(case, group, guide, NUMBERED)}{parts.footnotes(case.why.caveats)}"


def _groups(cases: Sequence[Case]) -> dict[int, list[Case]]:
    """Return the nodes of every case by the rank of the first."""
    groups: dict[int, list[Case]] = {}
    for one in cases:
        groups.setdefault(one.leader or one.rank, []).append(one)
    return groups


@dataclass(frozen=True)
class _Bar:
    x: float
    y: float
    width: float
    height: float
    alert: bool
    label: str


@dataclass(frozen=True)
class _Histogram:
    bars: Sequence[_Bar]
    line: float | None
    ticks: Sequence[tuple[float, str]]
    width: float = WIDTH
    height: float = HEIGHT


def _histogram(scores: Floats, threshold: float) -> _Histogram:
    """Lay out how many nodes have which score; heights are logarithms, so that a single node is seen."""
    if not scores.size:
        return _Histogram([], None, [])
    counts, edges = np.histogram(scores, bins=BINS)
    low, high = float(edges[0]), float(edges[-1])
    tallest = float(np.log1p(counts.max()))
    bars = []
    for k, count in enumerate(counts.tolist()):
        if count:
            tall = HEIGHT * float(np.log1p(count)) / tallest
            label = f"{count:,} nodes from {edges[k]:.3g} to {edges[k + 1]:.3g}"
            middle = float(edges[k] + edges[k + 1]) / 2
            wide = WIDTH / BINS
            bars.append(_Bar(k * wide, HEIGHT - tall, wide - 1.5, tall, middle >= threshold, label))
    place = WIDTH * (threshold - low) / (high - low)
    ticks = [(WIDTH * k / 4, f"{low + (high - low) * k / 4:.2f}") for k in range(5)]
    return _Histogram(bars, place if 0 <= place <= WIDTH else None, ticks)


def _part(name: str) -> str:
    return files("oddhop.reports").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _template(name: str) -> Any:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_part),
    )
    made = {"orbit": orbit, "picture": bare, "shade_of": shade_of, "timeline": timeline, "one_in": one_in}
    environment.globals |= made
    return environment.get_template(name)
