"""Text that no terminal and no spreadsheet obeys."""

from __future__ import annotations

import re

# Control characters but tab and line feed, what turns the direction of a line, and halves of characters.
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def spelled(text: str) -> str:
    """Spell out what a terminal would obey; lines stay lines."""
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
