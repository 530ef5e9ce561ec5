"""A run is a function: read, fit, rank, explain, write, seal, resume. Commands, schedulers and notebooks call it."""

from oddhop.runs.detect import Run, detect
from oddhop.runs.fit import fit
from oddhop.runs.reopen import reopen
from oddhop.runs.score import score
from oddhop.runs.settings import RunSettings, checked_run_settings

__all__ = ["Run", "RunSettings", "checked_run_settings", "detect", "fit", "reopen", "score"]
