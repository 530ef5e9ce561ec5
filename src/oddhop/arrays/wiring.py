"""The nodes of a network and a wiring of them, with the passes that make arrays of arrays.

A stage is a function from handles to handles. A handle is a recipe until somebody needs the array: a sum over all
nodes, the array as a whole, or the array at the other end of an edge. Then one task a range makes all that it can in
one go, a few rows at a time, and keeps those arrays that are to be kept. The key of an array is made of its function
and of the keys of what it is made of: after a kill the same run finds what is there and makes the rest. What has no
handle any more is removed.

Sums are taken over blocks of rows and added in their order, so they have the same bits whatever the ranges.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oddhop.arrays import stores
from oddhop.arrays.handles import CHUNK, WHOLE, EntriesOf, Handle, Output, Recipe
from oddhop.arrays.kernels import add_neighbours
from oddhop.arrays.run import Runner
from oddhop.arrays.stores import ENTRIES, ROWS, STARTS, Store
from oddhop.arrays.task import Total, run_task
from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.files import Arrays


@dataclass(frozen=True, eq=False)
class Wiring:
    """The nodes of a network and the edges between them, or to nodes of another kind.

    Arguments of its methods that are no handles are constants.

    Attributes
    ----------
    store : where the arrays are kept.
    runner : runs the tasks; None in a task.
    name : of the wiring among those of the same nodes.
    arrays : handles of the wiring itself.
    """

    store: Store
    runner: Runner | None = None
    name: str = ""
    arrays: tuple[Handle, ...] = ()

    def __reduce__(self) -> Any:
        return Wiring, (self.store, None, self.name)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.store.nodes

    @property
    def ids(self) -> Handle:
        """The numbers of the nodes."""
        return Handle(self, "ids", ROWS, owned=False)

    @property
    def indptr(self) -> Handle:
        """Where the rows of a range begin among its entries."""
        return Handle(self, f"{self.name}indptr", STARTS, owned=False)

    @property
    def indices(self) -> Handle:
        """The other end of every entry."""
        return Handle(self, f"{self.name}indices", ENTRIES, owned=False)

    @property
    def degrees(self) -> Any:
        """The number of entries of every row."""
        return self.rows(np.diff, self.indptr, keep=False)

    @property
    def entry_count(self) -> int:
        """The number of entries: two for every edge within a kind."""
        return int(self.sum(np.sum, self.degrees))

    def given(self, values: Any, over: str = ROWS) -> Handle:
        """Take an array of all nodes or entries."""
        array = Handle(self, self.store.key("given", self.name, values), over)
        if not self.store.complete(array.key):
            self.store.give(array, values)
        return array

    def rows(
        self, function: Callable[..., Any], *own: Any, keep: bool = True, rows: int = CHUNK, outputs: int = 1
    ) -> Any:
        """Make an array, or several, by a function of the same rows of others.

        Of an array over entries it takes the entries of the rows. ``rows`` is how many it takes at once.
        """
        return self._made(function, own, None, outputs * (Output(ROWS),), keep=keep, rows=rows)

    def entries(
        self, kernel: Callable[..., None], own: Sequence[Any], other: Sequence[Any], *outputs: Output, keep: bool = True
    ) -> Any:
        """Make arrays by a kernel over the entries: (low, high, indices, start, *own, *other, *outputs).

        Of row i it takes the entries from ``low[i]`` to ``high[i]``. The other end of entry e is row
        ``indices[e] - start`` of the arrays in ``other``. Outputs begin with 0.
        """
        return self._made(kernel, tuple(own), tuple(other), outputs, keep=keep, rows=WHOLE)

    def edges(
        self, function: Callable[..., Any], own: Sequence[Handle], other: Sequence[Handle], *constants: Any
    ) -> Handle:
        """Make a number for every entry by a function of the rows at both ends: (own, other, *constants)."""
        inputs = (*own, constants)
        made: Handle = self._made(
            function, inputs, tuple(other), (Output(ENTRIES, np.float64),), keep=True, rows=WHOLE, by_edge=True
        )
        return made

    def around(self, x: Handle, *, keep: bool = True) -> Any:
        """Make the sums of an array over the neighbours of every node."""
        return self.entries(add_neighbours, [self.degrees], [x], Output(ROWS), keep=keep)

    def sum(self, function: Callable[..., Any], *own: Any) -> Floats:
        """Add what a function gives for a few rows at a time, over all nodes."""
        key = self.store.key("sum", self.name, function, *own)
        return np.asarray(self.store.remembered(key, lambda: self._total(Total(function, own))))

    def sum_edges(
        self, function: Callable[..., Any], size: int, own: Sequence[Handle], other: Sequence[Handle], *constants: Any
    ) -> Floats:
        """Add what a function of the rows at both ends gives for some edges at a time, so many numbers."""
        key = self.store.key("edges", self.name, function, size, *own, *other, *constants)
        total = Total(function, tuple(own), self, tuple(other), constants, size)
        return np.asarray(self.store.remembered(key, lambda: self._total(total)))

    def make(self, *arrays: Handle) -> None:
        """Make arrays now, in one pass."""
        if any(one.recipe is not None for one in arrays):
            self._run(arrays)

    def stage(self, name: str, find: Callable[[], Arrays]) -> Arrays:
        """Return the result of several passes, found now or as it was kept in the run folder."""
        return self.store.stage(f"{self.name}{name}", find)

    def begin(self, stage: str, passes: int = 1) -> None:
        """Report progress on a stage of so many passes over the edges."""
        assert self.runner is not None  # noqa: S101 - a task makes no passes
        self.runner.begin(stage, passes)

    def thinned(self, kernel: Callable[..., None], own: Sequence[Any], other: Sequence[Any]) -> Wiring:
        """Return the same nodes with the entries that a kernel marks by arrays of both ends."""
        marked = self.entries(kernel, own, other, Output(ENTRIES, np.bool_), keep=False)
        return self._rewired(self.store.key("thinned", marked), _kept, (self.indptr, self.indices, marked))[0]

    def rewired(self, name: str, find: Callable[[], tuple[Ints, Ints]]) -> Wiring:
        """Return the same nodes with the wiring that a function gives as a whole, known by a name of the run."""
        key = self.store.key("rewired", self.name, name)
        new = Wiring(self.store, self.runner, key)
        arrays = Handle(new, f"{key}indptr", STARTS), Handle(new, f"{key}indices", ENTRIES)
        if not all(self.store.complete(one.key) for one in arrays):
            for one, values in zip(arrays, find(), strict=True):
                self.store.give(one, values)
        return replace(new, arrays=arrays)

    def between(self, nodes: slice, others: slice, *taken: Handle) -> tuple[Wiring, list[Handle]]:
        """Return nodes that follow each other with their edges to such others, both numbered from 0.

        ``taken`` are arrays over the entries, which are returned for those that are left.
        """
        self.make(*taken)
        part = Wiring(self.store.part(nodes), self.runner)
        own = part.ids, EntriesOf(self, taken), nodes.start, others.start, others.stop
        return part._rewired(part.store.key("between", *own), _entries_between, own, len(taken))

    def _rewired(
        self, name: str, function: Callable[..., Any], own: tuple[Any, ...], more: int = 0
    ) -> tuple[Wiring, list[Handle]]:
        new = Wiring(self.store, self.runner, name)
        keys = f"{name}indptr", f"{name}indices", *(f"{name}.{k}" for k in range(more))
        outputs = Output(STARTS), *(1 + more) * (Output(ENTRIES),)
        recipe = Recipe(self, function, own, None, keys, outputs, keep=True, rows=WHOLE)
        if all(map(self.store.complete, keys)):
            recipe.finish()
        arrays = [Handle(new, key, output.over, recipe) for key, output in zip(keys, outputs, strict=True)]
        self.make(*arrays)
        return replace(new, arrays=tuple(arrays[:2])), arrays[2:]

    def _made(
        self,
        function: Callable[..., Any],
        own: tuple[Any, ...],
        other: tuple[Any, ...] | None,
        outputs: tuple[Output, ...],
        *,
        keep: bool,
        rows: int,
        by_edge: bool = False,
    ) -> Any:
        key = self.store.key(self.name, function, *own, *(other or ()))
        keys = tuple(f"{key}.{k}" for k in range(len(outputs)))
        recipe = Recipe(self, function, own, other, keys, outputs, keep, rows, by_edge)
        if keep and all(map(self.store.complete, keys)):
            recipe.finish()
        made = [Handle(self, one, output.over, recipe) for one, output in zip(keys, outputs, strict=True)]
        return made if len(made) > 1 else made[0]

    def _total(self, total: Total) -> Floats:
        added: Floats = np.zeros(())
        for blocks in self._run(total.own, total):
            for one in blocks:
                added = added + one
        return added

    def _run(self, wanted: Sequence[Any], total: Total | None = None) -> list[list[Floats]]:
        """Make arrays in one pass over the ranges, and return the sums of every block."""
        recipes: list[Recipe] = []
        for one in wanted:
            _collect(one, recipes)
        for one in (total.other or ()) if total is not None else ():
            one.wiring.make(one)
        kept = [one for one in recipes if one.keep]
        rows = max([stores.BLOCK, *(one.rows for one in recipes)])
        over_edges = any(one.other for one in recipes) or (total is not None and total.other is not None)
        assert self.runner is not None  # noqa: S101 - a task makes no passes
        task = functools.partial(run_task, self.store, kept, total)
        found = self.runner.each(task, self.store.spans(rows), over_edges=over_edges)
        for one in kept:
            one.finish()
        return found


def _collect(one: Any, recipes: list[Recipe]) -> None:
    """List what is made in a pass; what is read at other ends is made before."""
    if isinstance(one, Handle) and one.recipe is not None and one.recipe not in recipes:
        for own in one.recipe.own:
            _collect(own, recipes)
        for other in one.recipe.other or ():
            if isinstance(other, Handle):
                other.wiring.make(other)
        recipes.append(one.recipe)


def _kept(indptr: Ints, indices: Ints, marked: Bools) -> tuple[Ints, Ints]:
    before = np.concatenate([[0], np.cumsum(marked)])
    return before[indptr], indices[marked]


def _entries_between(ids: Ints, entries: EntriesOf, first: int, start: int, stop: int) -> list[Any]:
    degrees, indices, *taken = entries[int(first + ids[0]) : int(first + ids[-1]) + 1]
    kept = (indices >= start) & (indices < stop)
    before = np.concatenate([[0], np.cumsum(kept)])
    indptr = before[np.concatenate([[0], np.cumsum(degrees)])]
    return [indptr, indices[kept] - start, *(one[kept] for one in taken)]
