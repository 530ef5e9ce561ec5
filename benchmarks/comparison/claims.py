"""Tables of the paper's data sets, its scores and the readings of its script, with our figures."""

from __future__ import annotations

from benchmarks.comparison import suites
from benchmarks.comparison.cells import HCM_NAME
from benchmarks.comparison.published import PAPER_NETWORKS, PAPER_SIZES, SIZES_DIFFER, paper_figure
from benchmarks.comparison.runner import Line
from benchmarks.comparison.summary import NOT_RUN, Lines, Summary, digits, done_lines, signed, summarise, table

STATISTICS = ("nodes", "edges", "attributes", "anomalies")
SCORES = ("ahp", "iv", "hav")
NEAR = 0.02  # of the paper's ROC-AUC, for the best run


def data_sets(lines: Lines) -> str:
    """Return the table of the data sets, the paper's statistics / ours.

    Examples
    --------
    >>> from benchmarks.comparison.claims import data_sets
    >>> line = {"network": "hcm_enron", "injection": None, "nodes": 13533, "edges": 176987, "attributes": 18}
    >>> print(data_sets({"some key": line}).splitlines()[-1])
    | Enron | 13,533 / 13,533 | 176,987 / 176,987 | 20 / 18 | 5 / not run | the file has 18 columns |
    """
    rows = []
    for network, theirs in PAPER_SIZES.items():
        found = [line for line in lines.values() if line["network"] == network and _as_in_the_table(line)]
        ours = [_span({line[name] for line in found if name in line}) for name in STATISTICS]
        both = [f"{number:,} / {own}" for number, own in zip(theirs, ours, strict=True)]
        rows.append([PAPER_NETWORKS[network], *both, SIZES_DIFFER[network]])
    return table(["network", *STATISTICS, "what differs"], rows)


def _as_in_the_table(line: Line) -> bool:
    put_in = line["injection"]  # held-out networks have other injections
    return put_in is None or (put_in["reading"] == "dominant" and put_in["cliques"] == suites.INJECTED[line["network"]])


def _span(numbers: set[int]) -> str:
    if not numbers:
        return NOT_RUN
    return " to ".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)}))


def best_of(lines: Lines) -> str:
    """Return the table of HCM's figures and the paper's: the mean over the runs, and the best run."""
    rows = []
    for network, title in PAPER_NETWORKS.items():
        kind = "injections" if network in suites.INJECTED else "seeds"
        for score in ("ahp", "hav"):
            theirs, ours, best = _beside_the_paper(lines, network, score)
            chosen = [NOT_RUN, "-"] if best is None else [digits(best), signed(best - theirs)]
            rows.append([title, score.upper(), digits(theirs), ours, f"{ours.asked} {kind}", *chosen])
    return table(["network", "score", "paper", "ours, mean", "over", "ours, best", "best - paper"], rows)


def _beside_the_paper(lines: Lines, network: str, score: str) -> tuple[float, Summary, float | None]:
    """Return the paper's figure of HCM, ours over all runs, and that of our best run."""
    cells = suites.group(network, HCM_NAME)
    single = (summarise(lines, [cell], score).mean for cell in cells)
    best = max((area for area in single if area is not None), default=None)
    return paper_figure(network, f"HCM {score}") or 0.0, summarise(lines, cells, score), best


def reproduced(lines: Lines) -> str:
    """Say on which networks HCM reaches the paper's ROC-AUC, and on which it does not."""
    found: dict[str, list[str]] = {"Reproduced": [], "Not reproduced": [], "Undecided": []}
    for network, title in PAPER_NETWORKS.items():
        both = [_beside_the_paper(lines, network, score) for score in ("ahp", "hav")]
        near = all(best is not None and best >= theirs - NEAR for theirs, _, best in both)
        beyond = all(ours.high is not None and ours.high < theirs for theirs, ours, _ in both)
        verdict = "Reproduced" if near else "Not reproduced" if beyond else "Undecided"
        found[verdict].append(title)
    told = [f"{verdict}: {', '.join(titles)}." for verdict, titles in found.items() if titles]
    return (
        f"{' '.join(told)} We call a result reproduced if our best run is at most {digits(NEAR)} below the paper's "
        "ROC-AUC. Otherwise, we call it not reproduced if the paper's ROC-AUC is above the 95 % interval of our runs, "
        "and undecided if not."
    )


def mean_scores(lines: Lines) -> str:
    """Return the table of the mean scores of anomalous and normal nodes, and how often the former are higher."""
    rows = []
    for network, title in PAPER_NETWORKS.items():
        cells = suites.group(network, HCM_NAME)
        for score in SCORES:
            odd, plain = (summarise(lines, cells, score, figure) for figure in ("mean_anomalous", "mean_normal"))
            if odd.mean is None or plain.mean is None:
                rows.append([title, score.upper(), odd.note, plain.note, "-"])
                continue
            figures = [line["figures"][score] for line in done_lines(lines, cells)]
            higher = sum(one["mean_anomalous"] > one["mean_normal"] for one in figures)
            means = [f"{odd.mean:.3f}", f"{plain.mean:.3f}"]
            rows.append([title, score.upper(), *means, f"{higher} of {len(figures)} runs"])
    return table(["network", "score", "mean of anomalous nodes", "mean of normal nodes", "higher on anomalous"], rows)


def variance(lines: Lines) -> str:
    """Return the table of the ROC-AUC of the inferred variance, alone and added to AHP."""
    rows = []
    for network, title in PAPER_NETWORKS.items():
        ahp, iv, hav = (summarise(lines, suites.group(network, HCM_NAME), score) for score in SCORES)
        theirs = signed((paper_figure(network, "HCM hav") or 0.0) - (paper_figure(network, "HCM ahp") or 0.0))
        rows.append([title, iv, _side(iv), theirs, _gain(ahp, hav)])
    return table(["network", "IV alone", "IV of anomalous nodes", "HAV - AHP, paper", "HAV - AHP, ours"], rows)


def directions(lines: Lines) -> str:
    """Return the table of the readings of edge directions and of the order of deviations."""
    rows: list[list[object]] = []
    for network in suites.LABELLED:
        title = PAPER_NETWORKS[network]
        theirs = [paper_figure(network, f"HCM {score}") or 0.0 for score in ("ahp", "hav")]
        rows.append([title, "paper", *map(digits, theirs), signed(theirs[1] - theirs[0])])
        readings = {f"script, {reading}": suites.script(network, reading) for reading in suites.SCRIPT_READINGS}
        for reading, cells in {
            **readings,
            "HCM, undirected": suites.group(network, HCM_NAME),
            "HCM, directed": suites.directed(network),
        }.items():
            ahp, hav = (summarise(lines, cells, score) for score in ("ahp", "hav"))
            rows.append([title, reading, ahp, hav, _gain(ahp, hav)])
    return table(["network", "variant", "AHP", "HAV", "HAV - AHP"], rows)


def _side(summary: Summary) -> str:
    if summary.low is None or summary.high is None:
        return "-"
    return "higher" if summary.low > 0.5 else "lower" if summary.high < 0.5 else "undecided"


def _gain(ahp: Summary, hav: Summary) -> str:
    return "-" if ahp.mean is None or hav.mean is None else signed(hav.mean - ahp.mean)
