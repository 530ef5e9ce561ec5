"""Random numbers keyed by what they are for, so that no draw depends on another's turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import uint64

from oddhop.base.arrays import Ints
from oddhop.base.kernels import compiled

if TYPE_CHECKING:
    import torch

PURIFY, HOPS, START, STEP, NOISE, NEIGHBOURS, EXPLAIN = range(7)
START_VECTOR, LEFT_OUT_EDGES, HALVES, SIMULATED, PERMUTED_TIMES = 0x51E6, 0x7419, 0x3AF5, 0x2B81, 0x6C0D
"""What a stream is for; the first number of its key. No two may be equal, and none may change: scores depend on it."""


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return the generator of a key, for example (STEP, chain, step)."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)))


def torch_generator(seed: int, *key: int) -> torch.Generator:
    """Return torch's generator of a key."""
    import torch

    return torch.Generator().manual_seed(int(word(seed, *key) >> np.uint64(1)))


def word(seed: int, *key: int) -> np.uint64:
    """Return the 64 bits of a key."""
    return np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0]  # type: ignore[no-any-return]


@compiled
def mix(state: np.uint64, value: int | np.integer) -> np.uint64:
    """Fold one number into 64 bits (the finaliser of splitmix64).

    Every type of ``value`` is compiled by itself, also a literal: callers give ``np.int64`` where they can.
    """
    bits = (state ^ uint64(value)) + uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> uint64(27))) * uint64(0x94D049BB133111EB)
    return bits ^ (bits >> uint64(31))


@compiled
def unit(bits: np.uint64) -> float:
    """Turn 64 bits into a number in [0, 1)."""
    return (bits >> uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def mixed_texts(starts: Ints, content: Ints, out: Ints) -> None:
    """Write 64 bits for every text; ``content`` is their bytes, one text after the other, and ``starts`` where."""
    for k in range(out.size):
        bits = np.uint64(0)
        for place in range(starts[k], starts[k + 1]):
            bits = mix(bits, np.int64(content[place]))
        out[k] = bits


@compiled
def mixed_pairs(left: Ints, right: Ints, out: Ints) -> None:
    """Write 64 bits for every pair of numbers."""
    for k in range(out.size):
        out[k] = mix(mix(np.uint64(0), left[k]), right[k])


@compiled
def drawn(left: int, right: int, key: np.uint64, share: float) -> bool:
    """Return whether an edge is drawn, by the keys of its ends: alike in any network that has it."""
    return unit(mix(mix(mix(key, np.int64(0)), min(left, right)), max(left, right))) < share
