"""``ingest``: tables to a network on disk, for those that do not fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oddhop.cases.nouns import nouns_of
from oddhop.detector.registry import load
from oddhop.errors import ModelFileError, SettingsError, TableError
from oddhop.graph.disk import Stored, is_stored
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.read import tell_network
from oddhop.runs.settings import RunSettings, run_settings
from oddhop.tables.encode import Encoding
from oddhop.tables.ingest import ingest as make
from oddhop.tables.network import open_network
from oddhop.tables.read.joins import NO_ATTRIBUTES
from oddhop.tables.settings import EncodeSettings, ReadSettings


def ingest(
    edges: Any,
    nodes: Any,
    *,
    out: str | Path,
    like: str | Path | None = None,
    settings: RunSettings | Mapping[str, Any] | None = None,
    max_memory: str = "4GiB",
    log: Log = LOGGED,
) -> Stored:
    """Write the network of two tables to a folder, which ``detect``, ``fit`` and ``score`` take as ``edges``.

    ``like`` is a model file or such a folder, whose encoding of columns is used. An ingest that was killed goes on.
    """
    if nodes is None:
        raise TableError("there is no node table", NO_ATTRIBUTES)
    chosen = run_settings(settings)
    encoding, reading = (None, chosen.read) if like is None else _alike(Path(like), chosen)
    stored = make(
        edges,
        nodes,
        out,
        reading,
        chosen.encode,
        encoding=encoding,
        max_memory=max_memory,
        progress=log.progress,
    )
    network = open_network(out)
    tell_network(log, network, nouns_of(network, edges, nodes), learned=like is None)
    return stored


def _alike(path: Path, chosen: RunSettings) -> tuple[Encoding, ReadSettings]:
    """Return the encoding of a model or a network on disk, and the settings of reading with what it keeps of them."""
    known = open_network(path) if is_stored(path) else load(path).model_
    encoding = known.encoding
    if chosen.encode != EncodeSettings():
        raise SettingsError("--like takes the encoding of another network", "leave out the settings of encode")
    if encoding is None:
        raise ModelFileError(
            f"{path} was fitted on arrays and has no encoding of columns", "fit a model with oddhop fit"
        )
    return encoding, chosen.read.like(known.read)
