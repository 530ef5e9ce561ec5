"""The cases of a detector: what happened around the nodes that it ranks first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.parallel import Progress, silent
from oddhop.cases.case import Cases, Nouns
from oddhop.cases.find import CaseFinder
from oddhop.cases.nouns import nouns_of
from oddhop.detector.contract import DetectorParts
from oddhop.explain.explanation import Explanation
from oddhop.tables.network import Network

MOST_EXPLAINED = 1_000


class HasCases(DetectorParts):
    """Cases of a detector, beside its ranking of nodes."""

    _ranked: Callable[[Any, pa.Table | None], tuple[Network, pa.Table]]
    _top: Callable[[pa.Table], int]
    explain_nodes: Callable[..., Iterator[Explanation]]

    def cases(
        self,
        network: Any = None,
        *,
        top: int | None = None,
        result: pa.Table | None = None,
        nouns: Nouns | None = None,
        progress: Progress = silent,
    ) -> Cases:
        """Return the cases of a ranking: which nodes and events belong together, what happened, what it could be.

        Parameters
        ----------
        network : the network; left out, the one that was fitted.
        top : how many cases, the most unusual first; left out, those of the flagged nodes, or of the first 1 % of the
            nodes where none is flagged.
        result : the table that ranks the network. By default ``result_``, or a new table for another network.
        nouns : what to call nodes, events and amounts; left out, as the columns of the tables say.
        progress : called with (stage, done, total).

        Examples
        --------
        >>> import pyarrow as pa
        >>> from oddhop import Odd, read_network
        >>> paid = {"payer": list("abcdef"), "payee": list("bcdefa"), "euros": [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]}
        >>> people = pa.table({"id": list("abcdef"), "age": [30, 31, 32, 33, 34, 35]})
        >>> found = Odd(random_state=0).fit(read_network(pa.table(paid), people)).cases(top=2)
        >>> len(found.cases), found.nouns.node, found.cases[0].number
        (2, 'account', 1)
        """
        taken, table = self._ranked(network, result)
        finder = self.case_finder(taken, table, nouns)
        judged = table.filter(table["judged"])
        flagged = int(np.count_nonzero(table["flagged"].to_numpy())) or self._top(table)
        count = min(flagged if top is None else 2 * top, judged.num_rows, MOST_EXPLAINED)
        while True:
            nodes = taken.numbers(judged["id"].slice(0, count))
            explained = list(self.explain_nodes(taken, table, nodes, progress=progress))
            numbers = finder.numbers(explained)
            if top is None or len({*numbers}) > top or count >= min(judged.num_rows, MOST_EXPLAINED):
                return finder.find(explained, top)
            count = min(2 * count, judged.num_rows, MOST_EXPLAINED)

    @property
    def cases_(self) -> Cases:
        """The cases of the network that was fitted, see :meth:`cases`."""
        return self.cases()

    def case_finder(self, network: Network, result: pa.Table, nouns: Nouns | None = None) -> CaseFinder:
        """Return what finds the cases of a ranked network."""
        return CaseFinder(network, result, nouns or nouns_of(network), self._known(network))
