import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from oddhop.base.randomness import HOPS, STEP, generator, mix, torch_generator, unit, word
from tests.conftest import needs_torch

pytestmark = pytest.mark.kernels

WORDS = st.integers(0, 2**64 - 1)
keys = st.tuples(st.integers(0, 2**40), st.lists(st.integers(0, 2**31), min_size=1, max_size=3).map(tuple))


def first_draws(seed, key):
    import torch

    return (
        tuple(generator(seed, *key).random(3)),
        tuple(torch.rand(3, generator=torch_generator(seed, *key)).tolist()),
        int(word(seed, *key)),
    )


@needs_torch
@given(keys, keys)
def test_a_stream_depends_on_its_whole_key_and_on_nothing_else(one, other):
    draws = first_draws(*one)
    different = first_draws(*other)
    assert first_draws(*one) == draws
    if one != other:
        assert all(mine != theirs for mine, theirs in zip(draws, different, strict=True))


def test_streams_of_neighbouring_keys_are_unrelated():
    draws = np.array([generator(0, STEP, chain, step).random(200) for chain in range(5) for step in range(5)])
    correlation = np.corrcoef(draws)[np.triu_indices(25, 1)]
    assert abs(correlation).max() < 5 / np.sqrt(200)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_mixing_is_the_finaliser_of_splitmix64(state, value):
    whole = 2**64 - 1
    bits = ((state ^ value) + 0x9E3779B97F4A7C15) & whole
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & whole
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & whole
    assert int(mix(np.uint64(state), np.uint64(value))) == bits ^ (bits >> 31)


def test_mixing_takes_an_index_of_any_integer_type():
    assert len({int(mix(word(0, HOPS), kind(7))) for kind in (int, np.int32, np.int64, np.uint64)}) == 1


@settings(deadline=None)
@given(WORDS)
def test_a_word_becomes_a_number_from_zero_to_below_one(bits):
    assert 0.0 <= unit(np.uint64(bits)) < 1.0
    assert unit(np.uint64(bits)) == (bits >> 11) / 2**53


def test_consecutive_numbers_mix_to_uniform_ones():
    values = [unit(np.uint64(mix(word(0, HOPS), k))) for k in range(2_000)]
    assert kstest(values, "uniform").pvalue > 1e-4
