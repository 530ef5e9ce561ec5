"""HCM: the paper's detector. The stages in their order, and nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from oddhop.base.arrays import Floats
from oddhop.base.checkpoints import RunFolder
from oddhop.base.parallel import Progress, available_workers, silent
from oddhop.detector.base import GraphDetector, begun_run, check_finite, checked_graph
from oddhop.detector.memory import check_memory
from oddhop.detector.ranking import rank_nodes
from oddhop.detector.result_table import budget, result_table, threshold_of
from oddhop.errors import NothingToLearnError
from oddhop.graph.graph import Graph
from oddhop.graph.preparation import learn_preparation
from oddhop.hcm.chains import run_chains
from oddhop.hcm.diagnostics import Diagnostics, Learned
from oddhop.hcm.model import Inputs, Shape
from oddhop.hcm.model_file import Model, load_model, save_model
from oddhop.hcm.scoring import Scores, score_nodes
from oddhop.hcm.subgraph import take_excerpt
from oddhop.hcm.training_pairs import plan_chains, take_lesson
from oddhop.settings import HCMSettings, checked_settings
from oddhop.tables.encode import Encoding
from oddhop.version import __version__


class HCM(GraphDetector):
    """Hop-count based anomaly detection: a node whose neighbours look far away is odd.

    Parameters
    ----------
    hops : hop classes C: 1, 2, ..., C-1 and "C or more".
    drop_ratio : share R of the least similar edges left out when hop labels are made.
    sampling_ratio : share S of the smallest class that a step draws from every class, up to
        ``pairs_per_step`` pairs in all.
    layers, hidden : of the graph convolutional network.
    sampler : "sgld" (posterior samples) or "sgd" (the same steps without noise).
    chains, samples, burn_in, thin : independent chains; after ``burn_in`` steps each keeps
        ``samples`` samples, ``thin`` steps apart.
    score : "hav" (average hop prediction and inferred variance) or "ahp" (the former alone).
    random_state : a seed, or None for a fresh one; ``seed_`` has the one that was used.
    step_size, warm_start : the step after burn-in; during burn-in it falls from ``warm_start``
        times that.
    weight_decay : precision of the prior, in units of the mean loss.
    temperature : of the posterior on the mean loss; None is 1 / (classes x smallest class), and no
        more than 1e-4.
    labels : "sampled", or "exhaustive" for all pairs as in the paper (small networks).
    scale, pca_components, pca_above : how attributes are prepared, see ``oddhop.graph.preparation``.
    contamination, top_k : how many nodes to flag: a share, a number, or none ("auto").
    training : "full" sees whole neighbourhoods, "sampled" at most ``neighbours`` neighbours of a node and a
        bounded number of pairs; "auto" is the latter above 2^20 nodes. Scores always come from all neighbours.
        None is 64, or as many more as take no more memory than 64 may.
    precision : "float32", "float64", or "bfloat16": trained in float32, and scored with embeddings of half the
        size (see :doc:`runs-and-files`).
    workers : threads; None takes all cores. No score depends on it.
    max_memory : bytes; a run that would take more is refused. None takes what is free.

    Attributes
    ----------
    anomaly_scores_ : one score a node, high is odd; ``anomaly_std_`` is how far a fresh run's
        may lie from it.
    result_ : a pyarrow table, the oddest node first.
    threshold_, offset_ : scores from ``threshold_`` on are flagged; ``offset_`` is its negative.
    diagnostics_ : see :class:`Diagnostics`.
    seed_ : the seed that was used.
    model_ : what :meth:`save` writes.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import HCM, Graph
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 30, (2, 90)), rng.normal(size=(30, 3)))
    >>> detector = HCM(burn_in=20, samples=2, thin=2, random_state=0).fit(graph)
    >>> detector.anomaly_scores_.shape
    (30,)
    >>> detector.result_.column_names[:5]
    ['id', 'score', 'rank', 'rank_low', 'rank_high']
    """

    def __init__(
        self,
        hops: int = 4,
        drop_ratio: float = 0.2,
        sampling_ratio: float = 0.3,
        layers: int = 2,
        hidden: int = 128,
        sampler: Literal["sgld", "sgd"] = "sgld",
        chains: int = 4,
        score: Literal["hav", "ahp"] = "hav",
        random_state: int | None = None,
        *,
        samples: int = 10,
        burn_in: int = 1_000,
        thin: int = 10,
        step_size: float = 0.002,
        warm_start: float = 10.0,
        weight_decay: float = 5e-8,
        temperature: float | None = None,
        pairs_per_step: int = 8_192,
        labels: Literal["sampled", "exhaustive"] = "sampled",
        training: Literal["auto", "full", "sampled"] = "auto",
        neighbours: int | None = None,
        scale: Literal["standard", "none"] = "standard",
        pca_components: int | None = 20,
        pca_above: int = 100,
        contamination: Literal["auto"] | float = "auto",
        top_k: int | None = None,
        precision: Literal["float32", "float64", "bfloat16"] = "float32",
        workers: int | None = None,
        max_memory: int | None = None,
    ) -> None:
        self.hops = hops
        self.drop_ratio = drop_ratio
        self.sampling_ratio = sampling_ratio
        self.layers = layers
        self.hidden = hidden
        self.sampler = sampler
        self.chains = chains
        self.score = score
        self.random_state = random_state
        self.samples = samples
        self.burn_in = burn_in
        self.thin = thin
        self.step_size = step_size
        self.warm_start = warm_start
        self.weight_decay = weight_decay
        self.temperature = temperature
        self.pairs_per_step = pairs_per_step
        self.labels = labels
        self.training = training
        self.neighbours = neighbours
        self.scale = scale
        self.pca_components = pca_components
        self.pca_above = pca_above
        self.contamination = contamination
        self.top_k = top_k
        self.precision = precision
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
    ) -> HCM:
        """Learn from a network and score its nodes; ``y`` is ignored.

        With ``run_folder`` the run keeps checkpoints there, and a killed one goes on with
        ``resume=True`` to the same bits. ``progress`` is called with (stage, done, total).
        """
        settings = checked_settings(self.get_params())
        checked_graph(graph)
        if graph.edge_count == 0:
            raise NothingToLearnError(
                f"{graph!r} has no edges, and hop counts are learned from edges; give at least one"
            )
        workers = settings.workers or available_workers()
        check_memory(graph, settings, workers=workers, in_folder=run_folder is not None)
        with begun_run(settings, graph, run_folder, resume=resume) as (seed, folder):
            self._fit(graph, settings, seed, workers, folder, progress)
        return self

    def _fit(
        self,
        graph: Graph,
        settings: HCMSettings,
        seed: int,
        workers: int,
        folder: RunFolder | None,
        progress: Progress,
    ) -> None:
        progress("preparing", 0, 1)
        preparation = learn_preparation(
            graph, scale=settings.scale, pca_components=settings.pca_components, pca_above=settings.pca_above
        )
        lesson = take_lesson(graph, preparation, settings, seed, workers, progress)
        shape = Shape(preparation.width, settings.hidden, settings.layers, settings.hops)
        plan = plan_chains(lesson.pairs, settings, seed)
        inputs, pairs = lesson.inputs, lesson.pairs
        if settings.samples_neighbours(graph.node_count):
            excerpt = take_excerpt(
                inputs,
                pairs,
                layers=settings.layers,
                neighbours=settings.neighbours,
                at_once=settings.pairs_per_step,
                seed=seed,
            )
            inputs, pairs = excerpt.inputs, excerpt.pairs
        posterior = run_chains(plan, shape, inputs, pairs, folder=folder, workers=workers, progress=progress)
        del inputs, pairs
        scores = score_nodes(
            posterior, lesson.inputs, graph, coarse=settings.coarse, folder=folder, workers=workers, progress=progress
        )
        diagnostics = Diagnostics.of(scores, posterior, plan, lesson.pairs, lesson.left_out)
        known = graph.node_ids, graph.degrees, graph.fingerprint
        self.take(Learned(settings, seed, preparation, posterior, scores, diagnostics, *known))

    def take(self, learned: Learned) -> None:
        """Take over what a fit came to: rank the nodes, flag them, and be fitted."""
        settings, scores = learned.settings, learned.scores
        ranking = rank_nodes(scores, settings.score, budget(settings, scores.judged))
        threshold = threshold_of(settings, scores.judged, ranking)
        self.seed_ = learned.seed
        self.threshold_ = threshold
        self.offset_ = -threshold
        self.anomaly_scores_ = ranking.score
        self.anomaly_std_ = ranking.std
        self.result_ = result_table(learned.node_ids, learned.degrees, scores, ranking, threshold)
        self.diagnostics_ = learned.diagnostics
        self.model_ = Model(
            settings=settings,
            seed=learned.seed,
            preparation=learned.preparation,
            posterior=learned.posterior,
            maxima=(scores.max_ahp, scores.max_iv),
            threshold=threshold,
            fingerprint=learned.fingerprint,
            version=__version__,
        )

    def score_table(self, graph: Graph, *, progress: Progress = silent) -> pa.Table:
        """Score another network with the same attributes; give a table like ``result_``."""
        check_is_fitted(self, "threshold_")
        scores = self._scores(checked_graph(graph), progress)
        check_finite(scores.chain_scores(self.model_.settings.score))
        ranking = rank_nodes(scores, self.model_.settings.score, budget(self.model_.settings, scores.judged))
        return result_table(graph.node_ids, graph.degrees, scores, ranking, self.threshold_)

    def save(self, path: str | os.PathLike[str], *, encoding: Encoding | None = None) -> None:
        """Write the fitted model to a file, safe to load from anywhere: no code, every part checked.

        With ``encoding`` the file also says how the columns of a table become the attributes, so that
        later tables are read alike: ``HCM.load(path).model_.encoding``.
        """
        check_is_fitted(self, "threshold_")
        save_model(self.model_ if encoding is None else replace(self.model_, encoding=encoding), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HCM:
        """Read a model file. It scores networks; the scores of the training network are not in it.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from oddhop import HCM, Graph
        >>> graph = Graph.from_arrays([[0, 1, 2, 3], [1, 2, 3, 0]], np.eye(4))
        >>> fitted = HCM(burn_in=5, samples=2, thin=1, random_state=0).fit(graph)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fitted.save(f"{folder}/model.oddhop")
        ...     loaded = HCM.load(f"{folder}/model.oddhop")
        >>> bool((loaded.score_samples(graph) == -fitted.anomaly_scores_).all())
        True
        """
        model = load_model(path)
        detector = cls(**model.settings.model_dump())
        detector.model_ = model
        detector.seed_ = model.seed
        detector.threshold_, detector.offset_ = model.threshold, -model.threshold
        return detector

    def _anomaly_scores(self, graph: Graph) -> Floats:
        scores = self._scores(graph, silent)
        return np.asarray(scores.chain_scores(self.model_.settings.score).mean(axis=0))

    def _scores(self, graph: Graph, progress: Progress) -> Scores:
        model = self.model_
        workers = self.workers or available_workers()
        check_memory(graph, model.settings, workers=workers, stages=("scoring",))
        inputs = Inputs.of(model.preparation.apply(graph, model.settings.dtype), model.settings.dtype)
        return score_nodes(
            model.posterior,
            inputs,
            graph,
            maxima=model.maxima,
            coarse=model.settings.coarse,
            workers=workers,
            progress=progress,
        )
