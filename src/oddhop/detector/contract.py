"""What a detector gives: three things it must, and those it may to say more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats, Ints
from oddhop.base.checkpoints import RunFolder
from oddhop.base.parallel import Mapper, Progress, silent
from oddhop.cases.find import Known
from oddhop.detector.cost import BASE, Cost, Size
from oddhop.detector.model_file import Model, Parts
from oddhop.detector.result_table import Judgement
from oddhop.detector.settings import DetectorSettings
from oddhop.explain.audit import Finding, agreement
from oddhop.explain.explanation import Baseline, Explanation, plain_explanation
from oddhop.explain.guide import PLAIN, Guide
from oddhop.graph.graph import Graph
from oddhop.tables.network import Network


@dataclass(frozen=True, eq=False)
class FitRun:
    """How one fit is done.

    Attributes
    ----------
    settings, seed, workers : the checked settings, the seed, and how many threads.
    folder : for checkpoints, or None.
    progress : whom to tell.
    stored : where the network lies on disk, or None.
    mapper : runs tasks on a cluster, or None.
    """

    settings: Any
    seed: int
    workers: int
    folder: RunFolder | None
    progress: Progress
    stored: Path | None = None
    mapper: Mapper | None = None


class DetectorParts(ABC):
    """The methods that each detector implements; :class:`~oddhop.detector.base.GraphDetector` has the others.

    Attributes
    ----------
    name : what it is called in the registry, in settings files and in model files.
    settings_type : its settings, checked.
    schema : the number of the form of its model files.
    runs_on_partitions : whether it has ``fit_partitions``.
    guide : how to read its scores.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type[DetectorSettings]]
    schema: ClassVar[int] = 1
    runs_on_partitions: ClassVar[bool] = False
    guide: ClassVar[Guide] = PLAIN

    model_: Model[Any, Any]

    # What a detector must give.

    @abstractmethod
    def _learn(self, graph: Graph, run: FitRun) -> tuple[Any, Judgement]:
        """Learn from a graph; return what was learned, and what it says of the graph's nodes."""

    @abstractmethod
    def _judge(self, graph: Graph, progress: Progress) -> Judgement:
        """Judge the nodes of a graph by what was learned before, ``self.model_``."""

    # What a detector may give.

    def _scores(self, graph: Graph) -> Floats:
        """Score the nodes of a graph by what was learned before."""
        return self._judge(graph, silent).ranking.score

    def _explain(
        self, network: Network, nodes: Ints, baseline: Baseline, workers: int, progress: Progress
    ) -> Iterator[Explanation]:
        """Explain nodes given by their numbers."""
        scores = self._scores(network.graph)
        for node in nodes.tolist():
            yield plain_explanation(network, node, float(scores[node]), baseline)

    def _known(self, network: Network) -> Known | None:
        """Return what is known of a network beside its ranking, for its cases."""
        return None

    def _baseline(self, judged: pa.Table, line: float) -> Baseline:
        """Return what is usual among the judged nodes; scores from ``line`` on are alerts."""
        return Baseline(line, 1.0, 0.0)

    def _audit(self, result: pa.Table, top: int) -> tuple[Finding, ...]:
        """Return the findings about a ranking beyond the comparison with trivial ones."""
        return (
            agreement(
                result, top, self.guide.repeated, "The ranking is uncertain: check the rank intervals before you act."
            ),
        )

    def _ending(self, result: pa.Table) -> Finding | None:
        """Return where the list of a result ends, by what the detector knows of chance."""
        return None

    def _prepared(self, graph: Graph) -> Graph:
        """Return a graph with the attributes as the detector sees them; the audit takes distances there."""
        return graph

    def _features(self, graph: Graph) -> dict[str, Floats]:
        """Return figures of every node that a learner may use, by name."""
        columns = self._judge(graph, silent).columns
        return {name: values.astype(np.float64) for name, values in columns.items() if values.dtype.kind in "iufb"}

    def _memory(self, size: Size, settings: Any, workers: int, *, in_folder: bool) -> Cost:
        """Estimate the memory of a fit; ``in_folder`` it keeps files in a run folder."""
        return Cost({"fitting": BASE + size.reading + 24 * size.edges + 8 * size.nodes * (size.attributes + 20)})

    def _to_parts(self, learned: Any) -> Parts:
        """Take apart what was learned, for a model file; as it is, where it is a mapping of arrays."""
        return Parts(dict(learned), {})

    @classmethod
    def _from_parts(cls, parts: Parts, settings: Any) -> tuple[Any, int | None]:
        """Put together what a model file holds, checked; return it and how many attributes it takes, if it matters."""
        return parts.arrays, None
