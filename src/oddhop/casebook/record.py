"""The record of a node: its neighbours, events and columns in a form in which two looks at it can be compared."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pyarrow as pa

from oddhop.errors import CaseBookError

VERSION = 2
KEPT = 256
"""How many neighbours a record names. Of more the smallest hashes are kept, which are a fair sample."""
NODE, DEGREE, NEIGHBOURS = "node", "degree", "neighbours"
COLUMN, TOTAL, ALL, EVENTS, LAST = "column:", "total:", "columns:", "total:events", "last event"
SCALE = b"scale"


TYPES = {str(one): one for one in (pa.int64(), pa.float32(), pa.float64(), pa.uint32(), pa.list_(pa.uint32()))}
NOTHING = pa.table(
    {NODE: pa.array([], pa.uint32()), DEGREE: pa.array([], pa.int64()), NEIGHBOURS: pa.array([], pa.list_(pa.uint32()))}
)
DAMAGED = ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, pa.ArrowException


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """The records of the members of a case, which a verdict is about.

    Attributes
    ----------
    records : a row for each member.
    kind : what a member is called, such as "account".

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Network
    >>> from oddhop.casebook import Fingerprint, fingerprint_of
    >>> network = Network.of(Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]], node_ids=["a", "b", "c"]))
    >>> judged = fingerprint_of(network, np.array([1]))
    >>> judged.records.select(["degree", "column:attribute 0"]).to_pylist()
    [{'degree': 2, 'column:attribute 0': 2.0}]
    >>> Fingerprint.from_json(judged.to_json()) == judged
    True
    """

    records: pa.Table = field(default_factory=lambda: NOTHING)
    kind: str = "node"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and self.to_json() == other.to_json()

    def to_json(self) -> str:
        """Return the fingerprint as JSON."""
        columns = {
            one.name: [str(one.type), self.records[one.name].to_pylist(), (one.metadata or {}).get(SCALE, b"").decode()]
            for one in self.records.schema
        }
        return json.dumps({"version": VERSION, "kind": self.kind, "columns": columns}, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Fingerprint | None:
        """Read what :meth:`to_json` returned; None for that of an older oddhop. Other input is an error."""
        try:
            found = json.loads(text)
            if isinstance(found, dict) and "version" not in found:
                return None
            arrays, fields = [], []
            for name, (kind, values, scale) in found["columns"].items():
                if scale and len([float(one) for one in json.loads(scale)]) != 4:
                    raise ValueError(f"the scale of {name!r} has not four numbers")
                fields.append(pa.field(name, TYPES[kind], metadata={SCALE: scale} if scale else None))
                arrays.append(pa.array(values, TYPES[kind]))
            table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
            rows = zip(*(table[name].to_pylist() for name in (DEGREE, NEIGHBOURS)), strict=True)
            right = all(degree >= len(some) <= KEPT and some == sorted(some) for degree, some in rows)
            if not (right and found["version"] == VERSION and table[NODE].type == pa.uint32()):
                raise ValueError("its degrees and neighbours do not belong together")
            return cls(table, str(found["kind"]))
        except DAMAGED as error:
            remedy = "restore the book from a copy"
            raise CaseBookError(f"a fingerprint in the book is damaged: {error}", remedy) from None

    def without(self, gone: int) -> Fingerprint:
        """Return it without the node that has this hash, as a member and as a neighbour."""
        left = [
            {**row, NEIGHBOURS: [one for one in row[NEIGHBOURS] if one != gone]}
            | {DEGREE: row[DEGREE] - (gone in row[NEIGHBOURS])}
            for row in self.records.to_pylist()
            if row[NODE] != gone
        ]
        return Fingerprint(pa.Table.from_pylist(left, schema=self.records.schema), self.kind)
