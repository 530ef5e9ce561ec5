"""The case report: one HTML file that can be handed on."""

from oddhop.graph.in_words import read_facts, repair_facts
from oddhop.reports.build import report
from oddhop.reports.page import CaseReport, render

__all__ = ["CaseReport", "read_facts", "render", "repair_facts", "report"]
