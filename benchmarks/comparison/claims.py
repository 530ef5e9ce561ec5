"""Tables of the paper's data sets, its scores and the readings of its script, with our figures."""

from __future__ import annotations

from benchmarks.comparison import suites
from benchmarks.comparison.cells import HCM_NAME
from benchmarks.comparison.published import PAPER_NETWORKS, PAPER_SIZES, SIZES_DIFFER, paper_figure
from benchmarks.comparison.runner import Line
from benchmarks.comparison.summary import NOT_RUN, Lines, Summary, digits, signed, summarise, table

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
    """Return the table of HCM's figures: the paper's, our best run, and the difference."""
    rows = []
    for network, title in PAPER_NETWORKS.items():
        row = [title]
        for score in ("ahp", "hav"):
            theirs, _, best = _beside_the_paper(lines, network, score)
            row += [digits(theirs), *([NOT_RUN, "-"] if best is None else [digits(best), signed(best - theirs)])]
        rows.append(row)
    heads = [f"{score}, {what}" for score in ("AHP", "HAV") for what in ("paper", "our best", "difference")]
    return table(["network", *heads], rows)


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
        f"{' '.join(told)} *Reproduced* means that our best run is at most {digits(NEAR)} below the paper's ROC-AUC, "
        "*not reproduced* that the paper's is above the 95 % interval of our runs."
    )


def mean_scores(lines: Lines) -> str:
    """Return the table of the mean scores of anomalous and normal nodes, and of the ROC-AUC of IV alone."""
    rows: list[list[object]] = []
    for network, title in PAPER_NETWORKS.items():
        cells = suites.group(network, HCM_NAME)
        row: list[object] = [title]
        for score in SCORES:
            odd, plain = (summarise(lines, cells, score, figure) for figure in ("mean_anomalous", "mean_normal"))
            known = odd.mean is not None and plain.mean is not None
            row.append(f"{odd.mean:.3f} / {plain.mean:.3f}" if known else odd.note)
        rows.append([*row, summarise(lines, cells, "iv")])
    return table(["network", *map(str.upper, SCORES), "ROC-AUC of IV"], rows)


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


def _gain(ahp: Summary, hav: Summary) -> str:
    return "-" if ahp.mean is None or hav.mean is None else signed(hav.mean - ahp.mean)
