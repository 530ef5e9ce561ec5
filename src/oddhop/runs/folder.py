"""The folder of a run: the results as files, and the manifest that seals them."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from oddhop.base.files import file_digest, write_atomically
from oddhop.errors import RunFolderError
from oddhop.tables.results import read_parquet, write_csv, write_parquet, write_shards
from oddhop.version import __version__

if TYPE_CHECKING:
    from oddhop.detector.base import GraphDetector
    from oddhop.graph.disk import Stored
    from oddhop.tables.network import Description, Network

MANIFEST, PARQUET, CSV, MODEL = "manifest.json", "results.parquet", "results.csv", "model.oddhop"
REPORT, STATE, CHANGES = "report.html", "state.parquet", "changes.parquet"
OURS = re.compile(rf"[\w.-]*\w|{re.escape(PARQUET)}/part-\d+\.parquet")  # a file of the folder, or a shard
PARTS = ("duckdb", "numba", "numpy", "pyarrow", "scikit-learn", "scipy", "torch")


def write_results(folder: Path, result: pa.Table, *, in_shards: bool = False) -> dict[str, Any]:
    """Write the table as Parquet and CSV, or as a folder of Parquet files; give its figures for the manifest."""
    quoted = 0
    if in_shards:
        write_shards(result, folder / PARQUET)
    else:
        write_parquet(result, folder / PARQUET)
        quoted = write_csv(result, folder / CSV)
    return {
        "rows": result.num_rows,
        "judged": pc.sum(result["judged"]).as_py() or 0,
        "flagged": pc.sum(result["flagged"]).as_py() or 0,
        "cells_quoted_in_csv": quoted,
    }


def read_run(folder: Path) -> dict[str, Any]:
    """Return the manifest of a whole run of detect or score; a folder without one is refused."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunFolderError(
            f"{folder} has no complete run of oddhop detect or score", "give the folder of --out of a run"
        )
    if manifest["command"] == "learn":
        raise RunFolderError(
            f"{folder} is a folder of oddhop learn, not of oddhop detect or score",
            "give the folder of the run that was learned from",
        )
    return manifest


def read_results(folder: Path, manifest: Mapping[str, Any]) -> pa.Table:
    """Read the table of a run, one file or several, and refuse what was changed since."""
    names = sorted(name for name in manifest["files"] if Path(name).parts[0] == PARQUET)
    for name in names:
        check_file(folder, manifest, name)
    if not names:
        raise RunFolderError(f"the manifest of {folder} names no results", "restore it from a copy or run again")
    return pa.concat_tables([read_parquet(folder / name) for name in names])


def check_file(folder: Path, manifest: Mapping[str, Any], name: str) -> None:
    """Refuse a file of a run that is gone or not as the manifest has it."""
    file, remedy = folder / name, "restore it from a copy or run again"
    if not file.is_file():
        raise RunFolderError(f"{file} is missing", remedy)
    if file_digest(file) != manifest["files"][name]:
        raise RunFolderError(f"{file} was changed after the run", remedy)


def write_manifest(folder: Path, command: str, parts: Mapping[str, Any]) -> None:
    """Write what the run was, and the sha256 of every file it left. It is written last: with it a run is whole."""
    kept = [*folder.glob("*"), *(folder / PARQUET).glob("*")]
    names = sorted(
        file.relative_to(folder).as_posix() for file in kept if file.is_file() and not file.name.startswith(".")
    )
    files = {name: file_digest(folder / name) for name in names if name != MANIFEST}
    _put(folder, {"command": command, "oddhop": __version__, "versions": _versions(), **parts, "files": files})


def _put(folder: Path, manifest: Mapping[str, Any]) -> None:
    write_atomically(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True, allow_nan=False).encode())


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PARTS:
        with suppress(PackageNotFoundError):  # torch is an extra
            found[name] = version(name)
    return found


def run_name(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Return what the book of cases calls a run.

    Two runs of one name differ by what they read and how: the same run, resumed or opened again, is called the same.
    """
    same = [manifest["data"].get("fingerprint"), *(manifest.get(name) for name in ("seed", "settings", "model"))]
    digest = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    return f"{folder.absolute().name} {digest[:8]}"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a whole run; None where there is none."""
    file = folder / MANIFEST
    if not file.exists():
        return None
    try:
        manifest = json.loads(file.read_bytes())
        right = _makes_sense(manifest)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        right = False
    if not right:
        raise RunFolderError(f"{file} is not a manifest of oddhop", "choose another folder")
    return dict(manifest)


def _makes_sense(manifest: Any) -> bool:
    """Return whether all that is asked of a manifest later is there and of its kind."""
    names, tables = manifest["files"], manifest.get("tables", {}).values()
    named = [one for table in tables for one in (table.values() if isinstance(table, dict) else [table])]
    return (
        all(isinstance(manifest[part], str) for part in ("command", "oddhop"))
        and all(type(manifest["data"][part]) is int for part in ("nodes", "edges"))
        and all(isinstance(sha256, str) and len(name) < 60 and OURS.fullmatch(name) for name, sha256 in names.items())
        and all(one is None or isinstance(one, str) for one in named)
        and isinstance(manifest["settings"], dict)
    )


def sealed_again(folder: Path, name: str) -> None:
    """Put the sha256 of a file that was written again into the manifest."""
    manifest = read_manifest(folder)
    if manifest is not None:
        manifest["files"][name] = file_digest(folder / name)
        _put(folder, manifest)


def ending_part(detector: GraphDetector, result: pa.Table) -> dict[str, Any]:
    """Return where the list ends, for the manifest."""
    ending = detector.ending(result)
    return {
        "threshold": None if detector.threshold_ == float("inf") else detector.threshold_,
        "ending": None if ending is None else {"stand_out": ending.figure, "sentence": ending.sentence},
    }


def data_part(network: Network) -> dict[str, Any]:
    """Return what was read and what was repaired, for the manifest."""
    graph = network.graph
    sizes = graph.node_count, graph.edge_count, graph.attribute_count
    return _data_part(graph.fingerprint, sizes, asdict(graph.repairs), network)


def stored_part(stored: Stored, known: Description, fingerprint: str) -> dict[str, Any]:
    """Return the same of a network on disk, without the graph."""
    manifest = stored.manifest
    sizes = manifest.nodes, manifest.edges, len(manifest.attribute_names)
    return _data_part(fingerprint, sizes, manifest.repairs, known)


def _data_part(
    fingerprint: str, sizes: tuple[int, int, int], repairs: Mapping[Any, int], network: Network | Description
) -> dict[str, Any]:
    nodes, edges, attributes = sizes
    return {
        "fingerprint": fingerprint,
        "nodes": nodes,
        "edges": edges,
        "attributes": attributes,
        "repairs": repairs,
        "roles": None if network.roles is None else asdict(network.roles),
        "counts": None if network.counts is None else asdict(network.counts),
        "columns": [asdict(entry) for entry in network.encoding.report] if network.encoding else [],
        "differences": [asdict(one) for one in network.differences],
    }
