"""The kinds of nodes that tables have, or that a model knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from oddhop.errors import TableError
from oddhop.graph.events import EventColumns


@dataclass(frozen=True)
class KnownKinds:
    """The kinds of a fitted model: their names in order, the judged kind, and the columns by full name.

    Without names the model knows one kind.
    """

    names: tuple[str, ...] = ()
    judged: str | None = None
    columns: frozenset[str] = frozenset()

    def check(self, found: Sequence[str]) -> None:
        """Raise an error if the kinds are not those of the model."""
        if set(found) == set(self.names) or (not self.names and len(found) == 1):
            return
        has = ", ".join(map(repr, self.names)) or "one kind of node"
        raise TableError(
            f"the model was fitted with {has}, got tables with {', '.join(map(repr, found))}",
            "name the same kinds: nodes={'account': ..., 'device': ...}, source_kind= and target_kind= as in the fit",
            command="name the same kinds: --nodes KIND=PATH, --source-kind and --target-kind as in the fit",
        )


@dataclass(frozen=True)
class Known:
    """The columns of events and the kinds of nodes of a fitted model, and how texts of the edge table are read.

    Only these are read.
    """

    events: EventColumns | None
    kinds: KnownKinds
    forms: Mapping[str, str] = field(default_factory=dict)


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
                f"the name of a kind must not have a dot, got {dotted[0]!r}",
                "rename the kind",
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
        """Return the name of a column of a kind, as the encoding and the report have it."""
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
        """Return the full names of the columns of any kind that have one of these names."""
        return tuple(self.full_name(kind, name) for kind, name, _ in self.columns if name in names)

    def rows(self, start: int = 0, stop: int | None = None) -> dict[str, slice]:
        """Return where the nodes of each kind are among those from ``start`` to ``stop``."""
        stop = self.bounds[-1] if stop is None else stop
        ends = [min(max(bound, start), stop) - start for bound in self.bounds]
        return {name: slice(a, b) for name, a, b in zip(self.names, ends[:-1], ends[1:], strict=True)}

    def counted(self, kind: int) -> str:
        """Say how many nodes a kind has."""
        return f"{self.bounds[kind + 1] - self.bounds[kind]:,} {self.names[kind]}"

    @property
    def sentence(self) -> str:
        """Say which kinds there are, how many of each, and who is judged; nothing of one kind."""
        if not self.several:
            return ""
        parts = []
        for k, name in enumerate(self.names):
            more = ", ".join(["judged"] * (k == self.judged) + ["only in the edge table"] * (name in self.alone))
            parts.append(self.counted(k) + (f" ({more})" if more else ""))
        return f"{len(self.names)} kinds of nodes: {', '.join(parts)}"
