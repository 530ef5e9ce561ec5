"""The first 20 headlines of several networks as they are printed, for a reader with fresh eyes.

ODDHOP_DATA=... python -m benchmarks.headlines payments-1 payments-2 payments-3 tutorial reviews bank shop cora debian
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.bank import bank
from benchmarks.networks import load_network
from benchmarks.schemes import payments
from benchmarks.schemes.questions import arrow
from benchmarks.shop import shop
from benchmarks.tables import tables
from oddhop import Network, Odd, read_network
from oddhop.cases.nouns import nouns_of
from oddhop.datasets import load_payments, load_reviews

SHOWN = 20
Tables = tuple[pa.Table, pa.Table | Mapping[str, pa.Table], dict[str, Any]]


def tables_of(name: str) -> Tables:
    """Return edges and nodes, and how to read them."""
    if name.startswith("payments-"):
        made = payments.make(int(name.removeprefix("payments-")))
        return arrow(made.events), arrow(made.nodes), {}
    if name == "tutorial":
        small = load_payments()
        return small.edges, small.nodes, {}
    if name == "reviews":
        read = load_reviews()
        kinds = {"source_kind": "reader", "target_kind": "book", "judge": "reader"}
        return read.edges, read.nodes, {"source": "reader", "target": "book", **kinds}
    if name == "bank":
        large = bank(0)
        return large.payments, large.accounts, {}
    if name == "shop":
        sold = shop(0, True, 4)
        return sold.edges, {"account": sold.accounts, "device": sold.devices}, {"judge": "account"}
    return (*tables("debian_bookworm", Path(os.environ["ODDHOP_DATA"])), {"flows": False})


FILES = {"bank": "payments", "tutorial": "payments", "debian": "relations", "cora": "citations", "shop": ""}
NODES = {"bank": "accounts", "tutorial": "accounts", "debian": "packages", "cora": "papers", "reviews": "readers"}


def headlines(name: str) -> list[str]:
    """Return the first 20 headlines of a network."""
    if name == "cora":
        network = Network.of(load_network("cora").graph)
    else:
        edges, nodes, options = tables_of(name)
        network = read_network(edges, nodes, **options)
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(network)
    what = name.partition("-")[0]
    nouns = nouns_of(network, FILES.get(what, what), NODES.get(what, "accounts"))
    return [one.headline for one in detector.cases(top=SHOWN, nouns=nouns).cases]


def main() -> None:
    """Print the headlines of some networks as a page."""
    for name in sys.argv[1:]:
        print(f"## {name}\n")
        for number, one in enumerate(headlines(name), 1):
            print(f"{number}. {one}")
        print(flush=True)


if __name__ == "__main__":
    main()
