"""A fit on a network that lies on disk, with its tasks on threads or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from oddhop.base.parallel import Mapper, Progress, available_workers, silent
from oddhop.detector.contract import DetectorParts, FitRun
from oddhop.detector.fit_folder import begun_on_disk
from oddhop.errors import SettingsError
from oddhop.graph.disk import open_stored
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
        """Fit on a folder made by ``oddhop ingest``, whose files this process maps; ``mapper`` runs the tasks.

        Both folders must be seen under their paths wherever tasks run. The result is what ``fit`` gives, to the bit.
        """
        if not self.runs_on_partitions:
            raise SettingsError(f"{self.name} does not run over partitions", "use hcm, or fit on one machine")
        settings: Any = self.settings()
        stored, graph = open_stored(folder), Graph.open(folder)
        known = describe(stored, texts=False)
        self._check_memory(graph, settings, in_folder=True)
        with begun_on_disk(settings, stored, run_folder, resume=resume) as (settings, seed, kept):
            workers, place = settings.workers or available_workers(), Path(folder).absolute()
            kept = replace(kept, path=kept.path.absolute())
            learned, said = self._learn(graph, FitRun(settings, seed, workers, kept, progress, place, mapper))
        fitted = graph.fingerprint, settings, seed
        self._take(known.ids, graph.degrees, *fitted, learned, said, known.encoding, known.read)
        return self
