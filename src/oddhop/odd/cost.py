"""What a fit of Odd takes."""

from __future__ import annotations

from oddhop.detector.cost import BASE, Cost, Size
from oddhop.odd.communities import EIGENVECTORS
from oddhop.odd.coordinates import COMPONENTS, WIDE
from oddhop.odd.settings import OddSettings

EDGE_SECONDS, VALUE_SECONDS = 1e-5, 1e-7  # of one pass over the edges, and of the attributes


def cost(size: Size, settings: OddSettings) -> Cost:
    """Estimate memory and time of a fit: passes over all edges, and one reduction of the attributes.

    Examples
    --------
    >>> from oddhop.detector.cost import Size
    >>> from oddhop.odd.cost import cost
    >>> from oddhop.odd.settings import OddSettings
    >>> cost(Size(1_000_000, 10_000_000, 20), OddSettings()).memory["views"] < 6 * 2**30
    True
    """
    nodes, edges = size.nodes, size.edges
    coordinates = 2 * 8 * nodes * min(size.attributes, max(COMPONENTS, WIDE))
    eigenvectors = 8 * nodes * 4 * EIGENVECTORS  # those wanted, and the basis that they are searched in
    wiring, per_edge = 2 * (8 * nodes + 2 * 4 * edges), 2 * edges * (8 + 8 + 8 + 4)
    memory = BASE + size.reading + wiring + coordinates + eigenvectors + per_edge
    passes = (settings.n_resamples + 1) * edges * EDGE_SECONDS
    seconds = passes + nodes * min(size.attributes, 1_000) * VALUE_SECONDS
    return Cost({"views": memory}, {"views": seconds})
