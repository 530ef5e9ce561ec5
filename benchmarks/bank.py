"""A made-up bank: accounts, and payments with direction, amount, time and kind, among them six planted schemes.

``python -m benchmarks.bank FOLDER`` writes payments.parquet, accounts.parquet and plants.parquet. ``python -m
benchmarks.schemes --parts plants`` ranks the plants. It is a shakedown, not evidence: whoever wrote the plants wrote
the detector.

The plants were written first, as lists of payments. The columns of the accounts came after, from the same law for
everybody; only the misfit has the columns of another trade. So no column gives a plant away by itself.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

DAY = 24 * 3600
EPOCH = np.datetime64("2026-01-01T00:00:00", "s")
CITIES, WINDOW = 40, 29
TRADES = ("salaried", "student", "pensioner", "shop", "landlord", "employer")
SHARES = (0.60, 0.14, 0.14, 0.08, 0.03, 0.01)
KINDS = ("card", "transfer", "salary", "rent")
MULE, COLLECTOR, SMURF, CYCLE, RING, MISFIT = "mule", "collector", "smurfing", "cycle", "ring", "misfit"


@dataclass(frozen=True, eq=False)
class Payments:
    """One row a payment: from whom, to whom, cents, second since the epoch of the bank, and what kind."""

    source: np.ndarray
    target: np.ndarray
    cents: np.ndarray
    second: np.ndarray
    kind: np.ndarray

    @classmethod
    def of(cls, *columns: object, kind: int) -> Payments:
        """Make payments of one kind; what is one number stands for all."""
        source, target, cents, second = np.broadcast_arrays(*(np.asarray(one, dtype=np.int64) for one in columns))
        return cls(source, target, cents, second, np.full(source.size, kind))

    @classmethod
    def together(cls, parts: list[Payments]) -> Payments:
        """Join payments, in the order of time."""
        names = ("source", "target", "cents", "second", "kind")
        joined = cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
        order = np.argsort(joined.second, kind="stable")
        return cls(*(getattr(joined, name)[order] for name in names))


@dataclass(frozen=True, eq=False)
class Bank:
    """The tables of the bank, and which accounts were planted as what."""

    payments: pa.Table
    accounts: pa.Table
    plants: dict[str, list[str]]

    def window(self, first_day: int, days: int = WINDOW) -> pa.Table:
        """Return the payments of some days."""
        begin = EPOCH + np.timedelta64(first_day * DAY, "s")
        end = begin + np.timedelta64(days * DAY, "s")
        time = self.payments["time"]
        return self.payments.filter(pc.and_(pc.greater_equal(time, pa.scalar(begin)), pc.less(time, pa.scalar(end))))


def planted(rng: np.random.Generator, accounts: int, days: int) -> tuple[list[Payments], dict[str, list[int]]]:
    """Write the schemes; all of them lie within the middle of the first window."""
    picks = rng.permutation(accounts)
    who = {MULE: [picks[0]], COLLECTOR: [picks[1]], SMURF: [picks[2]], CYCLE: list(picks[3:9]), RING: list(picks[9:17])}
    who[MISFIT] = [picks[17]]
    others = picks[100:]
    noon = min(days, WINDOW) // 2 * DAY + 12 * 3600
    parts = []
    # The mule: 48 payments in two days from everywhere, 96 % of each passed on within the hour.
    coming = rng.integers(20_000, 90_000, 48)
    when = noon + np.sort(rng.integers(0, 2 * DAY, 48))
    parts.append(Payments.of(rng.choice(others, 48, replace=False), who[MULE][0], coming, when, kind=1))
    parts.append(Payments.of(who[MULE][0], picks[20], coming * 96 // 100, when + rng.integers(60, 3600, 48), kind=1))
    # The collector: small sums from two hundred accounts, and nothing out.
    when = noon + rng.integers(-5 * DAY, 5 * DAY, 200)
    parts.append(Payments.of(rng.choice(others, 200, replace=False), who[COLLECTOR][0], 4_900, when, kind=1))
    # Smurfing: thirty payments in one day, each just below ten thousand.
    when = noon + rng.integers(0, DAY, 30)
    parts.append(
        Payments.of(who[SMURF][0], rng.choice(picks[21:31], 30), rng.integers(940_000, 999_900, 30), when, kind=1)
    )
    # The cycle: six accounts pass the money on, a little less each time, twice.
    for turn in range(2):
        cents, second = 500_000, noon + turn * 3 * DAY
        for k in range(6):
            parts.append(Payments.of([who[CYCLE][k]], [who[CYCLE][(k + 1) % 6]], [cents], [second], kind=1))
            cents, second = cents * 97 // 100, second + int(rng.integers(3_600, 10 * 3_600))
    # The ring: eight accounts, all of whom pay all others.
    pairs = np.array([(a, b) for a in who[RING] for b in who[RING] if a != b])
    when = noon + rng.integers(-8 * DAY, 8 * DAY, len(pairs))
    parts.append(Payments.of(pairs[:, 0], pairs[:, 1], rng.integers(5_000, 60_000, len(pairs)), when, kind=1))
    return parts, who


def ordinary(rng: np.random.Generator, trade: np.ndarray, city: np.ndarray, days: int, count: int) -> list[Payments]:
    """Write what everybody does: cards at shops of one's city, wages, rents, and transfers among friends."""
    nodes = np.arange(trade.size)
    people = nodes[np.isin(trade, (0, 1, 2))]
    shops, landlords, employers = (nodes[trade == k] for k in (3, 4, 5))

    def nearby(places: np.ndarray, whom: np.ndarray) -> np.ndarray:
        """Choose a place for each of some people: of their own city nine times in ten, the popular ones more often."""
        order = places[np.argsort(city[places], kind="stable")]
        starts = np.searchsorted(city[order], np.arange(CITIES + 1))
        size = np.maximum(np.diff(starts), 1)
        rank = np.minimum((rng.random(whom.size) ** 2 * size[city[whom]]).astype(np.int64), size[city[whom]] - 1)
        own = order[np.minimum(starts[city[whom]] + rank, order.size - 1)]
        return np.where(rng.random(whom.size) < 0.9, own, rng.choice(places, whom.size))

    parts = []
    wage_earners, tenants = people[trade[people] == 0], people[::2]
    boss, home = nearby(employers, wage_earners), nearby(landlords, tenants)
    for start in range(0, days, 30):
        wages = (rng.lognormal(12.4, 0.3, wage_earners.size)).astype(np.int64)
        second = (start + 2) * DAY + rng.integers(6 * 3600, 12 * 3600, wage_earners.size)
        parts.append(Payments.of(boss, wage_earners, wages, second, kind=2))
        second = (start + 4) * DAY + rng.integers(0, DAY, tenants.size)
        parts.append(
            Payments.of(tenants, home, rng.lognormal(11.2, 0.3, tenants.size).astype(np.int64), second, kind=3)
        )
    friends = people[(np.arange(people.size)[:, None] + rng.integers(1, 60, (people.size, 4))) % people.size]
    left = count - sum(part.source.size for part in parts)
    buyers = rng.choice(people, left * 3 // 4)
    favourite = np.stack([nearby(shops, nodes), nearby(shops, nodes), nearby(shops, nodes)])
    sellers = favourite[rng.integers(0, 3, buyers.size), buyers]
    second = rng.integers(0, days, buyers.size) * DAY + (rng.beta(3, 2, buyers.size) * DAY).astype(np.int64)
    parts.append(Payments.of(buyers, sellers, rng.lognormal(7.8, 0.9, buyers.size).astype(np.int64), second, kind=0))
    givers = rng.integers(0, people.size, left - buyers.size)
    takers = friends[givers, rng.integers(0, 4, givers.size)]
    second = rng.integers(0, days, givers.size) * DAY + (rng.beta(3, 2, givers.size) * DAY).astype(np.int64)
    cents = rng.lognormal(8.2, 0.8, givers.size).astype(np.int64)
    parts.append(Payments.of(people[givers], takers, cents, second, kind=1))
    return parts


def columns(rng: np.random.Generator, trade: np.ndarray, city: np.ndarray) -> dict[str, np.ndarray]:
    """Draw the columns of the accounts, by one law for all."""
    age = np.array([42, 22, 71, 45, 58, 48])[trade] + rng.normal(0, [11, 3, 7, 11, 10, 10], (trade.size, 6))[:, 0]
    limit = np.exp(np.array([7.9, 6.4, 7.4, 8.9, 8.6, 11.0])[trade] + rng.normal(0, 0.4, trade.size))
    opened = rng.integers(30, 9_000, trade.size)
    words = np.array(["wages and savings", "studies and rent", "pension", "retail sales", "rent income", "payroll"])
    extra = np.array(["online", "branch", "mobile", "post"])[rng.integers(0, 4, trade.size)]
    return {
        "age": age.round().clip(18, 99).astype(np.int64),
        "city": np.char.add("city ", city.astype(str)),
        "segment": np.array(["private", "private", "private", "business", "business", "corporate"])[trade],
        "limit_euros": limit.round(),
        "days_open": opened,
        "purpose": np.char.add(np.char.add(words[trade], " "), extra),
    }


def bank(seed: int = 0, accounts: int = 20_000, payments: int = 150_000, days: int = WINDOW) -> Bank:
    """Make a bank; ``payments`` is about how many there are in a window of 29 days."""
    rng = np.random.default_rng(seed)
    parts, who = planted(rng, accounts, days)
    trade = rng.choice(len(TRADES), accounts, p=SHARES)
    for group in (MULE, COLLECTOR, SMURF, CYCLE, RING, MISFIT):
        trade[who[group]] = 0  # to begin with, people like most
    city = rng.integers(0, CITIES, accounts)
    whole = Payments.together([*parts, *ordinary(rng, trade, city, days, payments * days // WINDOW)])
    seen = trade.copy()
    seen[who[MISFIT]] = 5  # whose columns are those of an employer, and whose payments are those of a person
    names = np.array([f"A{k:05d}" for k in range(accounts)])
    table = {
        "payer": names[whole.source],
        "payee": names[whole.target],
        "amount": whole.cents / 100,
        "time": EPOCH + whole.second.astype("timedelta64[s]"),
        "kind": np.array(KINDS)[whole.kind],
    }
    people = pa.table({"account": names, **columns(rng, seen, city)})
    return Bank(pa.table(table), people, {group: names[members].tolist() for group, members in who.items()})


def ranks(made: Bank, result: pa.Table) -> dict[str, list[int]]:
    """Return the ranks of the plants in a result table."""
    place = dict(zip(result["id"].to_pylist(), result["rank"].to_pylist(), strict=True))
    return {group: sorted(place[member] for member in members) for group, members in made.plants.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--accounts", type=int, default=20_000)
    parser.add_argument("--payments", type=int, default=150_000)
    parser.add_argument("--days", type=int, default=WINDOW)
    asked = parser.parse_args()
    made = bank(asked.seed, asked.accounts, asked.payments, asked.days)
    asked.folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(made.payments, asked.folder / "payments.parquet")
    pq.write_table(made.accounts, asked.folder / "accounts.parquet")
    plants = [(group, member) for group, members in made.plants.items() for member in members]
    pq.write_table(
        pa.table({"plant": [group for group, _ in plants], "account": [member for _, member in plants]}),
        asked.folder / "plants.parquet",
    )
    pairs = made.payments.group_by(["payer", "payee"]).aggregate([]).num_rows
    print(f"{made.payments.num_rows:,} payments between {pairs:,} ordered pairs of {made.accounts.num_rows:,} accounts")


if __name__ == "__main__":
    main()
