"""Whether the list ends where it should: networks with nothing odd, and the same with something planted.

    python -m benchmarks.heads FOLDER --seeds 1 2 3            # resumes; about 2 minutes of processor a seed
    python -m benchmarks.heads FOLDER --table                  # by network; steady.md has its last line
    PYTHONPATH=../other/src python -m benchmarks.heads OTHER --seeds 1 2 3        # the same of another version

A *clear head* is the planted nodes above the first other node: whoever reads the list from its top meets nobody else
before them. A good rule flags it, and nobody in a network with nothing planted. Role networks have customers, merchants
and firms, who pay each other; the ring is seven merchants who pay round sums in a circle.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from benchmarks import null
from oddhop import Graph, read_network
from oddhop.graph.rows import dense
from oddhop.odd.null import simulate_chance
from oddhop.odd.views import fit_views

Random: TypeAlias = np.random.Generator
Drawn: TypeAlias = tuple[np.ndarray, np.ndarray]
"""The ends of edges, (2, edges), and attributes."""
RING, CLIQUES, CLIQUE, SWAPPED, AMONG, CHANCE = 7, 3, 8, 0.01, 50, 0.1
CLEAR = 3  # nodes of a head that counts as found or not


def looks(rng: Random, group: np.ndarray, width: int, apart: float = 1.0) -> np.ndarray:
    """Draw attributes about the centre of every group."""
    centres = apart * rng.normal(size=(int(group.max()) + 1, width))
    return np.asarray(centres[group] + rng.normal(size=(group.size, width)))


def drawn_by(rng: Random, weight: np.ndarray, size: int | tuple[int, ...]) -> np.ndarray:
    return np.asarray(rng.choice(weight.size, size, p=weight / weight.sum()))


def bipartite(rng: Random, nodes: int) -> Drawn:
    """Join buyers and shops of very different custom."""
    buyers = 3 * nodes // 4
    busy, known = rng.gamma(1.5, 1, buyers) + 0.2, rng.pareto(1.6, nodes - buyers) + 0.3
    ends = np.stack([drawn_by(rng, busy, 4 * nodes), buyers + drawn_by(rng, known, 4 * nodes)])
    return ends, looks(rng, (np.arange(nodes) >= buyers).astype(int), 8, 1.2)


def core_periphery(rng: Random, nodes: int, core: int = 100) -> Drawn:
    """Join a dense core among itself, and everybody else to it."""
    pairs = np.array(np.triu_indices(core, 1))
    outer = np.stack([rng.integers(core, nodes, 3 * nodes), drawn_by(rng, rng.gamma(3, 1, core) + 0.3, 3 * nodes)])
    ends = [pairs[:, rng.random(pairs.shape[1]) < 0.25], outer, rng.integers(core, nodes, (2, nodes // 2))]
    return np.concatenate(ends, axis=1), looks(rng, (np.arange(nodes) < core).astype(int), 8, 1.5)


def stars(rng: Random, nodes: int, hubs: int = 25) -> Drawn:
    """Join every node to its hub, and a third to a second one."""
    own = drawn_by(rng, rng.pareto(2, hubs) + 0.4, nodes)
    own[:hubs], leaves = np.arange(hubs), np.arange(hubs, nodes)
    twice = leaves[rng.random(leaves.size) < 0.3]
    ends = [np.stack([leaves, own[leaves]]), np.stack([twice, rng.integers(0, hubs, twice.size)])]
    return np.concatenate([*ends, rng.integers(hubs, nodes, (2, nodes // 3))], axis=1), looks(rng, own, 6, 0.9)


def heterophily(rng: Random, nodes: int) -> Drawn:
    """Join the groups of a pair to each other rather than to themselves."""
    group, weight = rng.integers(0, 6, nodes), rng.gamma(2, 1, nodes) + 0.2
    u, v = drawn_by(rng, weight, 5 * nodes), drawn_by(rng, weight, 5 * nodes)
    across = rng.random(u.size) < 0.8
    for one in range(6):
        members, some = np.flatnonzero(group == one), across & ((group[u] ^ 1) == one)
        v[some] = members[drawn_by(rng, weight[members], int(some.sum()))]
    return np.stack([u, v]), looks(rng, group, 10)


def power_law(rng: Random, nodes: int) -> Drawn:
    """Join by popularity alone; attributes are noise."""
    weight = np.minimum(rng.pareto(1.5, nodes) + 1, 3 * np.sqrt(nodes))
    return drawn_by(rng, weight, (2, 4 * nodes)), rng.normal(size=(nodes, 6))


def hierarchy(rng: Random, nodes: int) -> Drawn:
    """Join everybody to a superior, some to the next one too, and members of a team to each other."""
    firsts = [0, 3, 18, 120, 600, nodes]
    level, above = np.repeat(np.arange(5), np.diff(firsts)), np.zeros(nodes, dtype=np.int64)
    for k in range(1, 5):
        above[firsts[k] : firsts[k + 1]] = rng.integers(firsts[k - 1], firsts[k], firsts[k + 1] - firsts[k])
    skips = np.flatnonzero(rng.random(nodes) < 0.3)
    order = np.lexsort([rng.random(nodes), above])
    team = np.stack([order[:-1], order[1:]])
    team = team[:, (above[team[0]] == above[team[1]]) & (rng.random(nodes - 1) < 0.6)]
    ends = [np.stack([np.arange(3, nodes), above[3:]]), np.stack([skips, above[above[skips]]]), team]
    return np.concatenate([*ends, rng.integers(0, nodes, (2, nodes))], axis=1), looks(rng, level, 8, 1.2)


def many_blocks(rng: Random, nodes: int) -> Drawn:
    """Draw a hundred small communities."""
    block = rng.integers(0, 100, nodes)
    return null.wired(rng, block, 9), looks(rng, block, 8)


def papers(rng: Random, nodes: int) -> Drawn:
    """Join all authors of a paper: honest cliques of two to six."""
    field, active, ends = rng.integers(0, 8, nodes), rng.gamma(1.5, 1, nodes) + 0.1, []
    for _ in range(17 * nodes // 20):
        own = np.flatnonzero(field == rng.integers(0, 8))
        shares = active[own] / active[own].sum()
        authors = rng.choice(own, rng.integers(2, 7), replace=False, p=shares)
        ends.append(authors[np.stack(np.triu_indices(authors.size, 1))])
    return np.concatenate(ends, axis=1), looks(rng, field, 8)


def made_by(make: Callable[[Random, int], Graph]) -> Callable[[Random, int], Drawn]:
    """Take a network of benchmarks.null apart."""

    def drawn(rng: Random, nodes: int) -> Drawn:
        graph = make(rng, nodes)
        return np.stack(graph.ends(0, graph.edge_count)), dense(graph.attributes)

    return drawn


def with_cliques(rng: Random, drawn: Drawn, cliques: int = CLIQUES, size: int = CLIQUE) -> tuple[Drawn, np.ndarray]:
    ends, attributes = drawn
    odd = rng.choice(len(attributes), cliques * size, replace=False)
    pairs = [one[np.stack(np.triu_indices(size, 1))] for one in odd.reshape(cliques, size)]
    return (np.concatenate([ends, *pairs], axis=1), attributes), odd


def with_swaps(rng: Random, drawn: Drawn, count: int | None = None) -> tuple[Drawn, np.ndarray]:
    """Give some nodes the attributes of the farthest of fifty others."""
    ends, old = drawn
    nodes = len(old)
    odd = rng.choice(nodes, max(int(SWAPPED * nodes), 10) if count is None else count, replace=False)
    scaled, attributes = (old - old.mean(axis=0)) / old.std(axis=0).clip(1e-9), old.copy()
    for one in odd:
        others = rng.choice(nodes, AMONG, replace=False)
        attributes[one] = old[others[np.argmax(((scaled[others] - scaled[one]) ** 2).sum(axis=1))]]
    return (ends, attributes), odd


def with_many(rng: Random, drawn: Drawn) -> tuple[Drawn, np.ndarray]:
    """Plant as much as the benchmark does: five cliques of 15, and as many nodes with the attributes of others."""
    drawn, clique = with_cliques(rng, drawn, 5, 15)
    drawn, swapped = with_swaps(rng, drawn, 75)
    return drawn, np.union1d(clique, swapped)


PLANTED: Mapping[str, Callable[[Random, Drawn], tuple[Drawn, np.ndarray]]] = {
    "clique": with_cliques,
    "swap": with_swaps,
    "many": with_many,
}


def roles(rng: Random, plant: str, name: str) -> tuple[Graph, np.ndarray]:
    """Draw three months of payments between customers, merchants and firms."""
    even, heavy = "even" in name, "heavy" in name
    sizes = (20_000, 1_000, 70) if "big" in name else (3_600, 320, 80)
    customers, merchants, firms = sizes
    nodes, role = sum(sizes), np.repeat([0, 1, 2], sizes)
    known = rng.pareto(1.2 if heavy else 3.0 if even else 2.0, merchants) + 0.5
    size = rng.gamma(4, 1, firms) if even else rng.pareto(1.5, firms) + 0.5
    buyer = np.repeat(np.arange(customers), rng.poisson(6.0 if heavy else 1.5 if even else 3.0, customers) + 1)
    usual = drawn_by(rng, known, (customers, 3))[buyer, rng.integers(0, 3, buyer.size)]
    shop = np.where(rng.random(buyer.size) < 0.6, usual, drawn_by(rng, known, buyer.size))
    paid = [(buyer, customers + shop, np.exp(rng.normal(3.3, 0.8, buyer.size)))]
    works, wage = np.flatnonzero(rng.random(customers) < 0.8), np.exp(rng.normal(7.6, 0.3, customers))
    employer = customers + merchants + drawn_by(rng, size, customers)
    paid += 3 * [(employer[works], works, wage[works])]
    supplied = customers + drawn_by(rng, np.sqrt(known), 6 * merchants)
    supplier = customers + merchants + drawn_by(rng, size, supplied.size)
    paid.append((supplied, supplier, np.exp(rng.normal(6.5, 0.7, supplied.size))))
    odd, shown = np.zeros(0, dtype=np.int64), role.copy()
    if plant == "ring":
        odd = customers + rng.choice(merchants, RING, replace=False)
        one, other = np.nonzero(~np.eye(RING, dtype=bool))
        paid += 3 * [(odd[one], odd[other], np.full(one.size, 1_000.0))]
    if plant == "swap":
        odd = rng.choice(nodes, nodes // 100, replace=False)
        shown[odd] = (role[odd] + rng.integers(1, 3, odd.size)) % 3
    payer, payee, amount = map(np.concatenate, zip(*paid, strict=True))
    opened = np.where(shown == 0, rng.normal(10, 4, nodes), rng.normal(7, 3, nodes)).clip(0)
    columns = {"id": np.arange(nodes), "opened": opened, "region": [f"r{k}" for k in rng.integers(0, 8, nodes)]}
    if "bare" not in name:
        columns["role"] = np.array(["customer", "merchant", "firm"])[shown]
    second = rng.integers(0, 90 * 86_400, payer.size)
    when = pa.array(np.datetime64("2026-01-01", "us") + second.astype("timedelta64[s]"))
    edges = pa.table({"from": payer, "to": payee, "amount": amount, "time": when})
    network = read_network(
        edges, pa.table(columns), source="from", target="to", id="id", amount=["amount"], time="time", directed=True
    )
    return network.graph, network.numbers(pa.array(odd))


SHAPES: Mapping[str, tuple[Callable[[Random, int], Drawn], int]] = {
    **{make.__name__: (make, 2_000) for make in (bipartite, core_periphery, stars, heterophily, hierarchy, papers)},
    **{make.__name__: (made_by(make), 2_000) for make in null.GENERATORS if make is not null.words},
    "power_law": (power_law, 3_000),
    "many_blocks": (many_blocks, 2_500),
    "words, many": (made_by(null.words), 2_700),
    "blocks, many": (made_by(null.blocks), 2_700),
}
ROLES = ("roles", "roles_bare", "roles_heavy", "roles_even", "roles_even_bare", "roles_big", "roles_big_bare")


def plants(name: str) -> tuple[str, ...]:
    """Return what is planted in a network."""
    if name in ROLES:
        return ("clean", "ring", "swap") if name in ("roles", "roles_heavy") else ("clean", "ring")
    if name.endswith("many"):
        return "clean", "many"
    return ("clean", "clique") if name == "power_law" else ("clean", "clique", "swap")


def network(name: str, plant: str, seed: int) -> tuple[Graph, np.ndarray]:
    """Return a network and the nodes that were planted."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    if name in ROLES:
        return roles(rng, plant, name)
    make, nodes = SHAPES[name]
    drawn, odd = make(rng, nodes), np.zeros(0, dtype=np.int64)
    if plant != "clean":
        drawn, odd = PLANTED[plant](rng, drawn)
    ends, attributes = drawn
    return Graph.from_arrays(ends[:, ends[0] != ends[1]], attributes), odd


def flagged(graph: Graph, planted: np.ndarray) -> dict[str, Any]:
    """Fit, simulate, and count: who is flagged, and how long the clear head is."""
    began = time.process_time()
    fitted, evidence, data = fit_views(graph)
    fit = time.process_time()
    chance = simulate_chance(fitted, data, evidence.score, 0)
    judged = graph.degrees > 0
    order = np.flatnonzero(judged)[np.argsort(-evidence.score[judged], kind="stable")]
    odd = np.isin(order, planted)
    count = chance.standing_out(evidence.score[judged], CHANCE)
    return {
        "planted": int(odd.sum()),
        "head": int(np.argmin(odd)) if not odd.all() else int(odd.size),
        "flagged": count,
        "true": int(odd[:count].sum()),
        "fit": round(fit - began, 2),
        "simulations": round(time.process_time() - fit, 2),
    }


def table(lines: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Sum up by network: flags where nothing is planted, and the clear heads that were flagged."""
    of: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        of[line["network"]].append(line)
    of["**all**"] = [line for some in list(of.values()) for line in some]
    yield "| network | clean: flags, most | heads found | at least 60 % | true, false | fit, simulations (s) |"
    yield "|---|---|---|---|---|---|"
    for name, some in of.items():
        clean = [line["flagged"] for line in some if line["plant"] == "clean"]
        heads = [line for line in some if line["head"] >= CLEAR]
        got = [min(line["head"], line["flagged"]) for line in heads]
        found, whole = sum(got), sum(line["head"] for line in heads)
        most = sum(one >= 0.6 * line["head"] for one, line in zip(got, heads, strict=True))
        planted = [line for line in some if line["plant"] != "clean"]
        true, false = (sum(line[what] for line in planted) for what in ("true", "flagged"))
        seconds = ", ".join(f"{sum(line[what] for line in some):.0f}" for what in ("fit", "simulations"))
        yield (
            f"| {name} | {np.mean(clean) if clean else np.nan:.2f}, {max(clean, default=0)} | "
            f"{found} of {whole} ({found / max(whole, 1):.0%}) | {most} of {len(heads)} | "
            f"{true}, {false - true} | {seconds} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=())
    parser.add_argument("--networks", nargs="+", default=(*SHAPES, *ROLES[:5]))
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    asked.folder.mkdir(exist_ok=True)
    file = asked.folder / "heads.jsonl"
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    known = {(line["network"], line["plant"], line["seed"]) for line in done}
    todo = [(name, plant, seed) for seed in asked.seeds for name in asked.networks for plant in plants(name)]
    for name, plant, seed in todo:
        if (name, plant, seed) not in known:
            line = {"network": name, "plant": plant, "seed": seed, **flagged(*network(name, plant, seed))}
            with file.open("a") as out:
                out.write(json.dumps(line) + "\n")
            print(line, flush=True)
            done.append(line)
    if asked.table:
        print(*table(done), sep="\n")


if __name__ == "__main__":
    main()
