"""Networks and settings that many tests share."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from oddhop import Graph

QUICK = {"burn_in": 12, "samples": 2, "thin": 2, "chains": 2, "hidden": 8, "random_state": 0}


@pytest.fixture(scope="session")
def small() -> Graph:
    """Sixty nodes in two communities, and one without neighbours."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (2, 120))
    edges = np.concatenate([half, half + 30, [[0], [30]]], axis=1)
    attributes = rng.normal(size=(61, 5)) + np.repeat([[1.0], [-1.0], [0.0]], [30, 30, 1], axis=0)
    return Graph.from_arrays(edges, attributes)


def sha256(scores: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(scores).tobytes()).hexdigest()
