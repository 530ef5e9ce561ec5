"""HCM over a network in partitions: the stages of ``shards`` in their order, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from oddhop.base.parallel import Mapper, Progress, silent
from oddhop.detector.base import begun_as
from oddhop.detector.memory import check_partitioned_memory
from oddhop.errors import NothingToLearnError, SettingsError
from oddhop.graph.disk import open_stored
from oddhop.hcm.detector import HCM
from oddhop.hcm.diagnostics import Diagnostics, Learned
from oddhop.hcm.model import Shape
from oddhop.hcm.partitioned.pairs import sample_pairs
from oddhop.hcm.partitioned.prepare import prepare
from oddhop.hcm.partitioned.purify import purify
from oddhop.hcm.partitioned.scoring import score_nodes
from oddhop.hcm.partitioned.training import gather, run_chains
from oddhop.hcm.training_pairs import LeftOut, plan_chains
from oddhop.partitions.task import Crew, Work
from oddhop.settings import checked_settings


def fit_stored(
    detector: HCM,
    graph: str | os.PathLike[str],
    *,
    mapper: Mapper,
    run_folder: str | os.PathLike[str],
    resume: bool = False,
    progress: Progress = silent,
) -> HCM:
    r"""Fit HCM on a folder that ``oddhop ingest`` made, without any process that holds the whole network.

    The tasks are run by ``mapper``, on threads or on a cluster; both folders must be seen under their paths wherever
    tasks run. What comes out is what ``detector.fit(Graph.open(graph))`` gives with ``training="sampled"``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop import HCM
    >>> from oddhop.hcm.partitioned.detector import fit_stored
    >>> from oddhop.base.parallel import threads
    >>> from oddhop.tables.ingest import ingest
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
    ...     _ = ingest(edges, nodes, Path(home, "graph"), partition_entries=2)
    ...     small = HCM(burn_in=5, samples=2, thin=1, random_state=0)
    ...     fit_stored(small, Path(home, "graph"), mapper=threads(1), run_folder=Path(home, "run")).result_.num_rows
    4
    """
    settings = checked_settings(detector.get_params())
    if settings.training == "full" or settings.labels == "exhaustive":
        raise SettingsError(
            f"training={settings.training!r} and labels={settings.labels!r}: a network in partitions is learned from a "
            "sample, for no process holds the whole; leave both out, or fit on one machine"
        )
    settings = settings.model_copy(update={"training": "sampled"})
    manifest = open_stored(graph).manifest
    if manifest.edges == 0:
        raise NothingToLearnError(f"{graph} has no edges, and hop counts are learned from edges; give at least one")
    check_partitioned_memory(manifest.nodes, manifest.edges, len(manifest.attribute_names), settings)
    files = {name: entry.sha256 for name, entry in sorted(manifest.files.items())}
    with begun_as(settings, {"files": files, "sharded": True}, run_folder, resume=resume) as (seed, folder):
        assert folder is not None  # noqa: S101 - there is one where one was asked for
        work = Work(Path(graph).absolute(), folder.path.absolute(), settings, seed, folder.run)
        detector.take(_learned(work, Crew(mapper, progress)))
    return detector


def _learned(work: Work, crew: Crew) -> Learned:
    settings = work.settings
    prepared = prepare(work, crew)
    purge = purify(work, prepared.similarity, crew)
    pairs = sample_pairs(work, purge, crew)
    plan = plan_chains(pairs, settings, work.seed)
    gather(work, pairs, crew)
    shape = Shape(prepared.preparation.width, settings.hidden, settings.layers, settings.hops)
    posterior = run_chains(work, plan, shape, crew)
    scores = score_nodes(work, posterior, crew)
    left_out = LeftOut(purge.dropped, purge.tied, prepared.similarity, purge.hubs)
    diagnostics = Diagnostics.of(scores, posterior, plan, pairs, left_out)
    known = None, np.diff(work.stored.rows("indptr")), prepared.fingerprint
    return Learned(settings, work.seed, prepared.preparation, posterior, scores, diagnostics, *known)
