"""``score``: a network ranked by a model that was fitted before."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from oddhop.base.checkpoints import locked
from oddhop.detector.registry import load
from oddhop.errors import ModelFileError, RunFolderError
from oddhop.graph.disk import file_entry
from oddhop.runs import folder as files
from oddhop.runs.detect import Run
from oddhop.runs.log import QUIET, Log
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import RunSettings, checked_run_settings
from oddhop.tables.read.sql import put_table


def score(
    model: str | Path,
    edges: Any,
    nodes: Any = None,
    *,
    out: str | Path,
    settings: RunSettings | None = None,
    database: str | None = None,
    write_to: str | None = None,
    write_mode: Literal["create", "replace", "append"] = "create",
    workers: int | None = None,
    log: Log = QUIET,
) -> Run:
    """Rank a network by a model file; its tables are read as those of the model were."""
    settings = checked_run_settings() if settings is None else settings
    detector = load(model)
    encoding = detector.model_.encoding
    if encoding is None:
        raise ModelFileError(
            f"{model} was fitted on arrays and does not say how columns become attributes",
            "score with it in Python, or fit by oddhop fit",
        )
    detector.set_params(workers=workers)
    with locked(out) as folder:
        if files.read_manifest(folder) is not None:
            raise RunFolderError(f"{folder} already holds results", "choose another folder")
        network = read_for_run(log, settings, edges, nodes, database, encoding)
        result = detector.rank(network, progress=log.progress)
        result = network.with_kept(result)
        figures = files.write_results(folder, result)
        figures |= files.ending_part(detector, result)
        if write_to is not None and database is not None:
            put_table(result, database, write_to, mode=write_mode)
        parts = {
            "model": file_entry(Path(model)).sha256,
            "settings": {"read": settings.read.model_dump(), detector.name: detector.model_.settings.model_dump()},
            "data": files.data_part(network),
            "results": figures,
        }
        files.write_manifest(folder, "score", parts)
    return Run(folder, result, figures)
