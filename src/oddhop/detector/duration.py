"""Time, estimated before it is spent: the work of every stage over a rate measured on the spot."""

from __future__ import annotations

import time

import numpy as np

from oddhop.hcm.model import HEAD_UNITS, Shape
from oddhop.settings import HCMSettings, OddSettings

# What a stage takes beyond its dense products, measured as multiples of them on networks of 1e3 to 2e6 edges.
STEP_OVERHEAD, SCORE_OVERHEAD = 3.0, 2.0
SECONDS_A_STEP = 0.003  # however small the network is
SOURCE_SECONDS = 2e-4  # of a search from one node
SOURCES = 2**14
ODD_EDGE_SECONDS, ODD_VALUE_SECONDS = 1e-5, 1e-7  # of a round of Odd, and of its attributes


def estimate_seconds(
    nodes: int, edges: int, attributes: int, settings: HCMSettings, *, workers: int, rate: float | None = None
) -> dict[str, float]:
    """Estimate the seconds of the long stages, for a machine that nobody else is using.

    ``rate`` is how many multiply-adds a thread does in a second; measured here where it is not given.

    Examples
    --------
    >>> from oddhop.detector.duration import estimate_seconds
    >>> from oddhop.settings import HCMSettings
    >>> small, large = (estimate_seconds(n, 10 * n, 20, HCMSettings(), workers=2, rate=3e10) for n in (10**4, 10**6))
    >>> small["scoring"] < large["scoring"]
    True
    """
    rate = rate or measured_rate()
    width = min(attributes, settings.pca_components or attributes) if attributes > settings.pca_above else attributes
    shape = Shape(width, settings.hidden, settings.layers, settings.hops)
    head = settings.hidden * HEAD_UNITS + HEAD_UNITS * settings.hops
    per_node = width * settings.hidden + (settings.layers - 1) * settings.hidden**2
    pairs = min(settings.pairs_per_step, max(1, int(settings.sampling_ratio * edges)) * settings.hops)
    reached = min(nodes, 2 * pairs * (2 * edges / max(nodes, 1) + 1) ** (settings.layers - 1))
    step = SECONDS_A_STEP + STEP_OVERHEAD * 3 * (pairs * head + reached * per_node + shape.size) / rate
    steps = settings.chains * (settings.burn_in + settings.samples * settings.thin)
    sample = SCORE_OVERHEAD * (edges * head + nodes * per_node) / rate
    threads = min(workers, settings.chains)
    return {
        "hop pairs": min(nodes, SOURCES) * SOURCE_SECONDS * min(1.0, edges / 2e4) / workers,
        "training": steps * step / threads,
        "scoring": settings.chains * settings.samples * sample / workers,
    }


def estimate_odd_seconds(nodes: int, edges: int, attributes: int, settings: OddSettings) -> float:
    """Estimate the seconds of Odd: rounds over all edges, and one reduction of the attributes.

    Examples
    --------
    >>> from oddhop.detector.duration import estimate_odd_seconds
    >>> from oddhop.settings import OddSettings
    >>> 10 < estimate_odd_seconds(300_000, 2_300_000, 250, OddSettings()) < 1000
    True
    """
    return (settings.repeats + 1) * edges * ODD_EDGE_SECONDS + nodes * min(attributes, 1_000) * ODD_VALUE_SECONDS


def measured_rate() -> float:
    """Give the multiply-adds a second of one thread, from a product of a few milliseconds."""
    import torch

    from oddhop.base.parallel import single_threaded

    with single_threaded():
        a, b = torch.ones((2_048, 128)), torch.ones((128, HEAD_UNITS))
        best = np.inf
        for _ in range(8):
            began = time.perf_counter()
            a @ b
            best = min(best, time.perf_counter() - began)
    return float(a.shape[0] * a.shape[1] * b.shape[1] / best)
