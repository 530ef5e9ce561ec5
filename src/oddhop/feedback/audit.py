"""How good is this list? Its precision, from answers drawn at random.

An audit freezes a list and an order of those nodes of it that have no answer yet. The order follows from hashes alone,
so it is independent of the verdicts. Only the answers at its beginning count, up to the first that is missing. They are
the same whoever asked for them and when: an answer given early, because the node stood at the top of a queue, counts
at its place and moves no other. So the beginning of the order is a sample without replacement, whatever was asked
besides. Nodes that were answered before the start are not part of the order, and are counted.

The bound of :mod:`oddhop.feedback.bounds` holds at all looks at once, the best-looking one included, so an audit may
be stopped at any time.

An answer "unsure" counts as no for the lower end and as yes for the upper one. Both ends grow with the number of hits,
so the range holds whatever the unsure ones are.

The range is about the verdicts of who answers, and takes them to be the same whenever a node is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from itertools import accumulate, takewhile

import numpy as np

from oddhop.errors import SettingsError
from oddhop.feedback.audit_result import AuditResult
from oddhop.feedback.bounds import Range, at_any_time

SCHEMA = "oddhop audit 1"


@dataclass(frozen=True)
class Audit:
    """A frozen list, and the random order in which its nodes without an answer are asked.

    Make it with :meth:`start`, before the first of its questions, and keep it. A key that was chosen after looking at
    answers makes the range worthless.

    Attributes
    ----------
    name : what the list is called in sentences, such as "the first 100".
    ids : its nodes.
    known : those that had an answer at the start, each with 1 (worth the time), 0 (harmless) or None (unsure).
    key : any text; the order follows from it, the name and the nodes.
    size : the planned number of answers.
    confidence : of the range.
    order : the nodes that had no answer at the start, in the order of the audit.

    Examples
    --------
    >>> from oddhop.feedback.audit import Audit
    >>> audit = Audit.start("the first 4", ["a", "b", "c", "d"], {"a": 1, "z": 0}, key="monday")
    >>> audit.known, sorted(audit.order)
    ((('a', 1),), ['b', 'c', 'd'])
    >>> audit.result({"b": 0, "c": None, "d": 1}).shown
    Range(low=2, high=3)
    """

    name: str
    ids: tuple[str, ...]
    known: tuple[tuple[str, int | None], ...]
    key: str
    size: int = 30
    confidence: float = 0.95
    order: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for what, text in (("name", self.name), ("key", self.key), *(("a node of the list", one) for one in self.ids)):
            if not isinstance(text, str) or not text:
                raise SettingsError(f"{what} must be text that is not empty, got {text!r}", "give a text")
        if not self.ids or len(set(self.ids)) < len(self.ids):
            got = "none" if not self.ids else f"{len(self.ids) - len(set(self.ids)):,} twice"
            raise SettingsError(f"an audit needs a list of different nodes, got {got}", "give every node exactly once")
        known = {one: checked_verdict(one, verdict) for one, verdict in self.known}
        if len(known) < len(self.known) or not known.keys() <= set(self.ids):
            raise SettingsError("known answers must be about nodes of the list, one for each node", "remove the others")
        if type(self.size) is not int or self.size < 1:
            raise SettingsError(f"size must be a whole number from 1 on, got {self.size!r}", "leave it out for 30")
        if not isinstance(self.confidence, float) or not 0.5 <= self.confidence < 1.0:
            raise SettingsError(
                f"confidence must be from 0.5 to below 1, got {self.confidence!r}", "leave it out for 0.95"
            )
        object.__setattr__(self, "known", tuple(known.items()))
        object.__setattr__(self, "order", _keyed_order(self, [one for one in self.ids if one not in known]))

    @classmethod
    def start(
        cls,
        name: str,
        ids: Iterable[str],
        answers: Mapping[str, int | None],
        key: str,
        size: int = 30,
        *,
        confidence: float = 0.95,
    ) -> Audit:
        """Start an audit of a list with the known answers. Answers about other nodes are ignored.

        Examples
        --------
        >>> from oddhop.feedback.audit import Audit
        >>> audit = Audit.start("the first 3", ["a", "b", "c"], {}, key="monday")
        >>> audit.order == Audit.start("the first 3", ["c", "a", "b"], {}, key="monday").order
        True
        """
        ids = tuple(ids)
        return cls(name, ids, tuple((one, answers[one]) for one in ids if one in answers), key, size, confidence)

    def questions(self, answers: Mapping[str, int | None]) -> tuple[str, ...]:
        """Return the nodes that have no answer yet, in the order of the audit.

        Examples
        --------
        >>> from oddhop.feedback.audit import Audit
        >>> audit = Audit.start("the first 3", ["a", "b", "c"], {}, key="monday")
        >>> first, second, third = audit.order
        >>> audit.questions({second: 1}) == (first, third)
        True
        """
        return tuple(one for one in self.order if one not in answers)

    def result(self, answers: Mapping[str, int | None]) -> AuditResult:
        """Return how many nodes of the list are hits, from the answers up to the first missing one.

        A later answer on a node that was known at the start replaces the one it had.

        Examples
        --------
        >>> from oddhop.feedback.audit import Audit
        >>> audit = Audit.start("the first 100", [f"n{k}" for k in range(100)], {}, key="monday")
        >>> early = audit.result(dict.fromkeys(audit.order[1:20], 1))
        >>> early.drawn, early.others, early.shown
        (0, 19, Range(low=19, high=100))
        """
        frozen = dict(self.known)
        known = {one: checked_verdict(one, answers.get(one, frozen[one])) for one in frozen}
        given = {one: checked_verdict(one, answers[one]) for one in self.order if one in answers}
        drawn = [given[one] for one in takewhile(given.__contains__, self.order)]
        rest, error = len(self.order), 1.0 - self.confidence
        known_hits, known_no = _counts(known.values())
        running = zip(accumulate(one == 1 for one in drawn), accumulate(one == 0 for one in drawn), strict=True)
        # Early answers say nothing about the nodes that were not asked, but they are certain about their own.
        given_hits, given_no = _counts(given.values())
        counted = Range(given_hits, rest - given_no)
        looks = [counted, *(at_any_time(rest, t, yes, no, error) for t, (yes, no) in enumerate(running, 1))]
        # Each look holds at once with all others, so the narrowest ends of them do.
        low, high = max(look.low for look in looks), min(look.high for look in looks)
        at_odds = low > high
        if at_odds or len(given) == rest:
            low, high = counted
        others = [*known.values(), *given.values()]
        return AuditResult(
            name=self.name,
            listed=len(self.ids),
            shown=Range(known_hits + low, len(known) - known_no + high),
            confidence=self.confidence,
            size=min(self.size, rest),
            drawn=len(drawn),
            hits=drawn.count(1),
            unsure=drawn.count(None),
            others=len(others) - len(drawn),
            others_unsure=others.count(None) - drawn.count(None),
            at_odds=at_odds,
        )

    def to_json(self) -> str:
        """Write the audit as JSON.

        Examples
        --------
        >>> from oddhop.feedback.audit import Audit
        >>> audit = Audit.start("the first 2", ["a", "b"], {"a": None}, key="monday")
        >>> Audit.from_json(audit.to_json()) == audit
        True
        """
        return json.dumps({"schema": SCHEMA, **asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Read an audit that :meth:`to_json` wrote; other text is an error.

        Examples
        --------
        >>> from oddhop.feedback.audit import Audit
        >>> Audit.from_json("{}")
        Traceback (most recent call last):
        oddhop.errors.SettingsError: this is not an audit: KeyError 'known'; give the text that to_json wrote
        """
        problem = "it was changed after it was written"
        try:
            read = json.loads(text)
            known = tuple((one, verdict) for one, verdict in read["known"])
            audit = cls(read["name"], tuple(read["ids"]), known, read["key"], read["size"], read["confidence"])
            if json.loads(audit.to_json()) == read:  # its schema and its order too
                return audit
        except SettingsError as error:
            problem = error.problem
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            problem = f"{type(error).__name__} {error}"
        raise SettingsError(f"this is not an audit: {problem}", "give the text that to_json wrote")


def checked_verdict(node: str, verdict: object) -> int | None:
    """Return 1, 0 or None; refuse any other answer."""
    if verdict is None:
        return None
    if not isinstance(verdict, (bool, int, np.bool_, np.integer)) or verdict not in (0, 1):
        raise SettingsError(f"an answer must be 1, 0 or None, got {verdict!r} for {node!r}", "give None for unsure")
    return int(verdict)


def _keyed_order(audit: Audit, nodes: Iterable[str]) -> tuple[str, ...]:
    # The name and the nodes are part of the key. With one key for two lists, the nodes that the first audit left
    # unasked would stand late in the second, and what is new in it early: no random sample.
    content = json.dumps([audit.key, audit.name, sorted(audit.ids)]).encode()
    key = blake2b(content).digest()

    def place(node: str) -> tuple[bytes, str]:
        return blake2b(node.encode("utf-8", "surrogatepass"), key=key, digest_size=16).digest(), node

    return tuple(sorted(nodes, key=place))


def _counts(verdicts: Iterable[int | None]) -> tuple[int, int]:
    """Count yes and no."""
    verdicts = list(verdicts)
    return verdicts.count(1), verdicts.count(0)
