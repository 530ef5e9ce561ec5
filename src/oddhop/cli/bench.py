"""``oddhop bench``: run the benchmark, and write its page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from oddhop.errors import OddhopError

app = typer.Typer(no_args_is_help=True, help="Run the benchmark, and write its page.")

LINES = Path("benchmarks/cells.jsonl")
Lines = Annotated[Path, typer.Option("--lines", help="The file with one JSON line a cell.")]
Data = Annotated[str | None, typer.Option("--data", help="The folder with the networks; else ODDHOP_DATA names it.")]


@app.command()
def run(
    suite: Annotated[str, typer.Option("--suite", help="paper, more, growth or ci.")],
    lines: Lines = LINES,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Cells at a time, one thread each.")] = 1,
    data: Data = None,
    match: Annotated[list[str] | None, typer.Option("--match", help="Only cells that this text describes.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed and over-budget cells again.")] = False,
) -> None:
    """Run the cells of a suite that are not in the file yet; a killed run goes on when called again."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from oddhop.bench.networks import data_folder
    from oddhop.bench.runner import run_cells
    from oddhop.bench.suites import suite as cells_of

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with plain_errors(), Progress(*columns, TimeRemainingColumn()) as bar:
        cells = [cell for cell in cells_of(suite) if all(text in cell.key for text in match or ())]
        folder = str(data_folder(data).resolve())
        task = bar.add_task(f"{suite}", total=len(cells))
        ran = run_cells(
            cells,
            lines,
            jobs=jobs,
            folder=folder,
            retry=retry,
            progress=lambda _, done, total: bar.update(task, completed=done, total=total),
        )
    typer.echo(f"{ran} cells run, {len(cells) - ran} were there; oddhop bench report --lines {lines}")


@app.command()
def report(
    lines: Lines = LINES,
    page: Annotated[Path, typer.Option("--page", help="The page to write.")] = Path("docs/benchmark.md"),
) -> None:
    """Write the page and its pictures from the lines alone."""
    from oddhop.bench.page import write_page

    with plain_errors():
        for path in write_page(lines, page):
            typer.echo(str(path))


@contextmanager
def plain_errors() -> Iterator[None]:
    """Say what went wrong in one sentence and end with 2, without a trace of calls."""
    try:
        yield
    except OddhopError as error:
        typer.echo(f"oddhop: {error}", err=True)
        raise typer.Exit(2) from None
