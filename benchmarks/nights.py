"""Thirty nights of a made-up bank: a frozen model scores a window of 29 days that moves by one day a night.

``python -m benchmarks.nights run FOLDER`` makes the tables, fits on the night before with ``--top 5``, and scores every
night by that model and its threshold, with a book of cases and ``--since`` the night before. A person then confirms the
new cases that hold a planted account and clears the others. ``--kill SEED`` kills every night once, at a moment drawn
with that seed, and resumes it. ``python -m benchmarks.nights same ONE TWO`` compares two such folders byte by byte, and
``python -m benchmarks.nights tell FOLDER`` prints the figures.

Accounts open and close: one in fifty each during the month. Plants appear on known nights, all of their payments on
one day. It is a smoke test, not evidence: whoever wrote the plants wrote the detector.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import bank as b

NIGHTS = 30
SCHEDULE = (
    (2, b.MULE),
    (7, b.COLLECTOR),
    (9, b.SMURF),
    (11, b.CYCLE),
    (13, b.RING),
    (15, b.MISFIT),
    (17, b.MULE),
    (20, b.COLLECTOR),
    (22, b.SMURF),
    (24, b.CYCLE),
    (26, b.RING),
)
ALERTS = 5  # cases above the threshold on the night of the fit
BUDGET = 20
HEADINGS = (
    *("night", "planted", "new cases", "of them honest", "changed or back", "nodes above the threshold", "kept"),
    *("precision at 20 cases", "isolation forest, 20 accounts", "plants so far"),
    *("newly odd", "of them honest", "by others alone", "newly listed"),
)
FILES = ("results.parquet", "results.csv", "state.parquet", "changes.parquet", "report.html", "model.oddhop")


def scheme(rng: np.random.Generator, what: str, who: np.ndarray, others: np.ndarray, day: int) -> list[b.Payments]:
    """Write the payments of one plant, all of them on one day."""
    start = day * b.DAY
    if what == b.MULE:
        coming, when = rng.integers(20_000, 90_000, 48), start + rng.integers(0, 20 * 3600, 48)
        gone = when + rng.integers(60, 3600, 48)
        payers = rng.choice(others, 48, replace=False)
        return [
            b.Payments.of(payers, who[0], coming, when, kind=1),
            b.Payments.of(who[0], rng.choice(others), coming * 96 // 100, gone, kind=1),
        ]
    if what == b.COLLECTOR:
        when = start + rng.integers(0, b.DAY, 200)
        return [b.Payments.of(rng.choice(others, 200, replace=False), who[0], 4_900, when, kind=1)]
    if what == b.SMURF:
        payees, cents = rng.choice(rng.choice(others, 10), 30), rng.integers(940_000, 999_900, 30)
        return [b.Payments.of(who[0], payees, cents, start + rng.integers(0, b.DAY, 30), kind=1)]
    if what == b.CYCLE:
        parts = []
        for turn in range(2):
            cents, second = 500_000, start + turn * 11 * 3600
            for k in range(6):
                parts.append(b.Payments.of([who[k]], [who[(k + 1) % 6]], [cents], [second], kind=1))
                cents, second = cents * 97 // 100, second + int(rng.integers(1_800, 2 * 3_600))
        return parts
    if what == b.RING:
        pairs = np.array([(one, two) for one in who for two in who if one != two])
        when = start + rng.integers(0, b.DAY, len(pairs))
        return [b.Payments.of(pairs[:, 0], pairs[:, 1], rng.integers(5_000, 60_000, len(pairs)), when, kind=1)]
    return []


def make(folder: Path, seed: int, window: int, accounts: int = 20_000, payments: int = 150_000) -> None:
    """Write payments.parquet, the accounts of every night, and plants.json."""
    rng = np.random.default_rng([seed, 7])
    days = window + NIGHTS + 1
    trade, city = rng.choice(len(b.TRADES), accounts, p=b.SHARES), rng.integers(0, b.CITIES, accounts)
    picks = rng.permutation(accounts)
    size = {b.CYCLE: 6, b.RING: 8}
    parts = b.ordinary(rng, trade, city, days, payments * days // b.WINDOW)
    plants, used = [], 0
    for night, what in SCHEDULE:
        who = picks[used : used + size.get(what, 1)]
        used += who.size
        trade[who] = 0
        parts += scheme(rng, what, who, picks[1_000:], window + night - 1)
        plants.append({"night": night, "what": what, "who": [f"A{k:05d}" for k in who]})
    opened, closed = np.full(accounts, -1), np.full(accounts, days + 1)
    free = picks[1_000:]
    opened[free[: accounts // 50]] = window + rng.integers(0, NIGHTS, accounts // 50)
    closed[free[-accounts // 50 :]] = window + rng.integers(0, NIGHTS, accounts // 50)
    whole = b.Payments.together(parts)
    day = whole.second // b.DAY
    alive = np.ones(day.size, dtype=bool)
    for end in (whole.source, whole.target):
        alive &= (day >= opened[end]) & (day < closed[end])
    names = np.array([f"A{k:05d}" for k in range(accounts)])
    pq.write_table(
        pa.table(
            {
                "payer": names[whole.source[alive]],
                "payee": names[whole.target[alive]],
                "amount": whole.cents[alive] / 100,
                "time": b.EPOCH + whole.second[alive].astype("timedelta64[s]"),
                "kind": np.array(b.KINDS)[whole.kind[alive]],
            }
        ),
        folder / "payments.parquet",
    )
    table = pa.table({"account": names, **b.columns(np.random.default_rng([seed, 8]), trade, city)})
    misfits = [plant for plant in plants if plant["what"] == b.MISFIT]
    other = trade.copy()
    other[[int(name[1:]) for plant in misfits for name in plant["who"]]] = 5
    changed = pa.table({"account": names, **b.columns(np.random.default_rng([seed, 8]), other, city)})
    for night in range(NIGHTS + 1):
        today = window + night
        taken = changed if misfits and night >= misfits[0]["night"] else table
        # A bank keeps the accounts that were open within the window.
        here = (opened < today) & (closed > today - window)
        pq.write_table(taken.filter(pa.array(here)), folder / f"accounts-{night:02d}.parquet")
    (folder / "plants.json").write_text(json.dumps({"window": window, "plants": plants}))


def window_of(folder: Path) -> int:
    return int(json.loads((folder / "plants.json").read_text())["window"])


def planted_in(folder: Path) -> list[dict[str, Any]]:
    return list(json.loads((folder / "plants.json").read_text())["plants"])


def day_text(day: int) -> str:
    return str(b.EPOCH + np.timedelta64(day * b.DAY, "s"))[:10]


def command(folder: Path, night: int) -> list[str]:
    """Return the command of a night; night 0 is the fit."""
    tables = [str(folder / "payments.parquet"), "--nodes", str(folder / f"accounts-{night:02d}.parquet")]
    tables += ["--from", day_text(night), "--until", day_text(night + window_of(folder))]
    if night == 0:
        out = ["--out", str(folder / "fit"), "--top", str(ALERTS), "--seed", "0", "--resume"]
        return ["detect", *tables, *out]
    before = folder / "runs" / f"{night - 1:02d}"
    since = ["--since", str(before)] if night > 1 else []
    out = ["--out", str(folder / "runs" / f"{night:02d}"), "--explain", "40"]
    out += ["--resume", "--log-format", "json"]
    return ["score", str(folder / "fit" / "model.oddhop"), *tables, *out, "--cases", str(folder / "cases.db"), *since]


def oddhop(arguments: list[str], kill_after: float | None = None) -> float:
    """Run a command; kill it after some seconds where that is said, and return how long it took."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [Path(sys.executable).with_name("oddhop"), *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, said = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(f"{arguments[0]}: {said.decode()[-2000:]}")
    return time.perf_counter() - begun


def judge(folder: Path, planted: set[str]) -> None:
    """Let a person confirm the new cases that hold a planted account, and clear the others."""
    from oddhop.casebook import NewVerdict, open_book

    with open_book(folder / "cases.db") as book:
        verdicts = [
            NewVerdict(one.case_id, "confirmed" if planted & set(one.members) else "cleared", who="ann")
            for one in book.latest("open")
        ]
        book.judge(verdicts)


def run(folder: Path, seed: int, window: int, kill: int | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "plants.json").exists():
        make(folder, seed, window)
    planted = {name for plant in planted_in(folder) for name in plant["who"]}
    rng = np.random.default_rng(kill)
    done = folder / "nights.jsonl"
    told = [json.loads(line) for line in done.read_text().splitlines()] if done.exists() else []
    last = max((one["seconds"] for one in told), default=20.0)
    for night in range(len(told), NIGHTS + 1):
        (folder / "runs").mkdir(exist_ok=True)
        killed = kill is not None and night > 0
        after = float(rng.uniform(0.2, 1.0)) * last
        if killed:
            oddhop(command(folder, night), kill_after=after)
        seconds = oddhop(command(folder, night))
        row = {"night": night, "seconds": round(seconds, 2), "killed_after": round(after, 1) if killed else None}
        if night:
            last = max(seconds, 5.0)
            row |= figures(folder, night) | ({} if killed else {"forest": forest(folder, night)})
            judge(folder, planted)
        with done.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def figures(folder: Path, night: int) -> dict[str, object]:
    """Return what a night reported: the cases that are new, changed or back, and who stands on the list."""
    result = pq.read_table(folder / "runs" / f"{night:02d}" / "results.parquet")
    manifest = json.loads((folder / "runs" / f"{night:02d}" / "manifest.json").read_text())
    head = result.filter(pc.is_valid(result["status"]))
    listed = {}
    for row in head.select(["id", "case_id", "status"]).to_pylist():
        listed.setdefault(row["status"], {}).setdefault(row["case_id"], []).append(row["id"])
    # Who lies above the threshold, cleared or not.
    above = result.filter(pc.greater(result["score"], manifest["results"]["threshold"] or float("inf")))["id"]
    first = result.filter(pc.less_equal(result["case"], BUDGET))
    cases: dict[int, list[str]] = {}
    for row in first.select(["id", "case"]).to_pylist():
        cases.setdefault(row["case"], []).append(row["id"])
    changes = manifest.get("changes", {}).get("sentences", [])
    written = folder / "runs" / f"{night:02d}" / "changes.parquet"
    news = pq.read_table(written).to_pylist() if written.exists() else []
    return {
        "news": {
            what: {row["id"]: row["why"] for row in news if row["what"] == what}
            for what in ("newly odd", "newly listed", "new node")
        },
        "listed": listed,
        "above": above.to_pylist(),
        "first": list(cases.values()),
        "fit_again": [one for one in changes if one.startswith("fit again")],
    }


def forest(folder: Path, night: int) -> list[str]:
    """Return the first accounts of an isolation forest on the same columns, those of the events too."""
    from sklearn.ensemble import IsolationForest

    from oddhop import load, read_network

    network = read_network(
        folder / "payments.parquet",
        folder / f"accounts-{night:02d}.parquet",
        since=day_text(night),
        until=day_text(night + window_of(folder)),
        encoding=load(folder / "fit" / "model.oddhop").model_.encoding,
    )
    values = network.graph.attributes
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    score = -IsolationForest(n_estimators=100, random_state=night, n_jobs=1).fit(values).score_samples(values)
    return network.ids.take(pa.array(np.argsort(-score, kind="stable")[:BUDGET])).to_pylist()


def tell(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "nights.jsonl").read_text().splitlines()]
    plants = planted_in(folder)
    nights = [row for row in rows if row["night"]]
    owner = {name: k for k, plant in enumerate(plants) for name in plant["who"]}
    reported: dict[int, list[tuple[int, str]]] = {k: [] for k in range(len(plants))}
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    quiet, kept_all, alarms, before = [], [], [], None
    for row in nights:
        new = row["listed"].get("new", {})
        again = {**row["listed"].get("changed", {}), **row["listed"].get("back", {})}
        for status, cases in (("new", new), ("again", again)):
            for members in cases.values():
                for k in {owner[name] for name in members if name in owner}:
                    reported[k].append((row["night"], status))
        honest = sum(not any(name in owner for name in members) for members in new.values())
        planted = [plant["what"] for plant in plants if plant["night"] == row["night"]]
        active = {k for k, plant in enumerate(plants) if plant["night"] <= row["night"]}
        right = sum(any(owner.get(name) in active for name in members) for members in row["first"])
        theirs = sum(owner.get(name) in active for name in row["forest"])
        kept = None if not before else len(before & set(row["above"])) / len(before)
        before = set(row["above"])
        if kept is not None:
            kept_all.append(kept)
        if not planted:
            quiet.append(len(new))
        stayed = "" if kept is None else f"{kept:.0%}"
        cells = (row["night"], ", ".join(planted), len(new), honest, len(again), len(row["above"]), stayed)
        cells += (f"{right / BUDGET:.2f}", f"{theirs / BUDGET:.2f}", len(active))
        odd = row["news"]["newly odd"]
        alarms.append(bool(odd or row["news"]["new node"]))
        false = [name for name, why in odd.items() if why.startswith("only other")]
        cells += (len(odd), sum(name not in owner for name in odd), len(false), len(row["news"]["newly listed"]))
        print(f"| {' | '.join(map(str, cells))} |")
    print()
    for k, plant in enumerate(plants):
        print(f"{plant['what']} of night {plant['night']}: {reported[k]}")
    print(f"nights with exit code 11: {sum(alarms)} of {len(alarms) - 1}")
    seconds = np.median([row["seconds"] for row in nights])
    print(f"new cases on nights without a plant: {quiet}")
    print(f"kept from night to night: least {min(kept_all):.0%}, mean {np.mean(kept_all):.0%}")
    print(f"seconds a night: median {seconds:.1f}; the fit {rows[0]['seconds']:.1f}")


def same(one: Path, two: Path) -> None:
    """Compare the files of the nights that both months have, and their books without the times."""
    from oddhop.casebook import open_book

    whole = [{path.parent.name for path in (folder / "runs").glob("*/manifest.json")} for folder in (one, two)]
    nights, differ, compared = sorted(whole[0] & whole[1]), [], 0
    for night in nights:
        for name in FILES:
            left, right = (folder / "runs" / night / name for folder in (one, two))
            compared += left.exists()
            if left.exists() != right.exists() or (left.exists() and left.read_bytes() != right.read_bytes()):
                differ.append(f"{night}/{name}")
    books = []
    for folder in (one, two):
        with open_book(folder / "cases.db", create=False) as book:
            mine = [entry for entry in book.entries() if (entry.run or "").split()[0] in nights]
        books.append(sorted((e.case_id, e.verdict, e.members, e.run, e.rank, e.score) for e in mine))
    alike = "the same" if books[0] == books[1] else "not the same"
    print(f"{len(nights)} nights, {compared} files: {len(differ)} differ {differ[:10]}")
    print(f"{len(books[0])} and {len(books[1])} entries of the book, {alike}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tell", "same"))
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--window", type=int, default=b.WINDOW, help="days; wages and rents come every thirty")
    parser.add_argument("--kill", type=int)
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.folders[0], asked.seed, asked.window, asked.kill)
    elif asked.what == "tell":
        tell(asked.folders[0])
    else:
        same(*asked.folders)


if __name__ == "__main__":
    main()
