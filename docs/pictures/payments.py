"""Make the tables of the tutorial: ``python docs/pictures/payments.py FOLDER``.

Six trades, each with its own customs, and payments of two months. In May four things are hidden: account A0007 has the
profile of a florist and deals with garages; eight accounts of all trades pay each other; A0333 receives thirty payments
in two days and passes them on within the hour; five accounts pass a sum round in a cycle, twice.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

TRADES = ("bakery", "florist", "garage", "hotel", "jeweller", "kiosk")
TYPICAL = {"bakery": (12, 300), "florist": (30, 90), "garage": (420, 40), "hotel": (180, 120), "jeweller": (900, 15)}
TYPICAL["kiosk"] = (5, 900)
FLORIST, MULE, ABROAD = 7, 333, 500
CLIQUE = (101, 164, 202, 267, 303, 356, 404, 529)
CYCLE = (40, 123, 213, 296, 413)
HOUR, DAY = 3_600, 86_400

Payment = tuple[int, int, float, int]
"""Payer, payee, euros, and the second of the month."""


def make(folder: Path, accounts: int = 600, seed: int = 7) -> None:
    """Write payments.csv and accounts.csv of May, and the same of June."""
    rng = np.random.default_rng(seed)
    trade = np.array(TRADES)[np.arange(accounts) % len(TRADES)]
    opened = np.datetime64("2015-01-01") + rng.integers(0, 3650, accounts)
    for month, ending, hidden in (("2026-05-01", "", True), ("2026-06-01", "-june", False)):
        payments = [*ordinary(rng, trade), *(planted(rng, trade) if hidden else ())]
        with (folder / f"payments{ending}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("payer", "payee", "euros", "booked"))
            for a, b, euros, second in sorted(payments, key=lambda one: one[3]):
                rows.writerow((f"A{a:04d}", f"A{b:04d}", f"{euros:.2f}", np.datetime64(month, "s") + second))
        with (folder / f"accounts{ending}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("account", "trade", "mean_euros", "payments_a_month", "opened", "iban_checked"))
            for k in range(accounts):
                mean, often = TYPICAL[str(trade[k])]
                euros = "" if rng.uniform() < 0.02 else round(float(mean * rng.lognormal(0, 0.3)), 2)
                checked = "yes" if rng.uniform() < 0.97 else "no"
                rows.writerow((f"A{k:04d}", trade[k], euros, rng.poisson(often), opened[k], checked))


def ordinary(rng: np.random.Generator, trade: np.ndarray) -> Iterator[Payment]:
    """Draw what everybody does: payments within the trade, now and then to another, in the daytime."""
    for k in range(trade.size):
        within = rng.choice(np.flatnonzero(trade == trade[k]), 4)
        for other in (*within, *within[: rng.integers(0, 3)], rng.integers(0, trade.size)):
            if FLORIST not in (k, int(other)):
                second = int(rng.integers(0, 28) * DAY + rng.beta(3, 2) * DAY)
                yield k, int(other), float(TYPICAL[str(trade[k])][0] * rng.lognormal(0, 0.5)), second


def planted(rng: np.random.Generator, trade: np.ndarray) -> Iterator[Payment]:
    """Write what is hidden."""
    for garage in rng.choice(np.flatnonzero(trade == "garage"), 9, replace=False):
        yield FLORIST, int(garage), float(30 * rng.lognormal(0, 0.5)), int(rng.integers(0, 28 * DAY))
    for a in CLIQUE:
        for b in CLIQUE:
            if a != b:
                yield a, b, float(60 * rng.lognormal(0, 0.5)), int(rng.integers(0, 28 * DAY))
    for payer in rng.choice(trade.size, 30, replace=False):
        euros, second = float(rng.uniform(200, 900)), int(12 * DAY + rng.integers(0, 2 * DAY))
        yield int(payer), MULE, euros, second
        yield MULE, ABROAD, 0.96 * euros, second + int(rng.integers(300, HOUR))
    for turn in range(2):
        euros, second = 5_000.0, (8 + 6 * turn) * DAY
        for a, b in zip(CYCLE, (*CYCLE[1:], CYCLE[0]), strict=True):
            yield a, b, euros, second
            euros, second = 0.97 * euros, second + int(rng.integers(HOUR, 9 * HOUR))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
