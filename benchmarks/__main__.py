"""``python -m benchmarks``, from a checkout: run the benchmark, write its page, and inject known anomalies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.inject_command import Data, inject
from oddhop.cli import options as o
from oddhop.cli.console import Console
from oddhop.cli.helping import Commands

app = typer.Typer(
    cls=Commands,  # which makes the options of a command when it is asked for
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run the benchmark of detectors, write a page with the results, and inject known anomalies into a network.",
)

LINES = Path("benchmarks/cells.jsonl")
Lines = Annotated[
    Path,
    typer.Option(
        "--lines",
        help="File with the results, one line of JSON per cell. A cell is one run of one detector on one network.",
    ),
]


@app.command()
@o.command()
def run(
    suite: Annotated[
        str,
        typer.Option(
            "--suite", help="Suite to run: paper, published, sweeps, more, held-out, growth or ci.", show_default=False
        ),
    ],
    lines: Lines = LINES,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Number of cells to run at the same time, each on one core.")
    ] = 1,
    match: Annotated[
        list[str] | None,
        typer.Option("--match", help="Run only cells whose key contains this text (repeatable).", show_default=False),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Repeat cells that failed or exceeded their budget.")] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Run all cells in this process, without a budget: for trivial scores.")
    ] = False,
    data: Data = None,
    *,
    console: Console,
) -> None:
    """Run the cells of a benchmark suite that have no result yet. After an interruption, run the same command again.

    The exit code is 1 if a cell failed. A cell that exceeds its time or memory budget does not count as failed.

    Example:

        python -m benchmarks run --suite paper --jobs 2
    """
    from benchmarks.comparison.cells import SYNTHETIC
    from benchmarks.comparison.runner import read_lines, run_cells
    from benchmarks.comparison.suites import suite as cells_of
    from benchmarks.networks import data_folder

    cells = [cell for cell in cells_of(suite) if all(text in cell.key for text in match or ())]
    stored = any(not cell.network.startswith(SYNTHETIC) for cell in cells)
    folder = str(data_folder(data).resolve()) if stored else None
    with console.working():
        ran = run_cells(cells, lines, jobs=jobs, folder=folder, retry=retry, here=here, progress=console.progress)
    console.say("ran", f"{ran} cells run, {len(cells) - ran} already done: {lines}", ran=ran, there=len(cells) - ran)
    keys = {cell.key for cell in cells}
    failed = [line for line in read_lines(lines) if line["key"] in keys and line["status"] == "failed"]
    for line in failed:
        console.say("failed", f"failed: {line['detector']} on {line['network']}: {line['error']}", key=line["key"])
    if failed:
        raise typer.Exit(1)


@app.command()
@o.command()
def report(
    lines: Lines = LINES,
    page: Annotated[Path, typer.Option("--page", help="Page to write, as a Markdown file.")] = Path(
        "benchmarks/tables.md"
    ),
) -> None:
    """Write the results page and its pictures from the file with the results.

    Example:

        python -m benchmarks report
    """
    from benchmarks.comparison.page import write_page

    for path in write_page(lines, page):
        typer.echo(str(path))


app.command()(inject)

if __name__ == "__main__":
    app()
