"""Networks too large for memory, written to Parquet block by block, with known anomalies.

Communities are ranges of places; a node's popularity falls with its rank in its community, and in the whole
network, so that degrees have a heavy tail. The id of a place is a fixed mixing of it: neighbours in the
network are no neighbours among the ids. Every block has a generator of its own, so it could be made alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.arrays import Floats, Ints
from oddhop.base.parallel import Progress, silent
from oddhop.errors import SettingsError

BLOCK = 1 << 20
AT_HOME = 0.75  # the share of edges that stay in their community
STEEP = 2.0  # ranks are drawn as u ** STEEP: a tail of degrees with exponent 1 + STEEP / (STEEP - 1)
CANDIDATES = 50  # of so many communities the farthest lends its attributes


@dataclass(frozen=True)
class Large:
    """What to make.

    Attributes
    ----------
    nodes, edges, attributes : the sizes. Of the edges, loops and repeats fall out when they are read.
    community : nodes in a community.
    cliques, clique_size : groups of nodes from as many communities, all wired to each other.
    swapped : nodes with the attributes of a community far from theirs.
    seed : the same seed, the same bytes.
    """

    nodes: int
    edges: int
    attributes: int = 20
    community: int = 2_000
    cliques: int = 20
    clique_size: int = 12
    swapped: int = 240
    seed: int = 0

    def __post_init__(self) -> None:
        if self.nodes // self.community < max(self.anomalies, 2):
            raise SettingsError(
                f"{self.nodes} nodes in communities of {self.community} have no room for {self.anomalies} anomalies, "
                "each in a community of its own",
                "ask for more nodes or smaller communities",
            )

    @property
    def anomalies(self) -> int:
        """How many nodes are made odd."""
        return self.cliques * self.clique_size + self.swapped

    def ids(self, places: Ints) -> Ints:
        """Return the ids of places: every number below ``nodes`` once, mixed."""
        step = int(self.nodes * 0.6180339887) | 1
        while gcd(step, self.nodes) != 1:
            step += 2
        mixed: Ints = (places * step + self.seed) % self.nodes  # below 2**63 up to 3e9 nodes
        return mixed


def write_large(what: Large, folder: Path, progress: Progress = silent) -> None:
    """Write ``edges/``, ``nodes/`` and ``labels.parquet`` into a folder; memory is that of a block.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from benchmarks.large import Large, write_large
    >>> from oddhop.tables.read import read_tables
    >>> small = Large(2_000, 8_000, attributes=3, community=100, cliques=2, clique_size=4, swapped=8)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_large(small, Path(home))
    ...     tables = read_tables(f"{home}/edges", f"{home}/nodes")
    >>> tables.counts.edge_rows, len(tables.ids), tables.columns.column_names
    (8012, 2000, ['x0', 'x1', 'x2'])
    """
    for part in ("edges", "nodes"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    centres = np.random.default_rng([what.seed, 0]).normal(size=(-(-what.nodes // what.community), what.attributes))
    members, swapped = _anomalies(what)
    for block, start in enumerate(range(0, what.nodes, BLOCK)):
        progress("writing nodes", start, what.nodes)
        places = np.arange(start, min(start + BLOCK, what.nodes))
        columns = _attributes(what, centres, swapped, places, block)
        pq.write_table(pa.table({"id": what.ids(places), **columns}), folder / "nodes" / f"part-{block:05}.parquet")
    for block, start in enumerate(range(0, what.edges, BLOCK)):
        progress("writing edges", start, what.edges)
        source, target = _edges(what, min(BLOCK, what.edges - start), block)
        _write_edges(what, source, target, folder / "edges" / f"part-{block:05}.parquet")
    left, right = np.triu_indices(what.clique_size, 1)
    _write_edges(what, members[:, left].ravel(), members[:, right].ravel(), folder / "edges" / "part-cliques.parquet")
    odd = np.concatenate([members.ravel(), swapped])
    kinds = ["structural"] * members.size + ["contextual"] * swapped.size
    # Only the anomalies: all other nodes are as they should be.
    pq.write_table(pa.table({"id": what.ids(odd), "kind": kinds}), folder / "labels.parquet")


def _anomalies(what: Large) -> tuple[Ints, Ints]:
    """Return the places in cliques, a row each, and those with foreign attributes; no two in one community."""
    rng = np.random.default_rng([what.seed, 1])
    homes = rng.choice(what.nodes // what.community, what.anomalies, replace=False)
    # In the outer half of its community, where nobody is popular.
    places = homes * what.community + rng.integers(what.community // 2, what.community, homes.size)
    members, swapped = np.split(places, [what.cliques * what.clique_size])
    return members.reshape(what.cliques, what.clique_size), swapped


def _attributes(what: Large, centres: Floats, swapped: Ints, places: Ints, block: int) -> dict[str, Floats]:
    rng = np.random.default_rng([what.seed, 2, block])
    homes = places // what.community
    for place in swapped[(swapped >= places[0]) & (swapped <= places[-1])]:
        candidates = rng.integers(0, len(centres), CANDIDATES)
        away = np.linalg.norm(centres[candidates] - centres[homes[place - places[0]]], axis=1)
        homes[place - places[0]] = candidates[np.argmax(away)]
    noise = rng.standard_normal((what.attributes, places.size), dtype=np.float32)
    return {f"x{k}": noise[k] + centres[homes, k].astype(np.float32) for k in range(what.attributes)}


def _edges(what: Large, count: int, block: int) -> tuple[Ints, Ints]:
    rng = np.random.default_rng([what.seed, 3, block])
    communities = what.nodes // what.community
    homes = rng.integers(0, communities, count) * what.community
    source = homes + (what.community * rng.random(count) ** STEEP).astype(np.int64)
    near = homes + (what.community * rng.random(count) ** STEEP).astype(np.int64)
    # Who is popular everywhere: drawn by rank over all, ranks spread over the communities.
    rank = (what.nodes * rng.random(count) ** STEEP).astype(np.int64)
    anywhere = rank % communities * what.community + rank // communities % what.community
    return source, np.where(rng.random(count) < AT_HOME, near, anywhere)


def _write_edges(what: Large, source: Ints, target: Ints, file: Path) -> None:
    pq.write_table(pa.table({"source": what.ids(source), "target": what.ids(target)}), file)
