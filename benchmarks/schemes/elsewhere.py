"""Elsewhere: the ranks of the plants of a made-up bank and a shop, and four networks with labels and events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bank import bank, ranks
from benchmarks.flows import ecod, fitted, forest, own_flows, places, told
from benchmarks.schemes.measure import NODES
from benchmarks.sealed import label_free_scores, network_named
from benchmarks.shop import by_odd, shop
from oddhop import read_network

NETWORKS = ("bitcoin_otc", "berka_loans", "wikipedia_bans", "ethereum_phishing")
PLANTED = ("bank 0", "bank 1", "shop 0", "shop 1")


def plant_ranks(name: str) -> dict[str, dict[str, Any]]:
    """Return the ranks of every plant, by method."""
    what, seed = name.split()
    return dict(bank_ranks(int(seed)) if what == "bank" else shop_ranks(int(seed)))


def bank_ranks(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    made = bank(seed)
    whole = read_network(made.payments, made.accounts)
    yield "Odd", ranks(made, fitted(whole).result_)
    yield "Odd, no events", ranks(made, fitted(read_network(made.payments, made.accounts, flows=False)).result_)
    for method, score in (("isolation forest", forest), ("ECOD", ecod)):
        rank = places(score(own_flows(whole)))
        yield method, {plant: sorted(rank[whole.numbers(who)].tolist()) for plant, who in made.plants.items()}


def shop_ranks(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    made = shop(seed)
    tables = {"account": made.accounts, "device": made.devices}
    found = {kind: by_odd(read_network(made.edges, tables, judge=kind)) for kind in tables}
    plants = {plant: (kind, members) for plant, (kind, members) in made.plants.items() if kind in found}
    yield "Odd", {plant: sorted(found[kind][one] for one in members) for plant, (kind, members) in plants.items()}


def labelled_figures(name: str) -> dict[str, dict[str, Any]]:
    """Return ROC-AUC and AP with 90 % intervals, and the anomalies among the first nodes with a label."""
    network, labels = network_named(name, for_facts=True)
    scores, _ = label_free_scores(network)
    known = np.flatnonzero(~np.isnan(labels))
    found = {}
    for method, score in scores.items():
        first = known[np.argsort(-score[known], kind="stable")[:NODES]]
        found[method] = {"figures": told(score, labels), "first": int(labels[first].sum())}
    return found
