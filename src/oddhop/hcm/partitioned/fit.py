"""HCM over a network in partitions: the stages in their order, and nothing else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Ints
from oddhop.base.parallel import Mapper, Progress
from oddhop.detector.cost import Size
from oddhop.detector.fit_folder import begun_on_disk
from oddhop.errors import SettingsError
from oddhop.graph.disk import open_stored
from oddhop.hcm.cost import check_partitioned_memory
from oddhop.hcm.diagnostics import Diagnostics
from oddhop.hcm.kinds import check_one_kind
from oddhop.hcm.model import Shape
from oddhop.hcm.model_file import HCMLearned
from oddhop.hcm.partitioned.pairs import sample_pairs
from oddhop.hcm.partitioned.prepare import prepare
from oddhop.hcm.partitioned.purify import purify
from oddhop.hcm.partitioned.scoring import score_nodes
from oddhop.hcm.partitioned.training import gather, run_chains
from oddhop.hcm.scoring import Scores
from oddhop.hcm.settings import HCMSettings
from oddhop.hcm.training_pairs import LeftOut, plan_chains
from oddhop.partitions.task import Task, TaskRunner
from oddhop.tables.encode import Encoding
from oddhop.tables.network import describe


@dataclass(frozen=True, eq=False)
class PartitionedFit:
    """What a fit over partitions comes to; of the network this process holds ids and degrees alone."""

    settings: HCMSettings
    seed: int
    learned: HCMLearned
    scores: Scores
    diagnostics: Diagnostics
    ids: pa.Array
    degrees: Ints
    fingerprint: str
    encoding: Encoding


def fit_partitions(
    settings: HCMSettings,
    graph: Path,
    mapper: Mapper,
    run_folder: str | os.PathLike[str],
    *,
    resume: bool,
    progress: Progress,
) -> PartitionedFit:
    """Fit HCM on a folder that ``oddhop ingest`` made; see :meth:`oddhop.HCM.fit_partitions`."""
    if settings.training == "full" or settings.pair_labels == "exhaustive":
        raise SettingsError(
            f"training={settings.training!r} and pair_labels={settings.pair_labels!r}: "
            "a network in partitions is learned from a sample, because no process has the whole network",
            "leave both out, or fit on one machine",
        )
    if settings.directed:
        raise SettingsError("directed=True is not supported over partitions", "leave it out, or fit in memory")
    settings = settings.model_copy(update={"training": "sampled"})
    stored = open_stored(graph)
    manifest = stored.manifest
    check_one_kind(manifest.node_kinds)
    check_partitioned_memory(Size(manifest.nodes, manifest.edges, len(manifest.attribute_names)), settings)
    with begun_on_disk(settings, stored, run_folder, resume=resume) as (settings, seed, folder):
        work = Task(graph.absolute(), folder.path.absolute(), settings, seed, folder.run)
        return _fit(work, TaskRunner(mapper, progress))


def _fit(work: Task, runner: TaskRunner) -> PartitionedFit:
    settings: HCMSettings = work.settings
    prepared = prepare(work, runner)
    purge = purify(work, prepared.similarity, runner)
    pairs = sample_pairs(work, purge, runner)
    plan = plan_chains(pairs, settings, work.seed)
    gather(work, pairs, runner)
    shape = Shape(prepared.preparation.width, settings.hidden, settings.layers, settings.hop_classes)
    posterior = run_chains(work, plan, shape, runner)
    scores = score_nodes(work, posterior, runner)
    left_out = LeftOut(purge.dropped, purge.tied, prepared.similarity, purge.hubs)
    told = Diagnostics.of(scores, posterior, plan, pairs, left_out)
    known = describe(work.stored, texts=False)
    return PartitionedFit(
        settings=settings,
        seed=work.seed,
        learned=HCMLearned(prepared.preparation, posterior, (scores.max_ahp, scores.max_iv), left_out, told.r_hat),
        scores=scores,
        diagnostics=told,
        ids=known.ids,
        degrees=np.diff(work.stored.rows("indptr")),
        fingerprint=prepared.fingerprint,
        encoding=known.encoding,
    )
