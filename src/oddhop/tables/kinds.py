"""The kinds of nodes that tables have, or that a model knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oddhop.errors import TableError
from oddhop.graph.events import EventColumns


@dataclass(frozen=True)
class KnownKinds:
    """The kinds that a model was fitted with: their names in order, who was judged, and the columns by full name.

    Without names the model knows one kind.
    """

    names: tuple[str, ...] = ()
    judged: str | None = None
    columns: frozenset[str] = frozenset()

    def check(self, found: Sequence[str]) -> None:
        """Refuse other kinds than those of the model."""
        if set(found) == set(self.names) or (not self.names and len(found) == 1):
            return
        has = ", ".join(map(repr, self.names)) or "one kind of node"
        raise TableError(
            f"the model was fitted with {has}, and the tables have {', '.join(map(repr, found))}",
            "name the same kinds: nodes={'account': ..., 'device': ...}, source_kind= and target_kind= as then",
            command="name the same kinds: --nodes KIND=PATH, --source-kind and --target-kind as then",
        )


@dataclass(frozen=True)
class Known:
    """What a model was fitted with: the columns of events, and the kinds of nodes. Those are read and no others."""

    events: EventColumns | None
    kinds: KnownKinds


@dataclass(frozen=True)
class KindsRead:
    """The kinds of nodes in ``people``, a table, in the order of the nodes.

    Attributes
    ----------
    names : of the kinds; one that nobody named is empty.
    bounds : the node at which each begins, and the number of nodes.
    judged : the number of the kind that is judged.
    columns : the kind, the name and the number in ``people`` of every column, kind by kind.
    alone : the kinds that edges alone name.
    """

    names: tuple[str, ...]
    bounds: tuple[int, ...]
    judged: int
    columns: tuple[tuple[int, str, int], ...]
    alone: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        dotted = [name for name in self.names if "." in name]
        if self.several and dotted:
            raise TableError(
                f"a kind of node cannot be called {dotted[0]!r}: its columns are called by the kind and a dot",
                "give it a name without a dot",
            )

    @property
    def several(self) -> bool:
        """Whether there is more than one kind."""
        return len(self.names) > 1

    @property
    def full_names(self) -> tuple[str, ...]:
        """The names of the columns, with the kind before them where there are several."""
        return tuple(self.full_name(kind, name) for kind, name, _ in self.columns)

    def full_name(self, kind: int, name: str) -> str:
        """Give the name of a column of a kind, as the encoding and the report have it."""
        return f"{self.names[kind]}.{name}" if self.several else name

    @property
    def sql(self) -> dict[str, str]:
        """How every column is read from ``people``, by its full name; other kinds have nothing there."""
        places = [k for _, _, k in self.columns]
        return {
            name: f"CASE WHEN kind = {kind} THEN c{k} END" if places.count(k) > 1 else f"c{k}"
            for name, (kind, _, k) in zip(self.full_names, self.columns, strict=True)
        }

    def kept(self, names: Collection[str]) -> tuple[str, ...]:
        """Give the full names of the columns of any kind that have one of these names."""
        return tuple(self.full_name(kind, name) for kind, name, _ in self.columns if name in names)

    def rows(self, start: int = 0, stop: int | None = None) -> dict[str, slice]:
        """Give where the nodes of each kind are among those from ``start`` to ``stop``.

        Examples
        --------
        >>> from oddhop.tables.kinds import KindsRead
        >>> KindsRead(("account", "device"), (0, 3, 5), 0, ()).rows(2, 4)
        {'account': slice(0, 1, None), 'device': slice(1, 2, None)}
        """
        stop = self.bounds[-1] if stop is None else stop
        ends = [min(max(bound, start), stop) - start for bound in self.bounds]
        return {name: slice(a, b) for name, a, b in zip(self.names, ends[:-1], ends[1:], strict=True)}

    def counted(self, kind: int) -> str:
        """Say how many nodes a kind has."""
        return f"{self.bounds[kind + 1] - self.bounds[kind]:,} {self.names[kind]}"

    @property
    def told(self) -> str:
        """Say which kinds there are, how many of each, and who is judged; nothing of one kind."""
        if not self.several:
            return ""
        parts = []
        for k, name in enumerate(self.names):
            more = ", ".join(["judged"] * (k == self.judged) + ["named by edges alone"] * (name in self.alone))
            parts.append(self.counted(k) + (f" ({more})" if more else ""))
        return f"{len(self.names)} kinds of nodes: {', '.join(parts)}"


def kinds_read_from(document: Mapping[str, Any]) -> KindsRead:
    """Read what ``dataclasses.asdict`` gave, after JSON."""
    lists = {name: tuple(document[name]) for name in ("names", "bounds", "alone")}
    columns = tuple((kind, name, k) for kind, name, k in document["columns"])
    return KindsRead(lists["names"], lists["bounds"], document["judged"], columns, lists["alone"])
