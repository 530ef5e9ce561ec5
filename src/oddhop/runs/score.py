"""``score``: a network ranked by a model that was fitted before. It is a run like that of ``detect``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oddhop.base.checkpoints import locked
from oddhop.base.files import file_digest
from oddhop.detector.registry import load
from oddhop.errors import ModelFileError
from oddhop.graph.disk import is_stored
from oddhop.reports.build import CASES
from oddhop.runs import folder as files
from oddhop.runs.answers import read_answers
from oddhop.runs.detect import check_book, check_early, check_kept, complete_run, tell_resumed
from oddhop.runs.earlier import CHECKPOINTS, earlier_run, remove_run
from oddhop.runs.finish import Destination, Run, finish_run, named_tables
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import RunSettings, run_settings
from oddhop.runs.targets import WriteMode, target_named


def score(
    model: str | Path,
    edges: Any,
    nodes: Any = None,
    *,
    out: str | Path,
    top: int | None = None,
    max_chance: float | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    database: str | None = None,
    write_to: str | None = None,
    write_mode: WriteMode = "create",
    workers: int | None = None,
    max_memory: int | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    explain: int = CASES,
    report: bool = True,
    cases: str | Path | None = None,
    since: str | Path | None = None,
    answers: Any = None,
    log: Log = LOGGED,
) -> Run:
    r"""Rank a network with a fitted model; its tables are read in the same way as those of the model.

    The folder is the same as that of :func:`~oddhop.runs.detect`: results, report, model and manifest.

    Parameters
    ----------
    model : a model file.
    edges, nodes, out, overwrite, settings, database, write_to, write_mode, explain, report, cases, since, answers : as
        in :func:`~oddhop.runs.detect`, and ``log`` too. The columns that hold the ends of an edge and the id of a node
        are those of the model, unless others are named.
    top, max_chance : how many cases of this network to flag; left out, those above the threshold of the model.
    max_memory : bytes, or text such as "4GiB"; a network that needs more is refused. None uses the available memory.
    resume : take a run that is complete for done. One that was killed is begun again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.runs import fit, score
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\na,d\na,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
    ...     _ = fit(str(edges), str(nodes), model=Path(home, "model.oddhop"))
    ...     run = score(Path(home, "model.oddhop"), str(edges), str(nodes), out=Path(home, "run"), top=1)
    ...     sorted(file.name for file in run.folder.glob("*.*"))
    ['.lock', 'cases.json', 'manifest.json', 'model.oddhop', 'report.html', 'results.csv', 'results.parquet',
     'state.parquet']
    """
    settings = run_settings(settings)
    detector = load(model)
    encoding = detector.model_.encoding
    if encoding is None:
        raise ModelFileError(
            f"{model} was fitted on arrays and has no encoding of columns",
            "score with it in Python, or fit a model with oddhop fit",
        )
    if top is not None or max_chance is not None:
        detector = detector.flagging(top_k=top, max_chance=max_chance)
    detector.set_params(workers=workers, max_memory=max_memory)
    if not (isinstance(edges, str | Path) and is_stored(edges)):
        settings = settings.model_copy(update={"read": settings.read.like(detector.model_.read)})
    flags = detector.threshold_ < float("inf") or detector.flags_anew_
    check_book(cases, explain, flags=flags, kept=settings.read.keep_columns)
    target = target_named(write_to, write_mode, database)
    told = None if answers is None else read_answers(answers, database)
    earlier = earlier_run(since, out, log)
    with locked(out) as folder:
        if overwrite:
            remove_run(folder)
        done = complete_run(folder, log, named_tables(edges, nodes), resume=resume)
        if done is not None:
            return done
        if resume:
            tell_resumed(log, folder / CHECKPOINTS)
        if target is not None:
            target.check()
        network = read_for_run(log, settings, edges, nodes, database, encoding)
        check_kept(cases, network.kept)
        data = files.data_part(network)
        if earlier is not None:
            check_early(earlier, detector.name, data, network)
        return finish_run(
            "score",
            detector,
            detector.rank(network, progress=log.progress),
            network,
            Destination(folder, target, explain, report, top, cases, told),
            settings,
            {
                "tables": named_tables(edges, nodes),
                "data": data,
                "model": file_digest(Path(model)),
            },
            log,
            earlier,
        )
