"""Small HTML for notebooks: a title, facts, tables and sentences.

Text is escaped, nothing is loaded, and no script is in it. Colours are inherited, so that it reads in light and dark
themes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from markupsafe import Markup

LONGEST = 200  # characters of one text
MOST_ROWS = 12
NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # in no XML, and not to be sent
STYLE = Markup(
    "<style>.oddhop{line-height:1.4}.oddhop table{border-collapse:collapse;border:0;margin:4px 0;font-size:inherit;"
    "color:inherit}.oddhop tr,.oddhop td,.oddhop th{background:none;border:0}.oddhop td,.oddhop th{"
    "padding:2px 14px 2px 0;text-align:left;vertical-align:top}.oddhop td{overflow-wrap:anywhere;"
    "min-width:3em}.oddhop th{white-space:nowrap;border-bottom:1px solid rgba(128,128,128,.4)}"
    ".oddhop .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".oddhop .f{opacity:.7}.oddhop ul{margin:4px 0;padding-left:18px}</style>"
)


def panel(title: str, *parts: Markup) -> str:
    """Return parts below a title as one piece of HTML."""
    head = Markup("<strong>{}</strong>").format(shown(title))
    inside = Markup("\n").join([STYLE + head, *filter(None, parts)])
    return str(Markup('<div class="oddhop">{}</div>').format(inside))


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup:
    """Return names with their values, a line each."""
    row = Markup('<tr><td class="f">{}</td><td>{}</td></tr>')
    rows = [row.format(shown(name), shown(value)) for name, value in pairs]
    return Markup("<table>{}</table>").format(Markup("").join(rows)) if rows else Markup("")


def table(names: Sequence[str], rows: Sequence[Sequence[Any]], count: int | None = None) -> Markup:
    """Return a table of at most 12 rows; ``count`` says how many there are, where ``rows`` is a part of them."""
    if not rows:
        return Markup("")
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in rows[0]]
    sides = [Markup(' class="n"') if number else Markup("") for number in numbers]
    lines = [_row("th", names, sides), *(_row("td", row, sides) for row in rows[:MOST_ROWS])]
    rest = (len(rows) if count is None else count) - min(len(rows), MOST_ROWS)
    more = Markup('<div class="f">and {} more</div>').format(f"{rest:,}") if rest > 0 else Markup("")
    return Markup("<table>{}</table>{}").format(Markup("").join(lines), more)


def sentences(told: Iterable[str]) -> Markup:
    """Return sentences as a list, at most 12 of them."""
    said = list(told)
    items = [Markup("<li>{}</li>").format(shown(one, 12 * LONGEST)) for one in said[:MOST_ROWS]]
    if len(said) > MOST_ROWS:
        items.append(Markup("<li>and {} more</li>").format(len(said) - MOST_ROWS))
    return Markup("<ul>{}</ul>").format(Markup("").join(items)) if items else Markup("")


def named(texts: Sequence[Any], most: int = 6) -> str:
    """Return the first of some names, and how many more there are."""
    first = ", ".join(shown(one, 40) for one in texts[:most])
    return first if len(texts) <= most else f"{first} and {len(texts) - most:,} more"


def shown(value: Any, longest: int = LONGEST) -> str:
    """Return a value as text, not too long: numbers with separators and few digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", str(value))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _row(tag: Literal["th", "td"], values: Sequence[Any], sides: Sequence[Markup]) -> Markup:
    cell = Markup("<{0}{1}>{2}</{0}>")
    cells = [cell.format(tag, side, shown(value)) for value, side in zip(values, sides, strict=True)]
    return Markup("<tr>{}</tr>").format(Markup("").join(cells))
