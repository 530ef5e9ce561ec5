"""Handles of arrays, and the recipes of those that are still to be made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from oddhop.arrays.stores import STARTS, Span, Store

if TYPE_CHECKING:
    from oddhop.arrays.wiring import Wiring

CHUNK = 1_024  # rows that stay in the cache while they are used
WHOLE = 0  # all rows of a range at once


@dataclass(frozen=True)
class Output:
    """An array to be made.

    Attributes
    ----------
    over : the rows, the entries, or the starts of the rows.
    dtype, columns : of the array; without a type both are those of the first array at the other ends.
    """

    over: str
    dtype: Any = None
    columns: tuple[int, ...] = ()


@dataclass(eq=False)
class Recipe:
    """How arrays are made of others.

    Attributes
    ----------
    wiring : whose rows they are.
    function : of rows; or a kernel over entries; or, with ``by_edge``, a function of the rows at both ends of edges.
    own, other : what it takes: arrays over the same rows and constants, and arrays at the other end of every entry.
    keys, outputs : of the arrays that it makes.
    keep : whether they are kept, or made anew where they are read.
    rows : how many it takes at once, all of a range if 0.
    """

    wiring: Wiring
    function: Callable[..., Any]
    own: tuple[Any, ...]
    other: tuple[Any, ...] | None
    keys: tuple[str, ...]
    outputs: tuple[Output, ...]
    keep: bool
    rows: int
    by_edge: bool = False
    done: bool = False

    def __reduce__(self) -> Any:
        # A kernel is found by its name: a copy of it would be compiled again in every process.
        rest = (self.own, self.other, self.keys, self.outputs, self.keep, self.rows, self.by_edge)
        return _recipe, (self.wiring, self.function.__module__, self.function.__qualname__, rest)

    def finish(self) -> None:
        """Let go of what the arrays were made of; they are there now."""
        for key, output in zip(self.keys, self.outputs, strict=True):
            self.wiring.store.finish(key, output.over)
        self.done, self.own, self.other = True, (), None


def _recipe(wiring: Wiring, module: str, name: str, rest: tuple[Any, ...]) -> Recipe:
    return Recipe(wiring, getattr(import_module(module), name), *rest)


class Handle:
    """An array over the rows or the entries of a wiring, made or still to be made.

    Attributes
    ----------
    wiring, key, over : whose array it is, what it is known by, and what it is over.
    """

    def __init__(self, wiring: Wiring, key: str, over: str, recipe: Recipe | None = None, *, owned: bool = True):
        self.wiring, self.key, self.over, self._recipe = wiring, key, over, recipe
        self._owned = owned and self.kept
        if self._owned:
            wiring.store.hold(key)

    def __reduce__(self) -> Any:
        return _borrowed, (self.wiring, self.key, self.over, self.recipe)

    def __del__(self) -> None:
        if getattr(self, "_owned", False) and not sys.is_finalizing():
            self.wiring.store.release(self.key)

    @property
    def recipe(self) -> Recipe | None:
        """How it is still to be made; None if it is there."""
        return None if self._recipe is None or self._recipe.done else self._recipe

    @property
    def kept(self) -> bool:
        """Whether the array is kept once it is made."""
        return self._recipe is None or self._recipe.keep

    def all(self) -> Any:
        """Return the array of all rows, eight bytes a node or more; in a run folder it is remembered."""
        if self.recipe is None:
            return self.read()
        if not self.kept:
            return self.wiring.rows(np.asarray, self, rows=WHOLE).all()
        store = self.wiring.store

        return store.remembered(store.key("all", self), self.read)

    def any_rows(self) -> RowsOf:
        """Make the array, and return what gives any rows of it to a task."""
        self.wiring.make(self)
        return RowsOf(self)

    def read(self) -> Any:
        """Return the whole of an array that is kept, over rows, entries or starts."""
        self.wiring.make(self)
        parts = [self.wiring.store.read(self, span) for span in self.wiring.store.peers]
        if self.over == STARTS:
            sizes = np.concatenate([np.diff(one) for one in parts])
            return parts[0] if len(parts) == 1 else np.concatenate([[0], np.cumsum(sizes)])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _borrowed(wiring: Wiring, key: str, over: str, recipe: Recipe | None) -> Handle:
    return Handle(wiring, key, over, recipe, owned=False)


@dataclass(frozen=True, eq=False)
class RowsOf:
    """An array that is there, any rows of it, wherever ranges end."""

    array: Handle

    @property
    def key(self) -> str:
        """What it is made of."""
        return self.array.key

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self._store.nodes, *self._first.shape[1:]

    @property
    def dtype(self) -> Any:
        """The type of a number."""
        return self._first.dtype

    @property
    def _store(self) -> Store:
        return self.array.wiring.store

    @property
    def _first(self) -> Any:
        return self._store.read(self.array, self._store.peers[0])

    def __getitem__(self, rows: slice) -> Any:
        """Return some rows."""
        first, last, _ = rows.indices(self._store.nodes)
        parts = [
            self._store.read(self.array, span)[max(first - span[0], 0) : last - span[0]]
            for span in self._store.peers
            if span[0] < last and span[1] > first
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class EntriesOf:
    """The entries of any rows, wherever ranges end: their neighbours, and arrays over the entries."""

    wiring: Wiring
    arrays: tuple[Handle, ...] = ()

    @property
    def key(self) -> str:
        """What it is made of."""
        return "|".join((self.wiring.name, *(one.key for one in self.arrays)))

    @property
    def spans(self) -> list[Span]:
        """The ranges that are read as a whole."""
        return self.wiring.store.peers

    def read(self, span: Span) -> tuple[Any, ...]:
        """Return the starts of the rows of a range, their neighbours, and the arrays."""
        store, wiring = self.wiring.store, self.wiring
        return tuple(store.read(one, span) for one in (wiring.indptr, wiring.indices, *self.arrays))

    def __getitem__(self, rows: slice) -> list[Any]:
        """Return the degrees of some rows, their neighbours, and the arrays."""
        found = []
        for span in self.spans:
            first, last = max(rows.start, span[0]), min(rows.stop, span[1])
            if first < last:
                starts, *arrays = self.read(span)
                starts = starts[first - span[0] : last - span[0] + 1]
                found.append((np.diff(starts), *(one[starts[0] : starts[-1]] for one in arrays)))
        return [np.concatenate(some) for some in zip(*found, strict=True)]
