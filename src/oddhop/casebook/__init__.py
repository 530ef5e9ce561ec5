"""The book of cases: what was decided of whom, by whom, when and on what; cleared cases stay away."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oddhop.casebook.book import Book, open_book
    from oddhop.casebook.changes import Changed, changed
    from oddhop.casebook.decisions import Decision, decide
    from oddhop.casebook.entry import VERDICTS, Entry, NewVerdict, now
    from oddhop.casebook.erase import Erased
    from oddhop.casebook.fingerprint import fingerprint_of, member_ids
    from oddhop.casebook.record import Fingerprint

__all__ = [
    "VERDICTS", "Book", "Changed", "Decision", "Entry", "Erased", "Fingerprint", "NewVerdict", "changed", "decide",
    "fingerprint_of", "member_ids", "now", "open_book",
]  # fmt: skip

_NAMES = {
    "book": "Book open_book",
    "changes": "Changed changed",
    "decisions": "Decision decide",
    "entry": "VERDICTS Entry NewVerdict now",
    "erase": "Erased",
    "fingerprint": "fingerprint_of member_ids",
    "record": "Fingerprint",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    # Two runs are compared by the rule of the book, without what reads databases and networks.
    if name not in _HOMES:
        raise AttributeError(f"module 'oddhop.casebook' has no attribute {name!r}")
    return getattr(import_module(f"oddhop.casebook.{_HOMES[name]}"), name)
