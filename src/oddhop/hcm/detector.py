"""HCM: the paper's detector. The stages in their order, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Ints
from oddhop.base.parallel import Progress, available_workers
from oddhop.detector.base import GraphDetector
from oddhop.detector.contract import FitRun
from oddhop.detector.estimator import parameters_of
from oddhop.detector.flagging import budget
from oddhop.detector.result_table import Judgement
from oddhop.explain.audit import Finding
from oddhop.explain.explanation import Baseline, Explanation
from oddhop.explain.guide import Guide
from oddhop.graph.graph import Graph
from oddhop.hcm.chains import Plan, run_chains
from oddhop.hcm.cost import memory
from oddhop.hcm.diagnostics import GUIDE, Diagnostics, kept_by_another_seed, ties
from oddhop.hcm.explain import explain_nodes
from oddhop.hcm.hop_pairs import labelled_pairs
from oddhop.hcm.material import Material
from oddhop.hcm.model import Inputs, Shape, device_of
from oddhop.hcm.model_file import SCHEMA, HCMLearned, HCMModel, from_parts, to_parts
from oddhop.hcm.purify import check_one_kind, learn_attributes, purify
from oddhop.hcm.ranking import agreement, rank_nodes, spread_of
from oddhop.hcm.scoring import Scores, score_nodes
from oddhop.hcm.settings import HCMSettings, published
from oddhop.tables.network import Network


class HCM(GraphDetector):
    """Hop-count based anomaly detection: a node is anomalous if the predicted distance of its neighbours is large.

    Parameters
    ----------
    {settings}

    Attributes
    ----------
    anomaly_scores_ : one score a node, high is odd; ``anomaly_std_`` is how far a fresh run's may lie from it.
    result_ : a pyarrow table with one row a node, the highest score first, by the ids of the network.
    threshold_, offset_ : nodes that score above ``threshold_`` are flagged; ``offset_`` is its negative.
    diagnostics_ : see :class:`~oddhop.hcm.diagnostics.Diagnostics`.
    seed_, network_, model_ : the seed that was used, the network that was fitted, what :meth:`save` writes.

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

    name = "hcm"
    settings_type = HCMSettings
    schema = SCHEMA
    runs_on_partitions = True
    guide: ClassVar[Guide] = GUIDE

    diagnostics_: Diagnostics
    model_: HCMModel

    @parameters_of(HCMSettings)
    def __init__(self) -> None: ...

    @classmethod
    def as_published(cls, name: str, **changed: Any) -> Self:
        """Return HCM with the settings that the paper prints for one of its networks; ``changed`` are on top.

        The networks are Flickr, BlogCatalog, ACM, Amazon and Enron. The page on the method has the list of what is
        printed, what is not, and what the default changes.

        Examples
        --------
        >>> from oddhop import HCM
        >>> detector = HCM.as_published("Amazon", random_state=0)
        >>> detector.layers, detector.chains, detector.step_size
        (4, 1, 0.01)
        """
        return cls(**{**published(name), **changed})

    def _learn(self, graph: Graph, run: FitRun) -> tuple[HCMLearned, Judgement]:
        settings: HCMSettings = run.settings
        run.progress("preparing", 0, 1)
        preparation = learn_attributes(graph, settings)
        prepared = preparation.apply(graph, settings.dtype)
        most = settings.most_neighbours(graph.node_count)
        inputs = Inputs.of(prepared, settings.dtype, most=most, seed=run.seed, normalised=settings.normalised_input)
        purified = purify(prepared, settings.drop_ratio, seed=run.seed, workers=run.workers, directed=settings.directed)
        run.progress("preparing", 1, 1)
        pairs = labelled_pairs(purified, settings, run.seed, run.workers, run.progress)
        left_out = purified.left_out
        del prepared, purified  # training needs the room
        shape = Shape.of(settings, preparation.width)
        plan = Plan.of(settings, pairs, run.seed, device_of(settings, tasks=run.mapper is not None))
        material = Material(graph, inputs, pairs, run.folder)
        if run.mapper is not None and run.stored is not None:
            material = material.in_files(run.stored)
        how: Any = {"mapper": run.mapper, "workers": run.workers, "progress": run.progress}
        posterior, scores, agreed = None, None, None
        for chains in settings.rounds(pairs.smallest, pairs.present.size):
            posterior = run_chains(replace(plan, chains=chains), shape, material, before=posterior, **how)
            scores = score_nodes(posterior, material, before=scores, device=plan.device, **how)
            agreed = agreement(scores, settings.score)
            if agreed is not None and agreed.enough:
                break
        assert posterior is not None and scores is not None  # noqa: S101, PT018 - there is at least one round
        material.arrays.clear()  # the ranking needs the room
        within, between = scores.iv_parts
        self.diagnostics_ = Diagnostics(
            chains=len(posterior.weights),
            agreement=agreed,
            iv_within=within,
            iv_between=between,
            losses=posterior.losses,
            class_sizes=pairs.class_sizes,
            classes_counted=pairs.exact,
            temperature=plan.rule.temperature,
            **vars(left_out),
        )
        return HCMLearned(preparation, posterior, scores.maxima, left_out, agreed), judgement(scores, settings)

    def _judge(self, graph: Graph, progress: Progress) -> Judgement:
        settings, learned = self.model_.settings, self.model_.learned
        check_one_kind(graph.kinds)
        prepared = learned.preparation.apply(graph, settings.dtype)
        inputs = Inputs.of(prepared, settings.dtype, normalised=settings.normalised_input)
        scores = score_nodes(
            learned.posterior,
            Material(graph, inputs),
            maxima=learned.maxima,
            device=device_of(settings.model_copy(update={"device": self.device})),
            workers=self.workers or available_workers(),
            progress=progress,
        )
        return judgement(scores, settings)

    def _explain(
        self, network: Network, nodes: Ints, baseline: Baseline, workers: int, progress: Progress
    ) -> Iterator[Explanation]:
        return explain_nodes(self.model_, network, nodes, baseline, workers=workers, progress=progress)

    def _baseline(self, judged: pa.Table, line: float) -> Baseline:
        hops, variance = (float(np.median(judged[name].to_numpy())) for name in ("ahp", "iv"))
        return Baseline(line, hops, variance**0.5)

    def _audit(self, result: pa.Table, top: int) -> tuple[Finding, ...]:  # noqa: ARG002 - it is the same for all results
        learned = self.model_.learned
        kept = kept_by_another_seed(learned.agreement, len(learned.posterior.weights))
        left_out = learned.left_out
        return (kept, ties(left_out.dropped, left_out.tied)) if left_out.dropped else (kept,)

    def _prepared(self, graph: Graph) -> Graph:
        return self.model_.learned.preparation.apply(graph, self.model_.settings.dtype)

    _memory = staticmethod(memory)
    _to_parts = staticmethod(to_parts)
    _from_parts = staticmethod(from_parts)


def judgement(scores: Scores, settings: HCMSettings) -> Judgement:
    """Rank the nodes by what the posterior says of them."""
    ranking = rank_nodes(scores, settings.score, budget(settings, int(scores.judged.sum())))
    columns = {
        "ahp": scores.ahp,
        "iv": scores.iv,
        "hav": scores.hav,
        "score_std": ranking.std,
        "spread": spread_of(scores),
    }
    return Judgement(ranking, scores.judged, columns)
