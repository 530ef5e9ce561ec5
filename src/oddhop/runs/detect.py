"""``detect``: from two tables to a folder with a ranked one, resumable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from oddhop.base.settings import checked_two, takes
from oddhop.detector.base import GraphDetector
from oddhop.detector.registry import detector_named, registered
from oddhop.errors import SettingsError
from oddhop.graph.disk import is_stored, open_stored
from oddhop.runs import folder as files
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.options import Cluster, DetectOptions, Output
from oddhop.runs.ranked import Asked, CheckNetwork, Ranking, Run, named_tables, ranked_run
from oddhop.runs.read import left_out, read_for_run
from oddhop.runs.settings import RunSettings, run_settings
from oddhop.tables.network import describe


@takes(Cluster, Output)
def detect(
    edges: Any,
    nodes: Any = None,
    *,
    out: str | Path,
    detector: str = "odd",
    top: int | None = None,
    max_chance: float | None = None,
    seed: int | None = None,
    workers: int | None = None,
    max_memory: int | str | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    log: Log = LOGGED,
    **options: Unpack[DetectOptions],
) -> Run:
    r"""Find the anomalous nodes of a network, and write the results, the report and a manifest to a folder.

    Parameters
    ----------
    edges, nodes : tables, see :func:`oddhop.read_network`; or a folder made by ``oddhop ingest`` as ``edges``. With
        ``database`` a text that begins with SELECT is a query.
    out : the folder of the run. A killed run goes on with ``resume=True`` to the same bytes.
    detector : its name, or the class of another one as ``package.module:Class``.
    top, max_chance, seed, workers, max_memory : the options ``--top``, ``--max-chance``, ``--seed``, ``--workers`` and
        ``--max-memory`` of the command.
    settings : all others, by section, such as ``{"read": {"source": "payer"}, "odd": {"n_resamples": 50}}``; see
        :func:`~oddhop.runs.settings.checked_run_settings`.
    {settings}
    log : what receives the messages, see :class:`~oddhop.runs.log.Log`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.runs import detect
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nc,d\na,d\na,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\nd,33\n")
    ...     run = detect(str(edges), str(nodes), out=Path(home, "run"))
    ...     sorted(file.name for file in run.folder.glob("*.*"))
    ['.lock', 'cases.json', 'manifest.json', 'model.oddhop', 'report.html', 'results.csv', 'results.parquet',
     'state.parquet']
    """
    words = {"top": top, "max_chance": max_chance, "seed": seed, "workers": workers, "max_memory": max_memory}
    detector = registered(detector)
    chosen = run_settings(settings, detector, words)
    mine = chosen.of(detector)
    cluster, output = checked_two(Cluster, Output, options)
    on_cluster = cluster.engine == "ray"
    if on_cluster and not (detector_named(detector).runs_on_partitions and nodes is None):
        raise SettingsError(
            f"--engine ray needs the detector odd or hcm and a folder made by oddhop ingest, got --detector {detector}"
            + ("" if nodes is None else " and a node table"),
            "give only the folder and one of these detectors, or leave out --engine",
        )
    if output.cases is not None and on_cluster:
        raise SettingsError("a run on a cluster does not write a book of cases", "leave out --cases")

    def rank(checkpoints: Path, check: CheckNetwork) -> Ranking:
        fitter, network = detector_named(detector).of(mine), None
        if on_cluster:
            data = _fit_on_cluster(fitter, str(edges), cluster.address, checkpoints, resume=output.resume, log=log)
        else:
            network = read_for_run(log, chosen, edges, nodes, output.database, max_memory=mine.memory)
            data = check(network)
            fitter.fit(network, run_folder=checkpoints, resume=output.resume, progress=log.progress)
        known = chosen.with_random_state(detector, fitter.model_.settings.random_state)  # of the run that is resumed
        return Ranking(fitter, fitter.result_, network, known, {"data": data})

    asked = Asked("detect", detector, named_tables(edges, nodes), out, chosen, output, mine.flags, mine.top_k, log)
    return ranked_run(asked, rank)


def _fit_on_cluster(
    detector: GraphDetector, graph: str, address: str | None, checkpoints: Path, *, resume: bool, log: Log
) -> dict[str, Any]:
    """Fit on the partitions of a network on disk; of it this process reads ids and degrees."""
    from oddhop.base.ray import cluster

    if not is_stored(graph):
        raise SettingsError(
            f"a cluster needs a network in partitions, and {graph} is not one",
            "make one: oddhop ingest EDGES ... --out",
        )
    stored = open_stored(graph)
    manifest, known = stored.manifest, describe(stored, texts=False)
    log.say(
        "read",
        f"{manifest.nodes:,} nodes, {manifest.edges:,} edges, {len(manifest.attribute_names):,} attributes in "
        f"{stored.partitions:,} partitions",
        nodes=manifest.nodes,
        edges=manifest.edges,
        partitions=stored.partitions,
    )
    both_ways = manifest.edges - manifest.repairs["one_way"]
    left = left_out(known.counts, events=manifest.events is not None, both_ways=both_ways)
    for text in (*known.roles.sentences(stored.events()), *(text for _, text in left)):
        log.say("left_out", f"  {text}", what=text)
    if manifest.settings["read"].get("keep_columns"):
        log.say("kept", "  a run on a cluster does not copy the columns of --keep-columns")
    with cluster(address) as mapper:
        detector.fit_partitions(graph, mapper=mapper, run_folder=checkpoints, resume=resume, progress=log.progress)
    return files.stored_part(stored, known, detector.model_.fingerprint)
