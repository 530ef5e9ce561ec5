"""The innocent twin of every crime: what looks like it and is not."""

from __future__ import annotations

import numpy as np

from benchmarks.schemes.bank import REGIONS, Bank
from benchmarks.schemes.world import MONTHS, WEEKDAY, minute


def mule(bank: Bank, rng: np.random.Generator) -> None:
    """Collect the rent of a flat share.

    Four flatmates pay the head tenant their share at the end of the month, and the whole rent leaves the same day.
    """
    (tenant,) = bank.persons(rng, 1, 20, 30)
    mates = bank.persons(rng, 4, 19, 30)
    lord = int(bank.landlords[rng.integers(len(bank.landlords))])
    for day in (30, 60, 89):
        for mate in mates:
            bank.pay(
                mate, tenant, [410, 430, 450, 480][mates.index(mate)], day - rng.integers(0, 2), minute(rng, "evening")
            )
        if day < 89:
            bank.pay(tenant, lord, 2190, day + 1, 400, "standing order")
    bank.mark("head tenant", tenant)
    bank.mark("flatmate", mates, core=False)


def collector(bank: Bank, rng: np.random.Generator) -> None:
    """Collect the fees of a sports club.

    Sixty members pay the treasurer the yearly fee within three weeks, and the hall and the trainer are paid from it.
    """
    (treasurer,) = bank.persons(rng, 1, 35, 70)
    region = bank.known["region"][treasurer]
    (hall,) = bank.firms(rng, 1, segments=["public", "services"])
    (coach,) = bank.persons(rng, 1, 25, 60)
    members, start = bank.persons(rng, 58, region=region), rng.integers(10, 40)
    for member in members:
        bank.pay(member, treasurer, rng.choice([60, 60, 90, 120]), start + rng.integers(22), minute(rng, "evening"))
    for day in (start + 15, start + 30):
        bank.pay(treasurer, hall, 1450, day, 640)
        bank.pay(treasurer, coach, 600, day, 650)
    bank.mark("treasurer", treasurer)
    bank.mark("member", members, core=False)


def smurfing(bank: Bank, rng: np.random.Generator) -> None:
    """Pay in the takings of two restaurants.

    They go to their own branch every Monday: 7,000 to 13,000 euros, with no eye on the limit.
    """
    restaurants = bank.firms(rng, 2, "merchant", ["restaurant"])
    wholesale = bank.of("wholesale")
    for account in restaurants:
        for day in np.flatnonzero(WEEKDAY == 0):
            bank.pay(
                bank.desk[bank.known["region"][account]],
                account,
                rng.normal(9600, 1300) // 5 * 5,
                day,
                560 + rng.integers(60),
                "cash deposit",
            )
            bank.pay(
                account,
                int(wholesale[account % len(wholesale)]),
                rng.uniform(3500, 5200),
                day + 2,
                600 + rng.integers(60),
            )
    bank.mark("restaurant", restaurants)


def shells(bank: Bank, rng: np.random.Generator) -> None:
    """Lend to subsidiaries.

    A holding lends to four at the start of the month. They pay wages and suppliers and sweep the surplus back.
    """
    holding, *subsidiaries = bank.firms(rng, 5, segments=["industry", "services", "construction"])
    staff = {firm: bank.persons(rng, 4, 20, 60) for firm in subsidiaries}
    for first in MONTHS:
        for firm in subsidiaries:
            bank.pay(holding, firm, rng.uniform(30e3, 80e3) // 1000 * 1000, first + 2, 600)
            bank.pay(firm, holding, rng.uniform(12e3, 60e3), first + 26, 930)
            for person in staff[firm]:
                bank.pay(firm, person, rng.uniform(1800, 3200), first + 25, 300)
    bank.mark("holding", holding)
    bank.mark("subsidiary", subsidiaries)


def takeover(bank: Bank, rng: np.random.Generator) -> None:
    """Shop at night.

    A nurse on night shift does the Christmas shopping between one and four at online shops, and sends friends their
    share of a present.
    """
    (nurse,) = bank.persons(rng, 1, 25, 60)
    shops = bank.of("online shop")
    friends = bank.persons(rng, 3, 20, 60)
    for day in rng.choice([62, 63, 69, 70], rng.integers(11, 16)):
        bank.pay(nurse, int(rng.choice(shops)), rng.lognormal(4, 0.6), day, rng.integers(60, 230), "card")
    for friend in friends:
        bank.pay(nurse, friend, rng.choice([25, 40, 60]), 70, rng.integers(70, 200), "instant")
    bank.mark("night shopper", nurse)


def dormant(bank: Bank, rng: np.random.Generator) -> None:
    """Spend a deposit that matured.

    The savings account was silent for years. The term deposit ends, the holder moves the money to the current account
    and buys a car.
    """
    account = bank.open(
        "person", -rng.integers(2500, 4500), 2900.0, "employee", rng.choice(REGIONS), int(rng.integers(40, 66))
    )
    (current,) = bank.persons(rng, 1, 40, 66, region=bank.values["region"][account])
    (insurer,) = bank.firms(rng, 1, segments=["insurance"])
    (dealer,) = bank.firms(rng, 1, "merchant", ["fuel", "electronics"])
    day = rng.integers(40, 75)
    amount = rng.uniform(28e3, 46e3)
    bank.pay(insurer, account, amount, day, 610)
    bank.pay(account, current, amount // 1000 * 1000 - 18000, day + 5, 1130)
    bank.pay(account, dealer, 17890, day + 9, 700)
    bank.mark("saver", account)
    bank.mark("own account", current, core=False)


def ring(bank: Bank, rng: np.random.Generator) -> None:
    """Deliver to the neighbours.

    Four shops in the high street, baker, cafe, florist, hotel, supply each other on small round monthly instalments.
    """
    shops = bank.firms(rng, 4, "merchant", ["grocery", "restaurant", "clothing"])
    for supplier in range(4):
        for customer in range(4):
            if customer != supplier and rng.random() < 0.75:
                amount = rng.choice([150, 200, 250, 300, 400, 500])
                for first in MONTHS:
                    bank.pay(shops[supplier], shops[customer], amount, first + 4, 330, "standing order")
    bank.mark("neighbour", shops)


def ghosts(bank: Bank, rng: np.random.Generator) -> None:
    """Hire six people.

    A firm opens a branch and hires them on the same collective wage. New in town, they open accounts, pay rent, go
    shopping.
    """
    firm = int(bank.employers[rng.integers(12)])
    hired = [
        bank.open("person", -rng.integers(10, 60), 2150.0, "employee", "Ost", int(rng.integers(20, 50)))
        for _ in range(6)
    ]
    for person in hired:
        for first in MONTHS:
            bank.pay(firm, person, 2150, first + 26, 300 + rng.integers(0, 9))
        bank.live(rng, person, rng.integers(8, 18), rent=rng.integers(90, 150) * 5)
    bank.mark("new hire", hired)
    bank.mark("employer", firm, core=False)


def cycle(bank: Bank, rng: np.random.Generator) -> None:
    """Share the bills of a family.

    She pays him for the rent, he the sister for the phone plan, she the mother for the car, the mother the daughter's
    music lessons.
    """
    family = bank.persons(rng, 4, 22, 75, region="Nord")
    for first in MONTHS:
        for place, amount in enumerate((380, 45, 120, 60)):
            bank.pay(
                family[place], family[(place + 1) % 4], amount, first + place, minute(rng, "batch"), "standing order"
            )
    bank.mark("family", family)


def invoices(bank: Bank, rng: np.random.Generator) -> None:
    """Pay freelancers.

    A builder pays eight, some newly self-employed. They write invoices to others too, buy material and live on it.
    """
    (builder,) = bank.firms(rng, 1, segments=["construction"])
    others = bank.firms(rng, 5)
    freelancers = [
        bank.open("firm", rng.integers(-300, 5), np.nan, "construction", bank.known["region"][builder])
        for _ in range(8)
    ]
    for freelancer in freelancers:
        for day in rng.choice(np.arange(8, 88), rng.integers(2, 5), replace=False):
            bank.pay(builder, freelancer, rng.uniform(900, 6500), day, minute(rng, "office"))
        for day in rng.choice(np.arange(8, 88), rng.integers(1, 4), replace=False):
            bank.pay(
                int(rng.choice(others)), freelancer, rng.uniform(600, 5000), day, minute(rng, "office"), planted=False
            )
        bank.live(rng, freelancer, 8, since=8)
    bank.mark("builder", builder)
    bank.mark("freelancer", freelancers)


def bustout(bank: Bank, rng: np.random.Generator) -> None:
    """Move abroad.

    The parents help a student, then come within ten days flight, deposit, laptop and furniture. Afterwards the
    account is quiet.
    """
    (student,) = bank.persons(rng, 1, 19, 27, segment="student")
    parents = bank.persons(rng, 2, 45, 65)
    start = rng.integers(66, 78)
    for parent in parents:
        bank.pay(parent, student, rng.choice([1500, 2500]), start - 3, 1150, "instant")
    travel, goods = bank.of("travel"), bank.of("electronics", "clothing", "online shop")
    for _ in range(3):
        bank.pay(student, int(rng.choice(travel)), rng.uniform(180, 700), start + rng.integers(9), 1200, "card")
    for _ in range(9):
        bank.pay(
            student,
            int(rng.choice(goods)),
            rng.uniform(40, 600),
            start + rng.integers(9),
            minute(rng, "shop"),
            "card",
        )
    bank.mark("student", student)


def farm(bank: Bank, rng: np.random.Generator) -> None:
    """Take on apprentices.

    Nine start in autumn, open their first account in the same week, get the same wage and pay the same canteen and
    hostel.
    """
    (firm,) = bank.firms(rng, 1, segments=["industry"])
    (hostel,) = bank.firms(rng, 1, segments=["property", "services", "association"])
    region = bank.known["region"][firm]
    start = rng.integers(-28, -5)
    apprentices = [
        bank.open("person", start + rng.integers(0, 7), 980.0, "student", region, int(rng.integers(17, 20)))
        for _ in range(9)
    ]
    for person in apprentices:
        for first in MONTHS:
            bank.pay(firm, person, 980, first + 27, 305)
            bank.pay(person, hostel, 265, min(first + 30, 89), 340, "standing order")
        bank.live(rng, person, rng.integers(6, 15))
    bank.mark("apprentice", apprentices)
    bank.mark("hostel", hostel)


TWINS = {write.__name__: write for write in (mule, collector, smurfing, shells, takeover, dormant)}
TWINS |= {write.__name__: write for write in (ring, ghosts, cycle, invoices, bustout, farm)}
