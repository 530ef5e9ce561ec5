"""Odd: up to five views of every node, joined. Nothing is trained, and no label is needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from oddhop.arrays.run import Runner, on_threads
from oddhop.arrays.stores import FolderStore
from oddhop.base.arrays import Floats, Ints
from oddhop.base.files import Arrays
from oddhop.base.parallel import Progress, available_workers
from oddhop.cases.find import Known
from oddhop.detector.base import GraphDetector
from oddhop.detector.contract import FitRun
from oddhop.detector.cost import Cost, Size, check_memory
from oddhop.detector.estimator import parameters_of
from oddhop.detector.flagging import budget
from oddhop.detector.model_file import Parts
from oddhop.detector.ranking import check_finite, rank_scores
from oddhop.detector.result_table import Judgement
from oddhop.errors import SettingsError
from oddhop.explain.audit import Finding, agreement
from oddhop.explain.explanation import Baseline, Explanation
from oddhop.explain.guide import Guide
from oddhop.graph.disk import Stored
from oddhop.graph.graph import Graph
from oddhop.odd import cost
from oddhop.odd.blocks import judged_attributes
from oddhop.odd.combine import KINDS, Evidence
from oddhop.odd.communities import unfolded
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.findings import GUIDE, NO_CYCLES, controls, cut_short, left_out_hubs, related, standing_out
from oddhop.odd.fit import LEFT_OUT, Fit, fit, node_keys, replicate_scores
from oddhop.odd.model_file import SCHEMA, OddLearned, OddModel, from_parts, to_parts
from oddhop.odd.null import Chance
from oddhop.odd.settings import OddSettings
from oddhop.odd.source import Source
from oddhop.odd.views import facts_of, judge
from oddhop.tables.network import Network, keys_of

# The variance of what depends on edges, estimated from runs that lack a share of them (the jackknife that leaves many
# out); and twice that for the difference to another sample of edges, which varies as much as ours.
INFLATION = 2 * (1 - LEFT_OUT) / LEFT_OUT
DEFAULT_CHANCE = 0.1


class Odd(GraphDetector):
    """Detect strangers, outliers, cliques, unusual flows and cycles; each kind of anomaly has a view of its own.

    The stranger's neighbours do not look like neighbours, the outlier's attributes are far from everybody's, and
    a clique has mutual ties that neither looks nor communities nor chance explain. With several kinds of nodes one is
    judged, and a clique shares neighbours of other kinds beyond what chance explains. Where edges were read from a
    table as events, a flow is odd if it is unlike that of nodes with such attributes, and a cycle if what was sent came
    back in time more often than chance explains. The page "Odd" describes how each is found, and how they are joined.
    Rank intervals and simulated networks depend on the seed, and no score does.

    Parameters
    ----------
    {settings}

    Attributes
    ----------
    anomaly_scores_ : one score a node, high is odd; ``anomaly_std_`` is how far it may lie off, had another
        sample of the edges been seen.
    result_ : a pyarrow table with one row a node, the highest score first, by the ids of the network; with the kind
        of anomaly and the p-value of every view.
    threshold_, offset_ : nodes that score above ``threshold_`` are flagged; ``offset_`` is its negative.
    information_ : of an edge about the attributes of its ends, in nats; 0 where the stranger's view is silent.
    seed_, network_, model_ : the seed that was used, the network that was fitted, what :meth:`save` writes.

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

    name = "odd"
    settings_type = OddSettings
    schema = SCHEMA
    runs_on_partitions = True
    guide: ClassVar[Guide] = GUIDE

    model_: OddModel
    _facts: EventFacts | None = None
    _cycles: Cycles | None = None  # of the network that was judged or explained last

    @parameters_of(OddSettings)
    def __init__(self) -> None: ...

    @property
    def information_(self) -> float:
        """Mutual information of the attributes of connected nodes, in nats per edge; 0 if they are not related."""
        return self.model_.learned.views.information

    def _learn(self, graph: Graph, run: FitRun) -> tuple[OddLearned, Judgement]:
        size, simulated, searched = Size.of(graph), cost.simulates(Size.of(graph), run.settings), True
        if run.stored is not None and run.folder is not None:
            source = Source.of_folder(FolderStore.of(run.stored, run.folder), on_threads(run.workers, run.progress))
            # As it was decided at first: there may be more or less memory when a run is resumed.
            decided = source.wiring.stage("cycles", partial(_searches_cycles, size, run.settings))
            searched = bool(decided["searched"])
        else:
            source = Source.of_graph(graph, on_threads(run.workers, run.progress, by_pass=False))
        cycles = self._cycles = find_cycles(graph.events, graph.node_count) if searched else None
        found = fit(
            source,
            node_keys(graph),
            seed=run.seed,
            rounds=run.settings.n_resamples,
            cycles=cycles,
            simulated=simulated,
        )
        self._facts = found.facts if run.stored is None else None
        return _learned(found, cycles, searched=searched), _judgement(found, run.settings)

    def _check_partitions(self, stored: Stored, settings: OddSettings) -> None:
        if not _simulates_partitions(settings):
            return
        manifest = stored.manifest  # this process rewires all edges
        kinds = manifest.node_kinds is not None
        size = Size(manifest.nodes, manifest.edges, len(manifest.attribute_names), kinds=kinds)
        needs = {"simulations": cost.cost_on_disk(size, settings, workers=1).memory["simulations"]}
        check_memory(Cost(needs), settings.memory, f"Odd on {stored.folder}")

    def _learn_partitions(self, stored: Stored, ids: pa.Array, run: FitRun) -> tuple[OddLearned, Judgement, Ints]:
        assert run.folder is not None  # noqa: S101 - partitions are fitted in one
        assert run.mapper is not None  # noqa: S101
        store = FolderStore.of(stored.folder, run.folder)
        source = Source.of_folder(store, Runner(run.mapper, run.progress))
        simulated = _simulates_partitions(run.settings)
        found = fit(source, keys_of(ids), seed=run.seed, rounds=run.settings.n_resamples, simulated=simulated)
        learned = _learned(found, None, searched=stored.manifest.events is None)
        return learned, _judgement(found, run.settings), found.degrees

    def _judge(self, graph: Graph, progress: Progress) -> Judgement:
        # P-values come from the bulk of the network that was fitted; communities are the other network's own.
        model, workers = self.model_, self.workers or available_workers()
        fitted = model.learned.views
        evidence, seen = judge(fitted, graph, workers=workers, progress=progress)
        self._facts, self._cycles = seen.facts, seen.cycles
        check_finite(evidence.score)
        blocks = {seen.source.name: fitted.blocks} | {one.kind: one.blocks for one in fitted.others}
        rounds = model.settings.n_resamples
        replicates = replicate_scores(seen, blocks, evidence.score, node_keys(graph), model.seed, rounds)
        return _ranked(evidence, replicates, seen.edges.degrees, model.learned.chance, model.settings)

    def _scores(self, graph: Graph) -> Floats:
        workers = self.workers or available_workers()
        evidence = judge(self.model_.learned.views, graph, workers=workers)[0]
        return np.where(graph.degrees[graph.judged] > 0, evidence.score, 0.0)

    def _explain(
        self, network: Network, nodes: Ints, baseline: Baseline, workers: int, progress: Progress
    ) -> Iterator[Explanation]:
        from oddhop.odd.explain import explain_nodes

        learned, graph = self.model_.learned, network.graph
        kept = learned.residuals
        if kept is not None and kept.size == graph.edge_count and self.model_.fingerprint == graph.fingerprint:
            kept = unfolded(graph, kept)
        else:
            kept = None  # another network has communities of its own
            self._check_memory(graph, self.model_.settings, in_folder=False, fitting=False)
        self._cycles = find_cycles(graph.events, graph.node_count, self._cycles)
        return explain_nodes(
            learned.views,
            network,
            nodes,
            baseline,
            residuals=kept,
            facts=self._facts,
            cycles=self._cycles,
            workers=workers,
            progress=progress,
        )

    def _known(self, network: Network) -> Known | None:
        from oddhop.odd.facts.stated import FactsInWords

        graph = network.graph
        if graph.events is None:
            return None
        own = judged_attributes(graph)
        coordinates = self.model_.learned.views.blocks.coordinates(own.attributes, 0, own.node_count)
        facts = self._facts = facts_of(graph, coordinates, self._facts)
        return None if facts is None else Known(facts.known.setting.stratum, partial(FactsInWords, facts))

    def _audit(self, result: pa.Table, top: int) -> tuple[Finding, ...]:
        few = "The ranking depends on few edges: check the rank intervals before you act."
        found = (agreement(result, top, self.guide.repeated, few), related(self.information_), controls(result, top))
        learned = self.model_.learned
        searched = () if learned.cycles else (NO_CYCLES,)
        return (*found, *searched, *cut_short(learned.truncated), *left_out_hubs(learned.hubs))

    def _ending(self, result: pa.Table) -> Finding:
        settings = self.model_.settings
        judged = result.filter(result["judged"])["score"].to_numpy()
        return standing_out(self.model_.learned.chance, judged, settings.max_chance or DEFAULT_CHANCE)

    def _prepared(self, graph: Graph) -> Graph:
        own = judged_attributes(graph)
        return own.with_attributes(self.model_.learned.views.blocks.prepared(own.attributes, 0, own.node_count))

    def _features(self, graph: Graph) -> dict[str, Floats]:
        from oddhop.odd.features import node_features

        return node_features(self.model_.learned.views, graph, workers=self.workers or available_workers())

    def _memory(self, size: Size, settings: OddSettings, workers: int, *, in_folder: bool) -> Cost:
        if in_folder and size.mapped:
            return cost.cost_on_disk(size, settings, workers=workers)
        return cost.cost(size, settings)

    def _to_parts(self, learned: OddLearned) -> Parts:
        return to_parts(learned)

    @classmethod
    def _from_parts(cls, parts: Parts, settings: Any) -> tuple[OddLearned, int]:
        return from_parts(parts, settings)


def _searches_cycles(size: Size, settings: OddSettings) -> Arrays:
    return {"searched": np.array(cost.searches_cycles(size, settings))}


def _simulates_partitions(settings: OddSettings) -> bool:
    return settings.simulate is True or settings.max_chance is not None


def _learned(found: Fit, cycles: Cycles | None, *, searched: bool) -> OddLearned:
    truncated = 0 if cycles is None else cycles.truncated
    return OddLearned(found.fitted, found.residuals, found.chance, truncated, found.hubs, searched)


def _judgement(found: Fit, settings: OddSettings) -> Judgement:
    return _ranked(found.evidence, found.replicates, found.degrees, found.chance, settings)


def _ranked(
    evidence: Evidence, thinned: list[Floats], degrees: Ints, chance: Chance | None, settings: OddSettings
) -> Judgement:
    """Rank the nodes, and say how sure each rank is by the scores with edges left out.

    The nodes that stand out are flagged where they are asked for; a model without simulated networks cannot.
    """
    judged = degrees > 0
    score = np.where(judged, evidence.score, 0.0)
    top = budget(settings, int(judged.sum()))
    ranking = rank_scores(score, thinned or [score, score], judged, top, inflation=INFLATION)
    columns = {
        "kind": np.array(KINDS)[evidence.kind],
        **{f"p_{name}": np.exp(log_p) for name, log_p in zip(KINDS, evidence.log_p, strict=True)},
        "score_std": ranking.std,
    }
    head = None
    if settings.max_chance is not None:
        if chance is None:
            raise SettingsError("the model has no simulated networks", "fit it with max_chance, or give top_k")
        head = chance.standing_out(score[judged], settings.max_chance)
    return Judgement(ranking, judged, columns, head)
