"""Networks on disk for tests: of one kind and of several, with events and without."""

from __future__ import annotations

import pickle  # noqa: TID251 - what a cluster does with tasks
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.tables.ingest import ingest
from oddhop.tables.settings import EncodeSettings, ReadSettings
from tests.odd.small_shop import ACCOUNTS, shop

GROUPS = 6
KINDS = ("numbers", "words", "flows", "flows and times", "silent", "words, many nodes", "flows, many nodes")
SHOPS = ("shop", "shop, friends", "shop, words", "shop, merchants", "shop, one device", "shop, friends, flows")
MANY_NODES = ("numbers", "flows and times", "words, many nodes", "flows, many nodes")


def written(home: Path, kind: str, partitions: int) -> Path:
    """Write a network with communities, a clique and a node without edges, and ingest it in so many partitions."""
    if kind in SHOPS:
        return written_shop(home, kind, partitions)
    nodes = 620 if kind in MANY_NODES else 300  # from 512 on eigenvectors are searched by products
    rng = np.random.default_rng(5)
    group = rng.integers(0, GROUPS, nodes)
    members = np.argsort(group, kind="stable")
    first = np.searchsorted(group[members], np.arange(GROUPS))
    size = np.bincount(group, minlength=GROUPS)
    left = rng.integers(0, nodes - 1, 5 * nodes)
    near = members[first[group[left]] + rng.integers(0, 2**31, left.size) % size[group[left]]]
    right = np.where(rng.random(left.size) < 0.8, near, rng.integers(0, nodes - 1, left.size))
    clique = rng.permutation(nodes - 1)[:9]
    ends = np.concatenate([[left, right], clique[np.stack(np.triu_indices(9, 1))]], axis=1)
    edges: dict[str, Any] = {"payer": ends[0], "payee": ends[1]}
    if "flows" in kind:
        edges["amount"] = np.round(rng.lognormal(3, 1, size=int(ends.shape[1])), 2)
    if "times" in kind:
        around = rng.permutation(nodes - 1)[:24].reshape(6, 4)  # six cycles, one node a day
        ends = np.concatenate([ends, [around.ravel(), np.roll(around, -1, axis=1).ravel()]], axis=1)
        edges |= {"payer": ends[0], "payee": ends[1], "amount": np.append(edges["amount"], np.full(24, 500.0))}
        day = np.append(rng.integers(0, 90, ends.shape[1] - 24), np.tile(np.arange(4), 6) + 30)
        edges["when"] = pa.array((np.datetime64("2026-01-01") + day).astype("datetime64[s]"))
    columns: dict[str, Any] = {f"c{k}": rng.normal(size=nodes) for k in range(3)}
    if kind != "silent":
        columns |= {f"g{k}": rng.normal(size=nodes) + centre[group] for k, centre in enumerate(_centres(rng))}
    if "words" in kind:
        words = rng.integers(0, 30, (nodes, 20)) + 25 * group[:, None]
        columns["note"] = [" ".join(f"word{k}" for k in row) for row in words]
    home.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(edges), home / "edges.parquet")
    pq.write_table(pa.table({"id": np.arange(nodes), **columns}), home / "nodes.parquet")
    entries = 2 * np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1).shape[1]
    ingest(
        home / "edges.parquet",
        home / "nodes.parquet",
        home / "graph",
        ReadSettings(flows="flows" in kind),
        EncodeSettings(kinds={"note": "text"} if "words" in kind else {}),
        partition_entries=-(-entries // partitions) + (0 if partitions > 1 else 1),
    )
    return home / "graph"


def written_shop(home: Path, what: str, partitions: int) -> Path:
    """Write a network with several kinds of nodes, and ingest it in so many partitions."""
    made = shop(friends="friends" in what)
    edges, accounts, devices = made.edges, made.accounts, made.devices
    if "words" in what:
        words = np.random.default_rng(1).integers(0, 40, (ACCOUNTS, 20)) + 30 * (np.arange(ACCOUNTS) % 5)[:, None]
        note = pa.array([" ".join(f"word{k}" for k in row) for row in words])
        accounts = accounts.append_column("note", note)
    if "flows" in what:
        amount = np.random.default_rng(2).lognormal(3, 1, edges.num_rows).round(2)
        edges = edges.append_column("amount", pa.array(amount))
    if "one device" in what:  # of most accounts, so that some edges have an end that nothing is known of
        edges = edges.filter(pa.array([one == "device" for one in edges["to_kind"].to_pylist()]))
        devices = devices.select(["id"])
    home.mkdir(parents=True, exist_ok=True)
    for name, table in (("edges", edges), ("accounts", accounts), ("devices", devices)):
        pq.write_table(table, home / f"{name}.parquet")
    ingest(
        home / "edges.parquet",
        {"account": home / "accounts.parquet", "device": home / "devices.parquet"},
        home / "graph",
        ReadSettings(judge="merchant" if "merchants" in what else "account"),
        EncodeSettings(kinds={"note": "text"} if "words" in what else {}),
        partition_entries=-(-2 * edges.num_rows // partitions) + (0 if partitions > 1 else 1),
    )
    return home / "graph"


def _centres(rng: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(2):
        yield 2 * rng.normal(size=GROUPS)


def elsewhere(function: Any, blocks: Any, report: Any) -> list[Any]:
    """Run tasks as a cluster does: they are sent, and so is what they return."""
    results = []
    for block in blocks:
        task, own = pickle.loads(pickle.dumps((function, block)))  # noqa: S301 - our own
        results.append(pickle.loads(pickle.dumps(task(own))))  # noqa: S301 - our own
        report(len(results))
    return results
