"""Odd: three views of every node, joined. Nothing is trained, and no label is needed."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from oddhop.base.arrays import Floats
from oddhop.base.parallel import Progress, available_workers, silent
from oddhop.detector.base import GraphDetector, begun_run, check_finite, checked_graph
from oddhop.detector.memory import check_odd_memory
from oddhop.detector.ranking import rank_scores
from oddhop.detector.result_table import budget, odd_table, threshold_of
from oddhop.errors import NothingToLearnError
from oddhop.graph.graph import Graph
from oddhop.odd.combine import Evidence
from oddhop.odd.model_file import OddModel, load_odd, save_odd
from oddhop.odd.ring import folded
from oddhop.odd.views import LEFT_OUT, Seen, judge, learn_panel, see, thinned_score
from oddhop.settings import OddSettings, checked_odd_settings
from oddhop.tables.encode import Encoding
from oddhop.version import __version__

# The variance of what depends on edges, told from runs that lack a share of them (the jackknife that leaves many out);
# and twice that for the difference to another sample of edges, which varies as much as ours.
INFLATION = 2 * (1 - LEFT_OUT) / LEFT_OUT


class Odd(GraphDetector):
    """A node is odd as a stranger, an outlier or part of a ring; each is found by a view of its own.

    The stranger's neighbours do not look like neighbours, the outlier's attributes are far from everybody's, and
    a ring has mutual ties that neither looks nor communities nor chance explain. The page "Odd" tells how each is
    found, and how they are joined.

    Parameters
    ----------
    repeats : how often the network is judged again with a fifth of its edges left out, to tell how sure a rank is.
    random_state : a seed for those draws, or None for a fresh one; no score depends on it.
    contamination, top_k : how many nodes to flag: a share, a number, or none ("auto").
    workers : threads; None takes all cores. No score depends on it.
    max_memory : bytes; a run that would take more is refused. None takes what is free.

    Attributes
    ----------
    anomaly_scores_ : one score a node, high is odd; ``anomaly_std_`` is how far it may lie off, had another
        sample of the edges been seen.
    result_ : a pyarrow table, the oddest node first, with the kind of oddness and the p-value of every view.
    threshold_, offset_ : scores from ``threshold_`` on are flagged; ``offset_`` is its negative.
    information_ : the nats that an edge tells about the attributes of its ends; 0 where the stranger's view is silent.
    seed_ : the seed that was used.
    model_ : what :meth:`save` writes.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Odd
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> detector = Odd(random_state=0).fit(graph)
    >>> detector.anomaly_scores_.shape
    (60,)
    >>> detector.result_.column_names[:7]
    ['id', 'score', 'rank', 'rank_low', 'rank_high', 'top_probability', 'kind']
    """

    def __init__(
        self,
        repeats: int = 4,
        random_state: int | None = None,
        *,
        contamination: Literal["auto"] | float = "auto",
        top_k: int | None = None,
        workers: int | None = None,
        max_memory: int | None = None,
    ) -> None:
        self.repeats = repeats
        self.random_state = random_state
        self.contamination = contamination
        self.top_k = top_k
        self.workers = workers
        self.max_memory = max_memory

    def fit(
        self,
        graph: Graph,
        y: Any = None,  # noqa: ARG002 - scikit-learn's signature
        *,
        run_folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: Progress = silent,
    ) -> Odd:
        """Learn from a network and score its nodes; ``y`` is ignored.

        With ``run_folder`` the seed is kept there, so that a killed run made again with ``resume=True`` ends with
        the same bits; there are no checkpoints, for it takes seconds. ``progress`` is called with (stage, done, total).
        """
        settings = checked_odd_settings(self.get_params())
        checked_graph(graph)
        if graph.edge_count == 0:
            raise NothingToLearnError(f"{graph!r} has no edges, and a node is judged by its edges; give at least one")
        check_odd_memory(graph, settings.max_memory)
        workers = settings.workers or available_workers()
        with begun_run(settings, graph, run_folder, resume=resume) as (seed, _):
            self._fit(graph, settings, seed, workers, progress)
        return self

    def _fit(self, graph: Graph, settings: OddSettings, seed: int, workers: int, progress: Progress) -> None:
        progress("views", 0, settings.repeats + 1)
        panel, evidence, seen = learn_panel(graph, workers=workers)
        progress("views", 1, settings.repeats + 1)
        table, threshold, std = _ranked(seen, evidence, settings, seed, None, workers, progress)
        self.seed_ = seed
        self.threshold_, self.offset_ = threshold, -threshold
        self.anomaly_scores_ = _judged_score(graph, evidence)
        self.anomaly_std_ = std
        self.information_ = panel.kinship.information
        self.result_ = table
        apart = None if seen.apart is None else folded(graph, seen.apart)
        self.model_ = OddModel(settings, seed, panel, threshold, graph.fingerprint, __version__, apart=apart)

    def score_table(self, graph: Graph, *, progress: Progress = silent) -> pa.Table:
        """Score another network with the same attributes; give a table like ``result_``.

        P-values are told from the bulk of the network that was fitted; communities are the other network's own.
        """
        check_is_fitted(self, "threshold_")
        model = self.model_
        workers = self.workers or available_workers()
        evidence = self._evidence(checked_graph(graph))
        check_finite(evidence.score)
        seen = see(graph, model.panel.coordinates, model.panel.preparation)
        table, _, _ = _ranked(seen, evidence, model.settings, model.seed, self.threshold_, workers, progress)
        return table

    def save(self, path: str | os.PathLike[str], *, encoding: Encoding | None = None) -> None:
        """Write the fitted model to a file, safe to load from anywhere: no code, every part checked.

        With ``encoding`` the file also says how the columns of a table become the attributes.
        """
        check_is_fitted(self, "threshold_")
        save_odd(self.model_ if encoding is None else replace(self.model_, encoding=encoding), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Odd:
        """Read a model file. It scores networks; the scores of the training network are not in it.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from oddhop import Graph, Odd
        >>> rng = np.random.default_rng(0)
        >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
        >>> fitted = Odd(random_state=0).fit(graph)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fitted.save(f"{folder}/model.oddhop")
        ...     loaded = Odd.load(f"{folder}/model.oddhop")
        >>> bool((loaded.score_samples(graph) == -fitted.anomaly_scores_).all())
        True
        """
        model = load_odd(path)
        detector = cls(**model.settings.model_dump())
        detector.model_ = model
        detector.seed_ = model.seed
        detector.information_ = model.panel.kinship.information
        detector.threshold_, detector.offset_ = model.threshold, -model.threshold
        return detector

    def _anomaly_scores(self, graph: Graph) -> Floats:
        return _judged_score(graph, self._evidence(graph))

    def _evidence(self, graph: Graph) -> Evidence:
        check_odd_memory(graph, self.model_.settings.max_memory)
        return judge(self.model_.panel, graph, workers=self.workers or available_workers())


def _judged_score(graph: Graph, evidence: Evidence) -> Floats:
    return np.where(graph.degrees > 0, evidence.score, 0.0)


def _ranked(
    seen: Seen,
    evidence: Evidence,
    settings: OddSettings,
    seed: int,
    threshold: float | None,
    workers: int,
    progress: Progress,
) -> tuple[pa.Table, float, Floats]:
    """Rank the nodes, say how sure each rank is, and make the table; the threshold is found where none is given."""
    thinned = []
    if seen.graph.edge_count:
        for turn in range(settings.repeats):
            thinned.append(thinned_score(seen, seed, turn, workers=workers))
            progress("views", turn + 2, settings.repeats + 1)
    judged = seen.graph.degrees > 0
    score = _judged_score(seen.graph, evidence)
    replicates = np.stack(thinned) if thinned else np.stack([score, score])
    ranking = rank_scores(score, replicates, judged, budget(settings, judged), inflation=INFLATION)
    if threshold is None:
        threshold = threshold_of(settings, judged, ranking)
    return odd_table(seen.graph, evidence, ranking, judged, threshold), threshold, ranking.std
