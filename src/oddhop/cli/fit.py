"""``oddhop fit`` and ``oddhop score``: learn once, score many times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.cli import options as o
from oddhop.cli.console import Console


@o.command()
def fit(
    edges: o.Edges,
    nodes: o.Nodes = None,
    model: Annotated[Path, typer.Option("--model", help="Model file to write.", show_default=False)] = ...,  # type: ignore[assignment]
    detector: o.DetectorName = "odd",
    *,
    read: o.Chosen,
    learn: o.Chosen,
    source: o.Chosen,
    settings: o.SettingsFile = None,
    assignments: o.Assignments = None,
    resuming: o.Chosen,
    console: Console,
) -> None:
    """Fit a detector and write a model file.

    The detector HCM stores checkpoints next to the model file. The detector Odd stores checkpoints only if the input
    is a network on disk, made by oddhop ingest. With --resume, an interrupted fit continues from its last checkpoint.
    A fit without a checkpoint starts again and has the same result. If the model file exists, oddhop replaces the file
    and prints a message.

    Example:

        oddhop fit edges.csv --nodes nodes.csv --model model.oddhop
    """
    from oddhop import runs
    from oddhop.cli.settings import gathered, named_nodes

    chosen = gathered(settings, assignments or [], read=read, detector=detector, learn=learn)
    with console.working():
        runs.fit(
            edges,
            named_nodes(nodes),
            model=model,
            detector=detector,
            settings=chosen,
            log=console,
            **source,
            **resuming,
        )
    console.say("done", f"model: {model}\nto score with it: oddhop score {model} EDGES --nodes NODES --out FOLDER")


@o.command("top_k", "max_chance", "workers", "max_memory")
def score(
    model: Annotated[
        Path, typer.Argument(help="Model file written by oddhop fit or oddhop detect.", show_default=False)
    ],
    edges: o.Edges,
    nodes: o.Nodes = None,
    out: o.Out = ...,  # type: ignore[assignment]
    detector: o.OwnDetector = None,
    *,
    read: o.Chosen,
    learn: o.Chosen,
    output: o.Chosen,
    console: Console,
) -> None:
    """Score a network with a fitted model. The command writes the same files as oddhop detect.

    Example:

        oddhop score model.oddhop edges.csv --nodes nodes.csv --out scores --top 20
    """
    from oddhop import runs
    from oddhop.cli.settings import gathered, named_nodes
    from oddhop.cli.summary import tell

    chosen = gathered(None, [], read=read, detector=detector or "odd")
    with console.working():
        run = runs.score(
            model,
            edges,
            named_nodes(nodes),
            out=out,
            settings=chosen,
            **{"top" if name == "top_k" else name: value for name, value in learn.items()},
            log=console,
            **output,
        )
    budgeted = "top_k" in learn or "max_chance" in learn
    tell(console, run, learn.get("top_k"), budgeted=budgeted, listed=output.get("write_to") != "-")
