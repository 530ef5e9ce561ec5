from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from oddhop.arrays import stores
from oddhop.odd import relation as relations
from oddhop.odd.ends import Ends, chosen_ends, ends_of
from oddhop.odd.pairs import Pairs
from oddhop.odd.rate import learn_rate
from oddhop.odd.related import related_columns
from oddhop.odd.relation import InformedPairs, Relation, informed_by, mean_ratios_with
from oddhop.odd.stranger import Homophily
from tests.odd.stores import pairs_of

ACCOUNTS, DEVICES = 30, 14


def _pairs(edges: list[tuple[int, int]], near: np.ndarray, far: np.ndarray, *, workers: int = 1) -> Pairs:
    a, b = np.array(sorted(edges)).T
    matrix = sp.csr_array((np.ones(a.size), (a, b)), shape=(len(near), len(far)))
    return pairs_of(matrix, near, far, workers=workers)


class Told:
    """Edges of which both ends have coordinates, and f of every one."""

    def __init__(self, informed: InformedPairs) -> None:
        self.pairs, self.f = informed, informed.f.read()

    def means(self) -> np.ndarray:
        return self.pairs.means()[0]


def told_by(pairs: Pairs, relation: Relation) -> Told:
    return Told(informed_by(pairs, relation))


def learn_relation(pairs: Pairs) -> tuple[Relation, Told]:
    relation, told = relations.learn_relation(pairs)
    return relation, Told(told)


def _informed(pairs: Pairs) -> Ends:
    widths = [side.coordinates.read().shape[1] for side in pairs.sides]
    return chosen_ends(pairs, (np.arange(widths[0]), np.arange(widths[1])))


def _ends(pairs: Ends, usual: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of both ends of all edges, in the order of the rows."""
    rows, columns = _rows(pairs), pairs.near.wiring.indices.read()
    own, theirs = ([one.read() for one in side] for side in pairs.arrays)
    return ends_of(tuple(one[rows] for one in own), tuple(one[columns] for one in theirs), usual)


def _rows(pairs: Ends) -> np.ndarray:
    indptr = pairs.near.wiring.indptr.read()
    return np.repeat(np.arange(indptr.size - 1), np.diff(indptr))


def _some_edges(seed: int = 0, count: int = 90) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    drawn = zip(rng.integers(0, ACCOUNTS, count).tolist(), rng.integers(0, DEVICES, count).tolist(), strict=True)
    return sorted({*drawn, *((k, k % DEVICES) for k in range(ACCOUNTS))})


def _relation(near: int, far: int, seed: int = 0, unrelated: float = 0.0) -> Relation:
    """What might have been learned: any whitening, any turn, any correlations."""
    rng = np.random.default_rng(seed)
    width, inner = near + far, near + far - 1
    rho = np.linspace(0.8, -0.3, inner)
    rho[1] = 0.0
    sides = [
        Homophily(rng.normal(size=width), rng.normal(size=(width, inner)), rng.normal(size=(inner, inner)), rho)
        for _ in range(2)
    ]
    usual = rng.normal(size=near), rng.normal(size=far)
    return Relation("device", *sides, np.arange(near), np.arange(far), *usual, unrelated)


class Naive:
    """The formulas of the docstring over lists of edges, one edge after the other."""

    def __init__(self, edges: list[tuple[int, int]], near: np.ndarray, far: np.ndarray) -> None:
        self.edges, self.near, self.far = edges, near, far
        self.devices_of: dict[int, list[int]] = defaultdict(list)
        self.accounts_of: dict[int, list[int]] = defaultdict(list)
        for a, b in edges:
            self.devices_of[a].append(b)
            self.accounts_of[b].append(a)

    def usual(self) -> tuple[np.ndarray, np.ndarray]:
        return (
            np.mean([self.near[a] for a, _ in self.edges], axis=0),
            np.mean([self.far[b] for _, b in self.edges], axis=0),
        )

    def ends(self, a: int, b: int, usual: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Own coordinates before borrowed ones; the usual ones stand for the other end."""
        for_a = [self.far[c] if c != b else usual[1] for c in self.devices_of[a]]
        for_b = [self.near[c] if c != a else usual[0] for c in self.accounts_of[b]]
        return (
            np.concatenate([self.near[a], np.mean(for_a, axis=0)]),
            np.concatenate([self.far[b], np.mean(for_b, axis=0)]),
        )

    def f(self, a: int, b: int, relation: Relation) -> float:
        ends = self.ends(a, b, (relation.near_usual, relation.far_usual))
        variates = []
        for x, side in zip(ends, (relation.near, relation.far), strict=True):
            white = [min(max(one, -3.0), 3.0) for one in (x - side.centre) @ side.whiten]
            variates.append([sum(w * t for w, t in zip(white, column, strict=True)) for column in side.turn.T])
        f = 0.0
        for rho, x, y in zip(relation.near.correlation, *variates, strict=True):
            f += np.log(1 - rho**2) / 2 + (rho**2 * (x**2 + y**2) - 2 * rho * x * y) / (2 * (1 - rho**2))
        share = relation.unrelated
        return f if not share else float(-np.log((1 - share) * np.exp(-f) + share))


@pytest.fixture
def drawn() -> tuple[list[tuple[int, int]], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return _some_edges(), rng.normal(size=(ACCOUNTS, 2)), rng.normal(size=(DEVICES, 3))


def test_borrowed_coordinates_are_those_of_the_other_neighbours(drawn) -> None:
    edges, pairs, naive = drawn[0], _informed(_pairs(*drawn)), Naive(*drawn)
    usual = pairs.usual()
    np.testing.assert_allclose(usual[0], naive.usual()[0])
    np.testing.assert_allclose(usual[1], naive.usual()[1])
    found = _ends(pairs, usual)
    for k, (a, b) in enumerate(edges):
        for side, expected in zip(found, naive.ends(a, b, naive.usual()), strict=True):
            np.testing.assert_allclose(side[k], expected, atol=1e-12)


@pytest.mark.parametrize("unrelated", [0.0, 0.07, 0.6])
def test_f_follows_the_formula(drawn, unrelated: float) -> None:
    relation = _relation(2, 3, unrelated=unrelated)
    told, naive = told_by(_pairs(*drawn), relation), Naive(*drawn)
    expected = [naive.f(a, b, relation) for a, b in drawn[0]]
    np.testing.assert_allclose(told.f, expected, atol=1e-9)
    np.testing.assert_array_equal(told.f, told_by(_pairs(*drawn, workers=3), relation).f)
    if unrelated:
        assert told.f.max() <= -np.log(unrelated)
    means, counts = defaultdict(float), defaultdict(int)
    for (a, _), f in zip(drawn[0], expected, strict=True):
        means[a] += f
        counts[a] += 1
    np.testing.assert_allclose(told.means(), [means[a] / counts[a] for a in range(ACCOUNTS)], atol=1e-9)


def test_some_coordinates_are_used_by_number(drawn) -> None:
    edges, near, far = drawn
    relation = replace(_relation(1, 2), near_columns=np.array([1]), far_columns=np.array([0, 2]))
    naive = Naive(edges, near[:, [1]], far[:, [0, 2]])
    np.testing.assert_allclose(
        told_by(_pairs(*drawn), relation).f, [naive.f(a, b, relation) for a, b in edges], atol=1e-9
    )


def test_edges_whose_end_has_neither_own_nor_borrowed_coordinates_are_left_out() -> None:
    near, none = np.arange(4.0)[:, None], np.empty((3, 0))
    # Merchant 2 has one customer: nothing is known of it without a.
    pairs = _pairs([(0, 0), (1, 0), (2, 1), (3, 1), (3, 2)], near, none)
    kept = _informed(pairs)
    ends = zip(_rows(kept).tolist(), kept.near.wiring.indices.read().tolist(), strict=True)
    assert list(ends) == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert kept.near.degrees.read().tolist() == [1, 1, 1, 1]
    # With a column of its own it is known, and so are judged nodes without columns that have two neighbours.
    assert _informed(_pairs([(3, 2), (0, 0)], near, np.zeros((3, 1)))).count == 2
    bare = _informed(_pairs([(0, 0), (0, 1), (1, 1)], np.empty((2, 0)), np.arange(2.0)[:, None]))
    assert _rows(bare).tolist() == [0, 0]
    assert _informed(_pairs([(0, 0)], np.empty((1, 0)), np.empty((1, 0)))).count == 0


def test_the_judged_node_speaks_through_its_own_coordinates_alone(drawn) -> None:
    edges, near, far = drawn
    relation = _relation(2, 3, unrelated=0.05)
    before = Naive(*drawn)
    node = 3
    moved = near.copy()
    moved[node] += [2.0, -1.0]
    told = told_by(_pairs(edges, moved, far), relation)
    for k, (a, b) in enumerate(edges):
        if a != node:
            continue
        # What b borrows is as before the change, for the node is left out there.
        own, theirs = before.ends(a, b, (relation.near_usual, relation.far_usual))
        own = np.concatenate([moved[node], own[2:]])
        swapped = Naive([(0, 0)], own[None], theirs[None])
        swapped.ends = lambda *_, pair=(own, theirs): pair  # type: ignore[method-assign]
        assert told.f[k] == pytest.approx(swapped.f(0, 0, relation), abs=1e-9)
    # Other accounts of its devices borrow something else; all others are as they were.
    old, touched = told_by(_pairs(*drawn), relation).f, {b for a, b in edges if a == node}
    same = np.array([a != node and b not in touched for a, b in edges])
    np.testing.assert_allclose(told.f[same], old[same], atol=1e-12)
    assert (np.abs(told.f - old)[~same] > 1e-6).any()


@pytest.mark.parametrize("node", [0, 3, 11])
def test_a_node_with_other_coordinates_is_judged_as_if_they_had_been_read(drawn, node: int) -> None:
    edges, near, far = drawn
    relation = _relation(2, 3, unrelated=0.05)
    told = told_by(_pairs(*drawn), relation)
    others = np.random.default_rng(1).normal(size=(4, 2)) * 2
    found, counts = mean_ratios_with(told.pairs, relation, node, others)
    for k, row in enumerate(others):
        moved = near.copy()
        moved[node] = row
        naive = Naive(edges, moved, far)
        assert found[k] == pytest.approx(np.mean([naive.f(a, b, relation) for a, b in edges if a == node]), abs=1e-9)
        assert found[k] == pytest.approx(told_by(_pairs(edges, moved, far), relation).means()[node], abs=1e-9)
    assert counts.tolist() == [sum(a == node for a, _ in edges)] * 4
    np.testing.assert_allclose(mean_ratios_with(told.pairs, relation, node, near[[node]])[0], told.means()[node])


def test_a_node_without_such_edges_has_none_with_other_coordinates(drawn) -> None:
    edges, near, far = drawn
    told = told_by(_pairs([one for one in edges if one[0] != 4], near, far), _relation(2, 3))
    means, counts = mean_ratios_with(told.pairs, _relation(2, 3), 4, near[:3])
    assert means.tolist() == [0.0] * 3
    assert counts.tolist() == [0] * 3
    assert told.means()[4] == 0.0


def _matched(rho: list[float], count: int, seed: int = 0, noise: int = 1, workers: int = 1) -> Pairs:
    """Return accounts with one device each, normal coordinates of known correlations, and some of no meaning."""
    rng = np.random.default_rng(seed)
    near = rng.normal(size=(count, len(rho)))
    far = np.array(rho) * near + np.sqrt(1 - np.array(rho) ** 2) * rng.normal(size=near.shape)
    turn = np.linalg.qr(rng.normal(size=(len(rho), len(rho))))[0] * 3.0
    near, far = (np.hstack([x, rng.normal(size=(count, noise))]) for x in (near, far @ turn + 5.0))
    order = rng.permutation(count)
    theirs = np.empty_like(far)
    theirs[order] = far
    return _pairs([(k, int(order[k])) for k in range(count)], near, theirs, workers=workers)


def test_known_canonical_correlations_are_found() -> None:
    relation, told = learn_relation(_matched([0.8, 0.5], 12_000))
    np.testing.assert_allclose(np.sort(relation.near.correlation)[::-1][:2], [0.8, 0.5], atol=0.03)
    assert (np.sort(relation.near.correlation)[::-1][2:] < 0.06).all()
    np.testing.assert_array_equal(relation.near.correlation, relation.far.correlation)
    assert (relation.near_columns.tolist(), relation.far_columns.tolist()) == ([0, 1], [0, 1])
    expected = -0.5 * np.log(1 - np.array([0.8, 0.5]) ** 2).sum()
    assert relation.near.information == pytest.approx(expected, rel=0.06)
    assert relation.unrelated < 0.02
    again = learn_relation(_matched([0.8, 0.5], 12_000, workers=3))[1]
    np.testing.assert_array_equal(told.f, again.f)


def test_the_learned_sides_are_white_and_uncorrelated_but_for_their_partner() -> None:
    pairs = _matched([0.8, 0.5], 12_000)
    relation, told = learn_relation(pairs)
    ends = _ends(told.pairs.ends, (relation.near_usual, relation.far_usual))
    variates = [
        np.clip((x - side.centre) @ side.whiten, -3, 3) @ side.turn
        for x, side in zip(ends, (relation.near, relation.far), strict=True)
    ]
    for variate in variates:
        np.testing.assert_allclose(variate.T @ variate / len(variate), np.eye(variate.shape[1]), atol=0.05)
    cross = variates[0].T @ variates[1] / len(variates[0])
    np.testing.assert_allclose(cross, np.diag(np.diag(cross)), atol=1e-9)
    np.testing.assert_allclose(np.diag(cross)[:2], relation.near.correlation[:2], atol=0.01)


def test_the_share_of_unrelated_edges_is_found_and_bounds_f() -> None:
    pairs = _matched([0.95, 0.9], 8_000)
    rng = np.random.default_rng(1)
    strange = rng.choice(8_000, 800, replace=False)
    indices = pairs.near.wiring.indices.read().copy()
    indices[strange] = indices[rng.permutation(strange)]
    matrix = sp.csr_array((np.ones(8_000), indices, np.arange(8_001)), shape=(8_000, 8_000))
    mixed = pairs_of(matrix, *(side.coordinates.read() for side in pairs.sides))
    relation, told = learn_relation(mixed)
    likelier = np.exp(-told_by(mixed, replace(relation, unrelated=0.0)).f)
    shares = np.arange(0.001, 0.4, 0.001)
    best = shares[np.argmax([np.log((1 - one) * likelier + one).mean() for one in shares])]
    assert relation.unrelated == pytest.approx(best, abs=0.005)
    assert 0.04 < relation.unrelated < 0.13  # of the correlations a tenth is lost, which makes it look smaller
    assert told.f.max() <= -np.log(relation.unrelated) + 1e-12
    assert np.median(told.f[strange]) > 1.5
    assert np.median(np.delete(told.f, strange)) < -1.0


def _edges_drawn(rng: np.random.Generator, hubs: bool) -> list[tuple[int, int]]:
    a = rng.integers(0, 600, 3_000)
    # Nine in ten edges go to three of the devices.
    b = np.where(rng.random(3_000) < 0.9, rng.integers(0, 3, 3_000), rng.integers(3, 200, 3_000))
    return list({*zip(a.tolist(), (b if hubs else rng.integers(0, 200, 3_000)).tolist(), strict=True)})


@pytest.mark.parametrize("hubs", [False, True])
@pytest.mark.parametrize("width", [0, 4])
def test_columns_dealt_out_anew_are_silent(hubs: bool, width: int) -> None:
    """A coordinate that tells nothing is kept once in a hundred times; two of twenty is far beyond that."""
    speaks = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        near, far = rng.normal(size=(600, 4)), rng.normal(size=(200, width))
        relation, told = learn_relation(_pairs(_edges_drawn(rng, hubs), near, far))
        speaks += not relation.silent
        if relation.silent:
            assert not told.f.any()
            assert relation.near.information == 0.0
    assert speaks <= 2


def test_columns_that_go_together_are_kept_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    edges = _edges_drawn(rng, hubs=False)
    near, far = rng.normal(size=(600, 3)), rng.normal(size=(200, 2))
    taste = np.zeros(600)
    np.add.at(taste, [a for a, _ in edges], [far[b, 1] for _, b in edges])
    near[:, 2] += taste
    kept = related_columns(_pairs(edges, near, far))
    assert 2 in kept[0]
    assert 1 in kept[1]
    assert 0 not in kept[0]


def test_a_kind_without_columns_is_known_by_its_other_neighbours() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(400) % 8
    near = rng.normal(size=(8, 2))[group] * 2 + 0.3 * rng.normal(size=(400, 2))
    edges = [(a, int(8 * rng.integers(0, 10) + group[a])) for a in range(400) for _ in range(4)]
    stranger = 11
    edges = [(a, b) for a, b in set(edges) if a != stranger]
    away = int(np.argmax(((near - near[stranger]) ** 2).sum(axis=1)))
    edges += [(stranger, b) for a, b in edges if a == away]
    relation, told = learn_relation(_pairs(edges, near, np.empty((80, 0))))
    assert not relation.silent
    assert np.argmax(told.means()) == stranger


def test_one_edge_a_node_leaves_variances_that_a_rate_can_be_made_of() -> None:
    relation, told = learn_relation(_matched([0.8], 600, noise=0))
    assert not relation.silent
    assert relation.near.within > 0
    rate = learn_rate(told.pairs.ends.near.wiring, told.pairs.f, relation.near)
    assert rate.spread < 1e-6  # nothing tells nodes from edges
    assert np.isfinite(rate.nats(*told.pairs.means())).all()


def test_nothing_to_learn_from_is_silent() -> None:
    none = sp.csr_array((5, 3))
    relation, told = learn_relation(pairs_of(none, np.ones((5, 2)), np.ones((3, 1))))
    assert relation.silent
    assert told.f.size == 0
    assert not told.means().any()
    same = _pairs(_some_edges(), np.ones((ACCOUNTS, 2)), np.zeros((DEVICES, 1)))
    assert learn_relation(same)[0].silent


@pytest.mark.parametrize("width", [0, 3])
def test_blocks_and_workers_change_nothing_but_the_last_digits(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    near, far = rng.normal(size=(600, 4)), rng.normal(size=(200, width))
    edges = [(a, b) for a, b in _edges_drawn(rng, hubs=True)]
    taste = np.zeros(200)
    np.add.at(taste, [b for _, b in edges], [near[a, 1] for a, _ in edges])
    far[:, :1] += taste[:, None]
    whole, told = learn_relation(_pairs(edges, near, far))
    monkeypatch.setattr(stores, "BLOCK", 64)
    found = [learn_relation(_pairs(edges, near, far, workers=workers)) for workers in (1, 3)]
    np.testing.assert_array_equal(found[0][1].f, found[1][1].f)
    np.testing.assert_allclose(found[0][1].f, told.f, atol=1e-9)
    assert found[0][0].unrelated == pytest.approx(whole.unrelated)
