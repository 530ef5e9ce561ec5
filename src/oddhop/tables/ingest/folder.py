"""The folder of a network on disk: held by one run, gone on with after a kill, and sealed by its manifest."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from oddhop.base.checkpoints import MANIFEST, discard_run, locked, open_run
from oddhop.base.files import write_atomically
from oddhop.base.parallel import Progress, silent
from oddhop.base.sizes import checked_bytes
from oddhop.errors import EncodingError, GraphError, RunFolderError, SettingsError, TableError
from oddhop.graph.disk import PARTITION_ENTRIES, UNFINISHED, Stored, open_stored
from oddhop.tables.encode import Encoding
from oddhop.tables.encode.kinds import known_of
from oddhop.tables.ingest.steps import SEAL, Order, make, sweep
from oddhop.tables.read.files import Form
from oddhop.tables.read.frames import Frame
from oddhop.tables.read.read import opened_job
from oddhop.tables.read.s3 import is_s3
from oddhop.tables.read.stdin import is_stdin
from oddhop.tables.settings import PLAIN, EncodeSettings, ReadSettings

MAX_MEMORY = 4 << 30
NOT_OF_THE_NETWORK = {"memory_limit", "temp_folder"}


def ingest(
    edges: str | os.PathLike[str],
    nodes: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    read: ReadSettings = PLAIN,
    encode: EncodeSettings = EncodeSettings(),  # noqa: B008 - frozen
    *,
    encoding: Encoding | None = None,
    max_memory: int | str = MAX_MEMORY,
    partition_entries: int = PARTITION_ENTRIES,
    progress: Progress = silent,
) -> Stored:
    r"""Convert two tables to a network on disk, by the rules of :func:`oddhop.read_network`.

    Parameters
    ----------
    edges, nodes : a path, a pattern or a folder of CSV, TSV, Parquet or NDJSON; ``nodes`` may be a mapping by kind.
    folder : where it is made; a run that was killed goes on there.
    read, encode : as for tables in memory.
    encoding : an encoding to use again, in place of learning one.
    max_memory : about what the work may take, in bytes or as text such as "4GiB". One column of the nodes must fit.
    partition_entries : the most entries of the adjacency in a partition; an edge has two.
    progress : called with the step, what is done, and what there is to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from oddhop.tables.ingest import ingest
    >>> with tempfile.TemporaryDirectory() as home:
    ...     edges, nodes = Path(home, "edges.csv"), Path(home, "nodes.csv")
    ...     _ = edges.write_text("from,to\na,b\nb,c\nb,c\n")
    ...     _ = nodes.write_text("name,age\na,31\nb,25\nc,40\n")
    ...     stored = ingest(edges, nodes, Path(home, "graph"))
    ...     stored.manifest.edges, stored.manifest.counts["duplicate_edges"]
    (2, 1)
    """
    if type(partition_entries) is not int or partition_entries < 1:
        raise SettingsError(f"partition_entries must be a whole number above 0, got {partition_entries!r}")
    limit = checked_bytes(max_memory) or MAX_MEMORY
    by_kind = nodes if isinstance(nodes, Mapping) else {"": nodes}
    for table, what in ((edges, "the edge table"), *((one, "the node table") for one in by_kind.values())):
        _check_files(table, what)
    with opened_job(edges, nodes, read, known_of(encoding), progress, limit) as job:
        _check_read_again((job.edges, *job.nodes.values()))
        order = Order(
            tables={"edges": os.fspath(edges)}
            | {f"nodes {kind}".strip(): os.fspath(table) for kind, table in by_kind.items()},
            encode=encode,
            encoding=encoding,
            settings={
                "read": read.model_dump(mode="json", exclude=NOT_OF_THE_NETWORK),
                "encode": encode.model_dump(),
                "encoding": None if encoding is None else _digest(encoding),
                "partition_entries": partition_entries,
            },
        )
        with locked(folder) as target:
            sweep(target)
            if (target / MANIFEST).exists():
                return _complete(target, order)
            try:
                with open_run(target / UNFINISHED, order.identity(job), resume=True) as run:
                    make(job, order, run)
                    _move(run.path, target)
            except (TableError, EncodingError, GraphError) as error:
                # The same tables would be refused again, and repaired ones are another run. But a full disk is
                # no fault of theirs.
                if not isinstance(error.__context__, OSError | duckdb.IOException):
                    discard_run(target / UNFINISHED)
                raise
            shutil.rmtree(target / UNFINISHED)
            return open_stored(target)


def _digest(encoding: Encoding) -> str:
    return hashlib.sha256(json.dumps(encoding.to_json(), sort_keys=True).encode()).hexdigest()


def _check_files(named: Any, what: str) -> None:
    """Refuse what is no file of this machine: it could not be read again after a kill."""
    if is_stdin(named) or (isinstance(named, str | os.PathLike) and is_s3(os.fsdecode(named))):
        raise TableError(
            f"{what} must be files of this machine to be ingested, got {os.fsdecode(named)!r}",
            "copy them here first",
        )
    if not isinstance(named, str | os.PathLike):
        raise TableError(f"{what} must be a file, got {type(named).__name__}", "write it to Parquet first")


def _check_read_again(forms: Iterable[Form]) -> None:
    """Refuse what is read as a stream, such as a Delta table: every step reads its columns for itself."""
    for form in forms:
        if isinstance(form, Frame):
            raise TableError(f"{form.label} cannot be ingested, for it is read once", "write it to Parquet first")


def _complete(target: Path, order: Order) -> Stored:
    stored = open_stored(target)
    if (stored.manifest.tables, stored.manifest.settings) != (order.tables, order.settings):
        raise RunFolderError(
            f"{target} already has a network of other tables or settings: {stored.manifest.tables}",
            "choose another folder",
        )
    shutil.rmtree(target / UNFINISHED, ignore_errors=True)
    return stored


def _move(work: Path, target: Path) -> None:
    """Move the files of a whole network to where it was asked for, the manifest last."""
    seal = (work / SEAL).read_bytes()
    for name in json.loads(seal)["files"]:
        if (work / name).exists():
            (work / name).replace(target / name)
    write_atomically(target / MANIFEST, seal)
