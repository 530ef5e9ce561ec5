"""What the paper claims, one row each: its evidence, ours, and whether the claim holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from oddhop.bench import suites
from oddhop.bench.cells import HCM_NAME, Cell
from oddhop.bench.claims import SCORES
from oddhop.bench.published import PAPER, PAPER_NETWORKS, paper_figure
from oddhop.bench.summary import NOT_RUN, Lines, Summary, digits, signed, summarise, table

HOLDS, FAILS, OPEN = "holds", "**does not hold**", "cannot be told"
OWN = ("HCM ahp", "HCM hav")
Row = tuple[str, str, str, str]


def verdicts(lines: Lines) -> str:
    """Write the table of the paper's claims."""
    rows = [*_beats_others(lines), *_higher_on_anomalies(lines), *_added_variance(lines)]
    rows += [*_samplers(lines), *_settings(lines)]
    return table(["the paper claims", "its evidence", "ours", "verdict"], rows)


def judged(difference: float, half: float) -> str:
    """Say whether a difference is above zero, with the half width of its 95 % interval.

    Examples
    --------
    >>> from oddhop.bench.verdicts import judged
    >>> judged(0.1, 0.05), judged(-0.1, 0.05), judged(0.02, 0.05)
    ('holds', '**does not hold**', 'cannot be told')
    """
    return HOLDS if difference > half else FAILS if difference < -half else OPEN


def paired(lines: Lines, some: Sequence[Cell], others: Sequence[Cell], score: str) -> tuple[float, float] | None:
    """Return the mean difference over injections that both were run on, and the half width of its 95 % interval."""
    figures = [[summarise(lines, [cell], score).mean for cell in cells] for cells in (some, others)]
    differences = [a - b for a, b in zip(*figures, strict=True) if a is not None and b is not None]
    if len(differences) < 2:
        return None
    half = stats.t.ppf(0.975, len(differences) - 1) * np.std(differences, ddof=1) / np.sqrt(len(differences))
    return float(np.mean(differences)), float(half)


def _beats_others(lines: Lines) -> Iterator[Row]:
    for network, title in PAPER_NETWORKS.items():
        printed = {row: value for row in PAPER if (value := paper_figure(network, row)) is not None}
        ours = {
            row: summarise(lines, suites.group(network, _detector(row)), _score(row)) for row in PAPER if row in printed
        }
        theirs = " to ".join(_named(printed, row) for row in (_best(printed, own=True), _best(printed, own=False)))
        known = {row: found.mean for row, found in ours.items() if found.mean is not None}
        if not set(known) & set(OWN) or set(known) <= set(OWN):
            yield f"{title}: HCM finds more than the methods beside it", theirs, NOT_RUN, "-"
            continue
        first, second = _best(known, own=True), _best(known, own=False)
        said = f"{_named(known, first)} to {_named(known, second)}"
        yield f"{title}: HCM finds more than the methods beside it", theirs, said, _apart(ours[first], ours[second])


def _higher_on_anomalies(lines: Lines) -> Iterator[Row]:
    for network, title in PAPER_NETWORKS.items():
        cells = suites.group(network, HCM_NAME)
        done = [lines[cell.key] for cell in cells if lines.get(cell.key, {}).get("status") == "done"]
        for score in ("ahp", "hav"):
            claim = f"{title}: the mean {score.upper()} is higher on anomalous nodes"
            higher = sum(
                line["figures"][score]["mean_anomalous"] > line["figures"][score]["mean_normal"] for line in done
            )
            verdict = HOLDS if higher == len(done) else FAILS if 2 * higher < len(done) else OPEN
            yield (
                (claim, "a figure", f"{higher} of {len(done)} runs", verdict)
                if done
                else (claim, "a figure", NOT_RUN, "-")
            )


def _added_variance(lines: Lines) -> Iterator[Row]:
    for network, title in PAPER_NETWORKS.items():
        ahp, iv, hav = (summarise(lines, suites.group(network, HCM_NAME), score) for score in SCORES)
        claim = f"{title}: the variance is higher on anomalous nodes"
        yield claim, "none by itself", f"IV alone {iv}", _above_half(iv)
        if network in suites.LABELLED:
            printed = [paper_figure(network, row) or 0.0 for row in OWN]
            ours = NOT_RUN if ahp.mean is None or hav.mean is None else signed(hav.mean - ahp.mean)
            yield f"{title}: HAV finds more than AHP", signed(printed[1] - printed[0]), ours, _apart(hav, ahp)


def _samplers(lines: Lines) -> Iterator[Row]:
    for network in suites.ABLATED:
        with_noise, without = (suites.ablation(network, settings=suites.SAMPLERS[name]) for name in ("SGLD", "SGD"))
        evidence = "a figure: no gain" if network == "blogcatalog_raw" else "a figure"
        claim = f"{PAPER_NETWORKS[network]}: SGLD finds more than SGD"
        yield _difference(claim, evidence, lines, with_noise, without, "ahp")
    curves = [
        [
            np.std(line["curve"]["roc_auc"][len(line["curve"]["roc_auc"]) // 2 :])
            for cell in suites.training(sampler)
            if (line := lines.get(cell.key, {"status": NOT_RUN}))["status"] == "done"
        ]
        for sampler in ("sgd", "sgld")
    ]
    claim = "BlogCatalog: ROC-AUC is steadier under SGLD while it learns"
    if min(map(len, curves)) < 2:
        yield claim, "a figure", NOT_RUN, "-"
        return
    plain, noisy = (float(np.mean(runs)) for runs in curves)
    half = 1.96 * float(np.sqrt(sum(np.var(runs, ddof=1) / len(runs) for runs in curves)))
    said = f"standard deviation over the later half of the steps: {noisy:.4f} with, {plain:.4f} without noise"
    yield claim, "a figure", said, judged(plain - noisy, half)


def _settings(lines: Lines) -> Iterator[Row]:
    for label, small, large, claim in (
        ("drop ratio R", 0.0, 0.2, "dropping a fifth of the edges helps"),
        ("classes C", 2, 4, "four classes find more than two"),
        ("classes C", 4, 7, "seven classes find more than four"),
    ):
        on, values = suites.SWEEPS[label]
        for network in on:
            some, others = (suites.sweep(network, values[value]) for value in (large, small))
            yield _difference(f"{PAPER_NETWORKS[network]}: {claim}", "a figure", lines, some, others, "ahp")
    on, values = suites.SWEEPS["sampling ratio S"]
    for network in on:
        found = [summarise(lines, suites.sweep(network, setting), "ahp") for setting in values.values()]
        areas = [one.mean for one in found if one.mean is not None]
        claim = f"{PAPER_NETWORKS[network]}: the sampling ratio S hardly matters"
        if len(areas) < len(found):
            yield claim, "a figure", NOT_RUN, "-"
            continue
        halves = [_half(one) for one in found]
        said = f"AHP {digits(min(areas))} to {digits(max(areas))}"
        yield claim, "a figure", said, HOLDS if max(areas) - min(areas) <= max(halves) else FAILS


def _difference(
    claim: str, evidence: str, lines: Lines, some: Sequence[Cell], others: Sequence[Cell], score: str
) -> Row:
    found = paired(lines, some, others, score)
    if found is None:
        return claim, evidence, NOT_RUN, "-"
    mean, half = found
    return claim, evidence, f"{score.upper()} {signed(mean)} ± {digits(half)}", judged(mean, half)


def _detector(row: str) -> str:
    return HCM_NAME if row in OWN else row


def _score(row: str) -> str:
    return row.removeprefix("HCM ") if row in OWN else "score"


def _best(figures: dict[str, float], *, own: bool) -> str:
    return max((row for row in figures if (row in OWN) == own), key=lambda row: figures[row])


def _named(figures: dict[str, float], row: str) -> str:
    return f"{row} {digits(figures[row])}"


def _half(found: Summary) -> float:
    return (found.mean or 0.0) - (found.low or 0.0)


def _apart(some: Summary, others: Summary) -> str:
    if some.mean is None or others.mean is None:
        return "-"
    return judged(some.mean - others.mean, float(np.hypot(_half(some), _half(others))))


def _above_half(found: Summary) -> str:
    return "-" if found.mean is None else judged(found.mean - 0.5, _half(found))
