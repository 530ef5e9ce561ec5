"""The book of cases: what was decided of whom, by whom, when and on what; cleared cases stay away."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oddhop.casebook.book import Book, open_book
    from oddhop.casebook.changes import Changed, changed
    from oddhop.casebook.decisions import Decision, Decisions, Identity, identify, suppressed
    from oddhop.casebook.entry import VERDICTS, Entry, NewVerdict, now
    from oddhop.casebook.erase import Erased
    from oddhop.casebook.fingerprint import fingerprint_of, member_ids
    from oddhop.casebook.record import Fingerprint

__all__ = [
    "VERDICTS", "Book", "Changed", "Decision", "Decisions", "Entry", "Erased", "Fingerprint", "Identity", "NewVerdict",
    "changed", "fingerprint_of", "identify", "member_ids", "now", "open_book", "suppressed",
]  # fmt: skip

_HOMES = dict.fromkeys(("VERDICTS", "Entry", "NewVerdict", "now"), "entry") | {
    "Book": "book",
    "open_book": "book",
    "Changed": "changes",
    "changed": "changes",
    "Decision": "decisions",
    "Decisions": "decisions",
    "Identity": "decisions",
    "identify": "decisions",
    "suppressed": "decisions",
    "Erased": "erase",
    "fingerprint_of": "fingerprint",
    "member_ids": "fingerprint",
    "Fingerprint": "record",
}


def __getattr__(name: str) -> Any:
    # Two runs are compared by the rule of the book, without what reads databases and networks.
    if name not in _HOMES:
        raise AttributeError(f"module 'oddhop.casebook' has no attribute {name!r}")
    return getattr(import_module(f"oddhop.casebook.{_HOMES[name]}"), name)
