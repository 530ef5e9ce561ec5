"""Every detector put to every check of tests.contract, as the table of benchmarks/checks.md.

    python -m benchmarks.checks > table.md

HCM has few steps: what is checked does not depend on them.
"""

from __future__ import annotations

import warnings
from typing import Any

from benchmarks.baselines import BASELINES
from oddhop import HCM, Odd
from tests.contract.checks import graph_detector_report
from tests.contract.subjects import FunctionDetector


def main() -> None:
    quick: dict[str, Any] = {"burn_in": 20, "samples": 3, "thin": 2, "chains": 2, "hidden": 16}
    subjects: dict[str, Any] = {"HCM": HCM(**quick), "Odd": Odd()}
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
