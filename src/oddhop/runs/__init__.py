"""A run is a function: read, fit, rank, explain, write, seal, resume. Commands, schedulers and notebooks call it."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oddhop.runs.compare import Comparison, compare
    from oddhop.runs.detect import detect
    from oddhop.runs.fit import fit
    from oddhop.runs.ingest import ingest
    from oddhop.runs.learn import LearnedRun, learn
    from oddhop.runs.plan import Plan, plan
    from oddhop.runs.ranked import Run
    from oddhop.runs.reopen import explain, reopen, report
    from oddhop.runs.score import score
    from oddhop.runs.settings import RunSettings, checked_run_settings
    from oddhop.runs.verify import verify
    from oddhop.runs.warm import warm

__all__ = [
    "Comparison", "LearnedRun", "Plan", "Run", "RunSettings", "checked_run_settings", "compare", "detect", "explain",
    "fit", "ingest", "learn", "plan", "reopen", "report", "score", "verify", "warm",
]  # fmt: skip

_HOMES = {name: name for name in __all__} | {
    "Comparison": "compare",
    "LearnedRun": "learn",
    "Plan": "plan",
    "Run": "ranked",
    "RunSettings": "settings",
    "checked_run_settings": "settings",
    "explain": "reopen",
    "report": "reopen",
}


class _Runs(ModuleType):
    """The package, in which the import of a module such as ``detect`` does not take the place of the function."""

    def __getattr__(self, name: str) -> Any:
        # A command that compares two runs need not wait for what fits a detector.
        if name not in _HOMES:
            raise AttributeError(f"module 'oddhop.runs' has no attribute {name!r}")
        return getattr(import_module(f"oddhop.runs.{_HOMES[name]}"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Runs
