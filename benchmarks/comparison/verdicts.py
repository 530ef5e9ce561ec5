"""The claims of the paper, one row each: our figures by network, and whether the claim holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from benchmarks.comparison import suites
from benchmarks.comparison.cells import HCM_NAME, Cell
from benchmarks.comparison.published import PAPER, PAPER_NETWORKS, paper_figure
from benchmarks.comparison.summary import (
    NOT_RUN,
    Lines,
    Summary,
    difference,
    digits,
    done_lines,
    signed,
    summarise,
    table,
)

HOLDS, FAILS, OPEN = "holds", "**does not hold**", "undecided"
OWN = ("HCM ahp", "HCM hav")
Said: TypeAlias = Mapping[str, str]
"""Our figure for a claim with its verdict, by network."""


def verdicts(lines: Lines) -> str:
    """Return the table of the paper's claims: our figure with a verdict by network."""
    rows: list[tuple[str, Said]] = [
        ("HCM has a higher ROC-AUC than the other methods", _beats_others(lines)),
        *(
            (f"{score.upper()} is higher on anomalous nodes", _higher_on_anomalies(lines, score))
            for score in ("ahp", "hav")
        ),
        ("IV is higher on anomalous nodes", _variance(lines)),
        ("HAV has a higher ROC-AUC than AHP on Amazon and Enron", _added_variance(lines)),
        ("SGLD has a higher ROC-AUC than SGD on Flickr and ACM", _samplers(lines)),
        ("ROC-AUC varies less with SGLD than with SGD", _steadier(lines)),
        ("dropping edges raises ROC-AUC: R = .2 against R = 0", _swept(lines, "drop ratio R", 0.2, 0.0)),
        ("more hop classes raise ROC-AUC: C = 4 against C = 2", _swept(lines, "classes C", 4, 2)),
        ("more hop classes raise ROC-AUC: C = 7 against C = 4", _swept(lines, "classes C", 7, 4)),
        ("S has little effect on ROC-AUC", _flat(lines, "sampling ratio S")),
    ]
    header = ["the paper claims", *PAPER_NETWORKS.values()]
    return table(header, [[claim, *(said.get(name, "") for name in PAPER_NETWORKS)] for claim, said in rows])


def judged(difference: float, half: float) -> str:
    """Return whether a difference is above zero, given the half width of its 95 % interval.

    Examples
    --------
    >>> from benchmarks.comparison.verdicts import judged
    >>> judged(0.1, 0.05), judged(-0.1, 0.05), judged(0.02, 0.05)
    ('holds', '**does not hold**', 'undecided')
    """
    return HOLDS if difference > half else FAILS if difference < -half else OPEN


def _beats_others(lines: Lines) -> Said:
    said = {}
    for network in PAPER_NETWORKS:
        rows = [row for row in PAPER if paper_figure(network, row) is not None]
        found = {
            row: summarise(lines, suites.group(network, HCM_NAME if row in OWN else row), _score(row)) for row in rows
        }
        known = {row: one.mean for row, one in found.items() if one.mean is not None}
        own, others = ([row for row in known if (row in OWN) == ours] for ours in (True, False))
        if not own or not others:
            said[network] = NOT_RUN
            continue
        first, second = (max(names, key=lambda row: known[row]) for names in (own, others))
        ours = f"{first} {digits(known[first])}, {second} {digits(known[second])}"
        verdict, absent = _apart(found[first], found[second]), len(rows) - len(known)
        if absent and verdict == HOLDS:  # what was not run to its end was not beaten
            ours, verdict = f"{ours}; {absent} others without a result", OPEN
        said[network] = f"{ours}: {verdict}"
    return said


def _higher_on_anomalies(lines: Lines, score: str) -> Said:
    said = {}
    for network in PAPER_NETWORKS:
        done = done_lines(lines, suites.group(network, HCM_NAME))
        means = [line["figures"][score] for line in done]
        higher = sum(one["mean_anomalous"] > one["mean_normal"] for one in means)
        verdict = HOLDS if higher == len(done) else FAILS if 2 * higher < len(done) else OPEN
        said[network] = f"{higher} of {len(done)}: {verdict}" if done else NOT_RUN
    return said


def _variance(lines: Lines) -> Said:
    found = {network: summarise(lines, suites.group(network, HCM_NAME), "iv") for network in PAPER_NETWORKS}
    return {
        network: NOT_RUN if iv.mean is None else f"{digits(iv.mean)}: {judged(iv.mean - 0.5, iv.half)}"
        for network, iv in found.items()
    }


def _added_variance(lines: Lines) -> Said:
    said = {}
    for network in suites.LABELLED:
        hav, ahp = (summarise(lines, suites.group(network, HCM_NAME), score) for score in ("hav", "ahp"))
        both = hav.mean is not None and ahp.mean is not None
        said[network] = f"{signed((hav.mean or 0) - (ahp.mean or 0))}: {_apart(hav, ahp)}" if both else NOT_RUN
    return said


def _samplers(lines: Lines) -> Said:
    chosen = [suites.SAMPLERS[name] for name in ("SGLD", "SGD")]
    return {
        name: _difference(lines, *(suites.ablation(name, settings=one) for one in chosen)) for name in suites.ABLATED
    }


def _steadier(lines: Lines) -> Said:
    plain, noisy = (
        [
            float(np.std(curve[len(curve) // 2 :]))
            for line in done_lines(lines, suites.training(sampler))
            for curve in [line["curve"]["roc_auc"]]
        ]
        for sampler in ("sgd", "sgld")
    )
    if min(len(plain), len(noisy)) < 2:
        return {"blogcatalog_raw": NOT_RUN}
    half = 1.96 * float(np.sqrt(sum(np.var(runs, ddof=1) / len(runs) for runs in (plain, noisy))))
    means = float(np.mean(noisy)), float(np.mean(plain))
    said = f"standard deviation SGLD {means[0]:.4f}, SGD {means[1]:.4f}"
    return {"blogcatalog_raw": f"{said}: {judged(means[1] - means[0], half)}"}


def _swept(lines: Lines, label: str, value: float, other: float) -> Said:
    values, on = suites.SWEEPS[label], suites.ABLATED
    return {name: _difference(lines, *(suites.sweep(name, values[one]) for one in (value, other))) for name in on}


def _flat(lines: Lines, label: str) -> Said:
    said = {}
    for network in suites.ABLATED:
        found = [summarise(lines, suites.sweep(network, setting), "ahp") for setting in suites.SWEEPS[label].values()]
        areas = [one.mean for one in found if one.mean is not None]
        flat = HOLDS if areas and max(areas) - min(areas) <= max(one.half for one in found) else FAILS
        some = "" if len(areas) == len(found) else f" at {len(areas)} of {len(found)} values"
        said[network] = f"{digits(min(areas))} to {digits(max(areas))}{some}: {flat}" if len(areas) > 1 else NOT_RUN
    return said


def _difference(lines: Lines, some: Sequence[Cell], others: Sequence[Cell]) -> str:
    found = difference(lines, some, others, "ahp")
    if found is None:
        return NOT_RUN
    mean, half = found
    return f"{signed(mean)} ± {digits(half)}: {judged(mean, half)}"


def _score(row: str) -> str:
    return row.removeprefix("HCM ") if row in OWN else "score"


def _apart(some: Summary, others: Summary) -> str:
    return judged((some.mean or 0.0) - (others.mean or 0.0), float(np.hypot(some.half, others.half)))
