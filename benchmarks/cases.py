"""Whether cases hold the schemes of the made-up bank: members, events, and how many cases a scheme is torn into.

    python -m benchmarks.cases --seeds 1 2 3 4 5 6 7 8 9 10        # about 25 s a seed
    python -m benchmarks.cases --page                              # the tables of what was measured

Two questions. Seeded: a case is grown from the core account of a scheme that the ranking has first. Printed: the cases
of the first 50 nodes. Counterparts that a case lists as members count as wrong. Every seed is a line of ``--log`` with
the sha256 of the sources; what was measured with these sources is not measured again. Seeds 21 to 25 and 51 to 55 are
closed: they are opened once, when everything is frozen.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv

from benchmarks.schemes import payments
from benchmarks.schemes.__main__ import source_digest
from benchmarks.schemes.measure import NODES
from benchmarks.schemes.questions import arrow
from benchmarks.schemes.world import Mark, Tables
from oddhop import Odd, read_network
from oddhop.cases.find import CaseFinder
from oddhop.cases.growth import Draft
from oddhop.cases.nouns import nouns_of

CLOSED = (*range(21, 26), *range(51, 56))
LEFT_OUT = {"amounts": ("amount",), "times": ("booked_at",)}


def measured(seed: int, without: str = "") -> dict[str, Any]:
    """Measure one seed, with all columns of the events or without some."""
    tables = payments.make(seed)
    events = {name: values for name, values in tables.events.items() if name not in LEFT_OUT.get(without, ())}
    with tempfile.TemporaryDirectory() as home:
        for name, columns in (("accounts", tables.nodes), ("payments", events)):
            pa_csv.write_csv(arrow(columns), f"{home}/{name}.csv")
        network = read_network(f"{home}/payments.csv", f"{home}/accounts.csv")
    detector = Odd(random_state=seed, simulate=False, n_resamples=2).fit(network)
    result = detector.result_
    finder = detector.case_finder(network, result, nouns_of(network, "payments.csv", "accounts.csv"))
    judged = result.filter(result["judged"])["id"].to_pylist()
    first = network.numbers(judged[:NODES])
    printed = finder.drafts(list(detector.explain_nodes(network, result, first)))
    rank = {node: place for place, node in enumerate(judged)}
    schemes = [
        {**key, **_seeded(finder, mine, rank, tables), **_printed(finder, mine, printed)}
        for key, mine in _by_scheme(tables.marks)
    ]
    core = {mark.node for mark in tables.marks if mark.core}
    background = [len(one.members) for one in printed if not core & {str(network.name(node)) for node in one.members}]
    return {"schemes": schemes, "background": background, "cases": len(printed)}


def _by_scheme(marks: Sequence[Mark]) -> Iterable[tuple[dict[str, Any], list[Mark]]]:
    keys = dict.fromkeys((mark.scheme, mark.innocent) for mark in marks if mark.scheme != "oddity")
    for scheme, innocent in keys:
        mine = [mark for mark in marks if (mark.scheme, mark.innocent) == (scheme, innocent)]
        yield {"scheme": scheme, "innocent": innocent}, mine


def _seeded(finder: CaseFinder, mine: Sequence[Mark], rank: Mapping[str, int], tables: Tables) -> dict[str, Any]:
    """Compare the case of the core account that is ranked first with the scheme."""
    core, everybody = {mark.node for mark in mine if mark.core}, {mark.node for mark in mine}
    best = min(core, key=lambda node: (rank.get(node, len(rank)), node))
    draft = finder.gathered(int(finder.network.numbers([best])[0]))
    members = {str(finder.network.name(node)) for node in draft.members}
    events, found = {row for mark in mine for row in mark.events}, _rows(finder, draft, tables)
    return {
        "members": len(members),
        "precision": len(members & everybody) / len(members),
        "recall": len(members & core) / len(core),
        "event precision": len(found & events) / len(found) if found else 0.0,
        "event recall": len(found & events) / max(len(events), 1),
    }


def _rows(finder: CaseFinder, draft: Draft, tables: Tables) -> set[int]:
    """Return the rows of the table of events that a draft has."""
    book = finder.book
    if book is None:
        return set()
    nodes = tables.nodes["account"]
    number = dict(zip(nodes.tolist(), finder.network.numbers(nodes.tolist()).tolist(), strict=True))
    key = "amount" if book.paid else "booked_at"
    sides = [np.array([number[one] for one in tables.events[end].tolist()]) for end in ("payer", "payee")]
    values = tables.events[key]
    told = (
        values.astype("datetime64[us]").astype(np.int64) if key == "booked_at" else np.round(values * 100).astype(int)
    )
    rows: dict[tuple[int, int, int], list[int]] = {}
    for row, one in enumerate(zip(sides[0].tolist(), sides[1].tolist(), told.tolist(), strict=True)):
        rows.setdefault(one, []).append(row)
    out = set[int]()
    for event in draft.events:
        value = int(book.when[event]) if key == "booked_at" else round(float(book.told[event]) * 100)
        out.update(rows.get((int(book.source[event]), int(book.target[event]), value), []))
    return out


def _printed(finder: CaseFinder, mine: Sequence[Mark], printed: Sequence[Draft]) -> dict[str, Any]:
    """Count the printed cases that were grown from core accounts, and the core accounts in the first of them."""
    core = {int(node) for node in finder.network.numbers([mark.node for mark in mine if mark.core])}
    own = [one for one in printed if core & {*one.seeds}]
    got = len(core & {*own[0].members}) / len(core) if own else None
    return {"printed": len(own), "printed recall": got}


def page(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the tables of what was measured."""
    out = []
    for without in dict.fromkeys(line["without"] for line in lines):
        mine = [line for line in lines if line["without"] == without]
        seeds = ", ".join(str(line["seed"]) for line in mine)
        out += [f"Seeds {seeds}{f', without {without}' if without else ''}:", ""]
        names = ("precision", "recall", "event precision", "event recall", "members", "printed", "printed recall")
        out += [f"| scheme | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
        for innocent in (False, True):
            rows = [row for line in mine for row in line["found"]["schemes"] if row["innocent"] == innocent]
            what = "twin" if innocent else "crime"
            for scheme in [*dict.fromkeys(row["scheme"] for row in rows), ""]:
                some = [row for row in rows if scheme in ("", row["scheme"])]
                cells = [_mean(row[name] for row in some if name != "printed" or row[name]) for name in names]
                out.append(f"| {what} {scheme or '**mean**'} | {' | '.join(cells)} |")
        sizes = [size for line in mine for size in line["found"]["background"]]
        single = np.mean([size == 1 for size in sizes]) if sizes else 0
        out += ["", f"Background cases: {len(sizes)}, members {np.mean(sizes):.2f} in the mean, {max(sizes)} at most, "]
        out[-1] += f"{single:.0%} with one. Cases of the first {NODES} nodes: "
        out[-1] += f"{np.mean([line['found']['cases'] for line in mine]):.1f} in the mean.\n"
    return "\n".join(out)


def _mean(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.2f}" if known else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 11)))
    parser.add_argument("--without", choices=["", *LEFT_OUT], default="")
    parser.add_argument("--log", type=Path, default=Path("cases.jsonl"))
    parser.add_argument("--page", action="store_true", help="print the tables of the log, and measure nothing")
    parser.add_argument("--open-held-out", action="store_true", help="measure closed seeds")
    asked = parser.parse_args()
    if {*asked.seeds} & {*CLOSED} and not asked.open_held_out and not asked.page:
        parser.error("seeds 21 to 25 and 51 to 55 are opened once, when everything is frozen: --open-held-out")
    lines = [json.loads(line) for line in asked.log.read_text().splitlines()] if asked.log.exists() else []
    source = source_digest()
    mine = [line for line in lines if line["source"] == source]
    known = [(line["seed"], line["without"]) for line in mine]
    for seed in [] if asked.page else asked.seeds:
        if (seed, asked.without) in known:
            continue
        start = time.perf_counter()
        line = {"source": source, "seed": seed, "without": asked.without, "found": measured(seed, asked.without)}
        mine.append({**line, "seconds": round(time.perf_counter() - start, 1), "command": sys.argv[1:]})
        with asked.log.open("a") as log:
            log.write(json.dumps(mine[-1]) + "\n")
        print(f"seed {seed}: {mine[-1]['seconds']} s", file=sys.stderr, flush=True)
    print(f"Sources {source}\n\n{page(mine)}")


if __name__ == "__main__":
    main()
