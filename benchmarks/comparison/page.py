"""Write the benchmark page from the lines of the runs. The prose is in ``page.md``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template

import numpy as np
from scipy.stats import rankdata

from benchmarks.baselines import BASELINES, TRIVIAL
from benchmarks.comparison import claims, plots, suites
from benchmarks.comparison.cells import DETECTORS, HCM_NAME, ODD_NAME, READINGS, SYNTHETIC, Cell
from benchmarks.comparison.pace import core_seconds
from benchmarks.comparison.published import BLOGCATALOG, COMPLEXITY, PAPER_NETWORKS, paper_figure
from benchmarks.comparison.runner import read_lines
from benchmarks.comparison.suites import group
from benchmarks.comparison.summary import (
    NOT_RUN,
    Lines,
    Summary,
    best,
    digits,
    slope,
    summarise,
    table,
    widest,
)
from benchmarks.comparison.verdicts import verdicts
from oddhop.base.files import write_atomically
from oddhop.errors import TableError

ROWS: dict[str, tuple[str, str]] = {
    "HCM ahp": (HCM_NAME, "ahp"),
    "HCM hav": (HCM_NAME, "hav"),
    "Odd (ours)": (ODD_NAME, "score"),
    **{name: (name, "score") for name in BASELINES},
}
"""The rows of a table: the detector, and which of its scores."""
SHORT = ("HCM ahp", "Odd (ours)", "attribute norm", "degree + distance", "neighbour cosine")
"""The rows of the table of kinds."""
PICTURES = {
    "summary": "ROC-AUC on the paper's networks: HCM in the paper, HCM in our runs, the best trivial score, and Odd",
    "means": "Mean AHP and HAV of anomalous and normal nodes on the paper's networks",
    "sweeps": "ROC-AUC of AHP and HAV for each value of R, C and S",
    "training": "ROC-AUC of AHP during training, mean and standard deviation over seeds",
    "growth": "Seconds and memory of every detector by the number of edges",
}
BOTH = ("ahp", "hav")
RESAMPLES = 10_000


def write_page(lines: str | os.PathLike[str], page: Path) -> list[Path]:
    """Write the page, and its pictures into the folder ``pictures`` beside it, and return all paths."""
    found = {line["key"]: line for line in read_lines(lines)}
    if not found:
        raise TableError(
            f"{lines} has no lines", "run some cells first, for example with python -m benchmarks run --suite ci"
        )
    pictures = page.parent / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    drawn = plots.draw(found, pictures)
    parts = {
        **_opening(found),
        **_paper(found),
        **_figures(found),
        **_more(found),
        **_held_out(found),
        **_speed(found),
        **_differences(found),
        **{f"{name}_picture": _picture(drawn, name, text) for name, text in PICTURES.items()},
    }
    prose = resources.files("benchmarks.comparison").joinpath("page.md").read_text()
    write_atomically(page, Template(prose).substitute(parts).encode())
    return [page, *drawn.values()]


def _picture(drawn: dict[str, Path], name: str, text: str) -> str:
    return f"![{text}](pictures/{drawn[name].name})" if name in drawn else f"*{text}: {NOT_RUN}.*"


def _opening(lines: Lines) -> dict[str, str]:
    rows = []
    for name in suites.SUITES:
        cells = suites.suite(name)
        kept = [lines[cell.key] for cell in cells if cell.key in lines]
        count = Counter(line["status"] for line in kept)
        over = sum(number for status, number in count.items() if status.startswith("over"))
        missing = len(cells) - len(kept)
        hours = f"{sum(map(core_seconds, kept)) / 3600:.1f}"
        rows.append([f"`{name}`", len(cells), count["done"], over + count["failed"], missing, hours])
    header = ["suite", "runs", "done", "over budget or failed", "not run yet", "core hours"]
    told: dict[str, set[str]] = {}
    for line in lines.values():
        for name, number in line.get("versions", {}).items():
            told.setdefault(name, set()).add(number)
    days = sorted(str(line.get("when", "one day"))[:10] for line in lines.values())
    return {
        "suites": table(header, rows),
        "commits": f"{len({str(line['commit']) for line in lines.values()})} commits, from {days[0]} to {days[-1]}",
        "versions": ", ".join(f"{name} {' and '.join(sorted(numbers))}" for name, numbers in sorted(told.items())),
    }


def _paper(lines: Lines) -> dict[str, str]:
    rows, kinds = [], []
    trivial = {
        network: best({name: summarise(lines, group(network, name), "score") for name in TRIVIAL})
        for network in PAPER_NETWORKS
    }
    printed = {(row, network): paper_figure(network, row) for row in ROWS for network in PAPER_NETWORKS}
    theirs = {place: "" if value is None else f"{digits(value)} / " for place, value in printed.items()}
    for row, (detector, score) in ROWS.items():
        ours = [summarise(lines, group(network, detector), score) for network in PAPER_NETWORKS]
        rows.append([row, *(f"{theirs[row, name]}{own}" for name, own in zip(PAPER_NETWORKS, ours, strict=True))])
    rows.append(["**best trivial**", *trivial.values()])
    rows += claims.what_training_adds(lines, "paper")
    for row in SHORT:
        detector, score = ROWS[row]
        kinds.append([row, *(_by_kind(lines, group(network, detector), score) for network in PAPER_NETWORKS)])
    return {
        "paper": table(["detector", *PAPER_NETWORKS.values()], rows),
        "kinds": table(["detector", *PAPER_NETWORKS.values()], kinds),
        "beside": claims.beside_the_paper(lines),
        "misses": claims.misses(lines),
        "printed": claims.printed(lines),
        "training_helps": claims.training_helps(lines),
        "reproduced": claims.reproduced(lines),
        "verdicts": verdicts(lines),
    }


def _by_kind(lines: Lines, cells: Sequence[Cell], score: str) -> str:
    """Return the average precision and, after injections, the ROC-AUC of each kind; or why there is none."""
    precision = summarise(lines, cells, score, "average_precision")
    kinds = [summarise(lines, cells, score, kind=kind).mean for kind in ("structural", "contextual")]
    figures = [digits(value) for value in (precision.mean, *kinds) if value is not None]
    return "; ".join(figures) or precision.note


def _figures(lines: Lines) -> dict[str, str]:
    descent = []
    for network in suites.ABLATED:
        for score in BOTH:
            cells = [suites.ablation(network, settings=setting) for setting in suites.SAMPLERS.values()]
            descent.append([PAPER_NETWORKS[network], score.upper(), *(summarise(lines, own, score) for own in cells)])
    return {
        "sweeps_run": claims.sweeps_run(lines),
        "data_sets": claims.data_sets(lines),
        "curves": claims.curves_run(lines),
        "descent": table(["network", "score", *suites.SAMPLERS], descent),
    }


def _more(lines: Lines) -> dict[str, str]:
    more, same, found = [], [], []
    for row, (detector, score) in ROWS.items():
        areas = [summarise(lines, [Cell(network, detector)], score) for network in suites.MORE]
        precisions = [
            summarise(lines, [Cell(network, detector)], score, "average_precision").mean for network in suites.MORE
        ]
        found.append(areas)
        both = zip(areas, precisions, strict=True)
        more.append([row, *(a.note if p is None else f"{a.figure}; {digits(p)}" for a, p in both)])
    more.append(["**half an interval**", *widest(found)])
    more += claims.what_training_adds(lines, "more")
    for name, published in BLOGCATALOG.items():
        ours = summarise(lines, [Cell("blogcatalog_dominant", name)], "score")
        same.append([name, ", ".join(digits(value) for value in published), ours])
    return {
        "more": table(["detector", *suites.MORE], more),
        "same_file": table(["detector", "published ROC-AUC", "ours"], same),
    }


def _held_out(lines: Lines) -> dict[str, str]:
    columns = dict(suites.held_out_groups())
    areas = {
        row: [summarise(lines, cells(detector), score) for cells in columns.values()]
        for row, (detector, score) in ROWS.items()
    }
    # A detector over its budget has found nothing, so it is ranked last. One that was not run cannot be ranked.
    whole = {
        row: np.array([area.mean or 0.0 for area in found])
        for row, found in areas.items()
        if all(area.note != NOT_RUN for area in found)
    }
    rows = [
        [row, *(area.figure for area in found), _mean_rank(row, whole) if row in whole else "-"]
        for row, found in areas.items()
    ]
    rows.append(["**half an interval**", *widest(list(areas.values())), ""])
    rows += [[*row, ""] for row in claims.what_training_adds(lines, "held-out")]
    return {"held_out": table(["detector", *columns, f"mean rank among {len(whole)}"], rows)}


def _mean_rank(row: str, areas: Mapping[str, np.ndarray]) -> str:
    """Return the mean rank of a row over the networks, with shared ties and a 95 % bootstrap interval over them."""
    ranks = rankdata(-np.stack(list(areas.values())), axis=0)[list(areas).index(row)]
    drawn = np.random.default_rng(0).choice(ranks, (RESAMPLES, ranks.size)).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{ranks.mean():.1f} [{low:.1f}, {high:.1f}]"


def _speed(lines: Lines) -> dict[str, str]:
    rows = []
    for name in (one for one in DETECTORS if one not in TRIVIAL):
        most = suites.GROWTH_OF_HEAVY if name in suites.HEAVY else max(suites.GROWTH)
        cells = {edges: Cell(f"{SYNTHETIC}{edges}", name) for edges in suites.GROWTH if edges <= most}
        kept = [lines[cell.key] for cell in cells.values() if cell.key in lines]
        missing = [f"{NOT_RUN} from {edges} on" for edges, cell in cells.items() if cell.key not in lines]
        done = [line for line in kept if line["status"] == "done"]
        stopped = [
            f"{line['status']} at {line['network'].removeprefix(SYNTHETIC)}" for line in kept if line not in done
        ]
        entries = [name, COMPLEXITY.get(name, "-")]
        for what, unit in (("seconds", 1.0), ("memory", 2**20)):
            values = [(line[what] or 0) / unit for line in done]
            grown = slope([line["edges"] for line in done], values)
            entries += [f"{values[-1]:.3g}" if values else NOT_RUN, "-" if grown is None else f"{grown:.2f}"]
        rows.append([*entries, f"{done[-1]['edges']:,}" if done else "-", ", ".join(stopped[:1] + missing[:1])])
    header = [
        "detector",
        "complexity in the paper",
        "seconds",
        "slope",
        "MiB",
        "slope",
        "edges",
        "no result",
    ]
    return {"growth": table(header, rows), **_side_by_side(lines)}


def _side_by_side(lines: Lines) -> dict[str, str]:
    found = {name: lines.get(cell.key, {"status": NOT_RUN}) for name, cell in suites.side_by_side().items()}
    done = {name: line for name, line in found.items() if line["status"] == "done"}
    rows = []
    for name, line in found.items():
        if name not in done:
            rows.append([name, line["status"], "-"])
            continue
        memory = "-" if line["memory"] is None else f"{line['memory'] / 2**20:.0f}"
        rows.append([name, f"{line['seconds']:.1f}", memory])
    return {"side_by_side": table(["detector", "seconds of one core", "MiB above a warm-up"], rows)}


def _differences(lines: Lines) -> dict[str, str]:
    def told(cells: list[Cell], *scores: str) -> list[Summary]:
        return [summarise(lines, cells, score) for score in scores]

    readings: list[list[object]] = []
    scripts, tried = [], []
    for network in (*suites.ABLATED, *suites.LABELLED):
        cells = [suites.most_likely(network)]
        if network in suites.ABLATED:
            cells.append(suites.ablation(network, READINGS, {"raw_similarity": True}))
            cells.append(suites.ablation(network, READINGS, reading="paper-text"))
        for score in BOTH:
            found = [*told(cells[0], score, f"argmax {score}"), *(summarise(lines, one, score) for one in cells[1:])]
            readings.append([PAPER_NETWORKS[network], score.upper(), *found, *[""] * (4 - len(found))])
    for network in suites.SCRIPTED:
        own = group(network, HCM_NAME)[: suites.SEEDS]
        scripts.append([PAPER_NETWORKS[network], *told(own, *BOTH), *told(suites.script(network), *BOTH)])
    for setting in suites.TRIED:
        name = ", ".join(f"`{key}={value!r}`" for key, value in setting.items()) or "1,000 steps of 2,048 pairs"
        tried.append(
            [name, *(told(suites.ablation(network, settings=setting), "ahp")[0] for network in suites.TRIED_ON)]
        )
    titles = [f"{PAPER_NETWORKS[network]}, AHP" for network in suites.TRIED_ON]
    return {
        "directions": claims.directions(lines),
        "readings": table(
            ["network", "score", "default", "most likely hops", "similarity before PCA", "injected as in the text"],
            readings,
        ),
        "scripts": table(["network", "HCM, AHP", "HCM, HAV", "script, AHP", "script, HAV"], scripts),
        "tried": table(["setting", *titles], tried),
    }
