"""The case report: one HTML file that needs nothing else and asks nobody."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from oddhop.base.files import write_atomically
from oddhop.cases.case import Case, Cases
from oddhop.cases.drawing.page import document, framed, template
from oddhop.explain.audit import Finding
from oddhop.explain.guide import PLAIN, Guide
from oddhop.tables.encode.encoding import ColumnReport
from oddhop.version import __version__

CLEARED = "cleared"  # the status of a case that is hidden
OPENED = 12  # cases that the list names and whose cards are open; the others follow folded


@dataclass(frozen=True)
class ChangesSince:
    """What changed since another run: its name, sentences, and rows of (what, id, rank then, rank now, why)."""

    since: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, str, int | None, int | None, str], ...]


@dataclass(frozen=True)
class CaseReport:
    """The content of the page.

    Attributes
    ----------
    title : what network this is.
    made : when, as text.
    cases : those that are shown, the most unusual first.
    flagged : how many of them are flagged; 0 where none is.
    hidden : those that the book of cases hides.
    facts : what was read, (name, value).
    repairs : what was repaired or left out, (count, what).
    edge_facts : what was read of the edge table besides its ends, and what was not, a sentence each.
    columns : what became of every column, where an encoding was learned.
    settings : how the detector was set, (name, value).
    findings : of the audit.
    guide : how to read its figures, in the words of the detector.
    changes : what changed since another run, where that was asked for.
    """

    title: str
    made: str
    cases: Cases
    facts: tuple[tuple[str, str], ...]
    repairs: tuple[tuple[int, str], ...]
    columns: tuple[ColumnReport, ...]
    settings: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    flagged: int = 0
    hidden: tuple[Case, ...] = ()
    edge_facts: tuple[str, ...] = ()
    guide: Guide = PLAIN
    changes: ChangesSince | None = None

    def html(self) -> str:
        """Return the page as one HTML document that loads no other file and has no script."""
        return render(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all."""
        write_atomically(Path(path), render(self).encode("utf-8", "replace"))

    def __repr__(self) -> str:
        return f"CaseReport({self.title!r}, {len(self.cases.cases):,} cases)"

    def _repr_html_(self) -> str:
        return framed(render(self), "case report")


def render(report: CaseReport) -> str:
    """Return the report as one HTML document.

    Text from outside is escaped everywhere. The page's own policy lets nothing run, and nothing load at all.
    """
    body = template("oddhop.reports", "template.html").render(
        report=report,
        cases=report.cases,
        opened=min(OPENED, report.flagged or OPENED),
        version=__version__,
        warnings=[one for one in report.findings if one.level == "warning"],
    )
    return document(f"Cases of {report.title}", body)
