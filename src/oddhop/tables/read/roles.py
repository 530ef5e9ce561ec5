"""Which column is what: guessed by name where there is one answer, asked for where there is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from oddhop.errors import TableError
from oddhop.tables.settings import ReadSettings
from oddhop.tables.words import DIRECTED, IDS, NUMBERED, TWO_SORTS, pairs, plain


def find_ends(names: Sequence[str], settings: ReadSettings, label: str) -> tuple[int, int]:
    """Return the numbers of the columns that an edge comes from and goes to."""
    source, target = settings.source, settings.target
    _check_unique(names, label)
    if (source is None) != (target is None):
        raise TableError(
            f"{label}: only one end of an edge is named; its columns are {list(names)}",
            "name both with source= and target=, or neither",
            command="name both with --source and --target, or neither",
        )
    if source is not None and target is not None:
        if source == target:
            raise TableError(f"{label}: source and target must be two columns, got {source!r} for both")
        return column_number(names, source, "source", label), column_number(names, target, "target", label)
    if len(names) < 2:
        raise TableError(
            f"{label} must have two columns for the ends of an edge, got {list(names)}",
            "if its first line is a title, remove the lines above the header",
        )
    bare = [plain(name) for name in names]
    for known in ((*pairs(DIRECTED), *NUMBERED), tuple(pairs(TWO_SORTS))):
        found = {(bare.index(a), bare.index(b)) for a, b in known if bare.count(a) == 1 and bare.count(b) == 1}
        if len(found) == 1:
            return found.pop()
        if found:
            break
    if not found and len(names) == 2:
        _check_header(names, label)
        return 0, 1
    raise TableError(
        f"{label}: which columns an edge joins cannot be told from the names, got {list(names)}",
        "say it with source= and target=",
        command="say it with --source and --target",
    )


def find_id(names: Sequence[str], id_name: str | None, label: str, kind: str = "") -> int:
    """Return the number of the column that holds the ids of the nodes, which are of this kind."""
    _check_unique(names, label)
    if id_name is not None:
        return column_number(names, id_name, "id", label)
    own = (f"{plain(kind)}id",) if plain(kind) else ()  # account_id in a table of accounts
    for tier in (IDS[0], own, *IDS[1:]):
        found = [k for k, name in enumerate(names) if plain(name) in tier]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(
                f"{label}: the ids may be in {' or '.join(repr(names[k]) for k in found)}",
                "say which with id=",
                command="say which with --id",
            )
    if not names:
        raise TableError(f"{label} has no columns", "it must have the ids of the nodes and their attributes")
    _check_header(names[:1], label)
    return 0


def column_number(names: Sequence[str], name: str, role: str, label: str) -> int:
    """Return the number of a column that the user named."""
    if name in names:
        return list(names).index(name)
    near = get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"its columns are {list(names)}"
    raise TableError(f"{label} has no column {name!r} for {role}=", f"{hint}")


def _check_unique(names: Sequence[str], label: str) -> None:
    repeated = [name for k, name in enumerate(names) if name in names[:k]]
    if repeated:
        raise TableError(f"{label} has more than one column {repeated[0]!r}", "give every column its own name")


def _check_header(names: Sequence[str], label: str) -> None:
    """Refuse values for names: a file without a header would lose its first row in silence."""
    for name in names:
        if not name.strip() or re.fullmatch(r"[+-]?\d+(\.\d+)?", name.strip()):
            raise TableError(
                f"{label} has a column named {name!r}, which looks like a value",
                "its first line must name the columns, "
                "and if it does, say which column is which with source= and target=, or id=",
                command="and if it does, say which column is which with --source and --target, or --id",
            )
