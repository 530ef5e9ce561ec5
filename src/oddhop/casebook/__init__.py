"""The book of cases: what was decided of whom, by whom, when and on what; cleared cases stay away."""

from oddhop.casebook.book import Book, open_book
from oddhop.casebook.changes import Changed, changed
from oddhop.casebook.decisions import Decision, Decisions, suppressed
from oddhop.casebook.entry import VERDICTS, Entry, NewVerdict, now
from oddhop.casebook.erase import Erased
from oddhop.casebook.fingerprint import Fingerprint, Member, fingerprint_of, member_ids

__all__ = [
    "VERDICTS",
    "Book",
    "Changed",
    "Decision",
    "Decisions",
    "Entry",
    "Erased",
    "Fingerprint",
    "Member",
    "NewVerdict",
    "changed",
    "fingerprint_of",
    "member_ids",
    "now",
    "open_book",
    "suppressed",
]
