"""How often another sample of the edges puts a node into the interval that Odd gave for its rank.

    python -m benchmarks.odd_intervals    # six networks of ten communities, two samples of edges each; a minute

Half of them have strangers, one node in a hundred. The last column is how far the width of the interval of one of the
first 50 differs between five seeds: the largest over the smallest, the median of the 50.
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
    print(
        "| nodes | edges | in the interval | of the first 1 % | of the first 5 % | widths |\n|---|---|---|---|---|---|"
    )
    sizes = [(1_500, 6_000), (1_500, 20_000), (3_000, 9_000), (3_000, 30_000), (4_000, 20_000), (2_000, 16_000)]
    found = []
    for seed, (nodes, edges) in enumerate(sizes):
        rng = np.random.default_rng(100 + seed)
        community, weight = rng.integers(0, 10, nodes), rng.gamma(2, 1, nodes) + 0.3
        x = rng.normal(size=(10, 8))[community] + 0.8 * rng.normal(size=(nodes, 8))
        if seed % 2:
            x[: nodes // 100] = 1.5 * rng.normal(size=(nodes // 100, 8))
        ours, other = (sample(key + seed, x, weight, community, edges) for key in (10, 20))
        tables = [Odd(random_state=s, simulate=False).fit(ours).result_.sort_by("id") for s in range(5)]
        fresh = Odd(random_state=1, simulate=False).fit(other).result_.sort_by("id")["rank"].to_numpy()
        low, rank, high = (tables[0][name].to_numpy() for name in ("rank_low", "rank", "rank_high"))
        judged = (ours.degrees > 0) & (other.degrees > 0)
        inside = (low <= fresh) & (fresh <= high)
        shares = [inside[judged & (rank <= nodes * part)].mean() for part in (1.0, 0.01, 0.05)]
        widths = np.stack(
            [(one["rank_high"].to_numpy() - one["rank_low"].to_numpy() + 1)[rank <= 50] for one in tables]
        )
        shares.append(float(np.median(widths.max(axis=0) / widths.min(axis=0))))
        found.append(shares)
        print(f"| {nodes:,} | {edges:,} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)
    print("| mean | | " + " | ".join(f"{share:.3f}" for share in np.mean(found, axis=0)) + " |")


if __name__ == "__main__":
    main()
