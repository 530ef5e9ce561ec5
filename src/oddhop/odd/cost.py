"""What a fit of Odd takes."""

from __future__ import annotations

import math

from oddhop.arrays.stores import BLOCK
from oddhop.detector.cost import Cost, Size, available_memory
from oddhop.graph.disk import PARTITION_ENTRIES, PARTITION_NODES
from oddhop.graph.rewire import AT_ONCE
from oddhop.odd.butterfly import WEDGES_AT_ONCE
from oddhop.odd.coordinates import COMPONENTS, WIDE
from oddhop.odd.eigenvectors import EIGENVECTORS, KEPT, STEPS, WIDTH
from oddhop.odd.facts.ends import ENDS_AT_ONCE, ENDS_KEPT
from oddhop.odd.facts.find import BYTES_AT_ONCE
from oddhop.odd.facts.table import FACTS
from oddhop.odd.homophily import SUMS
from oddhop.odd.null import FEWEST_SIMULATED, simulations_for
from oddhop.odd.null_groups import CENTRES_FROM
from oddhop.odd.settings import OddSettings
from oddhop.odd.simulate import DRAWN_AT_ONCE

SIMULATED_EDGE_SECONDS, SIMULATED_NODE_SECONDS = 5e-6, 3e-5  # of one simulated network
COMMUNITY_EDGE_SECONDS, K_MEANS_NODE_SECONDS = 1e-5, 1.5e-4  # of what they share
FIGURE_BYTES, FACT_NODE_BYTES, END_BYTES, KEPT_BYTES, PARTNER_BYTES = 32, 220, 450, 130, 16
EVENT_BYTES = 24  # partner, time, amount and kind
LONGEST_SIMULATION = 60.0
SIMULATED_NODE_BYTES = 310
KEPT_EDGE_BYTES, DRAWN_EDGE_BYTES = 16, 60  # f and the groups of every edge, and those whose f is drawn at once
PERMUTED_EDGE_BYTES = 56  # the groups at either end of an edge, and two orders
SHARED_NODE_BYTES, SHARED_BYTES = 32, 40 * WEDGES_AT_ONCE
BASE = 340 * 2**20  # the interpreter with DuckDB, numba and SciPy, compiled kernels and all
OWN_BASE, NODE_BYTES = 230 * 2**20, 306  # without mapped pages, which the system takes back; 80 MB are for compiling


def simulates(size: Size, settings: OddSettings) -> bool:
    """Return whether networks are simulated: if asked for, or where it takes less than a minute and is informative."""
    if settings.simulate != "auto":
        return settings.simulate
    return settings.max_chance is not None or (
        size.nodes >= FEWEST_SIMULATED and _simulation_seconds(size) <= LONGEST_SIMULATION
    )


def searches_cycles(size: Size, settings: OddSettings) -> bool:
    """Return whether the cycles of events are searched: where the events fit in memory."""
    limit = settings.memory or available_memory()
    return limit is None or BASE + _event_memory(size) <= limit


def _fact_memory(size: Size) -> int:
    """Estimate figures of every node, what is known of nodes beforehand, and the ends of a block of events."""
    if not size.events:
        return 0
    figures = min(FIGURE_BYTES * len(FACTS) * size.nodes, BYTES_AT_ONCE)
    ends = END_BYTES * min(2 * size.events, ENDS_AT_ONCE) + KEPT_BYTES * min(2 * size.events, ENDS_KEPT)
    return figures + FACT_NODE_BYTES * size.nodes + ends + PARTNER_BYTES * 2 * size.events


def _event_memory(size: Size) -> int:
    return size.events * (2 * EVENT_BYTES + 100)  # at either end; what was sent, as it is and with permuted times


def _simulation_seconds(size: Size) -> float:
    each = size.edges * SIMULATED_EDGE_SECONDS + size.nodes * SIMULATED_NODE_SECONDS
    communities = size.edges * COMMUNITY_EDGE_SECONDS + min(size.nodes, CENTRES_FROM) * K_MEANS_NODE_SECONDS
    return simulations_for(size.nodes) * each + communities


def _rewiring_memory(size: Size) -> int:
    """Estimate the larger of three: a table of the edges and orders of their ends, shuffled ends, and the new rows."""
    table = 8 << max(math.ceil(math.log2(1.5 * size.edges + 1)), 4)
    return max(44 * size.edges + table, 16 * size.edges + 37 * min(2 * size.edges, AT_ONCE), 40 * size.edges)


def _simulation_memory(size: Size) -> int:
    """Estimate what the process holds of edges, and the largest of what it does with them in turn."""
    drawn = DRAWN_EDGE_BYTES * min(2 * size.edges, DRAWN_AT_ONCE)
    return KEPT_EDGE_BYTES * size.edges + max(_rewiring_memory(size), PERMUTED_EDGE_BYTES * size.edges, drawn)


def cost(size: Size, settings: OddSettings) -> Cost:
    """Estimate the memory of a fit in memory: passes over all edges, and one reduction of the attributes."""
    nodes, edges = size.nodes, size.edges
    coordinates = 8 * nodes * _width(size)
    # A round has vectors of its own beside those that it starts from; the basis is gone by then.
    vectors = 4 * nodes * max((STEPS + 1 + KEPT) * WIDTH, 4 * EIGENVECTORS)
    # f, what is left of it, residuals and two sums over common neighbours of every entry, of the whole and of a round.
    wiring, per_edge = 2 * (8 * nodes + 2 * 4 * edges), 2 * 2 * edges * 5 * 4
    views = wiring + max(5 * coordinates, vectors) + per_edge + 258 * nodes + _event_memory(size) + _fact_memory(size)
    memory = BASE + max(size.reading, views)  # what reading took is given back
    if not simulates(size, settings):
        return Cost({"views": memory})
    # Canonical variates in two forms.
    simulated = BASE + max(size.reading, views + 2 * coordinates + _simulation_memory(size))
    return Cost({"views": memory, "simulations": simulated}, _leaner(settings))


def cost_on_disk(size: Size, settings: OddSettings, *, workers: int) -> Cost:
    """Estimate the memory of a fit on a network that stays on the disk."""
    partitions = max(-(-2 * size.edges // PARTITION_ENTRIES), -(-size.nodes // PARTITION_NODES), 1)
    # Eigenvectors of a partition, or two forms of its coordinates; two arrays over its entries.
    task = (size.nodes * max(4 * EIGENVECTORS + 24, 2 * 8 * _width(size)) + 8 * 2 * size.edges) // partitions
    if size.kinds:  # of judged nodes: sums, and two figures and a place while common neighbours are met; copied rows
        task += SHARED_NODE_BYTES * size.nodes + SHARED_BYTES
    # What views say, with all edges and in a round; scores of the rounds; the ranking and its table; sums of blocks.
    led = NODE_BYTES * size.nodes + SUMS * 8 * (_width(size) + 1) ** 2 * -(-size.nodes // BLOCK)
    events = _event_memory(size) if searches_cycles(size, settings) else 0
    memory = {"views": OWN_BASE + led + max(workers * task, _fact_memory(size)) + events}
    if not simulates(size, settings):
        return Cost(memory)
    # What was judged, and what simulated nodes take over; edges, or rows, beside tasks that wait.
    held = OWN_BASE + SIMULATED_NODE_BYTES * size.nodes + events
    memory["simulations"] = held + max(_simulation_memory(size), workers * task)
    return Cost(memory, _leaner(settings))


def _leaner(settings: OddSettings) -> dict[str, str]:
    return {} if settings.max_chance is not None else {"simulations": "simulate=False"}


def _width(size: Size) -> int:
    # A wide block of columns is reduced to components, and may have a narrow one beside it: a value between the two.
    return min(size.attributes, (COMPONENTS + WIDE) // 2)
