"""The bank of the schemes: accounts and payments, and how a scheme picks its people and opens its accounts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.schemes.world import DAYS, MONTHS, Layout, Number, World, minute

LAYOUT = Layout(
    node="account",
    opened="opened",
    columns=("kind", "opened", "monthly_income", "segment", "region", "age_of_holder"),
    events=("payer", "payee", "amount", "booked_at", "channel"),
    letter="A",
)
REGIONS = np.array(["Nord", "Ost", "Sued", "West", "Mitte", "Kueste", "Alpen", "Seen"])


class Bank(World):
    """Accounts and payments; ``opened`` is in days before (negative) or after the first day."""

    def __init__(self) -> None:
        super().__init__(LAYOUT)
        self.desk: dict[str, int] = {}  # where cash is paid in
        self.near: dict[str, np.ndarray] = {}  # the everyday shops of a region
        self.boss: dict[int, int] = {}
        self.quiet = self.active = self.employers = self.landlords = np.array([], dtype=int)

    def open(
        self,
        kind: str,
        opened: Number,
        income: Number,
        segment: str,
        region: str,
        age: Number = np.nan,
    ) -> int:
        """Open an account."""
        return self.add(kind, opened, income, segment, region, age)

    def of(self, *segments: str) -> np.ndarray:
        """Return the accounts of the background in some segments."""
        return np.flatnonzero(np.isin(self.known["segment"], segments))

    def near_by(
        self, rng: np.random.Generator, who: np.ndarray, pool: np.ndarray, weight: np.ndarray, share: float
    ) -> np.ndarray:
        """Draw one of the pool for everybody, mostly (``share``) in the own region."""
        drawn, region = rng.choice(pool, len(who), p=weight / weight.sum()), self.known["region"]
        for here in REGIONS:
            mine, local = (region[who] == here) & (rng.random(len(who)) < share), region[pool] == here
            if local.any():
                drawn[mine] = rng.choice(pool[local], mine.sum(), p=weight[local] / weight[local].sum())
        return drawn

    def persons(
        self,
        rng: np.random.Generator,
        count: Number,
        low: int = 18,
        high: int = 99,
        segment: str | None = None,
        region: str | None = None,
    ) -> list[int]:
        """Pick people of an age who use their accounts and have had them for long."""
        known = self.known
        where = (known["kind"] == "person") & (known["age_of_holder"] >= low) & (known["age_of_holder"] <= high)
        where &= (known["opened"] < -200) & ~self.quiet
        if segment:
            where &= known["segment"] == segment
        if region:
            where &= known["region"] == region
        return self.pick(rng, int(count), where)

    def firms(
        self, rng: np.random.Generator, count: int, kind: str = "firm", segments: Sequence[str] = ()
    ) -> list[int]:
        """Pick firms or merchants that are more than a year old."""
        where = (self.known["kind"] == kind) & (self.known["opened"] < -400)
        if segments:
            where &= np.isin(self.known["segment"], segments)
        return self.pick(rng, count, where)

    def employer(self, rng: np.random.Generator) -> int:
        """Draw one of the larger employers."""
        return int(self.employers[int(rng.integers(20))])

    def pay(
        self,
        payer: int,
        payee: int,
        amount: Any,
        day: Number,
        at: Number,
        channel: str = "transfer",
        planted: bool = True,
    ) -> None:
        """Write one payment."""
        self.write(payer, payee, amount, day, at, channel, planted)

    def live(
        self,
        rng: np.random.Generator,
        account: int,
        count: Number,
        since: int = 0,
        income: float | None = None,
        rent: Number | None = None,
    ) -> None:
        """Write an ordinary life for an account opened by a scheme: shopping, a wage, a rent."""
        for day in np.sort(rng.integers(min(max(since, 0), 80), DAYS, int(count))):
            shop = int(rng.choice(self.near[self.values["region"][account]]))
            self.pay(account, shop, rng.lognormal(3.2, 0.7), day, minute(rng, "shop"), "card", planted=False)
        for first in MONTHS:
            if income and first + 26 > since:
                payer = self.employer(rng)
                self.pay(payer, account, income, first + 26, 300 + rng.integers(9), planted=False)
            if rent and first > since:
                self.pay(account, int(rng.choice(self.landlords)), rent, first, 330, "standing order", planted=False)
