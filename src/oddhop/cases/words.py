"""Amounts, times and names as every card, list and sentence writes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from oddhop.cases.case import Case, Counterpart, Id, Nouns, Pattern, Role

DASH = "\N{EN DASH}"
MILLION = 9.995e5  # what is said as a million with three digits
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_OF_ROLE: dict[Role, tuple[str, str]] = {
    "passes on": ("passes it on", "pass it on"),
    "collects": ("collects", "collect"),
    "group": ("in the group", "in the group"),
    "ring": ("in the ring", "in the ring"),
}
NAMED = 12
_TITLES: dict[Pattern, str] = {
    "fan-in": "Many to one",
    "fan-out": "One to many",
    "passed on": "Passed on",
    "chain": "Chain",
    "ring": "Ring",
    "group": "Group",
    "stranger": "Stranger",
    "outlier": "Unlike the others",
    "single": "One {node}",
}


def amount_text(amount: float | None, nouns: Nouns) -> str:
    """Return an amount with its unit: a sign stands before it, a code or a word after it; empty without an amount.

    Examples
    --------
    >>> from oddhop.cases.case import Nouns
    >>> amount_text(48210.4, Nouns(unit="€")), amount_text(12.5, Nouns(unit="EUR")), amount_text(None, Nouns())
    ('€48,210', '12.50 EUR', '')
    """
    if amount is None:
        return ""
    size = abs(amount)
    figure = f"{amount:,.0f}" if size >= 100 or round(amount, 2) == round(amount) else f"{amount:.2f}"
    figure = f"{amount / 1e6:.3g} million" if size >= MILLION else figure
    if len(nouns.unit) == 1 and not nouns.unit.isalnum():
        return f"{nouns.unit}{figure}"
    return f"{figure} {nouns.unit}".rstrip()


def count_text(count: int, nouns: Nouns) -> str:
    """Return a number of events: "1 payment", "37 payments"."""
    return f"{count:,} {nouns.event if count == 1 else nouns.events}"


def role_text(role: Role, count: int, nouns: Nouns) -> str:
    """Return what so many nodes of a role do: "6 pay", "1 collects", "3 are paid"."""
    several = count != 1
    if role == "pays in":
        verb, *rest = nouns.sends.split(" ")  # "logs in to"
        word = " ".join([verb.removesuffix("s"), *rest]) if several else nouns.sends
    elif role == "is paid":
        word = f"{'are' if several else 'is'} {nouns.sent}"
    elif role == "alone":
        word = nouns.nodes if several else nouns.node
    else:
        word = _OF_ROLE[role][several]
    return f"{count:,} {word}"


def title_of(case: Case, nouns: Nouns) -> str:
    """Return what kind of case it is, in a word or two."""
    return _TITLES[case.pattern].format(node=nouns.node)


def roles(case: Case, nouns: Nouns) -> list[tuple[str, list[Id], int]]:
    """Return what the members do: (words, the first of those who do it, how many more)."""
    by_role: dict[Role, list[Id]] = {}
    for one in case.members:
        by_role.setdefault(one.role, []).append(one.id)
    return [(role_text(role, len(ids), nouns), ids[:NAMED], max(len(ids) - NAMED, 0)) for role, ids in by_role.items()]


def short_id(name: Id, longest: int = 14) -> str:
    """Return an id that fits into a picture; its middle is left out, for ids often differ at their ends.

    Examples
    --------
    >>> short_id("DE62437010990000123456"), short_id(17)
    ('DE62437…123456', '17')
    """
    text = str(name)
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}…{text[len(text) - (longest - half - 1) :]}"


def at(time: str) -> datetime:
    """Return a time of a case."""
    return datetime.fromisoformat(time)


def has_hours(times: Sequence[str]) -> bool:
    """Return whether times tell more than days."""
    return any(at(one).time() != datetime.min.time() for one in times)


def day_text(time: str, *, year: bool = False) -> str:
    """Return a day: "14 April", with the year "14 April 2026"."""
    day = at(time)
    return f"{day.day} {day:%B %Y}" if year else f"{day.day} {day:%B}"


def moment_text(time: str, *, hours: bool = True) -> str:
    """Return a moment in few letters: "14 Apr 02:06"."""
    day = at(time)
    return f"{day.day} {day:%b %H:%M}" if hours else f"{day.day} {day:%b}"


def window_text(first: str | None, last: str | None, *, hours: bool = True) -> str:
    """Return a span of time in full: "14 April 2026, 02:06 to 03:09", "5 January to 28 April 2026"."""
    if first is None or last is None:
        return ""
    a, b = at(first), at(last)
    if a.date() == b.date():
        same = day_text(first, year=True)
        if not hours:
            return same
        return f"{same}, {a:%H:%M}" if f"{a:%H:%M}" == f"{b:%H:%M}" else f"{same}, {a:%H:%M} to {b:%H:%M}"
    begin = f"{a.day}" if (a.year, a.month) == (b.year, b.month) else day_text(first, year=a.year != b.year)
    return f"{begin} to {day_text(last, year=True)}"


def short_window(case: Case) -> str:
    """Return when a case was, for a list: "14 Apr 02:06", "13–24 Apr", "24 Mar–21 Apr"."""
    if case.first is None or case.last is None:
        return ""
    a, b = at(case.first), at(case.last)
    if a.date() == b.date():
        return moment_text(case.first, hours=has_hours([case.first, case.last]))
    if a.year != b.year:
        return f"{a:%b %Y}{DASH}{b:%b %Y}"
    begin = str(a.day) if a.month == b.month else moment_text(case.first, hours=False)
    return f"{begin}{DASH}{moment_text(case.last, hours=False)}"


def outside_text(one: Counterpart, nouns: Nouns) -> tuple[str, str]:
    """Return whom a counterpart stands for, and what kind that is: ("3 accounts", "whose segment is pharmacy")."""
    rest = one.kind.removeprefix(nouns.nodes).strip() if one.kind.startswith(nouns.nodes) else ""
    kind = nouns.node if one.count == 1 and rest else nouns.nodes if rest else one.kind
    name = f"{one.count:,} {kind}" if one.count else one.kind
    return (str(one.ids[0]), rest or one.kind) if one.count == 1 and one.ids else (name, rest if one.count else "")


def without(text: str, start: str) -> str:
    """Return a sentence without its first words, which stand above it."""
    rest = text.removeprefix(start).lstrip()
    return rest[:1].upper() + rest[1:]


def sentence(text: str) -> str:
    """Return a headline with its full stop."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def is_money(nouns: Nouns) -> bool:
    """Return whether amounts are money: they are paid, or the unit is a sign or a code of three letters."""
    code = len(nouns.unit) == 3 and nouns.unit.isupper()
    return nouns.sends == "pays" or code or (len(nouns.unit) == 1 and not nouns.unit.isalnum())


def flow_title(case: Case, nouns: Nouns) -> str:
    """Return what the picture of a case shows."""
    if not any(one.inside for one in case.events):
        return "How they are connected"
    return "Where the money went" if is_money(nouns) else f"Where the {nouns.events} went"


def case_window(case: Case) -> str:
    """Return when a case was, in full."""
    ends = [time for time in (case.first, case.last) if time is not None]
    return window_text(case.first, case.last, hours=has_hours(ends))


def focus_text(case: Case, nouns: Nouns) -> str:
    """Return those from whose side the time axis is drawn: "A7", "the three", "the 14 accounts"."""
    ids = case.focus or tuple(one.id for one in case.members if one.flagged)
    if len(ids) == 1:
        return short_id(ids[0], 30)
    return (
        f"the {NUMBERS[len(ids)]}"
        if 1 < len(ids) < len(NUMBERS)
        else f"the {len(ids):,} {nouns.nodes}"
        if ids
        else "the case"
    )
