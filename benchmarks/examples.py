"""Make the tables that ship with oddhop: ``python -m benchmarks.examples``.

Everything is made up. Each case hides what its ``planted`` table lists, beside look-alikes that are innocent. The
tables go to ``src/oddhop/datasets``; the same seed gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(__file__).parents[1] / "src" / "oddhop" / "datasets"
SEED = 7
HOUR, DAY = 3_600, 86_400
Generator = np.random.Generator
Payment = tuple[int, int, float, int]
"""Payer, payee, euros, and the second of the month."""

TRADES = ("bakery", "florist", "garage", "hotel", "jeweller", "kiosk")
MEAN = {"bakery": 12, "florist": 30, "garage": 420, "hotel": 180, "jeweller": 900, "kiosk": 5}
OFTEN = {"bakery": 300, "florist": 90, "garage": 40, "hotel": 120, "jeweller": 15, "kiosk": 900}
ACCOUNTS = 600
PAYMENTS: dict[str, tuple[int, ...]] = {
    "clique": (101, 164, 202, 267, 303, 356, 404, 529),
    "ring": (40, 123, 213, 296, 413),
    "mule": (333,),
    "florist": (7,),
    "takeover": (311, 452, 580, 17),  # three that are paid at night, and the one to which they pass it on
    "chain": (58, 175, 262, 347, 434),
}
VICTIMS, ABROAD = (88, 149, 226, 371, 485, 560), 500
INNOCENT: dict[str, tuple[int, ...]] = {
    "treasurer": (190,), "employer": (245,), "night bakery": (66,), "family": (72, 139, 318)
}  # fmt: skip


def payments(rng: Generator) -> dict[str, pa.Table]:
    """Make May, with six schemes and four look-alikes, and June, with look-alikes alone."""
    trade = np.array(TRADES)[np.arange(ACCOUNTS) % len(TRADES)]
    opened = np.datetime64("2015-01-01") + rng.integers(0, 4_000, ACCOUNTS)
    opened[list(PAYMENTS["takeover"])] = np.datetime64("2026-04-20") + np.array([0, 1, 3, 1])
    names = np.array([f"A{k:04d}" for k in range(ACCOUNTS)])
    out: dict[str, pa.Table] = {}
    for ending, month in (("", "2026-05-01"), ("-june", "2026-06-01")):
        drawn = [*_ordinary(rng, trade), *_innocent(rng), *(() if ending else _schemes(rng, trade))]
        drawn.sort(key=lambda one: one[3])
        payer, payee, euros, second = (np.array(column) for column in zip(*drawn, strict=True))
        booked = pa.array(np.datetime64(month, "s") + second.astype(np.int64))
        out[f"payments{ending}"] = pa.table(
            {"payer": names[payer], "payee": names[payee], "euros": euros.round(2), "booked": booked}
        )
        mean = np.array([MEAN[one] for one in trade]) * rng.lognormal(0, 0.3, ACCOUNTS)
        out[f"accounts{ending}"] = pa.table({
            "account": names,
            "trade": trade,
            "mean_euros": pa.array(mean.round(2), mask=rng.uniform(size=ACCOUNTS) < 0.02),
            "payments_a_month": rng.poisson([OFTEN[one] for one in trade]),
            "opened": pa.array(opened),
        })  # fmt: skip
    what = {**PAYMENTS, **{f"innocent: {name}": who for name, who in INNOCENT.items()}}
    out["planted"] = _planted({one: [names[k] for k in who] for one, who in what.items()})
    return out


def _ordinary(rng: Generator, trade: np.ndarray) -> Iterable[Payment]:
    """Draw what everybody does: payments within the trade, now and then to another, in the daytime."""
    for k in range(trade.size):
        within = rng.choice(np.flatnonzero(trade == trade[k]), 4)
        for other in (*within, *within[: rng.integers(0, 3)], rng.integers(0, trade.size)):
            if not {k, int(other)} & {*PAYMENTS["florist"], *PAYMENTS["takeover"]}:
                second = int(rng.integers(0, 28) * DAY + (0.25 + 0.7 * rng.beta(2, 2)) * DAY)
                yield k, int(other), float(MEAN[str(trade[k])] * rng.lognormal(0, 0.5)), second


def _innocent(rng: Generator) -> Iterable[Payment]:
    """Write the look-alikes: dues collected and spent, wages of one day, deliveries before dawn, a family's bills."""
    treasurer, employer, baker = (INNOCENT[name][0] for name in ("treasurer", "employer", "night bakery"))
    for member in rng.choice(ACCOUNTS, 18, replace=False):
        yield int(member), treasurer, 45.0, int(5 * DAY + rng.integers(8 * HOUR, 20 * HOUR))
    yield treasurer, 3, 640.0, 19 * DAY + 11 * HOUR
    for worker in rng.choice(ACCOUNTS, 14, replace=False):
        yield employer, int(worker), float(rng.normal(1_900, 250)), 27 * DAY + 9 * HOUR + int(rng.integers(0, 600))
    for supplier in rng.choice(np.arange(0, ACCOUNTS, len(TRADES)), 4, replace=False):  # other bakeries
        for day in range(3, 27, 6):
            yield baker, int(supplier), float(rng.normal(14, 3)), day * DAY + 3 * HOUR + int(rng.integers(0, 2 * HOUR))
    family = INNOCENT["family"]
    for k in range(9):
        payer, payee = family[k % 3], family[(k + 1 + k // 3) % 3]
        if payer != payee:
            yield payer, payee, float(rng.integers(8, 40)), 3 * k * DAY + 18 * HOUR


def _schemes(rng: Generator, trade: np.ndarray) -> Iterable[Payment]:
    """Write what is hidden."""
    for garage in rng.choice(np.flatnonzero(trade == "garage"), 9, replace=False):
        yield PAYMENTS["florist"][0], int(garage), float(30 * rng.lognormal(0, 0.5)), int(rng.integers(0, 28 * DAY))
    for a in PAYMENTS["clique"]:
        for b in PAYMENTS["clique"]:
            if a != b:
                yield a, b, float(60 * rng.lognormal(0, 0.5)), int(rng.integers(0, 28 * DAY))
    for payer in rng.choice(ACCOUNTS, 30, replace=False):
        euros, second = float(rng.uniform(200, 900)), int(12 * DAY + rng.integers(0, 2 * DAY))
        yield int(payer), PAYMENTS["mule"][0], euros, second
        yield PAYMENTS["mule"][0], ABROAD, 0.96 * euros, second + int(rng.integers(300, HOUR))
    for turn in range(2):
        yield from _passed_on(rng, (*PAYMENTS["ring"], PAYMENTS["ring"][0]), 5_000.0, (8 + 6 * turn) * DAY)
    for turn, euros in enumerate((31_000.0, 27_400.0, 35_300.0)):
        yield from _passed_on(rng, PAYMENTS["chain"], euros, (4 + 8 * turn) * DAY + 9 * HOUR)
    *drops, last = PAYMENTS["takeover"]
    night = 13 * DAY + 2 * HOUR + 360
    for k in range(37):
        euros = float(rng.uniform(900, 1_700))
        yield VICTIMS[k % len(VICTIMS)], drops[k % 3], euros, night + 103 * k
        yield drops[k % 3], last, 0.97 * euros, night + 103 * k + int(rng.integers(240, 1_500))


def _passed_on(rng: Generator, way: Sequence[int], euros: float, second: int) -> Iterable[Payment]:
    for a, b in pairwise(way):
        yield a, b, euros, second
        euros, second = 0.97 * euros, second + int(rng.integers(HOUR, 6 * HOUR))


GENRES = ("crime", "garden", "history", "music", "poetry", "travel")
READERS, BOOKS = 500, 240
RING, BOUGHT, BOT, CLUB = (21, 88, 140, 202, 265, 333, 391, 460), (12, 75, 131, 208), 77, (31, 55, 103, 127, 199, 271)


def reviews(rng: Generator) -> dict[str, pa.Table]:
    """Make the reviews of books in spring, with a paid ring and a machine beside a book club, and those of summer."""
    genre = np.array(GENRES)
    taste, kind = np.arange(READERS) % len(GENRES), np.arange(BOOKS) % len(GENRES)
    joined = np.datetime64("2016-01-01") + rng.integers(0, 3_600, READERS)
    joined[list(RING)] = np.datetime64("2026-04-02") + rng.integers(0, 6, len(RING))
    price, quality = rng.normal(18, 5, BOOKS).clip(5).round(2), rng.normal(3.6, 0.5, BOOKS)
    age = (24 + 8 * taste + rng.normal(0, 6, READERS)).round().astype(int)
    people, books = np.array([f"R{k:03d}" for k in range(READERS)]), np.array([f"B{k:03d}" for k in range(BOOKS)])
    out: dict[str, pa.Table] = {}
    for ending, month in (("", "2026-04-01"), ("-june", "2026-06-01")):
        rows: dict[tuple[int, int], tuple[float, int]] = {}
        for reader in range(READERS):
            own = np.flatnonzero(kind == taste[reader])
            for book in {*rng.choice(own, 4).tolist(), int(rng.integers(0, BOOKS))}:
                rows[reader, book] = (quality[book] + rng.normal(0, 0.8), int(rng.integers(0, 59 * 24)) * HOUR)
        chosen = np.flatnonzero(kind == 2)[rng.permutation(BOOKS // len(GENRES))[:4]]
        for week, book in enumerate(chosen.tolist()):
            for member in CLUB:
                rows[member, book] = (quality[book] + rng.normal(0, 0.8), (14 * week + 6) * DAY + 19 * HOUR)
        if not ending:
            for member in RING:
                for book in BOUGHT:
                    rows[member, book] = (5.0, 20 * DAY + int(rng.integers(0, 30 * HOUR)))
            for k, book in enumerate(rng.permutation(BOOKS)[:45].tolist()):
                rows[BOT, book] = (1.0, 33 * DAY + 3 * HOUR + 40 * k)
        ordered = sorted(rows, key=lambda one: (rows[one][1], one))
        readers, titles = (np.array(column) for column in zip(*ordered, strict=True))
        stars, second = (np.array(column) for column in zip(*(rows[one] for one in ordered), strict=True))
        posted = pa.array(np.datetime64(month, "s") + second.astype(np.int64))
        whole = stars.round().clip(1, 5).astype(int)
        out[f"reviews{ending}"] = pa.table(
            {"reader": people[readers], "book": books[titles], "stars": whole, "posted": posted}
        )
        out[f"readers{ending}"] = pa.table({
            "reader": people, "age": age, "favourite": genre[taste], "joined": pa.array(joined),
        })  # fmt: skip
        out[f"books{ending}"] = pa.table({"book": books, "genre": genre[kind], "price": price})
    planted = {"ring": RING, "machine": (BOT,), "innocent: book club": CLUB}
    out["planted"] = _planted({what: [people[k] for k in who] for what, who in planted.items()})
    return out


PAPERS, WORDS, FIELDS = 500, 60, 5
SCATTERED = (11, 64, 129, 187, 243, 308, 352, 401, 446, 489)


def citations(rng: Generator) -> dict[str, pa.Table]:
    """Make papers of five fields with the words of their abstracts; ten cite papers of all fields at random."""
    field = np.arange(PAPERS) % FIELDS
    common = np.where(np.arange(WORDS) // (WORDS // FIELDS) == np.arange(FIELDS)[:, None], 0.5, 0.04)
    words = rng.uniform(size=(PAPERS, WORDS)) < common[field]
    names = np.array([f"P{k:03d}" for k in range(PAPERS)])
    cited: set[tuple[int, int]] = set()
    for k in range(FIELDS, PAPERS):
        same = np.flatnonzero(field[:k] == field[k])
        own = (*rng.choice(same, 4), *rng.integers(0, k, int(rng.uniform() < 0.3)))
        cited |= {(k, int(one)) for one in (rng.choice(k, min(k, 12), replace=False) if k in SCATTERED else own)}
    ends = np.array(sorted(cited))
    nodes = {"paper": names, **{f"word{w:02d}": words[:, w].astype(np.int8) for w in range(WORDS)}}
    return {
        "citations": pa.table({"citing": names[ends[:, 0]], "cited": names[ends[:, 1]]}),
        "papers": pa.table(nodes),
        "planted": _planted({"cites all fields at random": [names[k] for k in SCATTERED]}),
    }


def _planted(what: Mapping[str, Sequence[Any]]) -> pa.Table:
    rows = [(str(name), one) for one, who in what.items() for name in who]
    return pa.table({"id": [name for name, _ in rows], "what": [one for _, one in rows]})


def main() -> None:
    """Write every table."""
    for make in (payments, reviews, citations):
        folder = FOLDER / make.__name__
        folder.mkdir(exist_ok=True)
        for name, table in make(np.random.default_rng(SEED)).items():
            pq.write_table(table, folder / f"{name}.parquet", compression="zstd", compression_level=19, version="2.6")
    size = sum(file.stat().st_size for file in FOLDER.rglob("*.parquet"))
    print(f"{size:,} bytes")


if __name__ == "__main__":
    main()
