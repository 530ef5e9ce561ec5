"""One task of a pass: the arrays of one range, a few rows at a time, and sums over its blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from oddhop.arrays import stores
from oddhop.arrays.handles import CHUNK, Handle, Output, Recipe
from oddhop.arrays.kernels import first_from, take_entries
from oddhop.arrays.stores import ROWS, STARTS, Span, Store
from oddhop.base.arrays import Floats, Ints, frozen

EDGES_AT_ONCE = 16_384


@dataclass(frozen=True, eq=False)
class Total:
    """A sum over all nodes, of what a function gives for some rows; or over all edges, by the rows at both ends.

    Attributes
    ----------
    function, own : the function, and the arrays and constants that it takes.
    wiring, other, constants, size : of a sum over edges: whose they are, the arrays at their other end, what else the
        function takes, and how many numbers it gives.
    """

    function: Callable[..., Any]
    own: tuple[Any, ...]
    wiring: Any = None
    other: tuple[Any, ...] | None = None
    constants: tuple[Any, ...] = ()
    size: int = 0


def run_task(store: Store, recipes: list[Recipe], total: Total | None, span: Span) -> list[Floats]:
    """Make the arrays of a range that are not there, and return the sums of its blocks."""
    task = _Task(store, span, recipes)
    sums = task.run(total)
    task.workers.clear()  # they refer to the task and it to them, so that arrays would wait for a collection
    return sums


class _Task:
    """The state of one task."""

    def __init__(self, store: Store, span: Span, recipes: list[Recipe]) -> None:
        self.store, self.span, self.size = store, span, span[1] - span[0]
        self.there = {one for one in recipes if all(store.has(key, span) for key in one.keys)}
        self.lacking = [one for one in recipes if one not in self.there]
        self.made: dict[str, Any] = {}  # arrays over the range
        self.chunk: dict[str, Any] = {}  # those of the rows at hand
        self.workers: dict[Recipe, Callable[[slice], dict[str, Any]]] = {}

    def run(self, total: Total | None) -> list[Floats]:
        for one in self.lacking:
            if one.rows != CHUNK:
                self.make_whole(one)
        workers = [self.worker(one) for one in self.lacking if one.rows == CHUNK]
        if total is not None and total.other is not None:
            sums = self.edge_sums(total)
        else:
            sums = self.block_sums(workers, total)
        for one in self.lacking:
            for key in one.keys:
                self.store.write(key, self.span, self.made[key])
        return sums

    def block_sums(self, workers: list[Callable[[slice], Any]], total: Total | None) -> list[Floats]:
        """Work through the rows, a few at a time; their part of all arrays stays in the cache while it is used."""
        if not workers and total is None:
            return []
        getters = [] if total is None else [self.getter(one) for one in total.own]
        block = stores.BLOCK
        sums: list[Floats] = []
        for first in range(0, self.size, block):
            last = min(first + block, self.size)
            found: Floats = np.zeros(())
            for start in range(first, last, CHUNK):
                part = slice(start, min(start + CHUNK, last))
                self.chunk.clear()
                for work in workers:
                    work(part)
                if total is not None:
                    own = np.asarray(total.function(*[get(part) for get in getters]))
                    found = found + own.astype(np.float64)
            sums.append(found)
        return [] if total is None else sums

    def edge_sums(self, total: Total) -> list[Floats]:
        sums: list[Floats] = [np.zeros(total.size) for _ in range(0, self.size, stores.BLOCK)]
        for block, _, own, theirs in self.edges(total.wiring, total.own, total.other or ()):
            sums[block] = sums[block] + total.function(own, theirs, *total.constants)
        return sums

    def getter(self, one: Any) -> Callable[[slice], Any]:
        """Return what gives some rows of an array, made before or now; a constant is itself."""
        if not isinstance(one, Handle):
            return lambda _: one
        if one.key == "ids":
            return lambda part: np.arange(self.span[0] + part.start, self.span[0] + part.stop)
        recipe = one.recipe
        if recipe is not None and recipe not in self.there:
            if recipe.rows == CHUNK:
                work = self.worker(recipe)
                return lambda part: work(part)[one.key]
            self.make_whole(recipe)
        elif one.key not in self.made:
            self.made[one.key] = self.store.read(one, self.span)
        found = self.made[one.key]
        if one.over == ROWS:
            return found.__getitem__  # type: ignore[no-any-return]
        starts = found if one.over == STARTS else self.store.read(one.wiring.indptr, self.span)

        def of_rows(part: slice) -> Any:
            if part == slice(0, self.size):
                return found
            if one.over == STARTS:
                return found[part.start : part.stop + 1] - found[part.start]
            return found[starts[part.start] : starts[part.stop]]

        return of_rows

    def worker(self, recipe: Recipe) -> Callable[[slice], dict[str, Any]]:
        """Return what works out the rows at hand, once."""
        if recipe not in self.workers:
            getters = [self.getter(one) for one in recipe.own]

            def work(part: slice) -> dict[str, Any]:
                if recipe.keys[0] not in self.chunk:
                    found = recipe.function(*[get(part) for get in getters])
                    found = found if len(recipe.keys) > 1 else (found,)
                    for key, values in zip(recipe.keys, found, strict=True):
                        self.chunk[key] = values
                        if recipe.keep:
                            if key not in self.made:
                                like = Output(ROWS, values.dtype, values.shape[1:])
                                self.made[key] = self.room(recipe, key, like)
                            self.made[key][part] = values
                return self.chunk

            self.workers[recipe] = work
        return self.workers[recipe]

    def room(self, recipe: Recipe, key: str, output: Output) -> Any:
        array = Handle(recipe.wiring, key, output.over, recipe, owned=False)
        return self.store.room(array, self.span, output)

    def make_whole(self, recipe: Recipe) -> None:
        """Work out the whole range at once."""
        if recipe.keys[0] in self.made:
            return
        found: Any
        if recipe.by_edge:
            found = [self.of_edges(recipe)]
        elif recipe.other is not None:
            found = self.of_entries(recipe)
        else:
            found = recipe.function(*[self.getter(one)(slice(0, self.size)) for one in recipe.own])
            found = found if len(recipe.keys) > 1 else (found,)
        self.made.update(zip(recipe.keys, found, strict=True))

    def of_entries(self, recipe: Recipe) -> list[Any]:
        """Let a kernel go through the entries, by the ranges of their other ends."""
        own = [_frozen(self.getter(one)(slice(0, self.size))) for one in recipe.own]
        rooms: list[Any] = []
        for low, high, indices, (start, _), theirs in self.peers(recipe.wiring, recipe.other or ()):
            for key, output in zip(recipe.keys, recipe.outputs, strict=True) if not rooms else ():
                like = output if output.dtype is not None else Output(ROWS, theirs[0].dtype, theirs[0].shape[1:])
                rooms.append(self.room(recipe, key, like))
                rooms[-1][...] = 0
            recipe.function(low, high, indices, start, *own, *theirs, *rooms)
            del theirs  # the files of one range are closed before those of the next are opened
        return rooms

    def of_edges(self, recipe: Recipe) -> Any:
        """Fill an array over the entries by a function of the rows at both ends."""
        output, constants = recipe.outputs[0], recipe.own[-1]
        room = self.room(recipe, recipe.keys[0], output)
        for _, entries, own, theirs in self.edges(recipe.wiring, recipe.own[:-1], recipe.other or ()):
            room[entries] = recipe.function(own, theirs, *constants)
        return room

    def peers(self, wiring: Any, other: tuple[Any, ...]) -> Iterator[tuple[Ints, Ints, Ints, Span, list[Any]]]:
        """Return the places of the entries that lead to each range, and the arrays there."""
        indptr, indices = (self.store.read(one, self.span) for one in (wiring.indptr, wiring.indices))
        far = next((one.wiring.store for one in other if isinstance(one, Handle)), None)
        low = indptr[:-1]
        for span in far.peers if far else [(0, self.store.nodes)]:
            high = indptr[1:]
            if far and len(far.peers) > 1:
                high = np.empty_like(low)
                first_from(low, indptr, indices, span[1], high)
            theirs = [one.wiring.store.read(one, span) if isinstance(one, Handle) else _frozen(one) for one in other]
            yield frozen(low), frozen(high), indices, span, theirs
            del theirs
            low = high

    def edges(
        self, wiring: Any, own: tuple[Any, ...], other: tuple[Any, ...]
    ) -> Iterator[tuple[int, Ints, tuple[Any, ...], tuple[Any, ...]]]:
        """Return edges, at most 16,384 at a time: the block of their rows, their places, and the rows at both ends.

        They are cut by the blocks of both ends, so that what is added up has the same bits whatever the ranges.
        """
        block, mine = stores.BLOCK, [self.getter(one)(slice(0, self.size)) for one in own]
        indptr = self.store.read(wiring.indptr, self.span)
        entries, owners = np.empty((2, EDGES_AT_ONCE), dtype=np.int64)
        for low, _, indices, (start, stop), theirs in self.peers(wiring, other):
            cursor = low.copy()
            for until in range(start + block, stop + block, block):
                for number, first in enumerate(range(0, self.size, block)):
                    row, last = first, min(first + block, self.size)
                    while row < last:
                        count, row = take_entries(indptr, indices, cursor, row, last, until, entries, owners)
                        if count:
                            some, a = entries[:count].copy(), owners[:count]
                            b = indices[some] - start
                            yield number, some, tuple(one[a] for one in mine), tuple(one[b] for one in theirs)
            del theirs


def _frozen(one: Any) -> Any:
    """Kernels are compiled again for arrays that may be written."""
    return frozen(one) if isinstance(one, np.ndarray) else one
