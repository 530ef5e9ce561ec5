"""The summary of a command: the first cases of the ranking, and where the results are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.printable import spelled
from oddhop.cli.console import Console
from oddhop.runs.folder import CSV, PARQUET, REPORT

if TYPE_CHECKING:
    from oddhop.runs import Comparison, Run

SHOWN, MOST_SHOWN = 10, 20


def tell(console: Console, run: Run, top: int | None, *, budgeted: bool, listed: bool = True) -> None:
    """Print what a run found.

    ``budgeted`` says whether any nodes were to be flagged, and ``listed`` whether standard output may take lists.
    """
    if not run.made_now:
        return
    if listed:
        show_top(run.result, top)
    _say_cases(console, run)
    _say_where(console, run, budgeted=budgeted)
    if run.changes is not None:
        if listed:
            show_changes(run.changes)
        said, drift = "\n".join(run.changes.sentences), run.changes.drift
        counts, again = dict(run.changes.counts), list(drift.fit_again)
        console.say("changed", said, counts=counts, score_psi=drift.score_psi, fit_again=again)


def show_top(result: pa.Table, top: int | None) -> None:
    """Print the first cases, one row each: as many as the budget, at most twenty; ten without a budget."""
    from rich.console import Console as Terminal
    from rich.table import Table
    from rich.text import Text

    cases = "case" in result.column_names and result["case"].null_count < result.num_rows
    found = _leaders(result) if cases else [(row, 0) for row in result.slice(0, MOST_SHOWN).to_pylist()]
    # Confirmed cases do not count against a budget: more cases may be flagged than it has.
    flagged = sum(row["flagged"] for row, _ in found)
    shown = found[: min(max(top or SHOWN, flagged), MOST_SHOWN)]
    what = "cases among" if cases else "of"
    more = f"; {flagged - len(shown):,} more flagged in the results" if flagged > len(shown) else ""
    table = Table(title=f"Top {len(shown)} {what} {result.num_rows:,} nodes{more}", title_justify="left")
    if cases:
        table.add_column("case", justify="right")
    for name, justify in (("rank", "right"), ("id", "left"), ("score", "right"), ("90 % rank interval", "right")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("edges", justify="right")
    kinds = "kind" in result.column_names
    if kinds:
        table.add_column("kind")
    book = "status" in result.column_names
    if book:
        table.add_column("status")
    table.add_column("flagged")
    for row, others in shown:
        table.add_row(
            *([f"{row['case']:,}" if row["case"] else ""] if cases else []),
            f"{row['rank']:,}",
            Text(spelled(str(row["id"])) + (f" and {others:,} more" if others else "")),
            f"{row['score']:.3f}",
            f"{row['rank_low']:,}-{row['rank_high']:,}",
            f"{row['degree']:,}",
            *([row["kind"]] if kinds else []),
            *([row["status"] or ""] if book else []),
            "yes" if row["flagged"] else "",
        )
    # Outside a terminal there is no width to keep to, and a folded id is hard to search for.
    Terminal(width=None if sys.stdout.isatty() else 160).print(table)


def _leaders(result: pa.Table) -> list[tuple[dict[str, Any], int]]:
    """Return the first node of every case that is not hidden, with the kinds of the case, and how many more it has."""
    rows = result.filter(pc.is_valid(result["case"])).to_pylist()
    members: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        members.setdefault(row["case"], []).append(row)
    shown = []
    for _, nodes in sorted(members.items()):
        listed = [row for row in nodes if row.get("status") != "cleared"]
        if listed:
            kinds = ", ".join(dict.fromkeys(row["kind"] for row in nodes if row.get("kind")))
            shown.append(({**listed[0], "kind": kinds}, len(nodes) - 1))
    return shown


def show_changes(changes: Comparison) -> None:
    """Print the nodes that changed, a table for every sort of change and twenty rows at most in each."""
    from rich.console import Console as Terminal
    from rich.table import Table
    from rich.text import Text

    terminal = Terminal(width=None if sys.stdout.isatty() else 160)
    for what in dict.fromkeys(changes.table["what"].to_pylist()):
        rows = changes.table.filter(pc.equal(changes.table["what"], what))
        shown = rows.slice(0, MOST_SHOWN).to_pylist()
        first = f", first {len(shown)} shown" if len(shown) < rows.num_rows else ""
        table = Table(title=f"{what}: {rows.num_rows:,}{first}", title_justify="left")
        for name in ("old rank", "new rank", "old score", "new score"):
            table.add_column(name, justify="right")
        for name in ("id", "kind", "why"):
            table.add_column(name, overflow="fold")
        for row in shown:
            ranks = ("" if row[name] is None else f"{row[name]:,}" for name in ("rank_then", "rank_now"))
            scores = ("" if row[name] is None else f"{row[name]:.3f}" for name in ("score_then", "score_now"))
            kinds = dict.fromkeys(kind for kind in (row["kind_then"], row["kind_now"]) if kind)
            words = (str(row["id"]), " to ".join(kinds), row["why"])
            table.add_row(*ranks, *scores, *(Text(spelled(word)) for word in words))
        terminal.print(table)


def _say_where(console: Console, run: Run, *, budgeted: bool) -> None:
    """Say where the results are and how many nodes were flagged; ``budgeted`` says whether any were to be flagged."""
    folder, figures = run.folder, run.figures
    unjudged = figures["rows"] - figures["judged"]
    if unjudged:
        console.say("unjudged", f"{unjudged:,} nodes have no neighbours and were not scored", count=unjudged)
    if figures["cells_quoted_in_csv"]:
        count = figures["cells_quoted_in_csv"]
        console.say(
            "quoted", f"{count:,} cells that a spreadsheet would run as a formula are quoted in {CSV}", count=count
        )
    if figures.get("ending"):
        console.say("ending", figures["ending"]["sentence"], stand_out=figures["ending"]["stand_out"])
    if figures["threshold"] is not None:
        whose = "" if budgeted else ", the threshold of the model"
        flagged = f"{figures['flagged']:,} nodes flagged (score above {figures['threshold']:.4g}{whose})"
        flagged += _cases_of(run.result)
    elif budgeted:
        flagged = "no nodes flagged: the nodes at the cut-off have equal scores, or too many are expected by chance"
    else:
        flagged = "no nodes flagged: give --top K or --max-chance 0.1 to flag nodes"
    report = f"\nreport: {folder / REPORT}" if (folder / REPORT).exists() else ""
    csv = f" and {folder / CSV}" if (folder / CSV).exists() else " (a folder of files in the order of the ranks)"
    told = {name: value for name, value in figures.items() if name not in ("threshold", "ending")}
    console.say("done", f"{flagged}\nresults: {folder / PARQUET}{csv}{report}", folder=str(folder), **told)


def _say_cases(console: Console, run: Run) -> None:
    """Say how many cases are new, and how many are hidden because they were cleared."""
    counts = run.figures.get("cases")
    if counts is None:
        return
    shown = [f"{count:,} {status}" for status, count in counts.items() if status != "cleared"]
    hidden = counts.get("cleared", 0)
    are = "case is" if hidden == 1 else "cases are"
    away = f"; {hidden:,} cleared {are} hidden because little has changed since the verdict" if hidden else ""
    console.say("cases", f"cases: {', '.join(shown) or 'none'}{away}", **counts)


def _cases_of(result: pa.Table) -> str:
    """Say how many cases the flagged nodes are, where all of them were explained and some are one case."""
    found = result.filter(result["flagged"])["case"] if "case" in result.column_names else pa.chunked_array([[]])
    count = len(found.unique())
    return f", {count:,} cases" if not found.null_count and 0 < count < len(found) else ""
