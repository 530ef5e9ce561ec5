"""Draw the toy network of docs/index.md with the scores that oddhop gives it.

    python docs/pictures/toy.py

Eleven people and where they live, after the example in the paper's introduction: 1-5 know each
other in the United States, 6-9 in China. Number 10 lives in China but knows only the first group;
number 11 knows almost everybody.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from oddhop import HCM, Graph

HOMES = {
    1: ("New York", 40.7, -74.0),
    2: ("Chicago", 41.9, -87.6),
    3: ("Philadelphia", 39.9, -75.2),
    4: ("Boston", 42.4, -71.1),
    5: ("Washington", 38.9, -77.0),
    6: ("Beijing", 39.9, 116.4),
    7: ("Shanghai", 31.2, 121.5),
    8: ("Wuhan", 30.6, 114.3),
    9: ("Guangzhou", 23.1, 113.3),
    10: ("Shenzhen", 22.5, 114.1),
    11: ("Xi'an", 34.3, 108.9),
}
TIES = [
    *[(1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (4, 5), (3, 5), (1, 5)],
    *[(6, 7), (7, 8), (6, 8), (8, 9), (6, 9), (7, 9), (5, 6)],
    *[(10, 1), (10, 2), (10, 4)],
    *[(11, k) for k in (1, 2, 3, 5, 6, 7, 8, 9)],
]
PLACES = {
    1: (-2.0, 1.1), 2: (-3.1, 0.5), 3: (-1.9, -0.4), 4: (-2.9, -1.0), 5: (-1.1, 0.4),
    6: (1.2, 0.5), 7: (2.2, 1.1), 8: (2.3, -0.5), 9: (3.1, 0.4),
    10: (-4.1, 0.6), 11: (0.2, -1.5),
}  # fmt: skip


def toy() -> Graph:
    ties = np.array(TIES).T - 1
    homes = np.array([home[1:] for home in HOMES.values()])
    return Graph.from_arrays(ties, homes, node_ids=list(HOMES), attribute_names=["latitude", "longitude"])


def main() -> None:
    detector = HCM(score="ahp", random_state=0).fit(toy())
    table = {row["id"]: row for row in detector.result_.to_pylist()}
    mpl.rcParams.update({"svg.hashsalt": "oddhop", "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(figsize=(8, 3.9))
    for u, v in TIES:
        axes.plot(*zip(PLACES[u], PLACES[v], strict=True), color="#b8bcc4", linewidth=1.2, zorder=1)
    colours = mpl.colormaps["YlOrRd"]
    for node, (x, y) in PLACES.items():
        row = table[node]
        china = HOMES[node][2] > 0
        axes.scatter(
            x, y, s=620, marker="s" if china else "o", zorder=2, linewidth=1.5, edgecolor="#30343c",
            color=colours((row["score"] - 1) / 3.2),
        )  # fmt: skip
        axes.text(x, y, f"{row['score']:.1f}", ha="center", va="center", zorder=3, fontsize=10)
        axes.text(x, y - 0.42, f"{node} {HOMES[node][0]}", ha="center", va="center", fontsize=8.5)
    axes.text(-4.4, 1.75, "circle: lives in the United States, square: lives in China", fontsize=9)
    axes.text(-4.4, 1.48, "number: how many hops away its neighbours look, on average", fontsize=9)
    axes.set(xlim=(-4.6, 3.7), ylim=(-2.1, 2.0))
    axes.axis("off")
    figure.tight_layout(pad=0.2)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
    for row in detector.result_.to_pylist():
        print(
            f"{row['rank']:2d}  {row['id']:2d} {HOMES[row['id']][0]:13s} {row['score']:.2f}  "
            f"rank {row['rank_low']}-{row['rank_high']}"
        )


if __name__ == "__main__":
    main()
