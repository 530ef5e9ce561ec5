"""``oddhop fit`` and ``oddhop score``: learn once, score many times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console, LogFormat


@o.guarded
def fit(
    edges: o.Edges,
    nodes: o.Nodes = None,
    model: Annotated[Path, typer.Option("--model", help="The model file to write.", show_default=False)] = ...,  # type: ignore[assignment]
    top: o.Top = None,
    detector: o.DetectorName = o.Detector.odd,
    source: o.Source = None,
    target: o.Target = None,
    id: o.Id = None,  # noqa: A002 - the name of the option
    strict: o.Strict = False,
    database: o.Database = None,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    seed: o.Seed = None,
    workers: o.Workers = None,
    max_memory: o.MaxMemory = None,
    resume: o.Resume = False,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Learn from a network and write a model file; checkpoints are kept beside it until it is done.

    Example:

        oddhop fit edges.csv --nodes nodes.csv --model model.oddhop
    """
    from oddhop.base.checkpoints import discard_run
    from oddhop.cli.choices import gathered, in_bytes
    from oddhop.cli.reading import said_network
    from oddhop.detector.registry import detector_named

    read = {"source": source, "target": target, "id": id, "strict": strict or None}
    learn = {"top_k": top, "random_state": seed, "workers": workers, "max_memory": in_bytes(max_memory)}
    chosen = gathered(settings, assignments or [], read=read, detector=detector.value, learn=learn)
    console = Console(log_format)
    checkpoints = model.with_name(f"{model.name}.checkpoints")
    with console.working():
        network = said_network(console, chosen, edges, nodes, database)
        fitted = detector_named(detector.value)(**getattr(chosen, detector.value).model_dump()).fit(
            network.graph, run_folder=checkpoints, resume=resume, progress=console.progress
        )
    fitted.save(model, encoding=network.encoding)
    discard_run(checkpoints)
    console.say(
        "done", f"the model is in {model}; score with it: oddhop score {model} EDGES --nodes NODES --out FOLDER"
    )


@o.guarded
def score(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    edges: o.Edges,
    nodes: o.Nodes = None,
    out: Annotated[Path, typer.Option("--out", help="The folder for the results.", show_default=False)] = ...,  # type: ignore[assignment]
    source: o.Source = None,
    target: o.Target = None,
    id: o.Id = None,  # noqa: A002 - the name of the option
    strict: o.Strict = False,
    database: o.Database = None,
    write_to: o.WriteTo = None,
    write_mode: o.Mode = o.WriteMode.create,
    workers: o.Workers = None,
    log_format: o.Log = LogFormat.auto,
    debug: o.Debug = False,  # noqa: ARG001 - read by the guard
) -> None:
    """Score a network by a model that was fitted before; its tables are read as those of the model were.

    Example:

        oddhop score model.oddhop edges.csv --nodes nodes.csv --out scores
    """
    from oddhop.base.checkpoints import locked
    from oddhop.cli import outcome
    from oddhop.cli.choices import gathered
    from oddhop.cli.reading import said_network
    from oddhop.detector.registry import load_detector
    from oddhop.errors import ModelFileError, RunFolderError
    from oddhop.graph.disk import file_entry
    from oddhop.tables.network import with_ids

    chosen = gathered(None, [], read={"source": source, "target": target, "id": id, "strict": strict or None})
    o.check_database(write_to, database)
    console = Console(log_format)
    fitted = load_detector(model)
    if fitted.model_.encoding is None:
        raise ModelFileError(
            f"{model} was fitted on arrays and does not say how columns become attributes; "
            "score with it in Python, or fit by oddhop fit"
        )
    fitted.workers = workers
    with locked(out) as folder:
        if outcome.read_manifest(folder) is not None:
            raise RunFolderError(f"{folder} already holds results; choose another folder")
        with console.working():
            network = said_network(console, chosen, edges, nodes, database, encoding=fitted.model_.encoding)
            result = with_ids(fitted.score_table(network.graph, progress=console.progress), network.ids)
        figures = outcome.write_results(folder, result)
        o.put_back(result, write_to, write_mode, database)
        parts = {
            "model": file_entry(model).sha256,
            "settings": {
                "read": chosen.read.model_dump(),
                type(fitted).__name__.lower(): fitted.model_.settings.model_dump(),
            },
            "data": outcome.data_part(network),
            "results": figures,
        }
        outcome.write_manifest(folder, "score", parts)
    outcome.show_top(result, fitted.model_.settings.top_k)
    outcome.say_where(console, folder, figures, fitted.threshold_)
