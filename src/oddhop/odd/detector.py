"""Odd: up to five views of every node, joined. Nothing is trained, and no label is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats, Ints
from oddhop.base.checkpoints import RunFolder
from oddhop.base.parallel import Mapper, Progress, available_workers, silent
from oddhop.cases.find import Known
from oddhop.detector.base import GraphDetector
from oddhop.detector.contract import FitRun
from oddhop.detector.cost import Cost, Size, check_memory
from oddhop.detector.estimator import parameters_of
from oddhop.detector.fit_folder import begun_on_disk
from oddhop.detector.flagging import budget
from oddhop.detector.model_file import Parts
from oddhop.detector.ranking import check_finite, rank_scores
from oddhop.detector.result_table import Judgement
from oddhop.errors import SettingsError
from oddhop.explain.audit import Finding, agreement
from oddhop.explain.explanation import Baseline, Explanation
from oddhop.explain.guide import Guide
from oddhop.graph.disk import fingerprint, open_stored
from oddhop.graph.graph import Graph
from oddhop.odd import cost
from oddhop.odd.blocks import judged_attributes
from oddhop.odd.combine import KINDS, Evidence
from oddhop.odd.communities import RESIDUALS, folded, unfolded
from oddhop.odd.cycle import Cycles, find_cycles
from oddhop.odd.facts.find import EventFacts
from oddhop.odd.findings import GUIDE, NO_CYCLES, controls, cut_short, left_out_hubs, related, standing_out
from oddhop.odd.kinds import hub_counts
from oddhop.odd.model_file import SCHEMA, OddLearned, OddModel, from_parts, to_parts
from oddhop.odd.null import Chance, simulate_chance
from oddhop.odd.on_disk import judge_on_disk
from oddhop.odd.settings import OddSettings
from oddhop.odd.thinning import LEFT_OUT, node_keys
from oddhop.odd.views import FittedViews, ViewData, facts_of, fit_views, judge, thinned_score
from oddhop.partitions.files import InFiles
from oddhop.partitions.task import TaskRunner, on_threads
from oddhop.tables.network import Network, describe, keys_of

# The variance of what depends on edges, told from runs that lack a share of them (the jackknife that leaves many out);
# and twice that for the difference to another sample of edges, which varies as much as ours.
INFLATION = 2 * (1 - LEFT_OUT) / LEFT_OUT
DEFAULT_CHANCE = 0.1


class Odd(GraphDetector):
    """Detect strangers, outliers, cliques, unusual flows and cycles; each kind of anomaly has a view of its own.

    The stranger's neighbours do not look like neighbours, the outlier's attributes are far from everybody's, and
    a clique has mutual ties that neither looks nor communities nor chance explain. With several kinds of nodes one is
    judged, and a clique shares neighbours of other kinds beyond what chance explains. Where edges were read from a
    table as events, a flow is odd if it is unlike that of nodes with such attributes, and a cycle if what was sent came
    back in time more often than chance explains. The page "Odd" tells how each is found, and how they are joined.
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
    information_ : the nats that an edge tells about the attributes of its ends; 0 where the stranger's view is silent.
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
        settings: OddSettings = run.settings
        simulated = cost.simulates(Size.of(graph), settings)
        if run.stored is not None and run.folder is not None:
            return self._fit_on_disk(graph, run, run.stored, run.folder, simulated=simulated)
        run.progress("views", 0, settings.n_resamples + 1)
        fitted, evidence, data = fit_views(graph, workers=run.workers)
        self._facts, self._cycles = data.facts, data.cycles
        run.progress("views", 1, settings.n_resamples + 1)
        residuals = folded(graph, data.store.of_entries[RESIDUALS])
        thinned = _thinned_scores(fitted, data, settings, run.seed, run.workers, run.progress)
        chance = None
        if simulated:
            chance = simulate_chance(
                fitted, data, evidence.score, seed=run.seed, workers=run.workers, progress=run.progress
            )
        judgement = _judgement(evidence, thinned, data.degrees, chance, settings)
        truncated = 0 if data.cycles is None else data.cycles.truncated
        return OddLearned(fitted, residuals, chance, truncated, hub_counts(data.edges)), judgement

    def _fit_on_disk(
        self, graph: Graph, run: FitRun, stored: Path, folder: RunFolder, *, simulated: bool
    ) -> tuple[OddLearned, Judgement]:
        """Fit on the partitions of a network on disk, with files in the folder of the run."""
        store = InFiles(stored.absolute(), folder.path.absolute(), run.seed, folder.run)
        # As it was decided at first: there may be more or less memory when a run is resumed.
        decided = store.remembered(
            "cycles", lambda: ({}, {"searched": cost.searches_cycles(Size.of(graph), run.settings)})
        )
        searched = bool(decided[1]["searched"])
        cycles = self._cycles = find_cycles(graph.events, graph.node_count) if searched else None
        runner, rounds = on_threads(run.workers, run.progress), run.settings.n_resamples
        found = judge_on_disk(store, runner, node_keys(graph), rounds, cycles, simulated=simulated)
        truncated = 0 if cycles is None else cycles.truncated
        learned = OddLearned(found.fitted, found.residuals, found.chance, truncated, found.hubs, searched)
        return learned, _judgement(found.evidence, found.replicates, found.degrees, found.chance, run.settings)

    def fit_partitions(
        self,
        folder: str | os.PathLike[str],
        *,
        mapper: Mapper,
        run_folder: str | os.PathLike[str],
        resume: bool = False,
        progress: Progress = silent,
    ) -> Self:
        r"""Fit on a folder made by ``oddhop ingest``; no process needs the whole network in memory.

        The tasks are run by ``mapper``, on threads or on a cluster; both folders must be seen under their paths
        wherever tasks run. The result is what ``fit`` gives, without cycles. Networks are simulated only with
        ``simulate=True`` or ``max_chance``; this process then needs about 70 bytes an edge and 310 bytes a node,
        and with several kinds of nodes 16 bytes more an edge.

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
        settings: OddSettings = self.settings()
        stored = open_stored(folder)
        manifest = stored.manifest
        known, kinds = describe(stored, texts=False), manifest.node_kinds
        simulated = settings.simulate is True or settings.max_chance is not None
        if simulated:  # this process rewires all edges
            size = Size(manifest.nodes, manifest.edges, len(manifest.attribute_names), kinds=kinds is not None)
            needs = {"simulations": cost.cost_on_disk(size, settings, workers=1).memory["simulations"]}
            check_memory(Cost(needs), settings.memory, f"Odd on {stored.folder}")
        judged = slice(0, manifest.nodes) if kinds is None else kinds.nodes(kinds.judged)
        with begun_on_disk(settings, stored, run_folder, resume=resume) as (settings, seed, kept):
            store = InFiles(stored.folder.absolute(), kept.path.absolute(), seed, kept.run)
            runner, keys = TaskRunner(mapper, progress), keys_of(known.ids)
            found = judge_on_disk(store, runner, keys, settings.n_resamples, simulated=simulated)
        said = _judgement(found.evidence, found.replicates, found.degrees, found.chance, settings)
        known_by = fingerprint(stored.folder)
        learned = OddLearned(
            found.fitted, found.residuals, found.chance, hubs=found.hubs, cycles=manifest.events is None
        )
        ids = known.ids.slice(judged.start, judged.stop - judged.start)
        self._take(ids, found.degrees, known_by, settings, seed, learned, said, known.encoding, known.read)
        return self

    def _judge(self, graph: Graph, progress: Progress) -> Judgement:
        # P-values come from the bulk of the network that was fitted; communities are the other network's own.
        model, workers = self.model_, self.workers or available_workers()
        fitted = model.learned.views
        evidence, data = judge(fitted, graph, workers=workers)
        self._facts, self._cycles = data.facts, data.cycles
        check_finite(evidence.score)
        thinned = _thinned_scores(fitted, data, model.settings, model.seed, workers, progress)
        return _judgement(evidence, thinned, data.degrees, model.learned.chance, model.settings)

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

    def explain_again(
        self,
        network: Network,
        result: pa.Table,
        nodes: Ints,
        before: Sequence[Explanation],
        *,
        progress: Progress = silent,
    ) -> list[Explanation]:
        """Explain nodes that were explained with another threshold: again if it makes them alerts, or did."""
        line = self.baseline(result)
        changed = [k for k, why in enumerate(before) if line.alerts(why.score) or why.baseline.alerts(why.score)]
        again = super().explain_again(network, result, nodes[changed], before, progress=progress)
        fresh = dict(zip(changed, again, strict=True))
        return [fresh.get(k, replace(why, baseline=line)) for k, why in enumerate(before)]

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


def _thinned_scores(
    fitted: FittedViews, data: ViewData, settings: OddSettings, seed: int, workers: int, progress: Progress
) -> list[Floats]:
    """Judge a network again with edges left out, to tell how sure ranks are."""
    thinned: list[Floats] = []
    if data.graph.edge_count:
        for turn in range(settings.n_resamples):
            thinned.append(thinned_score(fitted, data, seed, turn, workers=workers))
            progress("views", turn + 2, settings.n_resamples + 1)
    return thinned


def _judgement(
    evidence: Evidence, thinned: list[Floats], degrees: Ints, chance: Chance | None, settings: OddSettings
) -> Judgement:
    """Rank the nodes, and say how sure each rank is by the scores with edges left out.

    The nodes that stand out are flagged where they are asked for; a model without simulated networks cannot tell.
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
