"""A small made-up shop: accounts that log in to devices and buy at merchants, with a farm planted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

ACCOUNTS, DEVICES, MERCHANTS, REGIONS = 300, 150, 40, 5
FARM = tuple(f"a{k:03}" for k in range(10, 290, 35))  # eight accounts of one region
RING = tuple(f"a{k:03}" for k in range(3, 299, 41))  # eight accounts of all regions
FARM_DEVICES = ("d135", "d140", "d145")  # and three devices there


@dataclass(frozen=True)
class Shop:
    """The tables; ``to_kind`` of an edge is device or merchant. Merchants have no table."""

    edges: pa.Table
    accounts: pa.Table
    devices: pa.Table

    @property
    def tables(self) -> dict[str, pa.Table]:
        return {"account": self.accounts, "device": self.devices}


def shop(seed: int = 0, *, friends: bool = False) -> Shop:
    """Make a shop: people of a region share its devices and its merchants, and the farm three devices alone.

    With ``friends`` accounts also pay each other, and those of a ring all of them; then the farm has one device.
    """
    rng = np.random.default_rng(seed)
    region, home = np.arange(ACCOUNTS) % REGIONS, np.arange(DEVICES) % REGIONS
    pairs: list[tuple[str, str, str]] = []
    for a in range(ACCOUNTS):
        devices = rng.choice(np.flatnonzero(home[:135] == region[a]), 2, replace=False)
        local = region[a] + REGIONS * rng.integers(0, MERCHANTS // REGIONS, 3)
        merchants = np.where(rng.random(3) < 0.2, rng.integers(0, MERCHANTS, 3), local)
        if f"a{a:03}" not in FARM:
            pairs += [(f"a{a:03}", f"d{d:03}", "device") for d in devices.tolist()]
        pairs += [(f"a{a:03}", f"m{m:02}", "merchant") for m in merchants.tolist()]
        if friends:
            near = region[a] + REGIONS * rng.integers(0, ACCOUNTS // REGIONS, 2)
            others = np.concatenate([near, rng.integers(0, ACCOUNTS, 2)])
            knows = [(f"a{min(a, b):03}", f"a{max(a, b):03}") for b in others.tolist() if b != a]
            pairs += [(one, two, "account") for one, two in knows if not {one, two} & set(RING)]
    for d in range(135, DEVICES):  # public ones
        guests = (REGIONS * rng.choice(60, 3, replace=False) + d % REGIONS).tolist()
        pairs += [(f"a{a:03}", f"d{d:03}", "device") for a in guests if f"d{d:03}" not in FARM_DEVICES]
    pairs += [(a, d, "device") for a in FARM for d in FARM_DEVICES[: 1 if friends else 3]]
    if friends:
        pairs += [(a, b, "account") for a in RING for b in RING if a < b]
    source, target, kind = zip(*dict.fromkeys(pairs), strict=True)
    edges = pa.table({"from": source, "to": target, "from_kind": ["account"] * len(source), "to_kind": kind})
    accounts = pa.table(
        {
            "id": [f"a{k:03}" for k in range(ACCOUNTS)],
            "age": (40 + 6 * region + 4 * rng.normal(size=ACCOUNTS)).round(1),
            "income": np.exp(10 + 0.3 * region + 0.2 * rng.normal(size=ACCOUNTS)).round(),
            "town": np.array(["Bonn", "Cork", "Oulu", "Pisa", "Riga"])[region],
        }
    )
    devices = pa.table(
        {
            "id": [f"d{k:03}" for k in range(DEVICES)],
            "price": (300 + 60 * home + 40 * rng.normal(size=DEVICES)).round(2),
            "age": rng.integers(1, 9, DEVICES),
        }
    )
    return Shop(edges, accounts, devices)
