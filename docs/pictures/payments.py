"""Make the two tables of the tutorial: ``python docs/pictures/payments.py FOLDER``.

Six trades, each with its own customs. Account A0007 has the profile of a florist and is paid by garages; the eight
accounts of a ring, of all trades, pay each other.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

TRADES = ("bakery", "florist", "garage", "hotel", "jeweller", "kiosk")
TYPICAL = {"bakery": (12, 300), "florist": (30, 90), "garage": (420, 40), "hotel": (180, 120), "jeweller": (900, 15)}
TYPICAL["kiosk"] = (5, 900)


def make(folder: Path, accounts: int = 600, seed: int = 7) -> None:
    rng = np.random.default_rng(seed)
    trade = np.array(TRADES)[np.arange(accounts) % len(TRADES)]
    names = np.array([f"A{k:04d}" for k in range(accounts)])
    payments = []
    for k in range(accounts):
        partners = np.flatnonzero(trade == trade[k])
        others = rng.integers(0, accounts, 1)
        payments += [(k, other) for other in (*rng.choice(partners, 4), *others)]
    garages = np.flatnonzero(trade == "garage")
    payments = [(a, b) for a, b in payments if 7 not in (a, b)] + [
        (7, g) for g in rng.choice(garages, 9, replace=False)
    ]
    ring = (101, 164, 202, 267, 303, 356, 404, 529)
    payments += [(a, b) for a in ring for b in ring if a != b]
    with (folder / "payments.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("payer", "payee", "euros"))
        for a, b in payments:
            rows.writerow((names[a], names[b], round(float(rng.lognormal(4, 1)), 2)))
    with (folder / "accounts.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("account", "trade", "mean_euros", "payments_a_month", "opened", "iban_checked"))
        for k in range(accounts):
            mean, often = TYPICAL[str(trade[k])]
            opened = np.datetime64("2015-01-01") + rng.integers(0, 3650)
            euros = "" if rng.uniform() < 0.02 else round(float(mean * rng.lognormal(0, 0.3)), 2)
            rows.writerow(
                (names[k], trade[k], euros, rng.poisson(often), opened, "yes" if rng.uniform() < 0.97 else "no")
            )


if __name__ == "__main__":
    make(Path(sys.argv[1]))
