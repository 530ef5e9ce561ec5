"""Extremely randomised trees for a few hundred answers and up to millions of nodes.

Scikit-learn's are the same but for three things that are needed here: the same bits with any number of threads and in
any version, a millisecond a tree less to grow them, and nodes scored in blocks that stay in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.kernels import compiled
from oddhop.base.parallel import map_blocks
from oddhop.base.randomness import mix, unit

ROWS_AT_ONCE = 512  # stay in the cache
BLOCK = 65_536
LEAF = -1
DRAWS = 8  # of two rows that differ, before a cut may be anywhere
SAME = 0.05  # targets that differ by less are not told apart


@dataclass(frozen=True, eq=False)
class Forest:
    """Grown trees, one after the other in every array.

    Attributes
    ----------
    roots : where the trees begin.
    feature, cut : what a branch asks; ``LEAF`` for leaves.
    down : where the low side of a branch is; the high side follows it.
    value : what a leaf adds to the logit of the prior.
    """

    roots: Ints
    feature: Ints
    cut: Floats
    down: Ints
    value: Floats

    def predict(self, x: Floats, *, workers: int = 1) -> Floats:
        """Return the mean of what the trees add, one a row."""
        out = np.empty(x.shape[0])

        def block(start: int) -> None:
            rows = slice(start, start + BLOCK)
            _predict(x[rows], self.roots, self.feature, self.cut, self.down, self.value, out[rows])

        for _ in map_blocks(block, range(0, x.shape[0], BLOCK), workers=workers):
            pass
        return out

    def first(self, count: int) -> Forest:
        """Return the first trees alone."""
        return replace(self, roots=self.roots[:count])

    def leaves(self, x: Floats) -> Ints:
        """Return the leaf of every row in every tree, (rows, trees)."""
        out = np.empty((x.shape[0], self.roots.size), dtype=np.int64)
        _leaves(x, self.roots, self.feature, self.cut, self.down, out)
        return out


def grow(
    x: Floats,
    targets: Floats,
    weights: Floats,
    prior: Floats,
    seed: int,
    *,
    trees: int,
    tried: int,
    kept: float,
    ridge: float,
) -> Forest:
    """Grow trees.

    Parameters
    ----------
    x : (rows, features), float32.
    targets : the answer minus what the prior foretold.
    weights : what each answer weighs.
    prior : the chance that the prior foretold.
    seed : of the draws.
    tried : how many features are tried at a branch, each with one random cut between two random rows.
    kept : the share of the rows that a tree sees.
    ridge : how many answers the prior of a leaf weighs.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop.feedback.trees import grow
    >>> x = np.arange(8, dtype=np.float32)[:, None]
    >>> sizes = {"trees": 50, "tried": 1, "kept": 0.8, "ridge": 1.0}
    >>> forest = grow(x, np.sign(x[:, 0] - 3.5) / 2, np.ones(8), np.full(8, 0.5), 0, **sizes)
    >>> (forest.predict(x) > 0).tolist()
    [False, False, False, False, True, True, True, True]
    """
    rows = x.shape[0]
    size = trees * (2 * rows + 1)
    feature, down = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    cut, value = np.empty(size, dtype=np.float32), np.empty(size)
    roots = np.empty(trees, dtype=np.int64)
    used = _grow(x, targets, weights, prior, np.uint64(seed), tried, kept, ridge, roots, feature, cut, down, value)
    return Forest(roots, feature[:used], cut[:used], down[:used], value[:used])


@compiled
def _grow(
    x: Floats,
    targets: Floats,
    weights: Floats,
    prior: Floats,
    seed: np.uint64,
    tried: int,
    kept: float,
    ridge: float,
    roots: Ints,
    feature: Ints,
    cut: Floats,
    down: Ints,
    value: Floats,
) -> int:
    rows, columns = x.shape
    used = 0
    order, spare = np.empty(rows, np.int64), np.empty(rows, np.int64)
    starts, stops, places = (
        np.empty(2 * rows + 2, np.int64),
        np.empty(2 * rows + 2, np.int64),
        np.empty(2 * rows + 2, np.int64),
    )
    pool = np.arange(columns)
    for tree in range(roots.size):
        state = mix(mix(seed, tree), 0)
        count = 0
        for row in range(rows):
            state = mix(state, 1)
            if unit(state) < kept:
                order[count] = row
                count += 1
        if count == 0:
            order[0] = 0
            count = 1
        roots[tree] = used
        starts[0], stops[0], places[0] = 0, count, used
        used += 1
        waiting = 1
        while waiting:
            waiting -= 1
            start, stop, place = starts[waiting], stops[waiting], places[waiting]
            weight, total, foretold, low_target, high_target = 0.0, 0.0, 0.0, np.inf, -np.inf
            for k in range(start, stop):
                row = order[k]
                weight += weights[row]
                total += weights[row] * targets[row]
                foretold += weights[row] * prior[row]
                low_target, high_target = min(low_target, targets[row]), max(high_target, targets[row])
            share = min(max(foretold / weight, 1e-6), 1 - 1e-6)
            after = min(max((total + foretold + ridge * share) / (weight + ridge), 1e-6), 1 - 1e-6)
            feature[place], value[place] = -1, np.log(after / (1 - after)) - np.log(share / (1 - share))
            if high_target - low_target < SAME:
                continue
            best, best_feature, best_cut = -1.0, -1, np.float32(0)
            found, last = 0, columns
            while found < tried and last > 0:
                state = mix(state, 2)
                k = int(unit(state) * last)
                last -= 1
                column = pool[k]
                pool[k], pool[last] = pool[last], column
                low, high = x[order[start], column], x[order[start], column]
                for k in range(start + 1, stop):
                    low, high = min(low, x[order[k], column]), max(high, x[order[k], column])
                if not low < high:
                    continue
                found += 1
                # Between two random rows, so that a long tail gets as few cuts as it has rows.
                one, two = low, high
                for _ in range(DRAWS):
                    state = mix(state, 3)
                    first = x[order[start + int(unit(state) * (stop - start))], column]
                    state = mix(state, 4)
                    second = x[order[start + int(unit(state) * (stop - start))], column]
                    if first != second:
                        one, two = min(first, second), max(first, second)
                        break
                state = mix(state, 5)
                at = np.float32(one + unit(state) * (two - one))
                if at >= high:
                    at = low
                below, below_total = 0.0, 0.0
                for k in range(start, stop):
                    row = order[k]
                    if x[row, column] <= at:
                        below += weights[row]
                        below_total += weights[row] * targets[row]
                above, above_total = weight - below, total - below_total
                # More of this is less variance within; the rest of the formula is the same for all cuts.
                gain = below_total * below_total / below + above_total * above_total / max(above, 1e-300)
                if gain > best:
                    best, best_feature, best_cut = gain, column, at
            if best_feature < 0:
                continue
            middle, far = start, 0
            for k in range(start, stop):
                row = order[k]
                if x[row, best_feature] <= best_cut:
                    order[middle] = row
                    middle += 1
                else:
                    spare[far] = row
                    far += 1
            order[middle:stop] = spare[:far]
            feature[place], cut[place], down[place] = best_feature, best_cut, used
            starts[waiting], stops[waiting], places[waiting] = start, middle, used
            starts[waiting + 1], stops[waiting + 1], places[waiting + 1] = middle, stop, used + 1
            waiting += 2
            used += 2
        # The features are drawn from the same order for every tree.
        for k in range(columns):
            pool[k] = k
    return used


@compiled
def _predict(x: Floats, roots: Ints, feature: Ints, cut: Floats, down: Ints, value: Floats, out: Floats) -> None:
    for start in range(0, x.shape[0], ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, x.shape[0])
        for row in range(start, stop):
            out[row] = 0.0
        for root in roots:
            for row in range(start, stop):
                place = root
                while feature[place] >= 0:
                    place = down[place] + (x[row, feature[place]] > cut[place])
                out[row] += value[place]
        for row in range(start, stop):
            out[row] /= roots.size


@compiled
def _leaves(x: Floats, roots: Ints, feature: Ints, cut: Floats, down: Ints, out: Ints) -> None:
    for row in range(x.shape[0]):
        for tree in range(roots.size):
            place = roots[tree]
            while feature[place] >= 0:
                place = down[place] + (x[row, feature[place]] > cut[place])
            out[row, tree] = place
