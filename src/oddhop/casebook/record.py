"""The record of a node: its neighbours, events and columns in a form in which two looks at it can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from oddhop.errors import CaseBookError

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 2
KEPT = 256
"""How many neighbours a record names. Of more the smallest hashes are kept, which are a fair sample."""
NODE, DEGREE, NEIGHBOURS = "node", "degree", "neighbours"
COLUMN, TOTAL, ALL, EVENTS, LAST = "column:", "total:", "columns:", "total:events", "last event"
SCALE = b"scale"

LISTS = "list<item: uint32>"
NOTHING = {NODE: ["uint32", [], ""], DEGREE: ["int64", [], ""], NEIGHBOURS: [LISTS, [], ""]}


@dataclass(frozen=True)
class Fingerprint:
    """The records of the members of a case, which a verdict is about.

    Attributes
    ----------
    columns : type, values and scale of every column of the records, by name.
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

    columns: Mapping[str, list[Any]] = field(default_factory=lambda: NOTHING)
    kind: str = "node"

    @classmethod
    def of(cls, records: pa.Table, kind: str) -> Fingerprint:
        """Return the fingerprint of members with these records, a row each."""
        columns = {
            one.name: [str(one.type), records[one.name].to_pylist(), (one.metadata or {}).get(SCALE, b"").decode()]
            for one in records.schema
        }
        return cls(columns, kind)

    @cached_property
    def records(self) -> pa.Table:
        """A row for each member."""
        import pyarrow as pa  # only here: a list of cases does not wait for it

        types = {str(one): one for one in (pa.int64(), pa.float32(), pa.float64(), pa.uint32(), pa.list_(pa.uint32()))}
        try:
            arrays = [pa.array(values, types[kind]) for kind, values, _ in self.columns.values()]
        except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
            raise _damaged(error) from None
        scales = [{SCALE: scale} if scale else None for *_, scale in self.columns.values()]
        fields = [
            pa.field(name, one.type, metadata=scale)
            for name, one, scale in zip(self.columns, arrays, scales, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def to_json(self) -> str:
        """Return the fingerprint as JSON."""
        found = {"version": VERSION, "kind": self.kind, "columns": self.columns}
        return json.dumps(found, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Fingerprint | None:
        """Read what :meth:`to_json` returned; None for that of an older oddhop. Other input is an error."""
        try:
            found = json.loads(text)
            if isinstance(found, dict) and "version" not in found:
                return None
            columns, rows = found["columns"], len(found["columns"][NODE][1])
            for name, (kind, values, scale) in columns.items():
                if scale and len([float(one) for one in json.loads(scale)]) != 4:
                    raise ValueError(f"the scale of {name!r} has not four numbers")
                if len(values) != rows or not all(_fits(one, kind) for one in values):
                    raise ValueError(f"{name!r} is no column of {rows:,} values of the type {kind}")
            pairs = zip(columns[DEGREE][1], columns[NEIGHBOURS][1], strict=True)
            right = all(degree >= len(some) <= KEPT and some == sorted(some) for degree, some in pairs)
            kinds = [columns[name][0] for name in (NODE, DEGREE, NEIGHBOURS)]
            if not (right and found["version"] == VERSION and kinds == ["uint32", "int64", LISTS]):
                raise ValueError("its degrees and neighbours do not belong together")
            return cls(columns, str(found["kind"]))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise _damaged(error) from None

    def without(self, gone: int) -> Fingerprint:
        """Return it without the node that has this hash, as a member and as a neighbour."""
        (_, nodes, _), (_, degrees, _), (_, lists, _) = (self.columns[name] for name in (NODE, DEGREE, NEIGHBOURS))
        changed = {
            DEGREE: [degree - (gone in some) for degree, some in zip(degrees, lists, strict=True)],
            NEIGHBOURS: [[one for one in some if one != gone] for some in lists],
        }
        left = {
            name: [
                kind,
                [one for one, node in zip(changed.get(name, values), nodes, strict=True) if node != gone],
                scale,
            ]
            for name, (kind, values, scale) in self.columns.items()
        }
        return Fingerprint(left, self.kind)


def _fits(value: Any, kind: str) -> bool:
    """Return whether a value is of a type that a record has."""
    if kind == LISTS:
        return isinstance(value, list) and all(_fits(one, "uint32") for one in value)
    if kind in ("float", "double"):
        return isinstance(value, int | float | None)
    least, most = {"uint32": (0, 1 << 32), "int64": (-(1 << 63), 1 << 63)}[kind]
    return type(value) is int and least <= value < most


def _damaged(error: Exception) -> CaseBookError:
    return CaseBookError(f"a fingerprint in the book is damaged: {error}", "restore the book from a copy")
