"""Four cases as data: a burst at night, a chain of firms, a ring of merchants, and a florist; and some that are odd."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from oddhop.cases.case import (
    Case,
    CaseEvent,
    Cases,
    Counterpart,
    Fact,
    LeftOut,
    Member,
    Nouns,
    PassedOn,
    Reading,
    Run,
    Sureness,
    Technical,
)

FIRST, LAST = "2026-01-01T00:00:00", "2026-04-30T23:59:00"
NOUNS = Nouns("account", "accounts", "payment", "payments", "€", "pays", "paid")
MEANWHILE = datetime.fromisoformat(FIRST)
Row = tuple[str, str, str, float]


def events(rows: Sequence[Row], *, inside: bool = True) -> tuple[CaseEvent, ...]:
    return tuple(CaseEvent(source, target, time, amount, inside=inside) for source, target, time, amount in rows)


def daily(rows: Sequence[Row], usual: float) -> tuple[tuple[str, float, float], ...]:
    sums = {f"{MEANWHILE + timedelta(days=k):%Y-%m-%d}": [0.0, usual * (k * 7 % 11) / 10] for k in range(120)}
    for _, _, time, amount in rows:
        sums[time[:10]][0] += amount
    return tuple((day, own, other) for day, (own, other) in sums.items())


def member(name: str, role: str, rows: Sequence[Row], profile: str = "", **more: object) -> Member:
    sent, received = (sum(row[3] for row in rows if row[k] == name) for k in (0, 1))
    count = sum(name in row[:2] for row in rows)
    return Member(name, role, "", profile, sent=sent, received=received, events=count, **more)  # type: ignore[arg-type]


def burst() -> Case:
    payers = ["A00871", "A02940", "A07316", "A11052", "A14488", "A18203"]
    mules = {"A19610": "opened 9 April 2026", "A19655": "opened 9 April 2026", "A19702": "opened 10 April 2026"}
    rows: list[Row] = []
    for k in range(31):
        payer, minute = payers[k * 5 % 6], 6 + k * 45 // 30
        rows.append((payer, [*mules][(k + k // 6) % 3], f"2026-04-14T02:{minute:02}:00", 400.0 + 211 * (k * 13 % 17)))
    for k, mule in enumerate(mules):
        got = sum(row[3] for row in rows if row[1] == mule)
        for part, minute in ((0.55, 27 + 6 * k), (0.42, 44 + 7 * k)):
            rows.append((mule, "A19233", f"2026-04-14T02:{minute:02}:00", round(part * got)))
    paid = rows[:31]
    return Case(
        id="c1",
        number=1,
        pattern="passed on",
        headline="Six accounts paid €48,210 to three new accounts in one hour of the night, and 97% of it went on to a "
        "fourth.",
        short="Six accounts paid three new ones in one hour of the night",
        members=(
            *(member(one, "pays in", rows) for one in payers),
            *(
                member(one, "passes on", rows, profile, rank=8 + k, flagged=True)
                for k, (one, profile) in enumerate(mules.items())
            ),
            member("A19233", "collects", rows),
        ),
        focus=tuple(mules),
        events=events(rows),
        event_count=37,
        first="2026-04-14T02:06:00",
        last="2026-04-14T02:58:00",
        night_share=1.0,
        amount=sum(row[3] for row in paid),
        daily=daily(paid, 900.0),
        passed_on=tuple(PassedOn(one, 0.97, 0.4) for one in mules),
        facts=(
            Fact(
                "burst",
                "37 payments in 63 minutes of one night.",
                "Usually none: in the 103 days before, the ten paid nothing between midnight and 05:00.",
            ),
            Fact(
                "age",
                "The three in the middle were four and five days old.",
                "Usually an account here is six years old; only 41 of the 20,000 were opened that week.",
            ),
            Fact(
                "passed on",
                "They passed on 97% of what they received, most of it within 25 minutes.",
                "Usually an account passes on 8% of what it receives within a day.",
            ),
        ),
        reading=Reading(
            "Accounts taken over at night, and the money collected through accounts opened for it.",
            "A nightly batch, such as wages.",
            "Against it: a batch comes back, and this night did not. Nor had the six ever paid any of the three.",
            "against",
        ),
        next=(
            "A19233: the €46,960 had not left on 30 April.",
            "A04152 and A16630, which paid A19655 for the first time on 13 April.",
            "The other 38 accounts opened in the same week.",
        ),
        sure=Sureness("Among 17,000 ordinary accounts, about one looks this unusual. Here three do, in the same hour."),
        technical=(
            Technical(
                "A19702",
                15.3,
                (("flow", 0.00006, 13.1), ("stranger", 0.07, 2.2)),
                ("opened: 10 April 2026",),
                ("Flagged from 12.3 on.",),
            ),
        ),
        left_out=(LeftOut(12, "payments of the six to shops", "--events all"),),
    )


def chain() -> Case:
    order = ["A05518", "A08120", "A08377", "A09014", "A09266", "A09731", "A16021"]
    profiles = [
        "building firm",
        "opened 2025",
        "opened 2025",
        "opened 2025",
        "opened 2025",
        "opened 2025",
        "travel agency",
    ]
    rows: list[Row] = []
    runs = []
    for day, amount in (("2026-03-24", 81_300.0), ("2026-04-09", 88_300.0), ("2026-04-21", 112_100.0)):
        times = [f"{day}T{clock}:00" for clock in ("08:05", "10:31", "11:54", "15:12", "17:40", "20:21")]
        rows += [
            (a, b, time, round(amount * 0.97**k, -1))
            for k, (a, b, time) in enumerate(zip(order, order[1:], times, strict=False))
        ]
        runs.append(Run(times[0], times[-1], 6, amount))
    roles = ["pays in", *["passes on"] * 5, "collects"]
    return Case(
        id="c2",
        number=2,
        pattern="chain",
        headline="Three times, a sum went through the same five firms in one day. Each kept 3% and passed on the rest "
        "within hours.",
        short="Five firms passed on 97% of a sum within hours, three times",
        members=tuple(
            member(one, role, rows, profile) for one, role, profile in zip(order, roles, profiles, strict=True)
        ),
        focus=tuple(order[1:-1]),
        order=tuple(order),
        events=events(rows),
        event_count=18,
        first=rows[0][2],
        last=rows[-1][2],
        amount=281_700.0,
        daily=daily(rows[::6], 700.0),
        runs=tuple(runs),
        facts=(Fact("passing", "Each firm passed on 97% of every sum.", "Usually a firm passes on 11% within a day."),),
        reading=Reading(
            "Layering: a sum is moved through shell firms, so that its origin is hard to see.",
            "A group that settles between its own companies.",
            "Against it: such groups pay in both directions. Here nothing has flowed back in four months.",
        ),
        next=("A05518, from which all three sums came.", "A16021, where they ended: €241,900 in."),
        sure=Sureness(
            "Among 9,000 ordinary accounts, about one looks this unusual. Here five do, one after the other."
        ),
        status="new",
    )


def ring() -> Case:
    order = ["A00344", "A03127", "A06590", "A10931", "A12406", "A15778", "A17049"]
    trades = ["bakery", "garage", "hotel", "jeweller", "kiosk", "printer", "tailor"]
    rows: list[Row] = []
    runs = []
    for month, amount in ((1, 5000.0), (2, 8000.0), (3, 10_000.0), (4, 12_000.0)):
        days = [f"2026-{month:02}-{day:02}T{9 + day % 7:02}:{day * 7 % 60:02}:00" for day in (2, 3, 7, 8, 9, 10, 13)]
        pairs = zip(order, [*order[1:], order[0]], days, strict=True)
        rows += [(a, b, day, amount) for a, b, day in pairs]
        runs.append(Run(days[0], days[-1], 7, amount))
    other: list[Row] = [
        (f"B{k:05}", order[k % 7], f"2026-04-{1 + k * 5 % 14:02}T{8 + k % 10:02}:15:00", 40.0 + 37 * k)
        for k in range(40)
    ]
    return Case(
        id="c3",
        number=3,
        pattern="ring",
        headline="Once a month, a round sum passed through the same seven merchants and came back to the first.",
        short="A round sum went through seven merchants and came back",
        members=tuple(member(one, "ring", rows, trade, flagged=True) for one, trade in zip(order, trades, strict=True)),
        focus=tuple(order),
        order=tuple(order),
        events=events(rows) + events(other, inside=False),
        event_count=28,
        first=rows[0][2],
        last=rows[-1][2],
        amount=35_000.0,
        daily=daily(rows, 2400.0),
        runs=tuple(runs),
        facts=(
            Fact("round", "All 28 payments among the seven are whole thousands.", "Usually 2% of their payments are."),
            Fact("ring", "Each of the four rounds came back in full, within 12 days.", "Usually nothing comes back."),
            Fact(
                "strangers",
                "Seven trades, five towns, and no partner in common.",
                "Usually merchants share four other partners.",
            ),
        ),
        reading=Reading(
            "Turnover that exists on paper only: the same money goes round and is booked seven times.",
            "A savings club, whose members pay a fixed sum in turn.",
            "Against it: in a club, all pay the one whose turn it is. Here each pays only the next.",
        ),
        sure=Sureness("Among 6,500 ordinary accounts, about one looks this unusual. Here seven do, in one circle."),
    )


def florist() -> Case:
    garages = ["A12044", "A13310", "A02286", "A09158", "A04811", "A16638", "A07742", "A16677", "A05127"]
    rows: list[Row] = [
        (
            "A07007",
            garages[k * 5 % 9],
            f"2026-{1 + k // 8:02}-{5 + 3 * (k % 8):02}T{9 + k % 8:02}:{k * 13 % 60:02}:00",
            240.0 + 30 * (k * 11 % 31),
        )
        for k in range(31)
    ]
    return Case(
        id="c4",
        number=4,
        pattern="stranger",
        headline="A florist pays nobody but garages, and no customer has paid it since January.",
        short="A florist pays nobody but garages, and no customer pays it",
        members=(
            member("A07007", "alone", rows, "florist, opened 11 Nov 2025", flagged=True),
            *(member(one, "is paid", rows) for one in garages),
        ),
        focus=("A07007",),
        events=events(rows),
        event_count=31,
        outside=(Counterpart(0, "customers", "pays in"), Counterpart(0, "wholesalers and growers", "is paid")),
        first=min(row[2] for row in rows),
        last=max(row[2] for row in rows),
        amount=sum(row[3] for row in rows),
        daily=daily(rows, 0.0),
        facts=(
            Fact(
                "partners",
                "All 31 payments went to nine garages.",
                "Usually 2% of a florist's payments go to garages.",
            ),
            Fact("amount", "It pays €470 in the median, as the customers of garages do.", "Usually it is €63."),
            Fact(
                "customers",
                "Nobody has paid it in four months.",
                "Usually a florist receives about 240 payments.",
            ),
        ),
        reading=Reading(
            "An account that is not what its record says: the wrong trade, or a name that somebody else uses.",
            "A slip in the column trade.",
            "For it: if the record said “garage”, this account would fall from rank 20 to rank 6,212.",
            "for",
        ),
        next=("The trade in the register.", "A12044, which received 7 of the 31 payments."),
        sure=Sureness("Among 2,400 ordinary accounts, about one looks this unusual."),
    )


def group(count: int = 8) -> Case:
    names = [f"C{k}" for k in range(count)]
    ties = tuple((a, b) for k, a in enumerate(names) for b in names[k + 1 :] if (k + int(b[1:])) % 5)
    return Case(
        id="c5",
        number=5,
        pattern="group",
        headline=f"{count} papers cite each other more than papers of their field do.",
        short=f"{count} papers cite each other",
        members=tuple(Member(one, "group", flagged=True) for one in names),
        ties=ties,
        sure=Sureness("Among 2,700 ordinary papers, about one looks this unusual."),
    )


def collector(count: int = 40) -> Case:
    rows: list[Row] = [
        (f"DE{k:020}", "DE62437010990000123456", f"2026-02-{1 + k % 27:02}", 100.0 + k) for k in range(count)
    ]
    return Case(
        id="c6",
        number=6,
        pattern="fan-in",
        headline=f"{count} accounts paid one account in February.",
        short=f"{count} accounts paid one account",
        members=(
            *(member(row[0], "pays in", rows) for row in rows),
            member(rows[0][1], "collects", rows, flagged=True),
        ),
        focus=(rows[0][1],),
        events=events(rows),
        event_count=count,
        outside=(Counterpart(3, "shops", "is paid", 420.0, ("S1", "S2", "S3")),),
        first=min(row[2] for row in rows),
        last=max(row[2] for row in rows),
        amount=sum(row[3] for row in rows),
        daily=daily(rows, 50.0),
    )


def four() -> Cases:
    return Cases((burst(), chain(), ring(), florist()), NOUNS, 20_000, 120_413, FIRST, LAST)
