"""Two intrusions and their innocent twins among the users and hosts of a firm.

Written from the layout of the tables alone, without sight of a detector, and not measured while one is changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.schemes.world import DAYS, WEEKDAY, WHOLE, Layout, Tables, World, booked, minute, planted

LAYOUT = Layout(
    node="host",
    opened="registered",
    columns=("kind", "registered", "department", "site", "role"),
    events=("source", "target", "megabytes", "at", "protocol"),
    letter="H",
)
SITES, SITE_SHARES = np.array(["Hafen", "Werk", "Turm", "Labor", "Lager"]), [0.34, 0.26, 0.18, 0.12, 0.10]
DEPARTMENTS = np.array(["sales", "production", "engineering", "finance", "logistics", "legal", "staff", "computing"])
DEPARTMENT_SHARES = [0.24, 0.22, 0.18, 0.09, 0.12, 0.04, 0.06, 0.05]
SERVERS = {"mail": 4, "web": 34, "database": 16, "directory": 5, "print": 7, "backup": 3, "build": 8}
WORKDAYS = np.flatnonzero(WEEKDAY < 5)


class Firm(World):
    """Users, their workstations, servers and service accounts."""

    def __init__(self) -> None:
        super().__init__(LAYOUT)
        self.machine: dict[int, int] = {}  # of a user
        self.share: dict[tuple[str, str], int] = {}  # the file server of a department at a site
        self.common: dict[str, np.ndarray] = {}  # servers by what they are for

    def people(self, rng: np.random.Generator, count: int, **like: str) -> list[int]:
        """Pick users with some values in their columns, registered long ago."""
        where = (self.known["kind"] == "user") & (self.known["registered"] < -120)
        for name, value in like.items():
            where &= self.known[name] == value
        return self.pick(rng, count, where)

    def of(self, node: int, column: str) -> str:
        """Return a value of a node."""
        return str(self.values[column][node])

    def day(self, rng: np.random.Generator, low: int = 0, high: int = DAYS) -> int:
        """Draw a working day."""
        return int(rng.choice(WORKDAYS[(low <= WORKDAYS) & (high > WORKDAYS)]))

    def sessions(
        self, rng: np.random.Generator, source: Any, target: Any, days: np.ndarray, profile: str, size: float, kind: str
    ) -> None:
        """Write one event a day, at hours of a profile, of about ``size`` megabytes on a scale of logarithms."""
        when = booked(rng, days, profile)
        self.bulk(source, target, rng.lognormal(size, 1, len(days)), when, kind)


def servers(firm: Firm, rng: np.random.Generator) -> None:
    for site in SITES:
        for department in DEPARTMENTS:
            if rng.random() < 0.8 or site == "Hafen":
                node = firm.add("server", -rng.integers(200, 2500), department, site, "file")
                firm.share[str(department), str(site)] = node
    for role, count in SERVERS.items():
        added = [
            firm.add("server", -rng.integers(60, 2500), "computing", rng.choice(SITES), role) for _ in range(count)
        ]
        firm.common[role] = np.array(added)


def people(firm: Firm, rng: np.random.Generator) -> None:
    for _ in range(1500):
        department = str(rng.choice(DEPARTMENTS, p=DEPARTMENT_SHARES))
        site = str(rng.choice(SITES, p=SITE_SHARES))
        since = int(rng.integers(-30, 75)) if rng.random() < 0.04 else -60 - int(rng.exponential(1400))
        role = str(rng.choice(["clerk", "specialist", "manager"], p=[0.6, 0.3, 0.1]))
        if department == "computing":
            role = str(rng.choice(["helpdesk", "administrator", "developer"], p=[0.4, 0.25, 0.35]))
        user = firm.add("user", since, department, site, role)
        bought = max(since, -int(rng.integers(20, 1500)))
        firm.machine[user] = firm.add("workstation", bought, department, site, str(rng.choice(["laptop", "desktop"])))
    for role, kind, department, count in (
        ("room", "workstation", "staff", 40),
        ("service", "service", "computing", 40),
    ):
        places = SITES[np.arange(count) % len(SITES)]
        firm.common[role] = np.array(
            [firm.add(kind, -rng.integers(100, 2500), department, site, role) for site in places]
        )


def working_days(firm: Firm, rng: np.random.Generator) -> None:
    """People log on and open the servers of their department, mail, web applications and printers."""
    web, mail, printers = (firm.common[role] for role in ("web", "mail", "print"))
    popular = 1 / np.arange(1, len(web) + 1) ** 0.9
    for user, machine in firm.machine.items():
        department, site = firm.of(user, "department"), firm.of(user, "site")
        late = rng.random() < (0.25 if site == "Werk" else 0.05)  # shifts, and people who work in the evening
        profile = str(rng.choice(["evening", "night"])) if late else "office"
        days = rng.choice(np.arange(DAYS) if late else WORKDAYS, min(60, 4 + rng.poisson(6 * rng.lognormal(0, 0.5))))
        days = np.sort(days[days >= firm.values["registered"][user]])
        if len(days) == 0:
            continue
        firm.sessions(rng, user, machine, days, profile, 0, "logon")
        share = firm.share.get((department, site), firm.share[department, "Hafen"])
        for targets, count, size, kind in (
            (np.array([share]), 9, 2.2, "share"),
            (rng.choice(mail, 1), 5, 1.5, "web"),
            (rng.choice(web, 4, p=popular / popular.sum()), 7, 1.0, "web"),
            (rng.choice(printers, 1), 2, 0.5, "print"),
        ):
            number = rng.poisson(count * len(days) / 12)
            firm.sessions(rng, machine, rng.choice(targets, number), rng.choice(days, number), profile, size, kind)


def shared_work(firm: Firm, rng: np.random.Generator) -> None:
    """Guests on the servers of other departments, meeting rooms, files handed over directly."""
    users, shares = np.array(list(firm.machine)), np.array(list(firm.share.values()))
    for user in rng.choice(users, 220, replace=False):  # a project with another department, for weeks
        days = np.minimum(rng.integers(0, 70) + rng.integers(0, 35, rng.integers(2, 12)), DAYS - 1)
        firm.sessions(rng, firm.machine[user], rng.choice(shares), days, "office", 3, "share")
    for user in rng.choice(users, 500):
        days = rng.choice(WORKDAYS, rng.integers(1, 4))
        firm.sessions(rng, user, rng.choice(firm.common["room"]), days, "office", 0, "logon")
    giver, taker = ([firm.machine[user] for user in rng.choice(users, 500)] for _ in range(2))
    firm.sessions(rng, giver, taker, rng.choice(WORKDAYS, 500), "office", 3, "share")


def computing(firm: Firm, rng: np.random.Generator) -> None:
    """Let the helpdesk visit workstations, and administrators and developers visit servers, some of them at night."""
    users, roles, sites = np.array(list(firm.machine)), firm.known["role"], firm.known["site"]
    visited = [firm.common[role] for role in ("web", "database", "mail", "print")]
    pools = {"administrator": np.array([*firm.share.values(), *np.concatenate(visited)])}
    pools["developer"] = firm.common["build"]
    for user in users[np.isin(roles[users], ["helpdesk", *pools])]:
        days = rng.choice(WORKDAYS, rng.poisson(28))
        if roles[user] == "helpdesk":
            near = users[(sites[users] == sites[user]) | (rng.random(len(users)) < 0.02)]
            targets = [firm.machine[one] for one in rng.choice(near, len(days))]
            firm.sessions(rng, firm.machine[user], targets, days, "office", 1.5, "remote")
            continue
        pool = pools[roles[user]]
        own = rng.choice(pool, min(12, len(pool)), replace=False)
        late = rng.random(len(days)) < 0.2
        for part, profile in ((days[late], "night"), (days[~late], "office")):
            firm.sessions(rng, firm.machine[user], rng.choice(own, len(part)), part, profile, 1.5, "remote")


def machines(firm: Firm, rng: np.random.Generator) -> None:
    """Jobs of the night: backups, applications and their databases, service accounts."""
    for node in [*firm.share.values(), *firm.common["database"]]:
        days = np.arange(rng.integers(0, 7), DAYS, 7)
        size = rng.lognormal(8.5, 0.8) * rng.lognormal(0, 0.1, len(days))
        when = booked(rng, days, "night")
        firm.bulk(rng.choice(firm.common["backup"]), node, size, when, "job")
    for node in firm.common["web"]:
        for database in rng.choice(firm.common["database"], rng.integers(1, 3), replace=False):
            firm.sessions(rng, node, database, np.arange(0, DAYS, 3), "batch", 4, "job")
    every = np.concatenate([firm.common[role] for role in SERVERS if role != "build"])
    for node in firm.common["service"]:
        for target in rng.choice(every, rng.integers(1, 5), replace=False):
            days = np.arange(rng.integers(0, 5), DAYS, rng.choice([2, 5, 7]))
            firm.sessions(rng, node, target, days, "batch", 0.5, "job")


def oddities(firm: Firm, rng: np.random.Generator) -> None:
    """Write what is odd and innocent: a scan of every server, a film, a day of training, a team that moves."""
    firm.scheme, firm.innocent = "oddity", True
    scanner = firm.add("server", -300, "computing", "Hafen", "directory")
    for day in (5, 36, 66):
        for target in np.flatnonzero(firm.known["kind"] == "server"):
            firm.write(scanner, int(target), 0.5, day, minute(rng, "night"), "job")
    firm.mark("scanner", scanner)
    (artist,) = firm.people(rng, 1, department="sales")
    firm.write(firm.machine[artist], firm.share["sales", "Hafen"], 84_000, firm.day(rng), 1050, "share")
    firm.mark("film", firm.machine[artist])
    room, day = int(firm.common["room"][3]), firm.day(rng)
    for guest in rng.choice(list(firm.machine), 30, replace=False):
        firm.write(int(guest), room, 1, day, 540 + rng.integers(400), "logon")
    firm.mark("training", room)
    team, start = firm.people(rng, 8, department="legal"), firm.day(rng, 10, 70)
    for user in team:
        for later in range(5):
            firm.write(user, int(firm.common["room"][8 + later]), 1, start + later, minute(rng, "office"), "logon")
    firm.mark("move", team)


def intrusion(firm: Firm, rng: np.random.Generator) -> None:
    """Write a lateral movement.

    A clerk opened a poisoned attachment. Two days later somebody works from the clerk's workstation in the evening:
    remote sessions to eight to twelve other workstations within two hours, until on one of them the password of an
    administrator is found. From there to a database and two file servers where nobody of that department has been. What
    is taken is gathered on a hardly used server and leaves in parts, in three nights, for a host registered days ago.
    """
    (clerk,) = firm.people(rng, 1, role="clerk")
    entry, site = firm.machine[clerk], firm.of(clerk, "site")
    visited = [firm.machine[user] for user in firm.people(rng, int(rng.integers(8, 13)), site=site)]
    stone, day = visited[-1], firm.day(rng, 25, 70)
    for place, host in enumerate(visited):
        firm.write(entry, host, rng.uniform(0.5, 6), day, 1170 + 10 * place + rng.integers(10), "remote")
    shares = [node for (department, _), node in firm.share.items() if department != firm.of(clerk, "department")]
    robbed = [int(node) for node in rng.choice(shares, 2, replace=False)] + [int(rng.choice(firm.common["database"]))]
    stage = firm.add("server", -rng.integers(400, 1500), "logistics", site, "file")
    for week in range(3, DAYS, 21):
        firm.write(int(firm.common["backup"][0]), stage, rng.uniform(40, 60), week, 130, "job", planted=False)
    outside, total = firm.add("server", day - 3, "computing", str(rng.choice(SITES)), "web"), 0.0
    for place, host in enumerate(robbed):
        firm.write(stone, host, rng.uniform(1, 9), day + 1, 1260 + 9 * place, "remote")
        for night in range(2):
            size = rng.uniform(900, 5200)
            firm.write(stage, host, size, day + 2 + night, 60 + 30 * place + rng.integers(20), "share")
            total += size
    for night in range(3):
        firm.write(stage, outside, total / 3 * rng.uniform(0.9, 1), day + 4 + night, 90 + rng.integers(120), "web")
    firm.mark("entry", entry)
    firm.mark("stepping stone", stone)
    firm.mark("staging", stage)
    firm.mark("outside", outside)
    firm.mark("visited", visited[:-1], core=False)
    firm.mark("robbed", robbed, core=False)


def rollout(firm: Firm, rng: np.random.Generator) -> None:
    """Write the twin of the intrusion.

    A technician brings a new printer driver: on six afternoons in two weeks a remote session to ten workstations of
    the site, each of which then fetches the driver from a new software server and prints a page.
    """
    (technician,) = firm.people(rng, 1, role="helpdesk")
    machine, site = firm.machine[technician], firm.of(technician, "site")
    start = firm.day(rng, 10, 65)
    software = firm.add("server", start - 6, "computing", site, "build")
    served = [firm.machine[user] for user in firm.people(rng, 60, site=site)]
    days = WORKDAYS[start <= WORKDAYS][:12:2]
    for place, host in enumerate(served):
        day, at = int(days[place // 10]), 780 + 18 * (place % 10) + rng.integers(8)
        firm.write(machine, host, rng.uniform(0.5, 6), day, at, "remote")
        firm.write(host, software, 212, day, at + 3, "share")
        firm.write(host, int(firm.common["print"][0]), 0.6, day, at + 9, "print")
    firm.mark("technician", machine)
    firm.mark("software server", software)
    firm.mark("served", served, core=False)


def insider(firm: Firm, rng: np.random.Generator) -> None:
    """Write a theft by an insider.

    A specialist who has given notice takes the files along. On some fifteen evenings of five weeks the own
    workstation reads gigabytes from the servers of three departments never opened before, and a private device,
    registered days before, takes about as much from the workstation. By day the user works as ever.
    """
    (user,) = firm.people(rng, 1, role="specialist")
    machine, start = firm.machine[user], int(rng.integers(35, 45))
    device = firm.add("workstation", start - 5, firm.of(user, "department"), firm.of(user, "site"), "laptop")
    others = [node for (department, _), node in firm.share.items() if department != firm.of(user, "department")]
    robbed = [int(node) for node in rng.choice(others, 3, replace=False)]
    for day in np.sort(rng.choice(np.arange(start, start + 35), int(rng.integers(13, 18)), replace=False)):
        at = 1120 + int(rng.integers(120))
        size = rng.uniform(1000, 8000)
        firm.write(user, machine, 1, int(day), at, "logon")
        firm.write(machine, int(rng.choice(robbed)), size, int(day), at + 8, "share")
        firm.write(device, machine, size * rng.uniform(0.93, 1), int(day), at + 30 + rng.integers(40), "share")
    firm.mark("user", user)
    firm.mark("workstation", machine)
    firm.mark("private device", device)
    firm.mark("robbed", robbed, core=False)


def audit(firm: Firm, rng: np.random.Generator) -> None:
    """Write the twin of the insider.

    Three auditors read samples from the file servers of many departments for the annual report, in three weeks and in
    office hours, and copy them to the server of the audit. Before and after they work as ever.
    """
    auditors = firm.people(rng, 3, department="finance")
    store = firm.add("server", -rng.integers(300, 900), "finance", "Hafen", "file")
    start, shares = firm.day(rng, 20, 60), np.array(list(firm.share.values()))
    for auditor in auditors:
        machine = firm.machine[auditor]
        read = rng.choice(shares, 9, replace=False)
        for _ in range(int(rng.integers(14, 20))):
            day, at, size = firm.day(rng, start, start + 21), minute(rng, "office"), rng.uniform(100, 900)
            firm.write(machine, int(rng.choice(read)), size, day, at, "share")
            firm.write(machine, store, size * rng.uniform(0.2, 1), day, at + 25, "share")
    firm.mark("auditor", [firm.machine[auditor] for auditor in auditors])
    firm.mark("audit server", store)


CRIMES = {"intrusion": intrusion, "insider": insider}
TWINS = {"intrusion": rollout, "insider": audit}


def make(seed: int, variant: str = WHOLE) -> Tables:
    """Write the firm of a seed: whole, its background alone, or with its crimes distorted."""
    firm, rng = Firm(), np.random.default_rng([seed, 0])
    servers(firm, rng)
    people(firm, rng)
    firm.freeze()
    for write in (working_days, shared_work, computing, machines, oddities):
        write(firm, rng)
    return planted(firm, seed, CRIMES, TWINS, variant)
