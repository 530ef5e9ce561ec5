"""The words of a table: what its nodes, events and amounts are called, and how figures and times are said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import Any

from oddhop.cases.case import Nouns
from oddhop.cases.words import amount_text, count_text
from oddhop.explain.phrases import spoken
from oddhop.graph.disk import is_stored
from oddhop.tables.network import Network
from oddhop.tables.words import plain

GENERIC = {"", "node", "edge", "vertex", "link", "tie", "table", "data", "event", "row", "graph", "query", "file"}
IRREGULAR = {"people": "person", "persons": "person", "vertices": "vertex", "indices": "index", "data": "data"}
# The verb of an event by a part of its noun, or of the name of the column that it goes to: present and past.
VERBS = (
    (("payment", "transaction", "purchase", "invoice", "donation", "payee", "creditor", "beneficiary"), "pays", "paid"),
    (("review",), "reviews", "reviewed"),
    (("rating", "ratee"), "rates", "rated"),
    (("citation", "cite"), "cites", "cited"),
    (("depend",), "uses", "used"),
    (("login", "logon"), "logs in to", "logged in to"),
    (("call",), "calls", "called"),
    (("follow",), "follows", "followed"),
    (("flow", "connection", "packet", "session", "dsthost", "dstip"), "connects to", "connected to"),
)
EVENTS = (("pays", "payment"), ("calls", "call"), ("rates", "rating"), ("connects to", "connection"))
NODES = (("iban", "account"), ("account", "account"), ("payer", "account"), ("ip", "computer"), ("host", "computer"))
UNITS = (("eur", "€"), ("usd", "$"), ("dollar", "$"), ("gbp", "£"), ("pound", "£"), ("chf", "CHF"), ("byte", "bytes"))
NO_SUM = ("reviews", "rates", "cites", "uses", "follows")


def nouns_of(network: Network, edges: Any = None, nodes: Any = None) -> Nouns:
    """Return the words of a network; ``edges`` and ``nodes`` are what its files are called, where they have names.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from oddhop import read_network
    >>> from oddhop.cases.nouns import nouns_of
    >>> people = pa.table({"id": ["a", "b"], "age": [31, 25]})
    >>> network = read_network(pa.table({"payer": ["a"], "payee": ["b"], "euros": [9.5]}), people)
    >>> words = nouns_of(network, "2026/payments.csv", "accounts.csv")
    >>> words.node, words.events, words.unit, words.sent
    ('account', 'payments', '€', 'paid')
    """
    roles, kinds, events = network.roles, network.graph.kinds, network.graph.events
    ends = [] if roles is None else [plain(name) for name in (roles.source, roles.target)]
    event = _noun(edges)
    known = [plain(event), *ends[1:], *ends[:1]]
    found = (verbs for parts, *verbs in VERBS if any(part in name for name in known for part in parts))
    sends, sent = next(found, ("sends", "sent"))
    event = event or dict(EVENTS).get(sends, "event" if events is not None else "tie")
    node = "" if kinds is None else kinds.names[kinds.judged].replace("_", " ")
    own = [plain(roles.id), *ends] if roles is not None else []
    node = node or _noun(nodes) or next((noun for part, noun in NODES if any(part in name for name in own)), "node")
    unit = "" if events is None or not events.columns.amounts else _unit(events.columns.amounts[0])
    return Nouns(node, plural(node), event, plural(event), unit, sends, sent)


def _noun(table: Any) -> str:
    """Return what the rows of a table are called, by the name of its file; empty where that says nothing."""
    if isinstance(table, str | PurePath) and is_stored(table):
        return ""
    if not isinstance(table, str | PurePath) or str(table) == "-" or re.search(r"\s", str(table)):
        return ""
    stem = re.split(r"[.*]", PurePath(str(table).rstrip("/")).name)[0]
    words = [word for word in re.split(r"[^a-z]+", stem.lower()) if len(word) > 1]
    last = _singular(words[-1]) if words else ""
    return "" if last in GENERIC or len(last) < 3 or last == words[-1] else last  # only a plural is taken for a noun


def _singular(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def plural(word: str) -> str:
    """Return the plural of a noun."""
    known = {one: many for many, one in IRREGULAR.items() if many != "persons"}
    if word in known:
        return known[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _unit(column: str) -> str:
    name = plain(column)
    return next((unit for part, unit in UNITS if part in name), "")


def article(word: str) -> str:
    """Return a noun with its article."""
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


@dataclass(frozen=True, eq=False)
class Words:
    """How the figures of one network are said.

    Attributes
    ----------
    nouns : what things are called.
    network : has the ids.
    years : whether dates need a year.
    """

    nouns: Nouns
    network: Network
    years: bool = False

    @property
    def sums(self) -> bool:
        """Whether amounts are added up: those of payments are, ratings are not."""
        return self.nouns.sends not in NO_SUM

    @property
    def named(self) -> bool:
        """Whether the tables say what events are."""
        return self.nouns.event not in GENERIC

    def name(self, node: int) -> str:
        """Return the id of a node."""
        return str(self.network.name(node))

    def amount(self, value: float) -> str:
        """Say an amount."""
        return amount_text(value, self.nouns)

    def node_count(self, count: int) -> str:
        """Say how many nodes there are."""
        return f"{count:,} {self.nouns.node if count == 1 else self.nouns.nodes}"

    def event_count(self, count: int) -> str:
        """Say how many events there are."""
        return count_text(count, self.nouns)

    def who(self, nodes: Sequence[int]) -> str:
        """Say who some nodes are: the id of one, how many there are of more, by kind where there are several."""
        return self.name(nodes[0]) if len(nodes) == 1 else self.kinds(nodes)

    def kinds(self, nodes: Sequence[int]) -> str:
        """Count some nodes, by kind where there are several: "3 accounts", "1 device and 2 merchants"."""
        kinds = [self.network.kind_of(node) or self.nouns.node for node in nodes]
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        return spoken([f"{count:,} {kind if count == 1 else plural(kind)}" for kind, count in counts.items()])

    def names(self, nodes: Sequence[int], most: int = 3) -> str:
        """List some nodes."""
        more = [f"{len(nodes) - most} more"] if len(nodes) > most else []
        return spoken([*map(self.name, nodes[:most]), *more])

    def day(self, moment: int, *, clock: bool = False) -> str:
        """Say a day, or a moment, given in microseconds."""
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(moment))
        year = f" {when.year}" if self.years else ""
        return f"{when.day} {when:%b}{year}" + (f" {when:%H:%M}" if clock else "")


def share(part: float) -> str:
    """Say a share; nearly all is not all."""
    percent = 100 * part
    if 0 < percent < 0.5:
        return "less than 1%"
    if 99.5 <= percent < 100:
        return "over 99%"
    return f"{percent:.0f}%"


def duration(hours: float) -> str:
    """Say how long something took."""
    for size, unit in ((24 * 365.25, "year"), (24 * 30.4, "month"), (24.0, "day"), (1.0, "hour"), (1 / 60, "minute")):
        least = {"year": 2.0, "month": 4.0, "day": 1.75, "hour": 1.5, "minute": 0.0}[unit]
        if hours / size >= least:
            count = max(1, round(hours / size))
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return "a minute"


def times(count: int) -> str:
    """Say how often."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
