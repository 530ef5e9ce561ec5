"""A run is a function: read, fit, rank, explain, write, seal, resume. Commands, schedulers and notebooks call it."""

from oddhop.runs.compare import Comparison, compare
from oddhop.runs.detect import detect
from oddhop.runs.finish import Run
from oddhop.runs.fit import fit
from oddhop.runs.ingest import ingest
from oddhop.runs.learn import LearnedRun, learn
from oddhop.runs.plan import Plan, plan
from oddhop.runs.reopen import explain, reopen
from oddhop.runs.reopen import report_again as report
from oddhop.runs.score import score
from oddhop.runs.settings import RunSettings, checked_run_settings
from oddhop.runs.verify import verify

__all__ = [
    "Comparison",
    "LearnedRun",
    "Plan",
    "Run",
    "RunSettings",
    "checked_run_settings",
    "compare",
    "detect",
    "explain",
    "fit",
    "ingest",
    "learn",
    "plan",
    "reopen",
    "report",
    "score",
    "verify",
]
