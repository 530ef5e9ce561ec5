"""The pictures of the benchmark's page, as SVG, the same bytes from the same lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.baselines import TRIVIAL
from benchmarks.comparison import suites
from benchmarks.comparison.cells import DETECTORS, HCM_NAME, ODD_NAME, SYNTHETIC, Cell
from benchmarks.comparison.published import PAPER_NETWORKS, paper_figure
from benchmarks.comparison.summary import Lines, done_lines, summarise
from oddhop.errors import SettingsError

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "oddhop",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(lines: Lines, folder: Path) -> dict[str, Path]:
    """Draw what the lines have something for; give the files by name."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingsError("the page has pictures, which take matplotlib: pip install -e '.[benchmarks]'") from None
    drawn = {}
    with mpl.rc_context(STYLE):
        for name, painter in PAINTERS.items():
            figure = Figure(layout="constrained")
            if painter(lines, figure):
                drawn[name] = folder / f"benchmark-{name}.svg"
                figure.savefig(drawn[name], metadata={"Date": None, "Creator": None})
    return drawn


def _summary(lines: Lines, figure: Any) -> bool:
    figure.set_size_inches(9, 3.6)
    axis = figure.subplots()
    found: dict[str, list[tuple[float, float]]] = {}
    for place, network in enumerate(PAPER_NETWORKS):
        for shift, score in ((-0.2, "ahp"), (-0.1, "hav")):
            areas = [summarise(lines, [cell], score).mean for cell in suites.group(network, HCM_NAME)]
            known = [area for area in areas if area is not None]
            theirs = paper_figure(network, f"HCM {score}")
            if theirs is not None:
                found.setdefault(f"{score.upper()}, the paper's", []).append((place + shift, theirs))
            if known:
                axis.vlines(place + shift, min(known), max(known), color="gray", linewidth=3, alpha=0.5)
                found.setdefault(f"{score.upper()}, ours", []).append((place + shift, float(np.mean(known))))
        trivial = [summarise(lines, suites.group(network, name), "score").mean for name in TRIVIAL]
        if any(area is not None for area in trivial):
            found.setdefault("best trivial score", []).append((place + 0.05, max(area or 0.0 for area in trivial)))
        odd = summarise(lines, suites.group(network, ODD_NAME), "score").mean
        if odd is not None:
            found.setdefault("Odd", []).append((place + 0.15, odd))
    looks = {
        "AHP, the paper's": ("o", "none", "black"),
        "HAV, the paper's": ("s", "none", "black"),
        "AHP, ours": ("o", "black", "black"),
        "HAV, ours": ("s", "black", "black"),
        "best trivial score": ("^", "C1", "C1"),
        "Odd": ("D", "C0", "C0"),
    }
    for label, points in found.items():
        marker, inside, edge = looks[label]
        axis.scatter(*np.array(points).T, marker=marker, facecolor=inside, edgecolor=edge, label=label, zorder=3)
    axis.axhline(0.5, color="gray", linewidth=0.8, linestyle=":")
    labels = [name.replace(" (", "\n(") for name in PAPER_NETWORKS.values()]
    axis.set_xticks(range(len(PAPER_NETWORKS)), labels)
    axis.set_ylabel("ROC-AUC")
    figure.legend(loc="outside right center", frameon=False)
    return len(found) > 2  # the paper's figures alone are no picture of ours


def _sweeps(lines: Lines, figure: Any) -> bool:
    figure.set_size_inches(9, 7)
    axes = figure.subplots(len(suites.SWEEPS), len(suites.ABLATED), sharey=True)
    any_drawn = False
    for column, network in enumerate(suites.ABLATED):
        axes[0, column].set_title(PAPER_NETWORKS[network])
        for row, (label, values) in enumerate(suites.SWEEPS.items()):
            axis = axes[row, column]
            axis.set_xlabel(label)
            axis.set_ylabel("ROC-AUC")
            for score, marker in (("ahp", "o"), ("hav", "s")):
                found = {value: summarise(lines, suites.sweep(network, own), score) for value, own in values.items()}
                points = [(value, one.mean, one.half) for value, one in found.items() if one.mean is not None]
                if points:
                    any_drawn = True
                    x, y, half = np.array(points).T
                    axis.errorbar(x, y, half, marker=marker, markersize=4, capsize=2, label=score.upper())
            if not axis.has_data():
                axis.text(0.5, 0.5, "not run", transform=axis.transAxes, ha="center", color="gray")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return any_drawn


def _means(lines: Lines, figure: Any) -> bool:
    """Draw the mean AHP and HAV of anomalous and of normal nodes, as the paper does."""
    figure.set_size_inches(9, 3)
    any_drawn = False
    for axis, score in zip(figure.subplots(1, 2), ("ahp", "hav"), strict=True):
        for shift, kind, color in ((-0.2, "anomalous", "C3"), (0.2, "normal", "C0")):
            found = [summarise(lines, suites.group(name, HCM_NAME), score, f"mean_{kind}") for name in PAPER_NETWORKS]
            known = [(place + shift, one.mean) for place, one in enumerate(found) if one.mean is not None]
            any_drawn = any_drawn or bool(known)
            if known:
                axis.bar(*np.array(known).T, width=0.4, color=color, label=f"{kind} nodes")
        axis.set_ylabel(f"mean {score.upper()}")
        labels = [name.replace(" (", "\n(") for name in PAPER_NETWORKS.values()]
        axis.set_xticks(range(len(PAPER_NETWORKS)), labels, rotation=30, fontsize=7)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return any_drawn


def _training(lines: Lines, figure: Any) -> bool:
    figure.set_size_inches(7, 3.5)
    axis = figure.subplots()
    any_drawn = False
    for sampler in ("sgld", "sgd"):
        curves = [line["curve"] for line in done_lines(lines, suites.training(sampler))]
        if curves:
            any_drawn = True
            areas = np.array([curve["roc_auc"] for curve in curves])
            mean, spread = areas.mean(axis=0), areas.std(axis=0)
            axis.plot(curves[0]["steps"], mean, label=f"{sampler.upper()}, {len(curves)} runs")
            axis.fill_between(curves[0]["steps"], mean - spread, mean + spread, alpha=0.25)
    axis.set_xlabel("step")
    axis.set_ylabel("ROC-AUC of AHP")
    if any_drawn:
        axis.legend(frameon=False)
    return any_drawn


def _growth(lines: Lines, figure: Any) -> bool:
    figure.set_size_inches(9, 4.5)
    axes = figure.subplots(1, 2)
    any_drawn = False
    for number, name in enumerate(DETECTORS):
        done = done_lines(lines, [Cell(f"{SYNTHETIC}{edges}", name) for edges in suites.GROWTH])
        for axis, what, unit in zip(axes, ("seconds", "memory"), (1.0, 2**20), strict=True):
            points = [(line["edges"], line[what] / unit) for line in done if line[what]]
            if points:
                any_drawn = True
                x, y = np.array(points).T
                look = {"color": "black", "linewidth": 2.5} if name == HCM_NAME else {"color": f"C{number % 10}"}
                axis.loglog(x, y, marker=".", linestyle="-" if number <= 10 else "--", label=name, **look)
    for axis, title in zip(axes, ("seconds of one core", "MiB above a warm-up, the network included"), strict=True):
        axis.set_xlabel("edges")
        axis.set_title(title)
    if any_drawn:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", frameon=False)
    return any_drawn


PAINTERS = {"summary": _summary, "means": _means, "sweeps": _sweeps, "training": _training, "growth": _growth}
