"""Make the tables of the second tutorial: ``python docs/pictures/mules.py FOLDER``.

Twelve hundred accounts of six trades, as in ``payments.py``, and what makes some of them odd. Worth the time: thirty
mules, which receive money from strangers for two days and pass it on within hours, and five accounts that pass a sum
round in a cycle. Harmless: thirty clubs, which collect dues in two days and keep them, and twenty offices, which pay
wages to strangers on one day. planted.csv says who is what.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from payments import DAY, HOUR, TRADES, TYPICAL, Payment, ordinary

ACCOUNTS = 1_200
KINDS = {"mule": 30, "cycle": 5, "club": 30, "office": 20}
START = np.datetime64("2026-05-01", "s")


def make(folder: Path, seed: int = 11) -> None:
    """Write payments.csv, accounts.csv and planted.csv."""
    rng = np.random.default_rng(seed)
    trade = np.array(TRADES)[np.arange(ACCOUNTS) % len(TRADES)]
    drawn = iter(rng.choice(np.arange(10, ACCOUNTS), sum(KINDS.values()), replace=False).tolist())
    who = {kind: [next(drawn) for _ in range(count)] for kind, count in KINDS.items()}
    payments = [*ordinary(rng, trade), *odd(rng, who)]
    payments.sort(key=lambda one: one[3])
    rows = [(f"A{a:04d}", f"A{b:04d}", f"{euros:.2f}", START + second) for a, b, euros, second in payments]
    write(folder / "payments.csv", ("payer", "payee", "euros", "booked"), rows)
    accounts = []
    for k in range(ACCOUNTS):
        mean, often = TYPICAL[str(trade[k])]
        accounts.append((f"A{k:04d}", trade[k], round(float(mean * rng.lognormal(0, 0.3)), 2), rng.poisson(often)))
    write(folder / "accounts.csv", ("account", "trade", "mean_euros", "payments_a_month"), accounts)
    planted = [(f"A{k:04d}", kind) for kind, members in who.items() for k in members]
    write(folder / "planted.csv", ("account", "what"), planted)


def odd(rng: np.random.Generator, who: dict[str, list[int]]) -> Iterator[Payment]:
    """Write what is odd, the harmless and the other."""

    def burst(days: int) -> tuple[np.ndarray, np.ndarray]:
        count = int(rng.integers(12, 30))
        return rng.integers(0, ACCOUNTS, count), int(rng.integers(0, 25)) * DAY + rng.integers(0, days * DAY, count)

    for mule in who["mule"]:
        boss, share = int(rng.integers(0, ACCOUNTS)), float(rng.uniform(0.85, 0.97))
        for payer, second in zip(*burst(2), strict=True):
            euros = float(rng.lognormal(5.5, 0.6))
            yield int(payer), mule, euros, int(second)
            yield mule, boss, share * euros, int(second + rng.integers(300, 4 * HOUR))
    for club in who["club"]:
        for payer, second in zip(*burst(2), strict=True):
            yield int(payer), club, float(rng.lognormal(4.5, 0.3)), int(second)
    for office in who["office"]:
        for payee, second in zip(*burst(1), strict=True):
            yield office, int(payee), float(rng.lognormal(7.5, 0.2)), int(second)
    for turn in range(2):
        euros, second = 5_000.0, (8 + 6 * turn) * DAY
        for a, b in zip(who["cycle"], (*who["cycle"][1:], who["cycle"][0]), strict=True):
            yield a, b, euros, second
            euros, second = 0.97 * euros, second + int(rng.integers(HOUR, 9 * HOUR))


def write(path: Path, names: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows(rows)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
