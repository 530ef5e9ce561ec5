"""The case report: one HTML file that can be handed on, and the orbit picture."""

from oddhop.reports.build import case_report
from oddhop.reports.orbit import orbit_figure
from oddhop.reports.page import Case, CaseReport, cases_of, mended_facts, read_facts, render, write_report

__all__ = [
    "Case",
    "CaseReport",
    "case_report",
    "cases_of",
    "mended_facts",
    "orbit_figure",
    "read_facts",
    "render",
    "write_report",
]
