"""A fit on a network that lies on disk, with its tasks on threads or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import pyarrow as pa

from oddhop.base.arrays import Ints
from oddhop.base.parallel import Mapper, Progress, available_workers, silent
from oddhop.detector.contract import DetectorParts, FitRun
from oddhop.detector.fit_folder import begun_on_disk
from oddhop.detector.result_table import Judgement
from oddhop.errors import SettingsError
from oddhop.graph.disk import Stored, fingerprint, open_stored
from oddhop.graph.graph import Graph
from oddhop.tables.network import describe


class FitsPartitions(DetectorParts):
    """Fits of detectors whose tasks run anywhere."""

    settings: Callable[[], Any]
    _check_memory: Callable[..., None]
    _take: Callable[..., None]

    def fit_partitions(
        self,
        folder: str | os.PathLike[str],
        *,
        mapper: Mapper,
        run_folder: str | os.PathLike[str],
        resume: bool = False,
        progress: Progress = silent,
    ) -> Self:
        r"""Fit on a folder made by ``oddhop ingest``; ``mapper`` runs the tasks, on threads or on a cluster.

        Both folders must be seen under their paths wherever tasks run. The result is what ``fit`` gives; Odd leaves out
        cycles. Odd does not need the whole network in the memory of a process, unless networks are simulated, with
        ``simulate=True`` or ``max_chance``: this process then needs about 70 bytes an edge and 310 bytes a node, and
        with several kinds of nodes 16 bytes more an edge.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from oddhop import Odd
        >>> from oddhop.base.parallel import threads
        >>> from oddhop.tables.ingest import ingest
        >>> with tempfile.TemporaryDirectory() as home:
        ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
        ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\n")
        ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
        ...     _ = ingest(edges, nodes, Path(home, "graph"), partition_entries=2)
        ...     run = Odd(random_state=0).fit_partitions(
        ...         Path(home, "graph"), mapper=threads(1), run_folder=Path(home, "run")
        ...     )
        >>> sorted(run.result_["id"].to_pylist())
        ['a', 'b', 'c', 'd']
        """
        if not self.runs_on_partitions:
            raise SettingsError(f"{self.name} does not run over partitions", "use hcm, or fit on one machine")
        settings: Any = self.settings()
        stored = open_stored(folder)
        known, kinds = describe(stored, texts=False), stored.manifest.node_kinds
        self._check_partitions(stored, settings)
        with begun_on_disk(settings, stored, run_folder, resume=resume) as (settings, seed, kept):
            workers = settings.workers or available_workers()
            kept = replace(kept, path=kept.path.absolute())
            run = FitRun(settings, seed, workers, kept, progress, stored.folder.absolute(), mapper)
            learned, judgement, degrees = self._learn_partitions(stored, known.ids, run)
        judged = slice(0, stored.manifest.nodes) if kinds is None else kinds.nodes(kinds.judged)
        ids = known.ids.slice(judged.start, judged.stop - judged.start)
        fitted = fingerprint(stored.folder), settings, seed
        self._take(ids, degrees, *fitted, learned, judgement, known.encoding, known.read)
        return self

    def _check_partitions(self, stored: Stored, settings: Any) -> None:
        """Refuse a fit over partitions that takes more memory than there is."""
        self._check_memory(Graph.open(stored.folder), settings, in_folder=True)

    def _learn_partitions(self, stored: Stored, ids: pa.Array, run: FitRun) -> tuple[Any, Judgement, Ints]:  # noqa: ARG002
        """Learn from a network on disk; return what was learned, what it says of the nodes, and their degrees."""
        graph = Graph.open(stored.folder)
        learned, judgement = self._learn(graph, run)
        return learned, judgement, graph.degrees
