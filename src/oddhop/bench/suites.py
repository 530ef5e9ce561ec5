"""The suites: which cells are run, the most telling first, so that a run that is cut short tells most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from oddhop.bench.cells import (
    DETECTORS,
    HCM_NAME,
    ODD_NAME,
    READINGS,
    SCRIPT,
    SECONDS,
    SYNTHETIC,
    TRAINING,
    Cell,
    Injection,
)
from oddhop.errors import SettingsError
from oddhop.evaluate.baselines import BASELINES, TRIVIAL
from oddhop.evaluate.inject import Scheme
from oddhop.hcm.settings import HCMSettings

INJECTED = {"flickr_raw": 15, "blogcatalog_raw": 10, "acmv9": 20}
"""The paper's clean networks and how many cliques of 15 it puts in; acmv9 stands in for ACM, which is not to be had."""
LABELLED = ("hcm_amazon", "hcm_enron")
DEEP = {"layers": 4}  # the paper's, for those two
AUTHORS_OWN: dict[str, dict[str, int | bool]] = {"hcm_amazon": {"row_sums": True, "epochs": 300}, "hcm_enron": {}}
"""What the authors' script does on these alone."""
SCRIPT_READINGS: dict[str, dict[str, str | bool]] = {
    "one way, as written": {"directed": True},
    "one way, deviations on their edges": {"directed": True, "deviations": "on their edges"},
    "undirected": {"directed": False},
}
HELD_OUT_CLIQUES = 10
INJECTIONS, HCM_SEEDS, LABELLED_SEEDS, CURVE_RUNS = 5, 2, 10, 10
SCRIPT_RUNS = 3
DROP_RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
CLASSES = (2, 3, 4, 5, 6, 7)
SAMPLING_RATIOS = (0.1, 0.3, 0.5, 0.7, 1.0)
SWEEP_CLASSES = 5  # the paper's for the sweeps of R and S
# The cap on the pairs of a step hides S. Without it a step takes seconds, so there are fewer of them.
UNCAPPED = {
    "pairs_per_step": 2**22,
    "burn_in": 150,
    "samples": 10,
    "thin": 5,
    "chains": 1,
    "hop_classes": SWEEP_CLASSES,
}
CURVE = {"chains": 1, "samples": 10, "thin": 10}
TRIED: tuple[Mapping[str, int | float | str], ...] = (
    {"burn_in": 300},
    {"step_size": 0.01},
    {"scale": "none"},
    {"pca_components": 10},
    {"pca_components": 50},
    {"layers": 1},
    *({"hop_classes": classes} for classes in CLASSES if classes != HCMSettings().hop_classes),
    *(
        {"drop_ratio": ratio, "hop_classes": SWEEP_CLASSES}
        for ratio in DROP_RATIOS
        if ratio != HCMSettings().drop_ratio
    ),
)
"""Settings other than the declared one, each on the first injection only: shown, and never used for the table."""
MORE = (
    "blogcatalog_dominant",
    "cora_cola_injected",
    "citeseer_cola_injected",
    "bond_inj_cora",
    "facebook_tam",
    "bond_reddit",
    "bond_disney",
    "amazon_fraud_tam",
)
DEFAULTS: dict[str, Any] = {**HCMSettings().model_dump(), "raw_similarity": False}
HELD_OUT = ("bond_inj_amazon", "citation_injected", "dblp_injected", "tolokers", "ctu13_botnet_20110815")
HELD_OUT_CLEAN = ("amazon_photo", "coauthor_cs", "coauthor_physics")
"""Networks that nobody looked at while a detector was made (docs/protocol.md); the clean ones get 10 cliques of 15."""
GROWTH = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LONG = 3_600.0


def paper() -> list[Cell]:
    """Give the cells of the paper's table and figures, and of the section on where we differ."""
    table = [injected(name, 0, detector) for detector in DETECTORS for name in INJECTED]
    table += [_labelled(name, detector, 0) for detector in DETECTORS for name in LABELLED]
    readings = [cell for name in LABELLED for reading in SCRIPT_READINGS for cell in script(name, reading)]
    readings += [Cell(name, READINGS, settings=DEEP, seconds=LONG) for name in LABELLED]
    for name in INJECTED:
        readings += [injected(name, 0, READINGS, settings={"raw_similarity": raw}) for raw in (False, True)]
        readings += [injected(name, k, SCRIPT, seconds=LONG) for k in range(SCRIPT_RUNS)]
        readings.append(injected(name, 0, HCM_NAME, reading="paper-text"))
    again = [injected(name, k, HCM_NAME) for k in range(1, INJECTIONS) for name in INJECTED]
    descent = [injected(name, k, HCM_NAME, settings={"sampler": "sgd"}) for k in range(INJECTIONS) for name in INJECTED]
    seeds = [_labelled(name, HCM_NAME, seed) for seed in range(1, LABELLED_SEEDS) for name in LABELLED]
    beside = (ODD_NAME, *BASELINES)
    others = [injected(name, k, detector) for k in range(1, INJECTIONS) for detector in beside for name in INJECTED]
    second = [injected(name, k, HCM_NAME, seed=1) for k in range(INJECTIONS) for name in INJECTED]
    tried = [injected(name, 0, HCM_NAME, settings=setting) for setting in TRIED for name in INJECTED]
    curves = [
        Cell("blogcatalog_raw", TRAINING, run, Injection(INJECTED["blogcatalog_raw"]), {**CURVE, "sampler": sampler})
        for run in range(CURVE_RUNS)
        for sampler in ("sgld", "sgd")
    ]
    return table + readings + again + descent + sweeps() + seeds + curves + others + tried + second


def sweeps() -> list[Cell]:
    """Give the cells of the paper's sweeps over R, C and S."""
    cells = [
        injected(name, 0, HCM_NAME, settings={"drop_ratio": ratio, "hop_classes": SWEEP_CLASSES})
        for ratio in DROP_RATIOS
        for name in INJECTED
    ]
    cells += [
        injected(name, 0, HCM_NAME, settings={"hop_classes": classes}) for classes in CLASSES for name in INJECTED
    ]
    cells += [
        injected(name, 0, HCM_NAME, settings={**UNCAPPED, "sampling_ratio": ratio}, seconds=LONG)
        for ratio in SAMPLING_RATIOS
        for name in INJECTED
    ]
    return cells


def more() -> list[Cell]:
    """Give the cells of the other networks, and of the leak-controlled injections."""
    cells = [Cell(name, detector) for name in MORE for detector in DETECTORS]
    cells += [injected(name, 0, detector, reading="leak-controlled") for detector in DETECTORS for name in INJECTED]
    return cells + [Cell(name, HCM_NAME, seed) for seed in (1, 2) for name in MORE]


def held_out() -> list[Cell]:
    """Give the cells of the held-out networks: ours and the trivial scores first, then the others, all injections."""
    first = [ODD_NAME, *TRIVIAL]
    order = [*first, HCM_NAME, *(name for name in BASELINES if name not in first)]
    return [cell for name in order for _, cells in held_out_groups() for cell in cells(name)]


def held_out_groups() -> list[tuple[str, Callable[[str], list[Cell]]]]:
    """Give the columns of the held-out table, each with the cells that a detector's figure is the mean of."""

    def as_it_is(name: str) -> Callable[[str], list[Cell]]:
        return lambda detector: [Cell(name, detector)]

    def put_in(name: str, reading: Scheme) -> Callable[[str], list[Cell]]:
        return lambda detector: [
            Cell(name, detector, injection=Injection(HELD_OUT_CLIQUES, seed, reading)) for seed in range(INJECTIONS)
        ]

    columns = [(name, as_it_is(name)) for name in HELD_OUT]
    for name in HELD_OUT_CLEAN:
        columns += [
            (f"{name}, plain", put_in(name, "dominant")),
            (f"{name}, controlled", put_in(name, "leak-controlled")),
        ]
    return columns


def growth() -> list[Cell]:
    """Give the cells of speed and memory: HCM beside DOMINANT and CoLA on Flickr, and all on growing networks."""
    side_by_side = [injected("flickr_raw", 0, detector) for detector in (HCM_NAME, "DOMINANT", "CoLA", ODD_NAME)]
    growing = [
        Cell(f"{SYNTHETIC}{edges}", detector, seconds=LONG if detector == HCM_NAME else SECONDS)
        for edges in GROWTH
        for detector in DETECTORS
    ]
    return side_by_side + growing


def ci() -> list[Cell]:
    """Give a small suite: two networks, all detectors, one seed, HCM with few steps."""
    quick = {"burn_in": 60, "samples": 4, "thin": 5, "chains": 2}
    return [
        Cell(name, detector, settings=quick if detector == HCM_NAME else {})
        for detector in DETECTORS
        for name in ("bond_disney", "hcm_amazon")
    ]


SUITES: dict[str, Callable[[], list[Cell]]] = {
    "paper": paper,
    "more": more,
    "held-out": held_out,
    "growth": growth,
    "ci": ci,
}
"""By name."""


def suite(name: str) -> list[Cell]:
    """Give the cells of a suite, each once.

    Examples
    --------
    >>> from oddhop.bench.suites import suite
    >>> len(suite("ci"))
    30
    """
    if name not in SUITES:
        raise SettingsError(f"no suite is called {name!r}", f"there are {', '.join(SUITES)}")
    return list({cell.key: cell for cell in SUITES[name]()}.values())


def _labelled(name: str, detector: str, seed: int) -> Cell:
    own = detector == HCM_NAME
    return Cell(name, detector, seed, settings=DEEP if own else {}, seconds=LONG if own else SECONDS)


def script(name: str, reading: str) -> list[Cell]:
    """Give the cells of a reading of the authors' script on Amazon or Enron, one a seed."""
    settings = {**DEEP, **AUTHORS_OWN[name], **SCRIPT_READINGS[reading]}
    return [Cell(name, SCRIPT, seed, settings=settings, seconds=LONG) for seed in range(SCRIPT_RUNS)]


def injected(
    name: str,
    injection: int,
    detector: str,
    *,
    seed: int = 0,
    reading: Scheme = "dominant",
    settings: Mapping[str, int | float | str] | None = None,
    seconds: float = SECONDS,
) -> Cell:
    """Give the cell of an injected network; settings that are the default already make no other cell."""
    put_in = Injection(INJECTED[name], injection, reading)
    changed = {key: value for key, value in (settings or {}).items() if DEFAULTS.get(key) != value}
    return Cell(name, detector, seed, put_in, changed, seconds)
