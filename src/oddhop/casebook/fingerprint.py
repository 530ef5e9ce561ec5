"""What was judged of the members of a case: their neighbours, events and columns, in a form that can be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from oddhop.base.arrays import Floats, Ints
from oddhop.errors import CaseBookError, GraphError
from oddhop.graph.checks import is_sparse
from oddhop.graph.events import NO_TIME
from oddhop.tables.encode.encoders import CategoryColumn, Encoder, FlowNumber, TextColumn
from oddhop.tables.network import Network

KEPT = 1_000
HASHED_AT_ONCE = 65_536
HASH_KEY = b"oddhop cases 1"
MISSING, POOLED = -1.0, -2.0
STRICT = ConfigDict(extra="forbid", strict=True, defer_build=True)
Hash: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True)
class Member:
    """The data of one member that a verdict is about.

    Attributes
    ----------
    neighbours : hashes of their ids, sorted; of more than 1,000 the smallest, which are a fair sample.
    degree : how many neighbours there are.
    events : how many events there are, or None where the network has none.
    last_event : the time of the last one in microseconds since 1970, or None.
    columns : the values of every column of the node table: numbers as they are encoded, a category by a number of 24
        bits, a text by the attributes that its words fall into.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    neighbours: Annotated[tuple[Hash, ...], Field(max_length=KEPT)]
    degree: Count
    events: Count | None
    last_event: int | None
    columns: dict[str, tuple[Number, ...]]


@dataclass(frozen=True)
class Fingerprint:
    """The data of the members of a case that a verdict is about.

    Attributes
    ----------
    members : by the hash of the id.
    kind : what a member is called, such as "account".
    encoded : whether the columns are those of a table; else columns that are left out are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import Fingerprint, fingerprint_of
    >>> network = Network.of(Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]], node_ids=["a", "b", "c"]))
    >>> judged = fingerprint_of(network, np.array([1]))
    >>> [(one.degree, one.columns) for one in judged.members.values()]
    [(2, {'attribute 0': (2.0,)})]
    >>> Fingerprint.from_json(judged.to_json()) == judged
    True
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    members: dict[Hash, Member]
    kind: str = "node"
    encoded: bool = True

    def to_json(self) -> str:
        """Return the fingerprint as JSON."""
        # dataclasses.asdict would copy every hash.
        members = {name: vars(one) for name, one in self.members.items()}
        return json.dumps({**vars(self), "members": members}, separators=(",", ":"), sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Fingerprint:
        """Read what :meth:`to_json` returned; other input is an error."""
        try:
            found = _ADAPTER.validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"]) or "the whole"
            raise CaseBookError(
                f"a fingerprint in the book is damaged: {place}: {first['msg']}", "restore the book from a copy"
            ) from None
        for one in found.members.values():
            if list(one.neighbours) != sorted(set(one.neighbours)) or one.degree < len(one.neighbours):
                raise CaseBookError(
                    "a fingerprint in the book is damaged: its neighbours are not sorted, or exceed its degree",
                    "restore the book from a copy",
                )
        return found

    def without(self, hashed: str) -> Fingerprint:
        """Return it without one node, as a member and as a neighbour."""
        return replace(
            self,
            members={
                name: replace(
                    one,
                    neighbours=tuple(other for other in one.neighbours if other != hashed),
                    degree=one.degree - (hashed in one.neighbours),
                )
                for name, one in self.members.items()
                if name != hashed
            },
        )


_ADAPTER = TypeAdapter(Fingerprint)


def hash_of(node: str) -> str:
    """Return the 64 bits that stand for an id, as 16 digits."""
    return hashlib.blake2b(node.encode(), digest_size=8, key=HASH_KEY).hexdigest()


def member_ids(network: Network, nodes: Ints) -> list[str]:
    """Return the ids of some nodes as text, as in the book.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import member_ids
    >>> member_ids(Network.of(Graph.from_arrays([[0], [1]], [[1.0], [2.0]])), np.array([1]))
    ['1']
    """
    return [str(network.name(int(node))) for node in nodes]


def fingerprint_of(network: Network, nodes: Ints) -> Fingerprint:
    """Return the fingerprint of the members of a case, given by their numbers.

    Only their own rows are looked at, so the work does not grow with the network.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import fingerprint_of
    >>> star = Network.of(Graph.from_arrays([[0, 0, 0], [1, 2, 3]], [[1.0], [2.0], [3.0], [4.0]]))
    >>> [one.degree for one in fingerprint_of(star, np.array([0])).members.values()]
    [3]
    """
    chosen = np.unique(np.asarray(nodes, dtype=np.int64))
    graph = network.graph
    if not chosen.size or chosen[0] < 0 or chosen[-1] >= graph.node_count:
        raise GraphError(
            f"a case needs members with numbers from 0 to {graph.node_count - 1:,}, got {chosen[:3].tolist()}",
            "take them from Network.numbers",
        )
    kind = network.kind_of(int(chosen[0])) or "node"
    names = member_ids(network, chosen)
    members = {hash_of(name): _member(network, int(node)) for name, node in zip(names, chosen, strict=True)}
    return Fingerprint(members, kind, network.encoding is not None)


def _member(network: Network, node: int) -> Member:
    graph = network.graph
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    events = last = None
    if graph.events is not None:
        first, end = (int(graph.events.indptr[2 * one]) for one in (node, node + 1))
        events = end - first
        times = graph.events.times[first:end]
        last = int(times.max()) if times.size and times.max() != NO_TIME else None
    return Member(_smallest_hashes(network, neighbours), int(neighbours.size), events, last, _columns(network, node))


def _smallest_hashes(network: Network, nodes: Ints) -> tuple[str, ...]:
    smallest: list[str] = []
    # A hub may have a million neighbours: a part of them at a time.
    for start in range(0, nodes.size, HASHED_AT_ONCE):
        names = member_ids(network, nodes[start : start + HASHED_AT_ONCE])
        smallest = sorted({*smallest, *map(hash_of, names)})[:KEPT]
    return tuple(smallest)


def _columns(network: Network, node: int) -> dict[str, tuple[float, ...]]:
    graph, encoding, kinds = network.graph, network.encoding, network.graph.kinds
    row = graph.attributes[[node]]
    values: Floats = np.asarray(row.toarray() if is_sparse(row) else row, dtype=np.float32)[0]
    if encoding is None:
        names = graph.attribute_names or [f"attribute {k}" for k in range(graph.attribute_count)]
        return {names[k]: _rounded(values[k : k + 1]) for k in np.flatnonzero(values)}
    kind = None if kinds is None else int(kinds.of(np.array([node]))[0])
    before = "" if kinds is None or kind is None else f"{kinds.names[kind]}."
    out, start = {}, 0
    for column in encoding.columns:
        stop = start + len(column.names)
        # Columns that events gave move with every event; the events are counted instead.
        if not isinstance(column, FlowNumber) and (kinds is None or kinds.columns[start] == kind):
            out[column.name.removeprefix(before)] = _value(column, values[start:stop])
        start = stop
    return out


def _value(column: Encoder, values: Floats) -> tuple[float, ...]:
    """Return a value that stays the same when the levels of the column are learned again."""
    if isinstance(column, CategoryColumn):
        place = int(np.argmax(values))
        if place < len(column.levels):
            level = hashlib.blake2b(column.levels[place].encode(), digest_size=3, key=HASH_KEY).digest()
            return (float(int.from_bytes(level, "little")),)
        return (POOLED if place == len(column.levels) else MISSING,)
    if isinstance(column, TextColumn):
        return tuple(float(place + 1) for place in np.flatnonzero(values))
    return _rounded(values)


def _rounded(values: Iterable[Any]) -> tuple[float, ...]:
    return tuple(float(f"{value:.7g}") for value in values)
