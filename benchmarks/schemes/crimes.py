"""Twelve payment crimes, written before any detector was looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.schemes.bank import REGIONS, Bank
from benchmarks.schemes.world import MONTHS, WEEKDAY, minute


def mule(bank: Bank, rng: np.random.Generator) -> None:
    """Lend an account to a gang.

    A young person answered a job advertisement. Over three weeks victims of purchase and phishing fraud, unknown to
    the holder, pay in. Each sum leaves by instant payment within minutes to hours, less a commission of 5 to 8 %, to
    an account opened for the purpose.
    """
    (young,) = bank.persons(rng, 1, 18, 28)
    victims = bank.persons(rng, rng.integers(5, 9), 40)
    way_out = bank.open(
        "person", -rng.integers(15, 50), np.nan, "employee", rng.choice(REGIONS), int(rng.integers(22, 45))
    )
    bank.live(rng, way_out, 5)
    start = rng.integers(20, 60)
    for victim in victims:
        amount, day, at = rng.uniform(900, 4900), start + rng.integers(21), minute(rng, "office")
        bank.pay(victim, young, amount, day, at, rng.choice(["transfer", "instant"]))
        bank.pay(
            young, way_out, amount * rng.uniform(0.92, 0.95) // 10 * 10, day, at + rng.integers(12, 240), "instant"
        )
    bank.mark("mule", young)
    bank.mark("exit", way_out)
    bank.mark("victim", victims, core=False)


def collector(bank: Bank, rng: np.random.Generator) -> None:
    """Run a fake web shop.

    Some fifty buyers from all over the country pay 40 to 200 euros each, once, for goods that never come, to a
    private account opened some weeks ago. Every few days the account is emptied.
    """
    account = bank.open(
        "person", -rng.integers(10, 45), 1900.0, "employee", rng.choice(REGIONS), int(rng.integers(20, 50))
    )
    (outlet,) = bank.persons(rng, 1, 20, 50)
    bank.live(rng, account, 9, income=1870)
    start, victims, held = rng.integers(35, 55), bank.persons(rng, rng.integers(42, 60)), 0
    for place, (day, victim) in enumerate(zip(np.sort(rng.integers(0, 24, len(victims))), victims, strict=True)):
        price = rng.choice([49.0, 79, 89.9, 119, 149, 189])
        held += price
        bank.pay(
            victim,
            account,
            price,
            start + day,
            minute(rng, "evening"),
            rng.choice(["transfer", "instant"], p=[0.7, 0.3]),
        )
        if held > 1100 or place == len(victims) - 1:
            bank.pay(account, outlet, held // 10 * 10, start + day + 1, minute(rng, "evening"), "instant")
            held = 0
    bank.mark("collector", account)
    bank.mark("outlet", outlet)
    bank.mark("victim", victims, core=False)


def smurfing(bank: Bank, rng: np.random.Generator) -> None:
    """Pay in cash below a limit.

    Cash from drug sales has to enter the bank below the reporting limit of 10,000 euros. Five runners pay in 9,000 to
    9,950 euros at several branches on many days, and pass it on to the organiser by transfer.
    """
    runners, (organiser,) = bank.persons(rng, 5, 19, 45), bank.persons(rng, 1, 30, 55, segment="self-employed")
    start = rng.integers(10, 35)
    for runner in runners:
        for day in start + np.sort(rng.choice(40, rng.integers(4, 7), replace=False)):
            amount = rng.uniform(9000, 9950) // 10 * 10
            bank.pay(bank.desk[rng.choice(REGIONS[:4])], runner, amount, day, minute(rng, "office"), "cash deposit")
            bank.pay(
                runner, organiser, amount - rng.choice([150, 200, 250]), day + rng.integers(1, 4), minute(rng, "office")
            )
    bank.mark("runner", runners)
    bank.mark("organiser", organiser)


def shells(bank: Bank, rng: np.random.Generator) -> None:
    """Layer money through shell firms.

    Money taken from a company travels through five firms without staff or trade, each hop after a day or two with an
    invented invoice and 2 to 3 % kept, until it reaches a private person. Three rounds.
    """
    (source,) = bank.firms(rng, 1)
    (beneficiary,) = bank.persons(rng, 1, 35, 65)
    chain = [
        bank.open(
            "firm", -rng.integers(90, 500), np.nan if rng.random() < 0.5 else 20000.0, "services", rng.choice(REGIONS)
        )
        for _ in range(5)
    ]
    (agent,) = bank.firms(rng, 1, segments=["services"])
    for shell in chain:
        for day in MONTHS:
            bank.pay(shell, agent, 119, day + 4, 300, "standing order", planted=False)  # the registered address
    for day in rng.integers(5, 20) + np.array([0, 24, 47]):
        amount = rng.uniform(60e3, 140e3)
        for payer, payee in pairwise([source, *chain, beneficiary]):
            bank.pay(payer, payee, amount, day, minute(rng, "office"))
            amount *= rng.uniform(0.97, 0.98)
            day += rng.integers(1, 3)
    bank.mark("shell", chain)
    bank.mark("beneficiary", beneficiary)
    bank.mark("source", source, core=False)


def takeover(bank: Bank, rng: np.random.Generator) -> None:
    """Take over an account.

    The online banking of an older customer was phished. One night, between one and four, eight to eleven instant
    payments go to payees the customer never paid before, until the account is empty. The drop accounts, young and
    recently opened, forward the money within the hour.
    """
    (victim,) = bank.persons(rng, 1, 55, 85)
    day = rng.integers(25, 85)
    drops = [
        bank.open("person", -rng.integers(5, 60), np.nan, "student", rng.choice(REGIONS), int(rng.integers(18, 26)))
        for _ in range(4)
    ]
    (sink,) = bank.persons(rng, 1, 20, 45)
    for drop in drops:
        bank.live(rng, drop, 4)
    for at in np.sort(rng.integers(70, 215, rng.integers(8, 12))):
        drop, amount = int(rng.choice(drops)), rng.uniform(700, 4950)
        bank.pay(victim, drop, amount, day, at, "instant")
        if rng.random() < 0.8:
            bank.pay(drop, sink, amount * 0.9 // 10 * 10, day, at + rng.integers(5, 55), "instant")
    bank.mark("taken over", victim)
    bank.mark("drop", drops)
    bank.mark("sink", sink)


def dormant(bank: Bank, rng: np.random.Generator) -> None:
    """Wake a dormant account with forged papers.

    The account slept for years, as the holder has died or forgotten it. It suddenly receives two large sums and
    within three days pays everything out in slices to three strangers.
    """
    account = bank.open(
        "person", -rng.integers(2800, 5200), 1300.0, "pensioner", rng.choice(REGIONS), int(rng.integers(74, 93))
    )
    sources, takers, day = bank.firms(rng, 2), bank.persons(rng, 3, 20, 50), rng.integers(50, 84)
    sums = rng.uniform(14e3, 26e3, 2)
    for payer, amount, place in zip(sources, sums, (0, 1), strict=True):
        bank.pay(payer, account, amount, day + place, minute(rng, "office"))
    for place, amount in enumerate(rng.dirichlet(np.full(9, 6)) * sums.sum() * 0.98):
        bank.pay(
            account, takers[place % 3], amount // 50 * 50, day + 1 + rng.integers(3), minute(rng, "evening"), "instant"
        )
    bank.mark("dormant", account)
    bank.mark("taker", takers)


def ring(bank: Bank, rng: np.random.Generator) -> None:
    """Inflate turnover in a ring of merchants.

    For a bank loan and a VAT claim four merchants pay each other round sums for weeks, for goods that do not exist,
    in changing directions, so that nobody is poorer at the end.
    """
    merchants = bank.firms(rng, 4, "merchant", ["clothing", "electronics", "restaurant", "jeweller"])
    for day in range(rng.integers(3, 12), 84, 3):
        payer, payee = rng.choice(4, 2, replace=False)
        bank.pay(
            merchants[payer],
            merchants[payee],
            rng.choice([2000, 2500, 4000, 5000, 5000, 7500, 10000]),
            day - (WEEKDAY[day] > 4) * 2,
            minute(rng, "office"),
        )
    bank.mark("merchant", merchants)


def ghosts(bank: Bank, rng: np.random.Generator) -> None:
    """Put people who do not exist on the payroll.

    A payroll clerk adds five people to the list of the firm. On payday the wage arrives with all the others. The
    accounts have no other life, and the day after nearly all of it goes to the clerk.
    """
    staff = [person for person, boss in bank.boss.items() if boss in bank.employers[:12]]
    (clerk,) = bank.pick(rng, 1, np.isin(np.arange(len(bank.quiet)), staff))
    firm, pay = bank.boss[clerk], rng.uniform(1950, 2350)
    day = next((event[3] // 1440 for event in bank.events if event[:2] == (firm, clerk)), 26)
    people = [
        bank.open(
            "person", -rng.integers(20, 160), 2200.0, "employee", bank.known["region"][clerk], int(rng.integers(24, 58))
        )
        for _ in range(5)
    ]
    for first in MONTHS:
        for ghost in people:
            wage = pay * rng.uniform(0.99, 1.01)
            date = min(first + day, 88)
            bank.pay(firm, ghost, wage, date, 300 + rng.integers(0, 9))
            bank.pay(
                ghost, clerk, (wage - rng.uniform(20, 60)) // 10 * 10, date + rng.integers(0, 2), minute(rng, "evening")
            )
    bank.mark("ghost", people)
    bank.mark("clerk", clerk)
    bank.mark("employer", firm, core=False)


def cycle(bank: Bank, rng: np.random.Generator) -> None:
    """Send money in a circle.

    It passes five accounts and comes back to its owner as apparent income: loan, fee, purchase, consultancy. Each
    round takes a week, each station keeps next to nothing; three rounds.
    """
    one, two = bank.persons(rng, 2, 30, 65, segment="self-employed")
    first, second, third = bank.firms(rng, 3, segments=["services", "construction"])
    stations = [one, first, second, two, third]
    for day in rng.integers(4, 14) + np.array([0, 26, 52]):
        amount = rng.uniform(18e3, 46e3)
        for payer, payee in pairwise([*stations, stations[0]]):
            bank.pay(payer, payee, amount, day, minute(rng, "office"))
            amount *= rng.uniform(0.985, 0.999)
            day += rng.integers(1, 3)
    bank.mark("station", stations)


def invoices(bank: Bank, rng: np.random.Generator) -> None:
    """Approve invented invoices.

    Within weeks the firm of an accountant pays eight firms that were founded a short while ago and have no other
    customer. They hand on most of it to a relative of the accountant.
    """
    (firm,) = bank.firms(rng, 1, segments=["industry", "construction", "services"])
    (relative,) = bank.persons(rng, 1, 28, 60)
    suppliers = [
        bank.open("firm", rng.integers(-45, 8), np.nan, rng.choice(["services", "construction"]), rng.choice(REGIONS))
        for _ in range(8)
    ]
    for supplier in suppliers:
        for day in np.sort(rng.choice(np.arange(12, 80), rng.integers(1, 4), replace=False)):
            amount = rng.uniform(5e3, 19e3)
            bank.pay(firm, supplier, amount, day - (WEEKDAY[day] > 4) * 2, minute(rng, "office"))
            bank.pay(
                supplier,
                relative,
                amount * rng.uniform(0.8, 0.95) // 100 * 100,
                day + rng.integers(1, 6),
                minute(rng, "evening"),
            )
    bank.mark("paying firm", firm)
    bank.mark("fake supplier", suppliers)
    bank.mark("relative", relative)


def bustout(bank: Bank, rng: np.random.Generator) -> None:
    """Draw everything in one week.

    For months the customer behaves well so that the credit line grows. Then come some twenty-five card payments at
    electronics, jewellers and travel and large transfers in one week, and nothing ever after.
    """
    account = bank.open(
        "person", -rng.integers(330, 520), 2600.0, "employee", rng.choice(REGIONS), int(rng.integers(24, 48))
    )
    start = rng.integers(70, 82)
    payer = bank.employer(rng)
    (friend,) = bank.persons(rng, 1, 20, 50)
    for first in MONTHS:
        if first + 26 < start:
            bank.pay(payer, account, 2580, first + 26, 303, planted=False)
        if first < start:
            bank.pay(account, int(bank.landlords[9]), 640, first, 330, "standing order", planted=False)
    for day in np.sort(rng.integers(0, start - 2, 26)):
        bank.pay(
            account,
            int(rng.choice(bank.near[bank.values["region"][account]])),
            rng.lognormal(3.1, 0.5),
            day,
            minute(rng, "shop"),
            "card",
            planted=False,
        )
    dear = bank.of("electronics", "jeweller", "travel", "online shop")
    for _ in range(rng.integers(20, 30)):
        bank.pay(
            account, int(rng.choice(dear)), rng.uniform(450, 2900), start + rng.integers(7), minute(rng, "shop"), "card"
        )
    for _ in range(3):
        bank.pay(
            account,
            friend,
            rng.uniform(1500, 3000) // 50 * 50,
            start + rng.integers(7),
            minute(rng, "evening"),
            "instant",
        )
    bank.mark("bust-out", account)


def farm(bank: Bank, rng: np.random.Generator) -> None:
    """Open a farm of accounts.

    One person opens nine accounts with borrowed identities within days to collect welcome bonuses and small loans.
    All are fed with the same small sum, make the same few purchases and pay the loan money to the same account on the
    same days.
    """
    boss = bank.open("person", -rng.integers(60, 200), 1500.0, "employee", "West", int(rng.integers(22, 45)))
    bank.live(rng, boss, 14)
    start = rng.integers(5, 30)
    shops = rng.choice(bank.near["West"], 2, replace=False)
    (lender,) = bank.firms(rng, 1, segments=["services"])
    farmed = [
        bank.open("person", start + rng.integers(0, 8), 2000.0, "employee", "West", int(rng.integers(20, 60)))
        for _ in range(9)
    ]
    for account in farmed:
        bank.pay(boss, account, 25, start + 9, 1140 + rng.integers(40), "instant")
        for place, later in enumerate((11, 14, 18)):
            bank.pay(account, int(shops[place % 2]), rng.uniform(6, 12), start + later, minute(rng, "shop"), "card")
        bank.pay(lender, account, 500, start + 22, 600 + rng.integers(90))
        for later in (22, 24):
            bank.pay(account, boss, rng.choice([240, 245, 250]), start + later, 1150 + rng.integers(60), "instant")
    bank.mark("farmed", farmed)
    bank.mark("farmer", boss)


CRIMES = {write.__name__: write for write in (mule, collector, smurfing, shells, takeover, dormant)}
CRIMES |= {write.__name__: write for write in (ring, ghosts, cycle, invoices, bustout, farm)}
