"""``fit``: from two tables to a model file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oddhop.base.checkpoints import discard_run
from oddhop.detector.base import GraphDetector
from oddhop.detector.registry import detector_named, registered
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.ranked import tell_resumed
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import RunSettings, run_settings


def fit(
    edges: Any,
    nodes: Any = None,
    *,
    model: str | Path,
    detector: str = "odd",
    top: int | None = None,
    max_chance: float | None = None,
    seed: int | None = None,
    workers: int | None = None,
    max_memory: int | str | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    database: str | None = None,
    resume: bool = False,
    log: Log = LOGGED,
) -> GraphDetector:
    """Fit a detector on two tables and write its model file; checkpoints are kept beside it until the fit ends.

    The parameters are those of :func:`~oddhop.runs.detect`.
    """
    words = {"top": top, "max_chance": max_chance, "seed": seed, "workers": workers, "max_memory": max_memory}
    detector = registered(detector)
    settings = run_settings(settings, detector, words)
    model = Path(model)
    checkpoints = model.with_name(f"{model.name}.checkpoints")
    if model.exists():
        log.say("replaced", f"{model} exists; this fit will replace it")
    if resume:
        tell_resumed(log, checkpoints)
    network = read_for_run(log, settings, edges, nodes, database, max_memory=settings.of(detector).memory)
    fitted = detector_named(detector).of(settings.of(detector))
    fitted.fit(network, run_folder=checkpoints, resume=resume, progress=log.progress)
    fitted.save(model)
    discard_run(checkpoints)
    return fitted
