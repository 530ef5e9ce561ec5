"""A run is a function: read, fit, rank, explain, write, seal, resume. Commands, schedulers and notebooks call it."""

from oddhop.runs.compare import Comparison, compare
from oddhop.runs.detect import detect
from oddhop.runs.finish import Run
from oddhop.runs.fit import fit
from oddhop.runs.learn import LearnedRun, learn
from oddhop.runs.reopen import reopen
from oddhop.runs.score import score
from oddhop.runs.settings import RunSettings, checked_run_settings

__all__ = [
    "Comparison",
    "LearnedRun",
    "Run",
    "RunSettings",
    "checked_run_settings",
    "compare",
    "detect",
    "fit",
    "learn",
    "reopen",
    "score",
]
