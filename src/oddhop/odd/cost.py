"""What a fit of Odd takes."""

from __future__ import annotations

from oddhop.detector.cost import BASE, Cost, Size
from oddhop.odd.communities import EIGENVECTORS
from oddhop.odd.coordinates import COMPONENTS, WIDE
from oddhop.odd.krylov import STEPS, WIDTH
from oddhop.odd.null import FEWEST_SIMULATED, SIMULATIONS
from oddhop.odd.settings import OddSettings

EDGE_SECONDS, VALUE_SECONDS = 1e-5, 1e-7  # of one pass over the edges, and of the attributes
SIMULATED_EDGE_SECONDS, SIMULATED_NODE_SECONDS = 4e-6, 1e-4  # of one simulated network
EVENT_SECONDS, EVENT_BYTES = 1e-5, 24  # of the search for cycles in 21 networks; partner, time, amount and kind
LONGEST_SIMULATION = 60.0


def simulates(size: Size, settings: OddSettings) -> bool:
    """Tell whether networks are simulated: when asked for, or where it takes less than a minute and tells something.

    Examples
    --------
    >>> from oddhop.detector.cost import Size
    >>> from oddhop.odd.cost import simulates
    >>> from oddhop.odd.settings import OddSettings
    >>> few, many = Size(100, 1_000, 20), Size(10_000, 100_000, 20)
    >>> simulates(few, OddSettings()), simulates(many, OddSettings()), simulates(few, OddSettings(max_chance=0.1))
    (False, True, True)
    """
    if settings.simulate != "auto":
        return settings.simulate
    return settings.max_chance is not None or (
        size.nodes >= FEWEST_SIMULATED and _simulation_seconds(size) <= LONGEST_SIMULATION
    )


def _simulation_seconds(size: Size) -> float:
    return SIMULATIONS * (size.edges * SIMULATED_EDGE_SECONDS + size.nodes * SIMULATED_NODE_SECONDS)


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
    eigenvectors = 4 * nodes * (EIGENVECTORS + (STEPS + 1) * WIDTH)  # those wanted, the basis, and its next block
    wiring, per_edge = 2 * (8 * nodes + 2 * 4 * edges), 2 * edges * (8 + 8 + 8 + 4)
    per_event = size.events * (2 * EVENT_BYTES + 100)  # at either end; what was sent, as it is and with permuted times
    memory = BASE + size.reading + wiring + coordinates + eigenvectors + per_edge + per_event
    passes = (settings.n_resamples + 1) * edges * EDGE_SECONDS
    seconds = passes + nodes * min(size.attributes, 1_000) * VALUE_SECONDS + size.events * EVENT_SECONDS
    if not simulates(size, settings):
        return Cost({"views": memory}, {"views": seconds})
    simulated = memory + 100 * edges + 4 * coordinates  # ends, a table of edges, draws; noise and its mixtures
    return Cost(
        {"views": memory, "simulations": simulated}, {"views": seconds, "simulations": _simulation_seconds(size)}
    )
