"""The cases of a detector: what happened around the nodes that it ranks first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
        flagged = int(np.count_nonzero(table["flagged"].to_numpy())) or self._top(table)
        count = min(flagged if top is None else 2 * top, MOST_EXPLAINED)

        def enough(explained: Sequence[Explanation]) -> bool:
            return top is None or len({*finder.numbers(explained)}) > top

        return finder.find(self.explain_until(taken, table, count, enough, progress), top)

    def explain_until(
        self,
        network: Network,
        result: pa.Table,
        count: int,
        enough: Callable[[Sequence[Explanation]], bool],
        progress: Progress = silent,
    ) -> list[Explanation]:
        """Explain the first nodes of a ranking, and twice as many until it is enough, at most a thousand."""
        judged = result.filter(result["judged"])["id"]
        most, explained = min(len(judged), MOST_EXPLAINED), list[Explanation]()
        while True:
            more = network.numbers(judged.slice(len(explained), count - len(explained)))
            explained += self.explain_nodes(network, result, more, progress=progress)
            if enough(explained) or count >= most:
                return explained
            count = min(2 * count, most)

    @property
    def cases_(self) -> Cases:
        """The cases of the network that was fitted, see :meth:`cases`."""
        return self.cases()

    def case_finder(self, network: Network, result: pa.Table, nouns: Nouns | None = None) -> CaseFinder:
        """Return what finds the cases of a ranked network."""
        return CaseFinder(network, result, nouns or nouns_of(network), self._known(network))
