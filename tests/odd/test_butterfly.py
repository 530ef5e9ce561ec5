from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from oddhop.arrays import stores
from oddhop.odd import butterfly
from oddhop.odd.butterfly import Common, hubs_of, largest_shared, partners
from oddhop.odd.butterfly import common_neighbours as prepared
from oddhop.odd.triangles import LARGEST
from tests.odd.stores import pairs_of

pytestmark = pytest.mark.kernels


def common_neighbours(matrix: sp.csr_array, *, workers: int = 1) -> Common:
    return prepared(pairs_of(matrix, workers=workers))


def largest_surprises(common: Common) -> np.ndarray:
    return largest_shared(common).read()


def _left(nodes: int = 60, others: int = 40, density: float = 0.12, seed: int = 0) -> dict[tuple[int, int], float]:
    """Draw r of some edges; some are explained to nothing, and stay as edges."""
    rng = np.random.default_rng(seed)
    joined = rng.random((nodes, others)) < density
    joined[:, 0] |= rng.random(nodes) < 0.7  # a popular one
    joined[:5, 5:9] = True  # a group
    r = np.where(rng.random(joined.shape) < 0.1, 0.0, rng.random(joined.shape))
    return {(int(i), int(b)): float(r[i, b]) for i, b in zip(*np.nonzero(joined), strict=True)}


def _matrix(left: dict[tuple[int, int], float], nodes: int = 60, others: int = 40) -> sp.csr_array:
    keys = sorted(left)
    indptr = np.searchsorted([i for i, _ in keys], np.arange(nodes + 1))
    parts = np.array([left[key] for key in keys]), np.array([b for _, b in keys]), indptr
    return sp.csr_array(parts, shape=(nodes, others))


def _by_the_formula(
    left: dict[tuple[int, int], float], nodes: int = 60, others: int = 40, hubs: frozenset[int] = frozenset()
) -> dict[tuple[int, int], float]:
    """Return the surprise of all ordered pairs that have a common neighbour."""
    weight = {b: -np.log(max(sum(c == b for _, c in left), 1) / nodes) for b in range(others)}
    kept = {key: r for key, r in left.items() if key[1] not in hubs}
    s = [sum(r for (i, _), r in kept.items() if i == one) for one in range(nodes)]
    q = [sum(r for (_, b), r in kept.items() if b == one) for one in range(others)]
    chance = sum(weight[b] * q[b] ** 2 for b in range(others)) / sum(q) ** 2
    found = {}
    for i in range(nodes):
        for j in range(nodes):
            shared = [b for b in range(others) if (i, b) in kept and (j, b) in kept and i != j]
            parts = [weight[b] * kept[i, b] * kept[j, b] for b in shared]
            if parts:
                c = s[i] * s[j] * chance
                found[i, j] = (sum(parts) - max(parts) - c) / np.sqrt(c + 1)
    return found


def _twelve(found: dict[tuple[int, int], float], nodes: int = 60) -> np.ndarray:
    rows = [sorted(max(value, 0.0) for (i, _), value in found.items() if i == one) for one in range(nodes)]
    return np.array([([0.0] * LARGEST + row)[-LARGEST:] for row in rows])


@pytest.mark.parametrize("seed", range(3))
def test_the_twelve_largest_follow_the_formula(seed: int) -> None:
    left = _left(seed=seed)
    common = common_neighbours(_matrix(left))
    expected = _by_the_formula(left)
    np.testing.assert_allclose(largest_surprises(common), _twelve(expected), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_every_pair_follows_the_formula(seed: int) -> None:
    left = _left(seed=seed)
    common, expected = common_neighbours(_matrix(left)), _by_the_formula(left)
    for node in range(60):
        who, found = partners(common, node)
        assert node not in who
        np.testing.assert_allclose(found, [expected[node, j] for j in who.tolist()], atol=1e-9)
        # Whoever is not named shares one neighbour at most that counts.
        silent = {j for i, j in expected if i == node} - set(who.tolist())
        assert all(sum(left.get((node, b), 0) * left.get((j, b), 0) > 0 for b in range(40)) <= 1 for j in silent)


def test_a_pair_has_one_surprise_from_both_ends() -> None:
    common = common_neighbours(_matrix(_left()))
    both = np.zeros((60, 60))
    for node in range(60):
        who, found = partners(common, node)
        both[node, who] = found
    np.testing.assert_allclose(both, both.T, atol=1e-12)


def test_the_order_of_either_kind_changes_nothing() -> None:
    left, rng = _left(), np.random.default_rng(1)
    here, there = rng.permutation(60), rng.permutation(40)
    moved = {(int(here[i]), int(there[b])): r for (i, b), r in left.items()}
    before, after = (largest_surprises(common_neighbours(_matrix(one))) for one in (left, moved))
    np.testing.assert_allclose(after[here], before, atol=1e-9)


def test_blocks_and_workers_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = largest_surprises(common_neighbours(_matrix(_left())))
    monkeypatch.setattr(stores, "BLOCK", 7)
    np.testing.assert_array_equal(largest_surprises(common_neighbours(_matrix(_left()), workers=3)), whole)


def test_one_common_neighbour_is_no_butterfly() -> None:
    star = sp.csr_array(np.hstack([np.ones((20, 1)), np.eye(20)]))
    common = common_neighbours(star)
    assert not largest_surprises(common).any()
    assert partners(common, 3)[0].size == 0


def test_who_everybody_is_joined_to_tells_nothing() -> None:
    left = _left()
    everybody = {**left, **{(i, 39): 1.0 for i in range(60)}}
    common = common_neighbours(_matrix(everybody))
    assert common.weights.read()[39] == 0.0
    np.testing.assert_allclose(largest_surprises(common), _twelve(_by_the_formula(everybody)), atol=1e-9)


def test_hubs_are_left_out_with_their_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    left = _left()
    degrees = np.array([sum(c == b for _, c in left) for b in range(40)])
    assert np.argmax(degrees) == 0
    monkeypatch.setattr(butterfly, "WEDGES", int((degrees[1:] ** 2).sum()))
    monkeypatch.setattr(butterfly, "WEDGES_PER_NODE", 0)
    common = common_neighbours(_matrix(left))
    assert np.flatnonzero(common.hubs).tolist() == [0]
    expected = _by_the_formula(left, hubs=frozenset([0]))
    np.testing.assert_allclose(largest_surprises(common), _twelve(expected), atol=1e-9)
    who, found = partners(common, 1)
    np.testing.assert_allclose(found, [expected[1, j] for j in who.tolist()], atol=1e-9)


@pytest.mark.parametrize("most", [0, 1, 8, 9, 17, 26, 100, 125, 126, 10**6])
def test_the_largest_are_left_out_until_few_enough_pairs_remain(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    degrees = np.array([3, 10, 2, 3, 1, 2])
    monkeypatch.setattr(butterfly, "WEDGES", most)
    monkeypatch.setattr(butterfly, "WEDGES_PER_NODE", 0)
    # As few as possible by hand: the largest, all with as many neighbours at once, until what is left is allowed.
    left, hubs = list(degrees), np.zeros(6, dtype=bool)
    while sum(d**2 for d in left) > most:
        hubs |= degrees == max(left)
        left = list(degrees[~hubs])
    np.testing.assert_array_equal(hubs_of(degrees, 20), hubs)
    monkeypatch.setattr(butterfly, "WEDGES", 0)
    monkeypatch.setattr(butterfly, "WEDGES_PER_NODE", most)
    np.testing.assert_array_equal(hubs_of(degrees, 1), hubs)


def test_nothing_is_fine() -> None:
    assert hubs_of(np.zeros(0, dtype=np.int64), 5).size == 0
    assert largest_surprises(common_neighbours(sp.csr_array((4, 3)))).shape == (4, LARGEST)
    nothing = {(i, b): 0.0 for i in range(60) for b in range(3)}  # all edges are explained
    assert not largest_surprises(common_neighbours(_matrix(nothing))).any()


def test_a_larger_group_has_larger_surprises() -> None:
    rng = np.random.default_rng(3)
    joined = rng.random((300, 400)) < 0.01
    scores = []
    for shared in (2, 4, 8):
        planted = joined.copy()
        planted[:6, :shared] = True
        scores.append(largest_surprises(common_neighbours(sp.csr_array(planted.astype(float))))[:6, -5:].mean())
    assert all(small < large for small, large in pairwise(scores))


class Split:
    """The rows of the other kind in three partitions."""

    def __init__(self, common: Common) -> None:
        far = common.pairs.far
        self.indptr, self.indices, self.left = far.wiring.indptr.read(), far.wiring.indices.read(), far.residuals.read()
        self.spans = [(0, 7), (7, 20), (20, self.indptr.size - 1)]

    def read(self, span: tuple[int, int]) -> tuple[np.ndarray, ...]:
        indptr = self.indptr[span[0] : span[1] + 1]
        own = slice(indptr[0], indptr[-1])
        return indptr - indptr[0], self.indices[own], self.left[own]


@pytest.mark.parametrize("chosen", [[*range(40)], [0, 3, 6, 7, 19, 20, 39], [39], [6]])
def test_rows_that_are_copied_from_several_partitions_are_those_in_memory(chosen: list[int]) -> None:
    common = common_neighbours(_matrix(_left()))
    split, weights = Split(common), common.weights.read().copy()
    weights[[3, 20]] = -1.0  # left out
    copied = butterfly._copied(split, weights, np.array(chosen))
    np.testing.assert_array_equal(copied.weights, weights[chosen])
    np.testing.assert_array_equal(copied.places(np.array(chosen)), np.arange(len(chosen)))
    for place, node in enumerate(chosen):
        theirs = slice(*split.indptr[node : node + 2]) if node not in (3, 20) else slice(0)
        ours = slice(*copied.indptr[place : place + 2])
        np.testing.assert_array_equal(copied.indices[ours], split.indices[theirs])
        np.testing.assert_array_equal(copied.left[ours], split.left[theirs])
    assert copied.indptr[-1] == copied.indices.size == copied.left.size
