"""What a made-up network is written into: nodes, events, and which of them were planted.

Everything is drawn from the seed. The background has its own dice and every scheme has its own, so the background is
the same with and without schemes. Ninety days, 1 October to 29 December 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

START, DAYS = np.datetime64("2025-10-01"), 90  # a Wednesday
MONTHS = (0, 31, 61)  # first days of October, November, December
WEEKDAY = (2 + np.arange(DAYS)) % 7  # Monday is 0
HOURS = {
    "shop": [0, 0, 0, 0, 0, 0, 1, 4, 6, 8, 9, 10, 11, 8, 7, 8, 11, 13, 11, 7, 3, 1, 0.3, 0.1],
    "evening": [0.8, 0.3, 0.1, 0.1, 0, 0, 0.3, 1, 2, 2, 3, 3, 5, 4, 3, 3, 4, 6, 9, 11, 12, 9, 5, 2],
    "office": [0, 0, 0, 0, 0, 0, 0.2, 2, 8, 12, 12, 11, 7, 8, 11, 10, 8, 4, 1, 0.3, 0.1, 0, 0, 0],
    "batch": [0, 0, 1, 2, 6, 8, 5, 2] + [0] * 16,  # the early morning run of the machines
    "night": [3, 6, 8, 7, 3] + [0] * 18 + [1],
}
WHOLE, BACKGROUND, DISTORTED = "whole", "background", "distorted"
Number = float | np.integer[Any]
Event = tuple[int, int, float, int, str, tuple[str, bool] | None]


@dataclass(frozen=True)
class Mark:
    """A planted node: ``core`` is whom a case should be about, not a victim or a mere counterparty."""

    scheme: str
    role: str
    node: str
    core: bool
    innocent: bool
    events: tuple[int, ...]  # rows of the table of events


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables as a user has them, and beside them what was planted."""

    nodes: dict[str, np.ndarray]
    events: dict[str, np.ndarray]
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Layout:
    """What the columns of the tables are called."""

    node: str
    opened: str
    columns: tuple[str, ...]  # of the nodes, ``opened`` among them
    events: tuple[str, str, str, str, str]  # source, target, amount, time, type
    letter: str


def clock(rng: np.random.Generator, count: int, profile: str) -> np.ndarray:
    """Draw minutes of the day from a profile of hours."""
    weight = np.array(HOURS[profile], float)
    return rng.choice(24, count, p=weight / weight.sum()) * 60 + rng.integers(0, 60, count)


def booked(rng: np.random.Generator, days: np.ndarray, profile: str) -> np.ndarray:
    """Draw a minute for each of some days."""
    return np.asarray(days * 1440 + clock(rng, len(days), profile))


def minute(rng: np.random.Generator, profile: str) -> int:
    """Draw one minute of the day."""
    return int(clock(rng, 1, profile)[0])


def hundredths(amount: Any) -> np.ndarray:
    """Round to cents, and to half a unit at least."""
    return np.asarray(np.round(np.maximum(amount, 0.5), 2))


class World:
    """Nodes, events and marks, as they are written."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.values: dict[str, list[Any]] = {name: [] for name in layout.columns}
        self.events: list[Event] = []
        self.marks: list[tuple[str, str, int, bool, bool]] = []
        self.used: set[int] = set()
        self.scheme, self.innocent = "", True
        self.known: dict[str, np.ndarray] = {}  # the columns of the background, to pick from

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.values[self.layout.opened])

    def add(self, *values: Any) -> int:
        """Write a node, with its columns in the order of the layout."""
        for name, value in zip(self.layout.columns, values, strict=True):
            self.values[name].append(int(value) if name == self.layout.opened else value)
        return self.size - 1

    def freeze(self) -> None:
        """Keep the columns of the background, from which schemes pick their people."""
        self.known = {name: np.array(values) for name, values in self.values.items()}

    def pick(self, rng: np.random.Generator, count: int, where: np.ndarray) -> list[int]:
        """Pick nodes of the background that no other scheme has."""
        free = np.array([node for node in np.flatnonzero(where) if node not in self.used])
        picked = [int(node) for node in rng.choice(free, count, replace=False)]
        self.used.update(picked)
        return picked

    def bulk(self, source: Any, target: Any, amount: Any, minutes: Any, kind: Any) -> None:
        """Write many events of the background; what is one value stands for all."""
        columns = np.broadcast_arrays(source, target, hundredths(amount), minutes, kind)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self.events += [(*row, None) for row in rows]

    def write(
        self, source: int, target: int, amount: Number, day: Number, at: Number, kind: str, planted: bool = True
    ) -> None:
        """Write one event, by default as part of the scheme that is being written."""
        when = round(float(day * 1440 + at)) if day < DAYS else DAYS * 1440
        tag = (self.scheme, self.innocent) if planted else None
        self.events.append((source, target, float(hundredths(amount)), when, kind, tag))

    def mark(self, role: str, nodes: Iterable[int] | int, core: bool = True) -> None:
        """Mark nodes as planted."""
        for node in np.atleast_1d(np.array(nodes)):
            self.used.add(int(node))
            self.marks.append((self.scheme, role, int(node), core, self.innocent))

    def opened(self, event: Event) -> int:
        """Return the first minute at which both ends of an event are there."""
        days = self.values[self.layout.opened]
        return 1440 * max(0, int(days[event[0]]), int(days[event[1]]))

    def possible(self, event: Event) -> bool:
        """Say whether an event lies within the period, between two nodes that are there."""
        return event[0] != event[1] and self.opened(event) <= event[3] < DAYS * 1440

    def distort(self, rng: np.random.Generator) -> None:
        """Leave 30 % of the amounts of the crimes, and move their times by up to twelve hours."""
        for row, event in enumerate(self.events):
            source, target, amount, when, kind, tag = event
            if tag is not None and not tag[1] and self.possible(event):
                when = min(max(when + int(rng.integers(-720, 721)), self.opened(event)), DAYS * 1440 - 1)
                self.events[row] = (source, target, float(hundredths(0.3 * amount)), when, kind, tag)

    def tables(self, seed: int) -> Tables:
        """Return the tables in the order of time and of a shuffled list of nodes, under ids without a meaning."""
        layout = self.layout
        ids = np.random.default_rng([seed, 9]).permutation(100_000)[: self.size]
        names = np.array([f"{layout.letter}{number:05d}" for number in ids])

        rows = sorted(filter(self.possible, self.events), key=lambda event: (event[3], event[0], event[1]))
        sources, targets, amounts, minutes, kinds, tags = zip(*rows, strict=True)
        times = START.astype("M8[m]") + np.array(minutes).astype("m8[m]")
        columns = (names[list(sources)], names[list(targets)], np.array(amounts), times, np.array(kinds))
        order = np.random.default_rng([seed, 8]).permutation(self.size)
        nodes = {layout.node: names[order]}
        for name, values in self.values.items():
            column = np.array(values)[order]
            nodes[name] = START + column.astype("m8[D]") if name == layout.opened else column
        own: dict[tuple[object, int], list[int]] = {}
        for row, (source, target, tag) in enumerate(zip(sources, targets, tags, strict=True)):
            if tag is not None:
                own.setdefault((tag, source), []).append(row)
                own.setdefault((tag, target), []).append(row)
        marks = tuple(
            Mark(scheme, role, str(names[node]), core, innocent, tuple(own.get(((scheme, innocent), node), ())))
            for scheme, role, node, core, innocent in self.marks
        )
        return Tables(nodes, dict(zip(layout.events, columns, strict=True)), marks)


Made = TypeVar("Made", bound=World)


def planted(
    world: Made,
    seed: int,
    crimes: Mapping[str, Callable[[Made, np.random.Generator], None]],
    twins: Mapping[str, Callable[[Made, np.random.Generator], None]],
    variant: str = WHOLE,
) -> Tables:
    """Write every crime and its innocent twin into a world, each with its own dice; none into a background."""
    for place, name in enumerate(crimes if variant != BACKGROUND else ()):
        for innocent, write in ((False, crimes[name]), (True, twins[name])):
            world.scheme, world.innocent = name, innocent
            write(world, np.random.default_rng([seed, 1 + innocent, place]))
    if variant == DISTORTED:
        world.distort(np.random.default_rng([seed, 7]))
    return world.tables(seed)
