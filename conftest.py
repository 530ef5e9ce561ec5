"""Processor seconds by folder, at the end of every run of tests. CONTRIBUTING.md has a table of them."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from pathlib import PurePosixPath

import pytest

PROCESSES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
SPENT = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what was spent since the last report; the first one has the start of the process, too."""
    report = yield
    spent = sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, PROCESSES))
    report.processor = spent - item.config.stash.get(SPENT, 0.0)  # type: ignore[attr-defined]
    item.config.stash[SPENT] = spent
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what every report noted."""
    spent: Counter[str] = Counter()
    for report in (one for reports in terminalreporter.stats.values() for one in reports):
        if hasattr(report, "processor"):  # not what could not be collected, nor warnings
            parts = PurePosixPath(report.nodeid.partition("::")[0]).parent.parts
            spent["/".join(parts[: 3 if parts[:1] == ("src",) else 2])] += report.processor
    folders = ", ".join(f"{seconds:.0f} {folder or 'README.md'}" for folder, seconds in spent.most_common())
    terminalreporter.write_line(f"processor seconds: {folders}")
