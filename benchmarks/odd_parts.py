"""What each part of Odd is for: ROC-AUC and average precision when one is removed, on development networks.

    ODDHOP_DATA=... python -m benchmarks.odd_parts                             # about two minutes
    ODDHOP_DATA=... python -m benchmarks.odd_parts facebook_tam cora,controlled

"NAME,plain" and "NAME,controlled" are the first injection of our own into a network without labels. It prints a table
with a row a part; odd-variants.md has it. The clique view here has neither its bound by chance nor its resolution.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.inject import inject
from benchmarks.networks import load_network
from oddhop import Graph
from oddhop.arrays.stores import ENTRIES
from oddhop.odd import homophily as learning
from oddhop.odd.clique import beyond_degree
from oddhop.odd.homophily import Ratios, learn_homophily
from oddhop.odd.p_values import learn_bulk
from oddhop.odd.stranger import Homophily, strangeness
from oddhop.odd.views import ViewData, clique_scores, fit_views

NETWORKS = (
    *("cora_cola_injected", "bond_inj_cora", "blogcatalog_dominant", "facebook_tam", "bond_reddit"),
    *("amazon_fraud_tam", "bond_gen_time", "cora,controlled", "acmv9,controlled", "blogcatalog_raw,controlled"),
    "flickr_raw,controlled",
)


@dataclass(frozen=True)
class Said:
    """-log p and -log q of the views of one network, each as it is and with something left out."""

    w: float
    stranger: np.ndarray
    faint: np.ndarray  # the stranger by all coordinates
    faint_w: float
    outlier: np.ndarray
    clique: np.ndarray
    standing: np.ndarray  # q of the raw clique scores
    ring_any_looks: np.ndarray
    standing_any_looks: np.ndarray
    ring_any_degree: np.ndarray


def joined(said: Said, w: float | None = None, **other: np.ndarray) -> np.ndarray:
    """Join as oddhop.odd.combine does, some parts being others."""
    weight = said.w if w is None else w
    views = {name: other.get(name, getattr(said, name)) for name in ("stranger", "outlier", "clique", "standing")}
    own = (1 - weight / 2) * views["stranger"] + weight * views["outlier"] + weight / 2 * views["clique"]
    return np.asarray(own + views["standing"])


PARTS: dict[str, Callable[[Said], np.ndarray]] = {
    "**as it is**": joined,
    "without the stranger": lambda s: joined(s, stranger=0 * s.stranger),
    "without the outlier": lambda s: joined(s, outlier=0 * s.outlier),
    "without the clique: no $R$, no $Q$": lambda s: joined(s, clique=0 * s.clique, standing=0 * s.standing),
    "without $R$": lambda s: joined(s, clique=0 * s.clique),
    "without $Q$": lambda s: joined(s, standing=0 * s.standing),
    "looks explain no clique": lambda s: joined(s, clique=s.ring_any_looks, standing=s.standing_any_looks),
    "$R$ of the raw clique scores, not beyond the degree": lambda s: joined(s, clique=s.ring_any_degree),
    "every coordinate is heard": lambda s: joined(s, s.faint_w, stranger=s.faint),
    "$w = 1/2$ in every network": lambda s: joined(s, 0.5),
}


@contextmanager
def changed(name: str, value: Any) -> Iterator[None]:
    """Hold a name of the module that learns the stranger's view at another value."""
    before = getattr(learning, name)
    setattr(learning, name, value)
    try:
        yield
    finally:
        setattr(learning, name, before)


def listen(graph: Graph) -> Said:
    _, _, data = fit_views(graph)
    judged = graph.degrees > 0

    def rare(figures: np.ndarray) -> np.ndarray:
        return -learn_bulk(figures[judged]).log_p(figures)

    def apart(figures: np.ndarray) -> np.ndarray:
        bulk = learn_bulk(figures[judged])
        return -bulk.log_q(bulk.log_p(figures))

    homophily, f, own = strange(data)
    with changed("related_coordinates", lambda _, x: np.ones(x.read().shape[1], dtype=bool)):
        faint_homophily, _, faint = strange(data)
    # 0: even odds for every edge
    tied, any_looks = (clique_scores_by(data, values) for values in (f, np.zeros_like(f)))
    return Said(
        w=1 / (1 + homophily.information),
        stranger=rare(own),
        faint=rare(faint),
        faint_w=1 / (1 + faint_homophily.information),
        outlier=rare(data.known["outlier"]),
        clique=rare(beyond_degree(tied, graph.degrees)),
        standing=apart(tied),
        ring_any_looks=rare(beyond_degree(any_looks, graph.degrees)),
        standing_any_looks=apart(any_looks),
        ring_any_degree=rare(tied),
    )


def strange(data: ViewData) -> tuple[Homophily, np.ndarray, np.ndarray]:
    """Return what is learned of homophily, f of every entry, and z of every node."""
    own = data.edges.own
    homophily, ratios = learn_homophily(own.wiring, own.coordinates)
    return homophily, ratios.f.read(), strangeness(homophily, ratios.sums.all(), data.edges.degrees)


def clique_scores_by(data: ViewData, f: np.ndarray) -> np.ndarray:
    """Return the raw clique scores of every node by f of every entry."""
    entries = data.edges.own.wiring.given(f, ENTRIES)
    return clique_scores(data.edges, Ratios(entries, entries, entries, entries))[1]


def opened(name: str) -> tuple[Graph, np.ndarray]:
    network = load_network(name.split(",")[0])
    if "," not in name:
        assert network.anomalous is not None
        return network.graph, network.anomalous
    reading = {"plain": "dominant", "controlled": "leak-controlled"}[name.split(",")[1]]
    cliques = 10 if network.graph.node_count >= 4_000 else 5
    put = inject(network.graph, random_state=0, cliques=cliques, scheme=reading)  # type: ignore[arg-type]
    return put.graph, put.structural | put.contextual


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    rows: dict[str, list[str]] = {name: [] for name in PARTS}
    names = parser.parse_args().networks
    for name in names:
        graph, odd = opened(name)
        said = listen(graph)
        for part, join in PARTS.items():
            score = np.where(graph.degrees > 0, join(said), 0.0)
            area, precision = roc_auc_score(odd, score), average_precision_score(odd, score)
            rows[part].append(f"{area:.3f}/{precision:.2f}".replace("0.", "."))
    print("|  | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for part, cells in rows.items():
        print(f"| {part} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
