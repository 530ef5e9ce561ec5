"""The suites: which cells are run, the most telling first, so that a run that is cut short tells most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from benchmarks.baselines import BASELINES, TRIVIAL
from benchmarks.comparison.cells import (
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
from benchmarks.inject import Scheme
from oddhop.errors import SettingsError
from oddhop.hcm.settings import HCMSettings
from oddhop.hcm.settings import published as published_settings

Settings: TypeAlias = Mapping[str, int | float | str | bool]

INJECTED = {"flickr_raw": 15, "blogcatalog_raw": 10, "acmv9": 20, "coauthor_cs": 20}
"""The paper's clean networks and how many cliques of 15 it puts in; ACM is not to be had, the last two stand in."""
LABELLED = {"hcm_amazon": 10, "hcm_enron": 3}
"""Networks with labels, and the seeds of HCM; the five anomalies of Enron outweigh what seeds tell."""
DEEP = {"layers": 4}  # the paper's, for those two
AUTHORS_OWN: dict[str, dict[str, int | bool]] = {"hcm_amazon": {"row_sums": True, "epochs": 300}, "hcm_enron": {}}
"""What the authors' script does on these alone."""
SCRIPT_READINGS: dict[str, dict[str, str | bool]] = {
    "one way, as written": {"directed": True},
    "one way, deviations on their edges": {"directed": True, "deviations": "on their edges"},
    "undirected": {"directed": False},
}
SCRIPTED = ("flickr_raw", "blogcatalog_raw")
PRINTED = {"flickr_raw": "Flickr", "blogcatalog_raw": "BlogCatalog", "acmv9": "ACM", "coauthor_cs": "ACM"}
PRINTED |= {"hcm_amazon": "Amazon", "hcm_enron": "Enron"}
"""The network of the paper whose printed settings each one gets."""
HEAVY = ("Radar", "ANOMALOUS", "DOMINANT", "MADAN", "ResGCN", "CoLA")
"""Baselines that take minutes: the paper's table has their first injection."""
INJECTIONS, SEEDS = 5, 3
HELD_OUT_CLIQUES = 10
ABLATED = ("flickr_raw", "blogcatalog_raw", "coauthor_cs")
"""Where settings and readings are compared, on three injections and one chain each."""
ONE_CHAIN = {"chains": 1, "burn_in": 1_000, "samples": 10, "thin": 10, "pairs_per_step": 2_048}
"""The same number of steps for all that is compared, longer than the default."""
CURVE_RUNS = 10
SWEEP_CLASSES = 5  # the paper's for the sweeps of R and S
# The cap on the pairs of a step hides S. Without it a step takes seconds, so there are fewer of them.
UNCAPPED = {"pairs_per_step": 2**22, "burn_in": 100, "samples": 10, "thin": 5, "hop_classes": SWEEP_CLASSES}
DROP_RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
CLASSES = (2, 3, 4, 5, 6, 7)
SAMPLING_RATIOS = tuple(round(tenth / 10, 1) for tenth in range(1, 11))
SWEEPS: dict[str, Mapping[float, Settings]] = {
    "drop ratio R": {value: {"drop_ratio": value, "hop_classes": SWEEP_CLASSES} for value in DROP_RATIOS},
    "classes C": {value: {"hop_classes": value} for value in CLASSES},
    "sampling ratio S": {value: {**UNCAPPED, "sampling_ratio": value} for value in SAMPLING_RATIOS},
}
"""The paper's sweeps on its injected networks: the settings of every value."""
TRIED: tuple[Settings, ...] = (
    {},
    {"pairs_per_step": 8_192},
    {"burn_in": 300},
    {"step_size": 0.01},
    {"scale": "none"},
    {"pca_components": 10},
    {"pca_components": 50},
    {"layers": 1},
)
"""Settings other than the declared one: shown, and never used for the table."""
TRIED_ON = ("flickr_raw",)
PLAIN: Settings = {"preconditioned": False, "step_size": 0.01, "initial_step_factor": 1.0}
SAMPLERS: dict[str, Settings] = {
    "SGLD": {},
    "SGD": {"sampler": "sgd"},
    "plain SGLD": PLAIN,
    "as printed": {**PLAIN, "temperature": 1.0},
}
"""Ours; the same steps without noise; without a preconditioner; and with the paper's noise."""
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
"""Networks that nobody looked at while a detector was made (protocol.md); the clean ones get 10 cliques of 15."""
GROWTH = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
GROWTH_OF_HEAVY = 300_000
"""The most edges for heavy detectors: at 100,000 they take 1 to 4 minutes, and time grows faster than edges."""
LONG, LONGEST = 3_600.0, 7_200.0


def paper() -> list[Cell]:
    """Return the cells of the paper's table and figures, and of the section on where we differ."""
    networks = (*INJECTED, *LABELLED)
    table = [
        cell for detector in DETECTORS if detector not in HEAVY for name in networks for cell in group(name, detector)
    ]
    table += [cell for detector in HEAVY for name in networks for cell in group(name, detector)]
    readings = [cell for name in LABELLED for reading in SCRIPT_READINGS for cell in script(name, reading)]
    readings += [cell for name in LABELLED for cell in directed(name)]
    readings += [cell for name in LABELLED for cell in most_likely(name)]
    for name in ABLATED:
        readings += [*most_likely(name), *ablation(name, READINGS, {"raw_similarity": True})]
        readings += [*ablation(name, READINGS, reading="paper-text")]
    samplers = [cell for name in ABLATED for setting in SAMPLERS.values() for cell in ablation(name, settings=setting)]
    tried = [cell for name in TRIED_ON for setting in TRIED for cell in ablation(name, settings=setting)]
    curves = [cell for sampler in ("sgld", "sgd") for cell in training(sampler)]
    scripted = [cell for name in SCRIPTED for cell in script(name)]
    return table + samplers + readings + scripted + curves + tried


def sweeps() -> list[Cell]:
    """Return the cells of the sweeps of R, C and S."""
    return [
        cell
        for values in SWEEPS.values()
        for name in ABLATED
        for setting in values.values()
        for cell in sweep(name, setting)
    ]


def as_published() -> list[Cell]:
    """Return the cells of the paper's own settings, and of its authors' script where no other suite has them."""
    networks = (*INJECTED, *LABELLED)
    own = [published(name) for name in networks]
    by_turns = [cells[turn] for turn in range(SEEDS) for cells in own]
    return by_turns + [script(name)[0] for name in INJECTED if name not in SCRIPTED]


def published(network: str) -> list[Cell]:
    """Return the cells of HCM with the settings that the paper prints for a network."""
    settings = dict(published_settings(PRINTED[network]))
    if network in LABELLED:
        return [Cell(network, HCM_NAME, seed, settings=settings, seconds=LONGEST) for seed in range(SEEDS)]
    puts = [Injection(INJECTED[network], turn) for turn in range(SEEDS)]
    return [Cell(network, HCM_NAME, put_in.seed, put_in, settings, LONGEST) for put_in in puts]


def group(network: str, detector: str) -> list[Cell]:
    """Return the cells that a figure of the paper's table is the mean of."""
    own = detector == HCM_NAME
    if network in LABELLED:
        seeds = range(LABELLED[network] if own else 1)
        return [
            Cell(network, detector, seed, settings=DEEP if own else {}, seconds=LONG if own else SECONDS)
            for seed in seeds
        ]
    return [injected(network, k, detector) for k in range(1 if detector in HEAVY else INJECTIONS)]


def ablation(
    network: str, detector: str = HCM_NAME, settings: Settings | None = None, *, reading: Scheme = "dominant"
) -> list[Cell]:
    """Return the cells of a setting or a reading: three injections, one chain each."""
    chosen = {**ONE_CHAIN, **(settings or {})}
    return [injected(network, k, detector, settings=chosen, reading=reading) for k in range(SEEDS)]


def sweep(network: str, settings: Settings) -> list[Cell]:
    """Return the cells of one value of a sweep."""
    return [replace(cell, seconds=LONG) for cell in ablation(network, settings=settings)]


def most_likely(network: str) -> list[Cell]:
    """Return the cells of one posterior read by the expected and by the most likely hop count."""
    if network in LABELLED:
        return [Cell(network, READINGS, settings={**DEEP, **ONE_CHAIN}, seconds=LONG)]
    return ablation(network, READINGS)


def directed(network: str) -> list[Cell]:
    """Return the cells of HCM along the arrows."""
    return [Cell(network, HCM_NAME, seed, settings={**DEEP, "directed": True}, seconds=LONG) for seed in range(SEEDS)]


def script(network: str, reading: str = "undirected") -> list[Cell]:
    """Return the cells of a reading of the authors' script, one a seed or an injection."""
    if network not in LABELLED:
        return [injected(network, k, SCRIPT, seconds=LONG) for k in range(SEEDS)]
    settings = {**DEEP, **AUTHORS_OWN[network], **SCRIPT_READINGS[reading]}
    return [Cell(network, SCRIPT, seed, settings=settings, seconds=LONG) for seed in range(SEEDS)]


def training(sampler: str) -> list[Cell]:
    """Return the cells of the curve of a sampler."""
    put_in = Injection(INJECTED["blogcatalog_raw"])
    return [
        Cell("blogcatalog_raw", TRAINING, run, put_in, {**ONE_CHAIN, "sampler": sampler}) for run in range(CURVE_RUNS)
    ]


def more() -> list[Cell]:
    """Return the cells of the other networks."""
    return [Cell(name, detector) for detector in DETECTORS for name in MORE]


def columns() -> dict[str, dict[str, Callable[[str], list[Cell]]]]:
    """Return the columns of the three large tables, each with the cells that a detector's figure is the mean of."""
    return {
        "paper": {name: partial(group, name) for name in (*INJECTED, *LABELLED)},
        "more": {name: partial(_alone, name) for name in MORE},
        "held-out": dict(held_out_groups()),
    }


def _alone(network: str, detector: str) -> list[Cell]:
    return [Cell(network, detector)]


def held_out() -> list[Cell]:
    """Return the cells of the held-out networks: ours and the trivial scores first, then the others."""
    first = [ODD_NAME, *TRIVIAL]
    order = [*first, HCM_NAME, *(name for name in BASELINES if name not in first)]
    return [cell for name in order for _, cells in held_out_groups() for cell in cells(name)]


def held_out_groups() -> list[tuple[str, Callable[[str], list[Cell]]]]:
    """Return the columns of the held-out table, each with the cells that a detector's figure is the mean of."""

    def as_it_is(name: str) -> Callable[[str], list[Cell]]:
        return lambda detector: [Cell(name, detector)]

    def put_in(name: str, reading: Scheme) -> Callable[[str], list[Cell]]:
        return lambda detector: [Cell(name, detector, injection=Injection(HELD_OUT_CLIQUES, 0, reading))]

    columns = [(name, as_it_is(name)) for name in HELD_OUT]
    for name in HELD_OUT_CLEAN:
        columns += [
            (f"{name}, plain", put_in(name, "dominant")),
            (f"{name}, controlled", put_in(name, "leak-controlled")),
        ]
    return columns


def growth() -> list[Cell]:
    """Return the cells of speed and memory: HCM beside DOMINANT and CoLA on Flickr, and all on growing networks."""
    growing = [
        Cell(f"{SYNTHETIC}{edges}", detector, seconds=LONG if detector == HCM_NAME else SECONDS)
        for edges in GROWTH
        for detector in DETECTORS
        if detector not in HEAVY or edges <= GROWTH_OF_HEAVY
    ]
    return [*side_by_side().values(), *growing]


def side_by_side() -> dict[str, Cell]:
    """Return the cells of HCM beside DOMINANT and CoLA on Flickr, each with its name in the table."""
    return {
        HCM_NAME: injected("flickr_raw", 0, HCM_NAME),
        f"{HCM_NAME}, one chain": injected("flickr_raw", 0, HCM_NAME, settings=ONE_CHAIN),
        **{name: injected("flickr_raw", 0, name) for name in ("DOMINANT", "CoLA", ODD_NAME)},
    }


def ci() -> list[Cell]:
    """Return a small suite: two networks with labels, one without, all detectors, one seed, HCM with few steps."""
    quick = {"burn_in": 60, "samples": 4, "thin": 5, "chains": 2}
    return [
        Cell(name, detector, settings=quick if detector == HCM_NAME else {})
        for detector in DETECTORS
        for name in (f"{SYNTHETIC}{GROWTH[0]}", "bond_disney", "hcm_amazon")
    ]


SUITES: dict[str, Callable[[], list[Cell]]] = {
    "paper": paper,
    "published": as_published,
    "sweeps": sweeps,
    "more": more,
    "held-out": held_out,
    "growth": growth,
    "ci": ci,
}
"""By name."""


def suite(name: str) -> list[Cell]:
    """Return the cells of a suite, each once.

    Examples
    --------
    >>> from benchmarks.comparison.suites import suite
    >>> len(suite("ci"))
    51
    """
    if name not in SUITES:
        raise SettingsError(f"no suite is called {name!r}", f"there are {', '.join(SUITES)}")
    return list({cell.key: cell for cell in SUITES[name]()}.values())


def injected(
    name: str,
    injection: int,
    detector: str,
    *,
    seed: int = 0,
    reading: Scheme = "dominant",
    settings: Settings | None = None,
    seconds: float = SECONDS,
) -> Cell:
    """Return the cell of an injected network; settings that are the default already make no other cell."""
    put_in = Injection(INJECTED[name], injection, reading)
    changed = {key: value for key, value in (settings or {}).items() if DEFAULTS.get(key) != value}
    return Cell(name, detector, seed, put_in, changed, seconds)
