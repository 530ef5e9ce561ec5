"""``score``: a network ranked by a model that was fitted before. It is a run like that of ``detect``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from oddhop.base.files import file_digest
from oddhop.base.settings import checked, takes
from oddhop.detector.registry import load
from oddhop.errors import ModelFileError
from oddhop.graph.disk import is_stored
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.options import Output, OutputOptions
from oddhop.runs.ranked import Asked, CheckNetwork, Ranking, Run, named_tables, ranked_run
from oddhop.runs.read import read_for_run
from oddhop.runs.settings import RunSettings, run_settings


@takes(Output)
def score(
    model: str | Path,
    edges: Any,
    nodes: Any = None,
    *,
    out: str | Path,
    top: int | None = None,
    max_chance: float | None = None,
    workers: int | None = None,
    max_memory: int | str | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    log: Log = LOGGED,
    **options: Unpack[OutputOptions],
) -> Run:
    r"""Rank a network with a fitted model; its tables are read in the same way as those of the model.

    The folder is the same as that of :func:`~oddhop.runs.detect`: results, report, model and manifest.

    Parameters
    ----------
    model : a model file.
    edges, nodes, out, settings, log : as in :func:`~oddhop.runs.detect`. The columns that hold the ends of an edge and
        the id of a node are those of the model, unless others are named.
    top, max_chance : how many cases of this network to flag; left out, those above the threshold of the model.
    max_memory : bytes, or text such as "4GiB"; a network that needs more is refused. None uses the available memory.
    {settings}

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
    chosen, output = run_settings(settings), checked(Output, options)
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
        chosen = chosen.model_copy(update={"read": chosen.read.like(detector.model_.read)})
    flags = detector.threshold_ < float("inf") or detector.flags_anew_

    def rank(_: Path, check: CheckNetwork) -> Ranking:
        network = read_for_run(log, chosen, edges, nodes, output.database, encoding, detector.settings().memory)
        about = {"data": check(network), "model": file_digest(Path(model))}
        return Ranking(detector, detector.rank(network, progress=log.progress), network, chosen, about)

    asked = Asked("score", detector.name, named_tables(edges, nodes), out, chosen, output, flags, top, log)
    return ranked_run(asked, rank)
