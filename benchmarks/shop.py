"""A made-up shop: accounts, devices and merchants, with logins, purchases, refunds and reviews, and five plants.

``python -m benchmarks.shop FOLDER`` writes accounts.csv, devices.csv, edges.csv and plants.csv; ``--rank`` also fits
Odd and others and prints the rank of every plant within its kind. FRAUDAR is there where graphspot is installed. It is
a shakedown, not evidence: whoever wrote the plants wrote the detector.

The plants were written first, as lists of edges. The columns came after, from the same law for everybody; only the
misfits and those who share a stranger device were told to be of other regions and segments. Without plants the shop is
the same: what the planted would have done is put back.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

DAY, DAYS = 24 * 3600, 60
EPOCH = np.datetime64("2026-01-01T00:00:00", "s")
REGIONS = ("north", "south", "east", "west", "coast", "hills", "lakes", "plains", "valley", "isles", "border", "city")
SEGMENTS = ("student", "family", "business", "pensioner", "gamer", "traveller")
SYSTEMS = ("android", "ios", "windows", "mac", "linux")
DEVICE, MERCHANT = 0, 1
TO_KINDS = ("device", "merchant")
LOGIN, PURCHASE, REFUND, REVIEW = 0, 1, 2, 3
KINDS = ("login", "purchase", "refund", "review")
FARM, BOOSTERS, POPULAR, MISFITS, STRANGERS = "farm", "boosters", "popular boosters", "misfits", "stranger devices"
FARM_DEVICES, BOOSTED = "farm devices", "boosted merchants"
KEPT = {BOOSTERS: 0.5, POPULAR: 0.1, MISFITS: 0.0}  # the share of their ordinary purchases


@dataclass(frozen=True, eq=False)
class Edges:
    """One row an edge: which account, to what, of which kind both are, cents or -1, and the second."""

    source: np.ndarray
    target: np.ndarray
    to_kind: np.ndarray
    kind: np.ndarray
    cents: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, *columns: object) -> Edges:
        """Make edges; what is one number stands for all."""
        return cls(*np.broadcast_arrays(*(np.asarray(one, dtype=np.int64) for one in columns)))

    @classmethod
    def together(cls, parts: list[Edges]) -> Edges:
        """Join edges, in the order of time, without those after the last day."""
        joined = cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__annotations__))
        order = np.argsort(joined.second, kind="stable")
        return joined.where(order[joined.second[order] < DAYS * DAY])

    def where(self, rows: np.ndarray) -> Edges:
        """Return some rows."""
        return Edges(*(getattr(self, name)[rows] for name in type(self).__annotations__))


@dataclass(frozen=True, eq=False)
class Shop:
    """The tables of the shop, and what was planted: by name its kind of node and the ids."""

    edges: pa.Table
    accounts: pa.Table
    devices: pa.Table
    plants: dict[str, tuple[str, list[str]]]


@dataclass(frozen=True, eq=False)
class Homes:
    """Who lives with whom, and whose the devices are: first one a household, then personal ones, then public ones."""

    household: np.ndarray
    households: int
    owner: np.ndarray
    public: int

    @property
    def personal(self) -> np.ndarray:
        """Return the numbers of the personal devices."""
        return self.households + np.arange(self.owner.size)

    @property
    def publics(self) -> np.ndarray:
        """Return the numbers of the public devices."""
        return self.households + self.owner.size + np.arange(self.public)


@dataclass(frozen=True, eq=False)
class Plants:
    """The edges of the plants and their members; what the misfits buy as; the accounts of each stranger device."""

    edges: list[Edges]
    who: dict[str, tuple[str, np.ndarray]]
    acts_as: np.ndarray
    sharers: np.ndarray


@dataclass(frozen=True, eq=False)
class Market:
    """The merchants, the popular ones first: what each suits, and how likely each profile buys there."""

    everybodys: int
    chances: np.ndarray = field(repr=False)

    def choose(self, rng: np.random.Generator, profile: np.ndarray, everybodys: bool = True) -> np.ndarray:
        """Choose a merchant for each profile."""
        chances = self.chances.copy()
        chances[:, : 0 if everybodys else self.everybodys] = 0
        edges = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
        edges[:, -1] = 1
        flat = (edges + np.arange(len(edges))[:, None]).ravel()
        place = np.searchsorted(flat, profile + rng.random(profile.size), side="right")
        return np.asarray(np.clip(place - profile * edges.shape[1], 0, edges.shape[1] - 1))


def homes(rng: np.random.Generator, accounts: int, devices: int, public: int) -> Homes:
    """Put accounts into households of one to four, and give some accounts a device of their own."""
    sizes = rng.choice([1, 2, 3, 4], accounts, p=[0.35, 0.30, 0.20, 0.15])
    household = rng.permutation(np.repeat(np.arange(accounts), sizes)[:accounts])
    count = int(household.max()) + 1
    return Homes(household, count, rng.choice(accounts, devices - public - count, replace=False), public)


def market(rng: np.random.Generator, merchants: int, everybodys: int) -> Market:
    """Make merchants of Zipf-like popularity; all but the most popular suit one region and one segment."""
    popular = 1 / (np.arange(merchants) + 6.0)
    region, segment = rng.integers(0, len(REGIONS), merchants), rng.integers(0, len(SEGMENTS), merchants)
    local = np.where(region == np.arange(len(REGIONS))[:, None], 5.0, 0.4)
    liked = np.where(segment == np.arange(len(SEGMENTS))[:, None], 3.0, 0.5)
    local[:, :everybodys] = liked[:, :everybodys] = 1
    chances = (popular * local[:, None, :] * liked[None, :, :]).reshape(-1, merchants)
    return Market(everybodys, chances / chances.sum(axis=1, keepdims=True))


def moments(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, DAYS, count) * DAY + (rng.beta(3, 2, count) * DAY).astype(np.int64)


def logins(rng: np.random.Generator, account: np.ndarray, device: np.ndarray) -> Edges:
    """Log every pair in a few times."""
    pair = np.repeat(np.arange(account.size), rng.geometric(0.25, account.size))
    return Edges.of(account[pair], device[pair], DEVICE, LOGIN, -1, moments(rng, pair.size))


def purchases(rng: np.random.Generator, account: np.ndarray, merchant: np.ndarray, keen: np.ndarray) -> list[Edges]:
    """Write purchases, with refunds of some and reviews of some: ``keen`` is how likely a review is."""
    size = account.size
    second, cents = moments(rng, size), rng.lognormal(8, 0.9, size).astype(np.int64)
    later, back, said = rng.integers(DAY // 2, 9 * DAY, size), rng.random(size) < 0.04, rng.random(size) < keen
    bought = Edges.of(account, merchant, MERCHANT, PURCHASE, cents, second)
    refunds = Edges.of(account, merchant, MERCHANT, REFUND, cents, second + later).where(back)
    return [bought, refunds, Edges.of(account, merchant, MERCHANT, REVIEW, -1, second + later).where(said)]


def schemes(rng: np.random.Generator, home: Homes, place: Market) -> Plants:
    """Write the plants. They take over public devices, so that they need no device of their own."""
    accounts, merchants = home.household.size, place.chances.shape[1]
    alone = np.bincount(home.household)[home.household] == 1
    tied = ~alone & ~np.isin(np.arange(accounts), home.owner)  # whose devices somebody else uses too
    picks, public = rng.permutation(accounts), rng.permutation(home.publics)
    farm, misfits = picks[tied[picks]][:12], picks[alone[picks]][:3]
    rest = picks[~np.isin(picks, [*farm, *misfits])]
    rest = rest[np.sort(np.unique(home.household[rest], return_index=True)[1])]  # one of a household
    boosters, popular, sharers = rest[:15], rest[15:27], rest[27:45].reshape(3, 6)
    farm_devices, shared = public[:3], public[3:6]
    boosted = rng.choice(np.arange(merchants * 8 // 100, merchants * 35 // 100), 10, replace=False)
    favourites = rng.choice(max(12, place.everybodys // 3), 10, replace=False)
    # The farm: all of them on all three devices. The strangers: six on each of three devices.
    parts = [
        logins(rng, np.repeat(farm, 3), np.tile(farm_devices, 12)),
        logins(rng, sharers.ravel(), np.repeat(shared, 6)),
    ]
    # Boosters buy at all of ten merchants, and review half of them.
    for some, ten in ((boosters, boosted), (popular, favourites)):
        parts += purchases(rng, np.repeat(some, 10), np.tile(ten, some.size), np.full(some.size * 10, 0.5))
    # Misfits buy as somebody else would.
    acts_as = rng.integers(0, len(place.chances), 3)
    buyer = np.repeat(np.arange(3), rng.integers(11, 18, 3))
    at = place.choose(rng, acts_as[buyer], everybodys=False)
    parts += purchases(rng, misfits[buyer], at, np.full(buyer.size, 0.2))
    who = {
        FARM: ("account", farm),
        FARM_DEVICES: ("device", farm_devices),
        BOOSTERS: ("account", boosters),
        BOOSTED: ("merchant", boosted),
        POPULAR: ("account", popular),
        MISFITS: ("account", misfits),
        STRANGERS: ("device", shared),
    }
    return Plants(parts, who, acts_as, sharers)


def lives(rng: np.random.Generator, home: Homes, plants: Plants) -> tuple[np.ndarray, np.ndarray]:
    """Draw region and segment: a household has one region, and most of it one segment."""
    region = rng.integers(0, len(REGIONS), home.households)
    usual = rng.choice(len(SEGMENTS), home.households, p=[0.16, 0.28, 0.14, 0.18, 0.13, 0.11])
    own = rng.integers(0, len(SEGMENTS), home.household.size)
    differs = rng.random(own.size) < 0.15
    for sharers in plants.sharers:
        region[home.household[sharers]] = rng.permutation(len(REGIONS))[: sharers.size]
        usual[home.household[sharers]] = rng.permutation(len(SEGMENTS))[: sharers.size]
        differs[sharers] = False
    misfits = plants.who[MISFITS][1]
    acted = np.divmod(plants.acts_as, len(SEGMENTS))
    region[home.household[misfits]] = (acted[0] + rng.integers(1, len(REGIONS), 3)) % len(REGIONS)
    usual[home.household[misfits]] = (acted[1] + rng.integers(1, len(SEGMENTS), 3)) % len(SEGMENTS)
    differs[misfits] = False
    return region[home.household], np.where(differs, own, usual[home.household])


def ordinary_logins(rng: np.random.Generator, home: Homes, region: np.ndarray) -> Edges:
    """Log in everybody at home, on their own device and some on that of another there, and some in public."""
    everybody = np.arange(home.household.size)
    order = np.argsort(home.household, kind="stable")
    start = np.searchsorted(home.household[order], np.arange(home.households + 1))
    of = home.household[home.owner]
    size = np.diff(start)[of]
    pair = np.repeat(np.arange(of.size), size)
    member = order[start[of][pair] + np.arange(pair.size) - np.repeat(np.cumsum(size) - size, size)]
    uses = (member == home.owner[pair]) | (rng.random(pair.size) < 0.3)
    # In public: five to forty of one region, but for one in twenty.
    guests = np.clip(4 + rng.geometric(0.13, home.public), 5, 40)
    where = np.repeat(np.arange(home.public), guests)
    there = rng.integers(0, len(REGIONS), home.public)[where]
    near = np.argsort(region, kind="stable")
    first = np.searchsorted(region[near], np.arange(len(REGIONS) + 1))
    local = near[(first[there] + rng.random(where.size) * np.diff(first)[there]).astype(np.int64)]
    guest = np.where(rng.random(where.size) < 0.05, rng.integers(0, everybody.size, where.size), local)
    account = np.concatenate([everybody, member[uses], guest])
    return logins(rng, account, np.concatenate([home.household, home.personal[pair[uses]], home.publics[where]]))


def ordinary_purchases(
    rng: np.random.Generator, profile: np.ndarray, place: Market
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose where everybody buys, one time in four where they bought before, and whether they review."""
    counts = np.clip(5 + rng.lognormal(1.6, 0.75, profile.size), 5, 40).astype(np.int64)
    account = np.repeat(np.arange(profile.size), counts)
    chosen = place.choose(rng, profile[account])
    before = (np.cumsum(counts) - counts)[account] + (rng.random(account.size) * counts[account]).astype(np.int64)
    chosen = np.where(rng.random(account.size) < 0.25, chosen[before], chosen)
    return account, chosen, rng.beta(0.6, 2, profile.size)[account]


def account_columns(rng: np.random.Generator, region: np.ndarray, segment: np.ndarray) -> dict[str, Any]:
    """Draw the columns of the accounts, by one law for all."""
    size = segment.size
    age = np.array([22, 41, 46, 70, 27, 38])[segment] + rng.normal(0, 1, size) * np.array([3, 8, 10, 7, 7, 12])[segment]
    wealth = np.array([9.3, 10.5, 11.1, 10.0, 10.2, 10.7])[segment] + np.linspace(-0.2, 0.2, len(REGIONS))[region]
    opened = np.datetime64("2025-12-31", "D") - (rng.beta(1, 2, size) * 4_000).astype("timedelta64[D]")
    return {
        "age": age.round().clip(16, 95).astype(np.int64),
        "region": np.array(REGIONS)[region],
        "segment": np.array(SEGMENTS)[segment],
        "opened": opened,
        "income": np.exp(wealth + rng.normal(0, 0.35, size)).round(-2),
        "newsletter": rng.random(size) < np.array([0.2, 0.5, 0.3, 0.6, 0.25, 0.45])[segment],
    }


def device_columns(
    rng: np.random.Generator, first: np.ndarray, region: np.ndarray, segment: np.ndarray
) -> dict[str, Any]:
    """Draw the columns of the devices, by one law for all: they go with the account that signed in first."""
    taste = np.array(
        [[4, 3, 2, 2, 1], [5, 3, 3, 1, 0.2], [2, 4, 4, 3, 0.3], [4, 2, 4, 1, 0.1], [2, 1, 7, 0.5, 1], [3, 5, 1, 2, 0.2]]
    )
    steps = np.cumsum(taste / taste.sum(axis=1, keepdims=True), axis=1)[segment[first]]
    system = np.minimum((rng.random(first.size)[:, None] > steps).sum(axis=1), len(SYSTEMS) - 1)
    years = -np.log1p(-rng.random(first.size)) * np.array([4, 4, 2, 7, 3, 3])[segment[first]]
    screen = np.array([6.5, 6.2, 17.0, 14.0, 15.0])[system] * np.exp(rng.normal(0, 0.12, first.size))
    return {
        "os": np.array(SYSTEMS)[system],
        "model_year": 2026 - years.round().clip(0, 14).astype(np.int64),
        "screen": screen.round(1),
        "region": np.array(REGIONS)[region[first]],
    }


def left_out(plants: Plants, edges: Edges, whims: np.ndarray) -> np.ndarray:
    """Tell which ordinary edges give way to the plants."""
    who = {name: members for name, (_, members) in plants.who.items()}
    login = edges.to_kind == DEVICE
    out = login & np.isin(edges.target, [*who[FARM_DEVICES], *who[STRANGERS]])
    out |= login & np.isin(edges.source, who[FARM])
    for name, share in KEPT.items():
        # An account keeps all it does at a merchant or nothing, so that no review is without a purchase.
        whim = whims[(edges.source * 7_919 + edges.target * 104_729) % whims.size]
        out |= ~login & np.isin(edges.source, who[name]) & (whim >= share)
    return np.asarray(out)


def named(rng: np.random.Generator, letter: str, width: int, count: int) -> np.ndarray:
    return np.array([f"{letter}{k:0{width}d}" for k in rng.permutation(count) + 1])


def shop(seed: int = 0, planted: bool = True, small: int = 1) -> Shop:
    """Make a shop, with its plants or without; ``small`` divides the counts, but not those of the plants."""
    names, structure, plot, life, doing, looks = np.random.default_rng(seed).spawn(6)
    accounts, devices, merchants = 20_000 // small, 15_000 // small, 2_000 // small
    home = homes(structure, accounts, devices, 300 // small)
    place = market(structure, merchants, max(12, 60 // small))
    plants = schemes(plot, home, place)
    region, segment = lives(life, home, plants)
    whole = Edges.together(
        [
            ordinary_logins(doing, home, region),
            *purchases(doing, *ordinary_purchases(doing, region * len(SEGMENTS) + segment, place)),
        ]
    )
    whims = doing.random(9_973)
    if planted:
        whole = Edges.together([whole.where(~left_out(plants, whole, whims)), *plants.edges])
    login = np.flatnonzero(whole.to_kind == DEVICE)
    first = doing.integers(0, accounts, devices)
    used, rows = np.unique(whole.target[login], return_index=True)
    first[used] = whole.source[login[rows]]
    ids = {
        "account": named(names, "a", 5, accounts),
        "device": named(names, "d", 5, devices),
        "merchant": named(names, "m", 4, merchants),
    }
    to = np.empty(whole.source.size, dtype=ids["account"].dtype)
    for number, kind in enumerate(TO_KINDS):
        to[whole.to_kind == number] = ids[kind][whole.target[whole.to_kind == number]]
    table = {
        "from": ids["account"][whole.source],
        "to": to,
        "to_kind": np.array(TO_KINDS)[whole.to_kind],
        "kind": np.array(KINDS)[whole.kind],
        "time": EPOCH + whole.second.astype("timedelta64[s]"),
        "amount": pa.array(whole.cents / 100, mask=whole.cents < 0),
    }
    found = {name: (kind, sorted(ids[kind][some].tolist())) for name, (kind, some) in plants.who.items()}
    return Shop(
        pa.table(table),
        _by_id(ids["account"], account_columns(looks, region, segment)),
        _by_id(ids["device"], device_columns(looks, first, region, segment)),
        found if planted else {},
    )


def _by_id(ids: np.ndarray, columns: dict[str, Any]) -> pa.Table:
    return pa.table({"id": ids, **columns}).sort_by("id")


def placed(ids: list[str], score: np.ndarray) -> dict[str, float]:
    """Return ranks, the highest score first; of equal scores all have the mean rank."""
    from scipy.stats import rankdata

    return dict(zip(ids, rankdata(-score).tolist(), strict=True))


def by_odd(network: Any) -> dict[str, float]:
    import oddhop

    result = oddhop.Odd(random_state=0, simulate=False, n_resamples=2).fit(network).result_
    return dict(zip(result["id"].to_pylist(), result["rank"].to_pylist(), strict=True))


def by_forest(network: Any) -> dict[str, float]:
    from sklearn.ensemble import IsolationForest

    graph = network.graph
    x = graph.of_kind(graph.kinds.judged).attributes
    return placed(np.asarray(network.judged_ids).tolist(), -IsolationForest(random_state=0).fit(x).score_samples(x))


def everybody(made: Shop, kind: str) -> list[str]:
    return list({"account": made.accounts, "device": made.devices}[kind]["id"].to_pylist())


def by_degree(made: Shop, kind: str) -> dict[str, float]:
    """Rank by the number of different partners."""
    mine, other = ("from", "to") if kind == "account" else ("to", "from")
    pairs = made.edges.group_by([mine, other]).aggregate([])
    counts = pairs.group_by(mine).aggregate([([], "count_all")])
    degree = dict(zip(counts[mine].to_pylist(), counts["count_all"].to_pylist(), strict=True))
    ids = everybody(made, kind)
    return placed(ids, np.array([degree.get(one, 0) for one in ids]))


def by_fraudar(made: Shop, blocks: int = 20) -> dict[str, dict[str, float]] | None:
    """Rank by the blocks of FRAUDAR, the first found first; None where graphspot (BSD) is not installed."""
    try:
        from graphspot import Graph
        from graphspot.detectors import Fraudar
    except ImportError:
        return None
    pairs = made.edges.group_by(["from", "to"]).aggregate([]).to_pandas()
    found = Fraudar(n_blocks=blocks).fit(Graph.from_pandas(pairs, source="from", target="to")).blocks_
    best: dict[str, int] = {}
    for number, block in enumerate(found):
        for one in [*block.row_ids, *block.col_ids]:
            best.setdefault(one, number)
    ids = {kind: everybody(made, kind) for kind in ("account", "device")}
    return {kind: placed(some, -np.array([best.get(k, blocks) for k in some])) for kind, some in ids.items()}


def told(found: list[float]) -> str:
    found = sorted(found)
    if len(found) <= 3:
        return ", ".join(f"{one:.0f}" for one in found)
    return f"{found[0]:.0f} to {found[-1]:.0f}, half by {np.median(found):.0f}"


def show_ranks(made: Shop) -> None:
    """Print the ranks of the plants, by method."""
    import oddhop

    tables = {"account": made.accounts, "device": made.devices}
    networks = {kind: oddhop.read_network(made.edges, tables, judge=kind) for kind in tables}
    asked = {name: plant for name, plant in made.plants.items() if plant[0] in tables}
    print(f"| method | {' | '.join(asked)} | seconds |\n|---|{'---|' * len(asked)}---|")
    for name, method in (
        ("Odd", lambda: {kind: by_odd(network) for kind, network in networks.items()}),
        ("isolation forest", lambda: {kind: by_forest(network) for kind, network in networks.items()}),
        ("FRAUDAR", lambda: by_fraudar(made)),
        ("degree", lambda: {kind: by_degree(made, kind) for kind in tables}),
    ):
        start = time.perf_counter()
        found = method()
        if found is not None:
            cells = [told([found[kind][one] for one in members]) for kind, members in asked.values()]
            print(f"| {name} | {' | '.join(cells)} | {time.perf_counter() - start:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", type=int, default=1, help="divide the counts by this")
    parser.add_argument("--clean", action="store_true", help="without plants")
    parser.add_argument("--rank", action="store_true", help="fit and print the ranks of the plants")
    asked = parser.parse_args()
    made = shop(asked.seed, not asked.clean, asked.small)
    asked.folder.mkdir(parents=True, exist_ok=True)
    rows = [(name, kind, one) for name, (kind, members) in made.plants.items() for one in members]
    plants = {name: pa.array([row[k] for row in rows], pa.string()) for k, name in enumerate(("plant", "kind", "id"))}
    for name, table in (
        ("accounts", made.accounts),
        ("devices", made.devices),
        ("edges", made.edges),
        ("plants", pa.table(plants)),
    ):
        csv.write_csv(table, asked.folder / f"{name}.csv")
    merchants = len(set(made.edges.filter(pc.equal(made.edges["to_kind"], "merchant"))["to"].to_pylist()))
    print(
        f"{made.edges.num_rows:,} edges of {made.accounts.num_rows:,} accounts, {made.devices.num_rows:,} devices and "
        f"{merchants:,} merchants"
    )
    if asked.rank:
        show_ranks(made)


if __name__ == "__main__":
    main()
