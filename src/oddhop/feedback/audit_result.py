"""What an audit says so far, in figures and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.feedback.bounds import Range


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit so far.

    Attributes
    ----------
    name, listed : the name of the list, and the number of its nodes.
    shown : the range to show. It holds at all moments at once with the confidence, or for certain; see ``certain``.
    confidence : of ``shown``.
    size : how many answers were planned; no more than there were nodes without one.
    drawn, hits, unsure : the answers that count as drawn at random, and how many of them were yes and unsure.
    others, others_unsure : answers on other nodes of the list: known at the start, or given early.
    at_odds : whether the answers disagree with each other more than chance explains; ``shown`` then is a count.
    """

    name: str
    listed: int
    shown: Range
    confidence: float
    size: int
    drawn: int
    hits: int
    unsure: int
    others: int
    others_unsure: int
    at_odds: bool

    @property
    def precision(self) -> tuple[float, float]:
        """The range as shares of the list."""
        return self.shown.low / self.listed, self.shown.high / self.listed

    @property
    def complete(self) -> bool:
        """Whether every node of the list was answered."""
        return self.drawn + self.others == self.listed

    @property
    def certain(self) -> bool:
        """Whether the range is a count and not an estimate."""
        return self.complete or self.at_odds

    @property
    def enough(self) -> bool:
        """Whether the planned answers are given."""
        return self.drawn >= self.size or self.complete

    @property
    def sentence(self) -> str:
        """The result in plain words.

        Examples
        --------
        >>> from oddhop.feedback.audit import Audit
        >>> audit = Audit.start("the first 100", [f"n{k}" for k in range(100)], {}, key="monday")
        >>> answers = {node: int(k % 2 == 0) for k, node in enumerate(audit.order)}
        >>> audit.result(dict(list(answers.items())[:30])).sentence
        '30 to 71 of the first 100 are worth your time (95 % confidence), from 30 answers drawn at random.'
        >>> audit.result(answers).sentence
        '50 of the first 100 are worth your time: all 100 are answered.'
        """
        low, high = self.shown
        found = f"{low if low == high else f'{low} to {high}'} of {self.name} {'is' if high == 1 else 'are'}"
        answers = f"{self.drawn} answer{'' if self.drawn == 1 else 's'} drawn at random"
        if self.others:
            answers += f" and {self.others} other{'' if self.others == 1 else 's'}"
        if self.complete:
            said = f"{found} worth your time: all {self.listed} are answered."
        elif self.at_odds:
            said = f"{found} worth your time, from {answers}."
            said += " The answers disagree more than chance explains, so only the certain range is shown."
        else:
            said = f"{found} worth your time ({100 * self.confidence:g} % confidence), from {answers}."
        if unsure := self.unsure + self.others_unsure:
            said += f" Unsure answers: {unsure}. Unsure answers count as no for the lower figure and as yes for the "
            said += "upper figure."
        if not self.enough:
            said += f" Only {self.drawn} of {self.size} planned answers are given: too few to rely on."
        return said
