"""The card of a case and the list of cases as HTML, whose text is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from oddhop.base.html import shown
from oddhop.cases import words
from oddhop.cases.case import Case, Cases, Nouns, Pattern
from oddhop.cases.drawing.picture import drawn
from oddhop.cases.drawing.when import when
from oddhop.explain.phrases import one_in

NAMED = 12
TITLES: dict[Pattern, str] = {
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


def card(case: Case, cases: Cases, *, link: str = "") -> Markup:
    """Return the card of a case; ``link`` is where its list is, on the same page."""
    text: str = _template("card.html").module.card(case, cases, link)
    return Markup(text)  # noqa: S704 - the template escapes


def case_list(cases: Cases) -> Markup:
    """Return the list of cases, with links to their cards."""
    text: str = _template("card.html").module.listed(cases)
    return Markup(text)  # noqa: S704 - the template escapes


def style() -> str:
    """Return the style of the cards."""
    return _part("card.css")


def title_of(case: Case, nouns: Nouns) -> str:
    """Return what kind of case it is, in a word or two."""
    return TITLES[case.pattern].format(node=nouns.node)


def roles(case: Case, nouns: Nouns) -> list[tuple[str, list[Any], int]]:
    """Return what the members do: (words, the first of those who do it, how many more)."""
    by_role: dict[Any, list[Any]] = {}
    for one in case.members:
        by_role.setdefault(one.role, []).append(one.id)
    return [
        (words.role_text(role, len(ids), nouns), ids[:NAMED], max(len(ids) - NAMED, 0)) for role, ids in by_role.items()
    ]


def _part(name: str) -> str:
    return files("oddhop.cases.drawing").joinpath(name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_part)
    )
    environment.globals |= {
        "drawn": drawn, "when": when, "roles": roles, "title_of": title_of, "one_in": one_in, "words": words,
    }  # fmt: skip
    environment.filters["shown"] = shown
    return environment.get_template(name)
