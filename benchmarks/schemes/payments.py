"""The bank with its twelve crimes and their innocent twins."""

from __future__ import annotations

import numpy as np

from benchmarks.schemes.bank import Bank
from benchmarks.schemes.crimes import CRIMES
from benchmarks.schemes.everyday import background
from benchmarks.schemes.twins import TWINS
from benchmarks.schemes.world import WHOLE, Tables, planted


def make(seed: int, variant: str = WHOLE) -> Tables:
    """Write the bank of a seed: whole, its background alone, or with its crimes distorted."""
    bank = Bank()
    background(bank, np.random.default_rng([seed, 0]))
    return planted(bank, seed, CRIMES, TWINS, variant)
