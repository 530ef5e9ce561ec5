"""The case report: one HTML file that can be handed on, and the orbit picture."""

from oddhop.reports.build import report
from oddhop.reports.orbit import orbit_figure
from oddhop.reports.page import Case, CaseReport, cases_of, read_facts, render, repair_facts

__all__ = ["Case", "CaseReport", "cases_of", "orbit_figure", "read_facts", "render", "repair_facts", "report"]
