"""Every detector put to every check of oddhop.testing, as the table of docs/checks.md.

    python benchmarks/checks.py > table.md

HCM has few steps: what is checked does not depend on them.
"""

from __future__ import annotations

import warnings

from oddhop import HCM, Odd
from oddhop.evaluate.baselines import BASELINES
from oddhop.testing import FunctionDetector, graph_detector_report


def main() -> None:
    quick = {"burn_in": 20, "samples": 3, "thin": 2, "chains": 2, "hidden": 16}
    subjects = {"HCM": HCM(**quick), "Odd": Odd()}
    subjects |= {name: FunctionDetector(function) for name, function in BASELINES.items()}
    print("| detector | passed | failed | do not apply | what fails |\n|---|---|---|---|---|")
    for name, detector in subjects.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = graph_detector_report(detector)
        failing = [check for check, outcome in report.items() if outcome.startswith("fails")]
        passed = sum(outcome == "passes" for outcome in report.values())
        said = "; ".join(failing)
        print(f"| {name} | {passed} | {len(failing)} | {len(report) - passed - len(failing)} | {said} |", flush=True)


if __name__ == "__main__":
    main()
