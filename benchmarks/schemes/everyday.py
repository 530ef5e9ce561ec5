"""The background of the bank: 5,950 accounts and about 60,000 payments of everyday banking."""

from __future__ import annotations

import numpy as np

from benchmarks.schemes.bank import REGIONS, Bank
from benchmarks.schemes.world import DAYS, MONTHS, WEEKDAY, booked, clock, minute

REGION_SHARES = [0.2, 0.17, 0.16, 0.14, 0.12, 0.09, 0.07, 0.05]
CHRISTMAS = (np.arange(DAYS) > 58) & (np.arange(DAYS) < 85)
SHOPDAY = np.array([0.9, 0.9, 0.95, 1.05, 1.35, 1.5, 0.3])[WEEKDAY] * (1 + 0.5 * CHRISTMAS)
SEGMENTS = np.array(["employee", "pensioner", "student", "self-employed", "wealthy"])
INCOMES = {"student": 750, "pensioner": 1500, "wealthy": 9000, "self-employed": 2700}
TRADES = np.array(
    ["grocery", "restaurant", "fuel", "clothing", "electronics", "pharmacy", "online shop", "jeweller", "travel"]
)
TRADE_SHARES = [0.26, 0.24, 0.08, 0.12, 0.07, 0.09, 0.07, 0.03, 0.04]
LINES = {"utility": 7, "telecom": 5, "insurance": 8, "wholesale": 34, "property": 16}
LINES |= {"public": 6, "industry": 55, "services": 80, "construction": 55, "association": 14}
STAFF = {"public": 14, "industry": 7, "insurance": 6, "utility": 6, "services": 2.5, "construction": 2}
SHOPPING = (  # at whom, how many payments, mean and spread of the logarithm of the amount, hours
    ("grocery", 10200, 3.4, 0.6, "shop"),
    ("restaurant", 4000, 3.1, 0.6, "evening"),
    ("fuel", 2000, 4.0, 0.3, "shop"),
    ("clothing", 1800, 3.9, 0.6, "shop"),
    ("pharmacy", 1200, 2.8, 0.6, "shop"),
    ("electronics", 800, 4.8, 0.9, "shop"),
    ("online shop", 3400, 3.6, 0.8, "evening"),
    ("jeweller", 150, 5.2, 0.9, "shop"),
    ("travel", 350, 5.7, 0.8, "evening"),
)
BY_TRANSFER = np.array(["transfer", "instant"])


def popular(count: int, power: float = 0.9) -> np.ndarray:
    """Return weights that fall by rank."""
    weight = 1 / np.arange(1, count + 1) ** power
    return np.asarray(weight / weight.sum())


def accounts(bank: Bank, rng: np.random.Generator) -> None:
    for _ in range(5250):
        segment = rng.choice(SEGMENTS, p=[0.6, 0.2, 0.1, 0.07, 0.03])
        region = rng.choice(REGIONS, p=REGION_SHARES)
        ages = {"student": 18 + rng.gamma(2, 2), "pensioner": 63 + rng.gamma(3, 4)}
        age = ages.get(segment, 20 + 45 * rng.beta(1.6, 1.6))
        income = INCOMES.get(segment, 2400) * rng.lognormal(0, 0.3)
        opened = rng.integers(-60, 80) if rng.random() < 0.03 else -30 - min(rng.exponential(3200), (age - 14) * 365)
        bank.open("person", opened, np.nan if rng.random() < 0.06 else round(income, -1), segment, region, int(age))
    for _ in range(420):
        segment, opened = rng.choice(TRADES, p=TRADE_SHARES), -30 - rng.exponential(2600)
        income = np.nan if rng.random() < 0.08 else round(rng.lognormal(10.2, 0.9), -2)
        bank.open("merchant", opened, income, segment, rng.choice(REGIONS, p=REGION_SHARES))
    for segment, count in LINES.items():
        for _ in range(count):
            opened = -60 - rng.exponential(3300)
            income = np.nan if rng.random() < 0.08 else round(rng.lognormal(11.4, 1), -2)
            bank.open("firm", opened, income, segment, rng.choice(REGIONS, p=REGION_SHARES))
    for region in REGIONS:
        bank.open("firm", -9000, np.nan, "cash desk", region)  # cash paid in at a branch comes from here
    bank.freeze()


def incomes(bank: Bank, rng: np.random.Generator) -> None:
    """Pay wages on the employer's payday, and pensions at the end of the month."""
    known, people = bank.known, np.flatnonzero(bank.known["kind"] == "person")
    segment, merchants = known["segment"], np.flatnonzero(known["kind"] == "merchant")
    bank.desk = {region: int(desk) for region, desk in zip(REGIONS, bank.of("cash desk"), strict=True)}
    bank.quiet = np.zeros(bank.size, bool)
    bank.quiet[rng.choice(people, 170, replace=False)] = True  # hardly used accounts
    active = bank.active = people[~bank.quiet[people]]
    everyday = np.isin(segment[merchants], ["grocery", "restaurant", "pharmacy", "clothing"])
    bank.near = {here: merchants[(known["region"][merchants] == here) & everyday] for here in REGIONS}
    firms = bank.of("industry", "services", "construction", "public", "utility", "insurance")
    employers = rng.permutation(np.concatenate([firms, rng.choice(merchants, 60, replace=False)]))
    size = rng.lognormal(0, 1, len(employers)) * [STAFF.get(line, 0.35) for line in segment[employers]]
    bank.employers, size = (
        employers[np.argsort(-size)],
        np.sort(size)[::-1],
    )  # a shop has a few hands, a factory hundreds
    workers = active[np.isin(segment[active], ["employee", "wealthy"])]
    boss = bank.near_by(rng, workers, bank.employers, size, 0.75)
    bank.boss = dict(zip(map(int, workers), map(int, boss), strict=True))
    payday = rng.choice([14, 24, 26, 27, 29], bank.size, p=[0.1, 0.25, 0.3, 0.15, 0.2])
    batch = clock(rng, bank.size, "batch")
    known_income = known["monthly_income"]
    wage = np.where(np.isnan(known_income), 2100, known_income) * rng.uniform(0.97, 1.03, bank.size)
    pensioners = active[segment[active] == "pensioner"]
    for month, first in enumerate(MONTHS):
        day = np.minimum(first + payday[boss], DAYS - 1)
        has_bonus = (month == 1) & (rng.random(len(workers)) < 0.35)
        bonus = np.where(has_bonus, rng.uniform(1.3, 1.9), 1.0)  # Christmas pay
        when = day * 1440 + batch[boss] + rng.integers(0, 9, len(workers))
        bank.bulk(boss, workers, wage[workers] * bonus, when, "transfer")
        when = min(first + 29, 88) * 1440 + 240 + rng.integers(0, 60, len(pensioners))
        bank.bulk(bank.of("public")[0], pensioners, wage[pensioners], when, "transfer")


def bills(bank: Bank, rng: np.random.Generator) -> None:
    """Pay the rent on the 1st, and power, telephone and insurance by standing order."""
    active, age = bank.active, bank.known["age_of_holder"]
    tenants = rng.choice(active, 1200, replace=False)
    private = rng.choice(active[age[active] > 45], 110, replace=False)
    bank.landlords = np.concatenate([bank.of("property"), private])
    lord = bank.near_by(rng, tenants, bank.landlords, popular(len(bank.landlords), 0.8), 0.85)
    rent = np.round(np.clip(rng.normal(720, 220, len(tenants)), 240, None) / 5) * 5
    for first in MONTHS:
        days = first + rng.choice([0, 0, 0, 1, 2], len(tenants))
        bank.bulk(tenants, lord, rent, booked(rng, days, "batch"), "standing order")
    for line, share, mean in (("utility", 0.22, 4.4), ("telecom", 0.15, 3.4), ("insurance", 0.1, 3.7)):
        who = rng.choice(active, int(share * len(active)), replace=False)
        suppliers = bank.of(line)
        to = rng.choice(suppliers, len(who), p=popular(len(suppliers)))
        amount, day = rng.lognormal(mean, 0.4, len(who)), rng.choice([0, 2, 4, 14], len(who))
        for first in MONTHS:
            bank.bulk(who, to, amount, booked(rng, first + day, "batch"), "standing order")


def shopping(bank: Bank, rng: np.random.Generator) -> None:
    """Shop in the own region, at popular shops, in a weekly and daily rhythm, and more before Christmas."""
    active, region = bank.active, bank.known["region"]
    vigour = rng.lognormal(0, 0.7, bank.size) * np.where(bank.known["segment"] == "pensioner", 0.7, 1)
    owls = rng.choice(active, 45, replace=False)  # shift workers who shop at night
    favourite: dict[tuple[int, str], int] = {}
    for trade, total, mean, spread, profile in SHOPPING:
        who = rng.choice(active, total, p=vigour[active] / vigour[active].sum())
        to, pool = np.empty(total, int), bank.of(trade)
        for here in REGIONS:  # local shops, else the popular one of the country
            shops = pool[region[pool] == here] if trade not in ("online shop", "travel", "jeweller") else pool
            shops = shops if len(shops) else pool
            mine = region[who] == here
            to[mine] = rng.choice(shops, mine.sum(), p=popular(len(shops), 1.0))
        for row in np.flatnonzero(rng.random(total) < 0.55):  # people come back to their own shop
            to[row] = favourite.setdefault((who[row], trade), to[row])
        at = np.where(np.isin(who, owls), clock(rng, total, "night"), clock(rng, total, profile))
        amount = rng.lognormal(mean, spread, total)
        bank.bulk(who, to, amount, rng.choice(DAYS, total, p=SHOPDAY / SHOPDAY.sum()) * 1440 + at, "card")


def business(bank: Bank, rng: np.random.Generator) -> None:
    """Settle with wholesalers every week or two, pay in the takings, pay invoices."""
    known, wholesale = bank.known, bank.of("wholesale")
    firms, merchants = (np.flatnonzero(known["kind"] == kind) for kind in ("firm", "merchant"))
    for shop in merchants:
        income = known["monthly_income"][shop]
        size = (80000 if np.isnan(income) else income) / 30
        for supplier in rng.choice(wholesale, rng.integers(1, 3), replace=False, p=popular(len(wholesale))):
            days = np.arange(rng.integers(0, 14), DAYS, rng.choice([14, 21, 28]))
            days = days + (WEEKDAY[days] > 4) * -2
            amount = size * rng.uniform(1, 4) * rng.lognormal(0, 0.25, len(days))
            bank.bulk(shop, supplier, amount, booked(rng, np.maximum(days, 0), "office"), "transfer")
        if rng.random() < 0.22:
            days = np.flatnonzero(rng.choice([0, 3, 4]) == WEEKDAY)
            amount = np.round(size * rng.lognormal(0, 0.4, len(days)) / 5) * 5
            bank.bulk(bank.desk[known["region"][shop]], shop, amount, booked(rng, days, "office"), "cash deposit")
    firms = firms[known["segment"][firms] != "cash desk"]
    buyers = np.concatenate([firms, merchants])
    sellers = rng.permutation(np.concatenate([firms, rng.choice(merchants, 90, replace=False)]))
    own = bank.active[known["segment"][bank.active] == "self-employed"]  # they write invoices too
    invoiced = [rng.choice(buyers, 900), rng.choice(sellers, 900, p=popular(len(sellers), 0.6))]
    links = np.concatenate([np.stack(invoiced, 1), np.stack([rng.choice(buyers, 700), rng.choice(own, 700)], 1)])
    for payer, payee in links[links[:, 0] != links[:, 1]]:
        count = rng.integers(1, 5)
        days = rng.choice(DAYS, count)
        days = days - (WEEKDAY[days] > 4) * 2
        amount = rng.lognormal(7.1, 1.1) * rng.lognormal(0, 0.3, count)
        amount = np.where(rng.random(count) < 0.1, np.round(amount, -2) + 100, amount)
        bank.bulk(payer, payee, amount, booked(rng, np.maximum(days, 0), "office"), "transfer")


def circles(bank: Bank, rng: np.random.Generator) -> None:
    """Let friends and families pay each other again and again, and others pay each other once."""
    active, known = bank.active, bank.known
    presents = [5, 10, 15, 20, 20, 25, 30, 50, 50, 100, 200]
    for region in REGIONS:
        here = rng.permutation(active[known["region"][active] == region])
        for circle in np.split(here, np.cumsum(rng.choice([2, 3, 4, 5, 6], len(here)))):
            if len(circle) < 2:
                continue
            count = rng.poisson(3.2 * rng.lognormal(-0.3, 0.8) * len(circle) / 3)
            giver, step = rng.integers(0, len(circle), count), rng.integers(1, len(circle), count)
            amount = np.where(rng.random(count) < 0.6, rng.choice(presents, count), rng.lognormal(3.1, 0.8, count))
            when = booked(rng, rng.integers(0, DAYS, count), "evening")
            taker = circle[(giver + step) % len(circle)]
            bank.bulk(circle[giver], taker, amount, when, rng.choice(BY_TRANSFER, count))
    people = rng.choice(active, 900), rng.choice(active, 900), rng.lognormal(3.3, 0.8, 900)
    bank.bulk(*people, booked(rng, rng.integers(0, DAYS, 900), "evening"), rng.choice(BY_TRANSFER, 900))
    businesses = np.flatnonzero(np.isin(known["kind"], ["firm", "merchant"]) & (known["segment"] != "cash desk"))
    businesses = businesses[np.argsort(known["kind"][businesses], kind="stable")]
    count = 700  # larger first-time payments: deposits, craftsmen, loans, savings
    payer, private = rng.choice(active, count), rng.random(count) < 0.6
    payee = np.where(private, rng.choice(active, count), rng.choice(businesses, count))
    amount = np.round(rng.lognormal(6.9, 0.8, count), -1)
    when = booked(rng, rng.integers(0, DAYS, count), "evening")
    bank.bulk(payer, payee, amount, when, rng.choice(BY_TRANSFER, count))


def rest(bank: Bank, rng: np.random.Generator) -> None:
    """Pay in private cash, wake sleeping accounts with one payment, support students; file the year's turnover."""
    active, known = bank.active, bank.known
    who = rng.choice(active, 260)  # tips, presents, a sold motorbike
    desks = [bank.desk[region] for region in known["region"][who]]
    amount = np.round(rng.lognormal(5.8, 1.1, 260), -1)
    bank.bulk(desks, who, amount, booked(rng, rng.integers(0, DAYS, 260), "office"), "cash deposit")
    who, payer, amount = (
        rng.choice(np.flatnonzero(bank.quiet), 110),
        rng.choice(active, 110),
        rng.lognormal(4, 1.3, 110),
    )
    bank.bulk(payer, who, amount, booked(rng, rng.integers(0, DAYS, 110), "evening"), "transfer")
    for student in active[known["segment"][active] == "student"]:
        parent = rng.choice(active)
        for first in MONTHS:
            bank.bulk([parent], student, rng.choice([200, 250, 300, 400]), first * 1440 + 300, "standing order")
    paid = np.zeros((2, bank.size))
    for giver, taker, one, *_ in bank.events:
        paid[0, giver] += one
        paid[1, taker] += one
    income = known["monthly_income"]
    trading = np.isin(known["kind"], ["merchant", "firm"]) & ~np.isnan(income)
    turnover = np.maximum(paid[1], 1.1 * paid[0])[trading]
    income[trading] = np.round(turnover / 3 * rng.lognormal(0, 0.3, trading.sum()) + 500, -2)
    bank.values["monthly_income"] = income.tolist()


def oddities(bank: Bank, rng: np.random.Generator) -> None:
    """Write what is odd and innocent: cars, houses, a wedding, a church, a shop that opens."""
    bank.scheme, bank.innocent = "oddity", True
    active, region = bank.active, bank.known["region"]
    for _ in range(8):
        payer, payee = bank.persons(rng, 2)
        price = rng.choice([4500, 7800, 12000, 15900])
        bank.pay(payer, payee, price, rng.integers(90), minute(rng, "evening"), "instant")
        bank.mark("car sale", [payer, payee])
    for _ in range(4):
        payer, payee = bank.persons(rng, 2)
        bank.pay(payer, payee, rng.uniform(90e3, 380e3) // 500 * 500, rng.integers(80), 640)
        bank.mark("house purchase", [payer, payee])
    bride, church = bank.persons(rng, 1)[0], bank.firms(rng, 1, segments=["association"])[0]
    for guest in rng.choice(active, 38, replace=False):  # over ten days
        gift = rng.choice([30, 50, 50, 100, 150])
        bank.pay(int(guest), bride, gift, 20 + rng.integers(10), minute(rng, "evening"))
    for sunday in np.flatnonzero(WEEKDAY == 6):
        for giver in rng.choice(active, 7, replace=False):
            bank.pay(int(giver), church, rng.choice([5, 10, 20]), sunday, 600 + rng.integers(150), "instant")
        desk = bank.desk[region[church]]
        bank.pay(desk, church, rng.uniform(180, 420) // 1, min(int(sunday) + 1, 89), 600, "cash deposit")
    shop = bank.open("merchant", 44, np.nan, "restaurant", "Mitte")
    guests = [int(guest) for guest in rng.choice(active[region[active] == "Mitte"], 130)]
    rush = [(guest, rng.lognormal(3, 0.4), 45 + min(rng.exponential(9), 44)) for guest in guests]
    for guest, bill, day in rush:
        bank.pay(guest, shop, bill, round(day * 1440) // 1440, minute(rng, "evening"), "card")
    bank.mark("wedding gifts", bride)
    bank.mark("church", church)
    bank.mark("shop opening", shop)


def background(bank: Bank, rng: np.random.Generator) -> None:
    """Write everyday banking; the order of the parts is the order of the dice."""
    for write in (accounts, incomes, bills, shopping, business, circles, rest, oddities):
        write(bank, rng)
