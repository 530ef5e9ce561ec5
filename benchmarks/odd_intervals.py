"""How often another sample of the edges puts a node into the interval that Odd gave for its rank.

python benchmarks/odd_intervals.py        # three networks of ten communities, two samples of edges each; a minute
"""

from __future__ import annotations

import numpy as np

from oddhop import Graph, Odd


def sample(seed: int, x: np.ndarray, weight: np.ndarray, community: np.ndarray, edges: int) -> Graph:
    """Draw edges by the weights of the nodes; four in five stay within a community."""
    rng = np.random.default_rng(seed)
    u, v = (rng.choice(weight.size, edges, p=weight / weight.sum()) for _ in range(2))
    stays = rng.random(edges) < 0.8
    for c in range(10):
        members = np.flatnonzero(community == c)
        inside = stays & (community[u] == c)
        v[inside] = rng.choice(members, inside.sum(), p=weight[members] / weight[members].sum())
    return Graph.from_arrays([u, v], x)


def main() -> None:
    print("| nodes | edges | in the interval | of the first 5 % |\n|---|---|---|---|")
    for seed, (nodes, edges) in enumerate([(1_500, 6_000), (1_500, 20_000), (3_000, 9_000)]):
        rng = np.random.default_rng(seed)
        community, weight = rng.integers(0, 10, nodes), rng.gamma(2, 1, nodes) + 0.3
        x = rng.normal(size=(10, 8))[community] + 0.8 * rng.normal(size=(nodes, 8))
        ours, other = (sample(key + seed, x, weight, community, edges) for key in (10, 20))
        table = Odd(random_state=0).fit(ours).result_.sort_by("id")
        fresh = Odd(random_state=1).fit(other).result_.sort_by("id")["rank"].to_numpy()
        low, rank, high = (table[name].to_numpy() for name in ("rank_low", "rank", "rank_high"))
        judged = (ours.degrees > 0) & (other.degrees > 0)
        inside = (low <= fresh) & (fresh <= high)
        first = judged & (rank <= nodes // 20)
        print(f"| {nodes:,} | {edges:,} | {inside[judged].mean():.3f} | {inside[first].mean():.3f} |", flush=True)


if __name__ == "__main__":
    main()
