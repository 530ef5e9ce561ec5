"""A small bank of everyday payments, with whatever is planted, and its cases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from oddhop import Network, read_network
from oddhop.cases.case import Case, Cases
from oddhop.cases.find import CaseFinder
from oddhop.cases.nouns import nouns_of
from oddhop.explain.explanation import Baseline, Explanation, View

BEGIN = datetime(2026, 1, 1)
ACCOUNTS, DAYS = 150, 90
Payment = tuple[str, str, float, float, str]  # from, to, euros, hours after the beginning, channel


def everyday(seed: int = 0, count: int = 2_000) -> list[Payment]:
    """Return ordinary payments: people pay a few shops, by day and by card."""
    rng = np.random.default_rng(seed)
    favourite = rng.integers(0, 30, (ACCOUNTS, 4))
    who = rng.integers(30, ACCOUNTS, count)
    to = favourite[who, rng.integers(0, 4, count)]
    when = np.sort(24 * rng.integers(0, DAYS, count) + rng.normal(14, 2.5, count).clip(8, 22))
    euros = rng.lognormal(3.2, 0.6, count).round(2)
    return [
        (f"a{one:03d}", f"a{other:03d}", float(x), float(t), "card")
        for one, other, x, t in zip(who, to, euros, when, strict=True)
    ]


def bank(
    planted: Sequence[Payment], *, order: int | None = None, without: Sequence[str] = (), young: Sequence[str] = ()
) -> Network:
    """Return the bank as a network; its rows in another ``order``, some columns left out, some accounts ``young``."""
    rows = [*everyday(), *planted]
    names = sorted({f"a{k:03d}" for k in range(ACCOUNTS)} | {end for row in rows for end in row[:2]})
    opened = [BEGIN + timedelta(days=5 if name in young else -400 - 7 * k) for k, name in enumerate(names)]
    accounts = pa.table({"account": names, "age": [20 + k % 60 for k in range(len(names))], "opened": opened})
    if order is not None:
        rng = np.random.default_rng(order)
        rows = [rows[k] for k in rng.permutation(len(rows))]
        accounts = accounts.take(pa.array(rng.permutation(accounts.num_rows)))
    columns = {
        "payer": [row[0] for row in rows],
        "payee": [row[1] for row in rows],
        "euros": [row[2] for row in rows],
        "booked": [BEGIN + timedelta(hours=row[3]) for row in rows],
        "channel": [row[4] for row in rows],
    }
    return read_network(
        pa.table({name: one for name, one in columns.items() if name not in without}), accounts, directed=True
    )


def explained(name: str, kind: str = "flow", p: float = 1e-3) -> Explanation:
    """Return an explanation that says nothing but the kind."""
    return Explanation(name, 9.0, 3, Baseline(1.0), kind, (View(kind, p, 9.0),), looked_at=3)


def cases_of(network: Network, *flagged: str) -> Cases:
    """Return the cases of some nodes, as if a detector had flagged them for their events."""
    count = network.ids.to_pylist()
    result = pa.table(
        {
            "id": count,
            "score": np.zeros(len(count)),
            "judged": np.ones(len(count), dtype=bool),
            "p_flow": [0.001 if name in flagged else 0.5 for name in count],
        }
    )
    finder = CaseFinder(network, result, nouns_of(network, "payments.csv", "accounts.csv"))
    return finder.find([explained(name) for name in flagged])


def case_of(network: Network, *flagged: str) -> Case:
    """Return the one case of some nodes."""
    (found,) = cases_of(network, *flagged).cases
    return found


def ids(case: Case, *roles: str) -> list[str]:
    """Return the members with one of some roles, sorted."""
    return sorted(str(one.id) for one in case.members if not roles or one.role in roles)


MULE = [
    *((f"v{k}", "mule", 3_000.0 + 17.31 * k, 24.0 * (40 + 2 * k) + 11, "instant") for k in range(6)),
    *(("mule", "boss", 2_900.0 + 17 * k, 24.0 * (40 + 2 * k) + 13, "instant") for k in range(6)),
]
COLLECTOR = [(f"v{k:02d}", "shop", 49.0, 24 * 50 + 5.0 * k, "transfer") for k in range(20)]
RING = [
    (f"r{k}", f"r{(k + 1) % 4}", 5_000.0, 24.0 * (20 + 20 * turn) + 25 * k + 10, "transfer")
    for turn in range(3)
    for k in range(4)
]
CHAIN = [
    (f"c{k}", f"c{k + 1}", round(80_000.0 * 0.97**k + 3.37 * turn, 2), 24.0 * (30 + 19 * turn) + 20 * k + 9, "transfer")
    for turn in range(2)
    for k in range(6)
]
SPREE = [("a077", f"s{k}", 700.0 + 41.07 * k, 24.0 * 70 + 3.3 * k, "card") for k in range(12)]
NIGHT = [
    *((f"p{k}", f"n{k % 3}", 4_000.0 + 111.13 * k, 24.0 * 60 + 2 + 0.1 * k, "instant") for k in range(9)),
    *((f"n{k}", "sink", round(3 * 4_300.0 + 111 * k, 2), 24.0 * 60 + 3.5 + 0.1 * k, "instant") for k in range(3)),
]
CASH = [
    *((f"d{k % 2}", f"m{k % 3}", 9_000.0 + 100 * (k % 9), 24.0 * (35 + 3 * k) + 11, "cash deposit") for k in range(12)),
    *((f"m{k % 3}", "top", 8_900.0 + 100 * (k % 9), 24.0 * (35 + 3 * k) + 36, "transfer") for k in range(12)),
]
