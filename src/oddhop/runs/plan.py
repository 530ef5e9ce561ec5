"""The time that a run takes besides the fit: reading, explanations, report."""

from __future__ import annotations

from oddhop.detector.cost import Size
from oddhop.reports.build import CASES

# Processor seconds on a machine with two cores, from time.process_time around each part of ``detect`` by Odd with 100
# explained nodes. The tables were CSV files of 2,000, 20,000 and 100,000 nodes with 6,000, 100,000 and 1,000,000 edge
# rows and 3 to 50 columns. The rates give each part of these runs to within 25 %. HCM explains about as fast.
START_SECONDS = 1.6  # the imports
READ_SECONDS, READ_ROW_SECONDS, READ_VALUE_SECONDS = 0.6, 3e-6, 2e-6  # of an edge row, of an attribute value
EXPLAIN_NODE_SECONDS, EXPLAIN_EDGE_SECONDS = 1e-2, 2.5e-6  # of an explained node, of an edge of the network
REPORT_SECONDS, REPORT_NODE_SECONDS, REPORT_EDGE_SECONDS = 0.25, 1e-5, 1e-6  # audit, page and result files


def seconds_before_fit(size: Size) -> dict[str, float]:
    """Estimate the seconds of the start and of reading the tables; a network on disk is not read.

    Examples
    --------
    >>> from oddhop.detector.cost import Size
    >>> from oddhop.runs.plan import seconds_before_fit
    >>> {part: round(seconds) for part, seconds in seconds_before_fit(Size(10**5, 10**6, 34, 34 * 10**5)).items()}
    {'reading': 12}
    """
    if size.values is None:
        return {"reading": START_SECONDS}
    rows = max(size.edges, size.events) * READ_ROW_SECONDS
    return {"reading": START_SECONDS + READ_SECONDS + rows + size.values * READ_VALUE_SECONDS}


def seconds_after_fit(size: Size, explain: int = CASES) -> dict[str, float]:
    """Estimate the seconds of the explanations, and of the report and the other files.

    Examples
    --------
    >>> from oddhop.detector.cost import Size
    >>> from oddhop.runs.plan import seconds_after_fit
    >>> {part: round(seconds, 1) for part, seconds in seconds_after_fit(Size(10**5, 10**6, 34)).items()}
    {'explanations': 3.5, 'report': 2.2}
    """
    explained = min(explain, size.nodes) * EXPLAIN_NODE_SECONDS + size.edges * EXPLAIN_EDGE_SECONDS
    written = REPORT_SECONDS + size.nodes * REPORT_NODE_SECONDS + size.edges * REPORT_EDGE_SECONDS
    return {"explanations": explained, "report": written}
