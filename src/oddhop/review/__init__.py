"""Reviewing a run: the next case with why it is asked, answers into the book of cases, the list re-ranked."""

from oddhop.review.session import Session

__all__ = ["Session"]
