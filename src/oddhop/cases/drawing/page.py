"""A page of cases: a document of its own that loads nothing, and the same in a frame for notebooks."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from oddhop.base.html import shown
from oddhop.cases import words
from oddhop.cases.case import Case, Cases
from oddhop.cases.drawing.picture import drawn
from oddhop.cases.drawing.when import when
from oddhop.explain.phrases import one_in

FRAME_HEIGHT = 640  # pixels, in a notebook
OWN = "oddhop.cases.drawing"


def card(case: Case, cases: Cases) -> Markup:
    """Return the card of a case, without the page around it; its text is escaped."""
    text: str = template(OWN, "card.html").module.card(case, cases)
    return Markup(text)  # noqa: S704 - the template escapes


def page_of(cases: Cases) -> str:
    """Return cases as one HTML document: the list where there are several, then the cards."""
    return document("Cases", template(OWN, "cases.html").render(cases=cases))


def document(title: str, body: str) -> str:
    """Return a document with the style of the cards, whose policy lets nothing else load and nothing run."""
    style = (files(OWN) / "card.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    # The style is a file of the package, and the body is made by its templates, which escape.
    parts = {"style": Markup(style), "body": Markup(body)}  # noqa: S704
    page: str = template(OWN, "page.html").render(title=title, policy=policy, **parts)
    return page


def framed(page: str, title: str) -> str:
    """Return a document in a frame of its own, so that it keeps its style and its policy in a notebook."""
    page = page.encode("utf-8", "replace").decode()
    # A link such as "#cases" is one of the notebook in a browser, unless it names the frame.
    page = page.replace('href="#', 'href="about:srcdoc#').replace("&", "&amp;").replace('"', "&quot;")
    style = f"width:100%;height:{FRAME_HEIGHT}px;border:1px solid rgba(128,128,128,.4)"
    frame = f'<iframe sandbox title="{escape(title)}" style="{style}" srcdoc="{page}">'
    # Jupyter shows this text in place of the frame in notebooks that somebody else has run.
    return f"{frame}The {escape(title)} is not shown. Run this cell, or trust the notebook.</iframe>"


@cache
def template(package: str, name: str) -> Any:
    """Return a template of a package; it may import those of the cards."""

    def load(part: str) -> str:
        where = package if files(package).joinpath(part).is_file() else OWN
        return files(where).joinpath(part).read_text(encoding="utf-8")

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(load)
    )
    environment.globals |= {"drawn": drawn, "when": when, "words": words, "one_in": one_in}
    environment.filters["shown"] = shown
    return environment.get_template(name)
