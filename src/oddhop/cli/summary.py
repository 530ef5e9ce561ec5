"""The summary of a command: the first cases of the ranking, and where the results are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oddhop.base.printable import spelled
from oddhop.cases.case import Case, Cases, Nouns, Technical
from oddhop.cases.words import amount_text, roles, sentence, short_window
from oddhop.cli.console import Console, labelled
from oddhop.explain.phrases import counted, one_in, spoken

if TYPE_CHECKING:
    import pyarrow as pa

    from oddhop.runs import Comparison, Run

SHOWN, MOST_SHOWN = 10, 20


def tell(console: Console, run: Run, top: int | None, *, budgeted: bool, listed: bool = True) -> None:
    """Print what a run found: the list of cases, what changed, how far to trust it, the files, and what to do next.

    ``budgeted`` says whether any nodes were to be flagged, and ``listed`` whether standard output may take lists.
    """
    if not run.made_now:
        return
    if listed and run.cases is not None:
        show_cases(run.cases, _count(run, top))
    elif listed:
        show_top(run.result, top)
    _say_cases(console, run)
    if run.changes is not None:
        said, drift = "\n".join(run.changes.sentences), run.changes.drift
        counts, again = dict(run.changes.counts), list(drift.fit_again)
        console.say("changed", said, counts=counts, score_psi=drift.score_psi, fit_again=again)
    _say_where(console, run, budgeted=budgeted)


def _count(run: Run, top: int | None) -> int:
    """Return how many cases to print: the flagged ones, or as many as were asked for; at most twenty."""
    return min(max(_grown(run), top or 0) or SHOWN, MOST_SHOWN)


def _grown(run: Run) -> int:
    """Return how many cases grew from flagged nodes."""
    if run.cases is None:
        return 0
    return run.cases.grown_from(set(run.result.filter(run.result["flagged"])["id"].to_pylist()))


def show_cases(cases: Cases, count: int) -> None:
    """Print the first cases that are not hidden, a line each."""
    from rich.table import Table
    from rich.text import Text

    nouns, known = cases.nouns, [one for one in cases.cases if one.status != "cleared"]
    shown = known[:count]
    first = f"The first {len(shown)} of {len(known):,}" if len(shown) < len(known) else f"{len(known)}"
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", justify="right")
    table.add_column(f"{first} cases, the most unusual first", overflow="fold")
    table.add_column(spelled(nouns.nodes), justify="right", no_wrap=True)
    more = {
        "amount": [amount_text(one.amount, nouns) for one in shown],
        "when": [short_window(one) for one in shown],
        "status": [one.status for one in shown],
    }
    more = {name: values for name, values in more.items() if any(values)}
    for name in more:
        table.add_column(name, justify="right" if name == "amount" else "left", no_wrap=True)
    for k, one in enumerate(shown):
        members = len(one.members) + one.more_members
        rest = (Text(spelled(values[k])) for values in more.values())
        table.add_row(str(one.number), Text(spelled(one.short)), f"{members:,}", *rest)
    _terminal().print(table)


def lines_of(case: Case, nouns: Nouns) -> list[str]:
    """Return a case as lines: what happened, who, what is usual beside it, what it could be, where to look next."""
    known = [(text, [*map(str, ids), *([f"{more:,} more"] if more else [])]) for text, ids, more in roles(case, nouns)]
    could = case.reading
    parts = [
        (f"Case {case.number}" if case.number else "Case", [sentence(case.headline)]),
        ("Who", [f"{text}: {spoken(ids)}" for text, ids in known]),
        ("Facts", [f"{fact.here} {fact.usual}" for fact in case.facts]),
        ("Could be", [] if could is None else [could.looks_like, f"{could.could_be} {could.test}"]),
        ("Next", list(case.next)),
        ("How sure", [] if case.sure is None else [case.sure.sentence]),
    ]
    return _labelled(parts)


def lines_of_figures(one: Technical, cases: Cases) -> list[str]:
    """Return what the detector computed for one node as lines: its score, the views, columns and links."""
    ranks = [member.rank for case in cases.cases for member in case.members if member.id == one.id and member.rank]
    place = [f"rank {rank:,} of {cases.nodes:,}" for rank in ranks[:1]]
    kind = [max(one.views, key=lambda view: view[2])[0]] if one.views else []
    views = ", ".join(f"{name} {one_in(p, cases.nodes)}" for name, p, _ in one.views)
    parts = [
        ("Score", [f"{one.id}: {', '.join([*kind, f'score {one.score:.2f}', *place])}"]),
        ("Views", [f"Ordinary {cases.nouns.nodes} this unusual: {views}."] if views else []),
        ("Columns", list(one.columns)),
        ("Links", list(one.sentences)),
    ]
    return _labelled(parts)


def _labelled(parts: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    return [labelled(label, "\n".join(text.strip() for text in texts)) for label, texts in parts if texts]


def show_top(result: pa.Table, top: int | None) -> None:
    """Print the first nodes of a run whose nodes were not explained, one row each."""
    from rich.table import Table
    from rich.text import Text

    shown = result.slice(0, min(top or SHOWN, MOST_SHOWN)).to_pylist()
    table = Table(title=f"Top {len(shown)} of {result.num_rows:,} nodes", title_justify="left")
    for name, justify in (("rank", "right"), ("id", "left"), ("score", "right"), ("90 % rank interval", "right")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in shown:
        interval = f"{row['rank_low']:,}-{row['rank_high']:,}"
        table.add_row(f"{row['rank']:,}", Text(spelled(str(row["id"]))), f"{row['score']:.3f}", interval)
    _terminal().print(table)


def _terminal() -> Any:
    """Return where tables go; outside a terminal there is no width to keep to, and a folded id is hard to find."""
    from rich.console import Console as Terminal

    return Terminal(width=None if sys.stdout.isatty() else 160, highlight=False)


def show_changes(changes: Comparison) -> None:
    """Print the nodes that changed, a table for every sort of change and twenty rows at most in each."""
    import pyarrow.compute as pc  # a list of cases does not wait for it
    from rich.table import Table
    from rich.text import Text

    terminal = _terminal()
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
    from oddhop.runs.folder import CSV, PARQUET, REPORT

    figures = run.figures
    unjudged = figures["rows"] - figures["judged"]
    nodes = "nodes" if run.cases is None else run.cases.nouns.nodes
    if unjudged:
        console.say("unjudged", f"{unjudged:,} {nodes} have no neighbours and were not ranked", count=unjudged)
    if figures["cells_quoted_in_csv"]:
        count = figures["cells_quoted_in_csv"]
        cells = counted(count, "cell")
        console.say("quoted", f"quoted in {CSV}, so that a spreadsheet runs no formula: {cells}", count=count)
    if figures.get("ending"):
        console.say("ending", figures["ending"]["sentence"], stand_out=figures["ending"]["stand_out"])
    if figures["threshold"] is not None:
        cases = _grown(run)
        whose = "" if budgeted else ", by the threshold of the model"
        flagged = f"{figures['flagged']:,} {nodes}{f' in {cases:,} cases' if cases > 1 else ''}{whose}"
    elif budgeted:
        flagged = f"no {nodes}: those at the cut-off have equal scores, or too many are expected by chance"
    else:
        flagged = f"no {nodes}: to flag some, give --top K or --max-chance 0.1"
    folder, lines = run.folder, []
    if (folder / REPORT).exists():
        lines.append((f"{folder / REPORT}", "the cases with pictures; open it first"))
    if (folder / CSV).exists():
        lines.append((f"{folder / CSV}", f"all {figures['rows']:,}, ranked"))
    lines.append((f"{folder / PARQUET}", "the same as Parquet" if len(lines) else "in the order of the ranks"))
    wide = max(len(name) for name, _ in lines)
    files = labelled("Files", "\n".join(f"{name:<{wide}}  {what}" for name, what in lines))
    after = ""
    if run.cases is not None and run.cases.cases:
        after = "\n" + labelled("Next", f"oddhop review {folder} --cases cases.db")
    told = {name: value for name, value in figures.items() if name not in ("threshold", "ending")}
    console.say("done", f"{labelled('Flagged', flagged)}\n{files}{after}", folder=str(folder), **told)


def _say_cases(console: Console, run: Run) -> None:
    """Say how many cases are new, and how many are hidden because they were cleared."""
    counts = run.figures.get("cases")
    if counts is None:
        return
    shown = [f"{count:,} {status}" for status, count in counts.items() if status != "cleared"]
    hidden = counts.get("cleared", 0)
    are = "case is" if hidden == 1 else "cases are"
    away = f"; {hidden:,} cleared {are} hidden because little has changed since the verdict" if hidden else ""
    console.say("cases", labelled("Cases", f"{', '.join(shown) or 'none'}{away}"), **counts)
