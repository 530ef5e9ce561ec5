"""The case report: one HTML file that can be handed on, and the orbit picture."""

from oddhop.explain.orbit import orbit_figure
from oddhop.graph.in_words import read_facts, repair_facts
from oddhop.reports.build import report
from oddhop.reports.page import Case, CaseReport, cases_of, render

__all__ = ["Case", "CaseReport", "cases_of", "orbit_figure", "read_facts", "render", "repair_facts", "report"]
