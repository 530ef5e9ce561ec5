"""What a command leaves behind: the results as files and in a database, and the manifest that seals them."""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from oddhop.base.files import write_atomically
from oddhop.cli.console import Console, spelled
from oddhop.errors import RunFolderError
from oddhop.graph.disk import Stored, file_entry
from oddhop.tables.network import Description, Network
from oddhop.tables.results import write_csv, write_parquet, write_shards
from oddhop.version import __version__

MANIFEST, PARQUET, CSV, MODEL = "manifest.json", "results.parquet", "results.csv", "model.oddhop"
REPORT = "report.html"
OURS = re.compile(
    rf"[\w.-]*\w|{re.escape(PARQUET)}/part-\d+\.parquet"
)  # a file of the folder, or a shard of the results
SHOWN = 10
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


def read_results(folder: Path, manifest: Mapping[str, Any]) -> pa.Table:
    """Read the table of a run, one file or several, and refuse what was changed since."""
    names = sorted(name for name in manifest["files"] if Path(name).parts[0] == PARQUET)
    for name in names:
        if not (folder / name).is_file() or file_entry(folder / name).sha256 != manifest["files"][name]:
            raise RunFolderError(f"{folder / name} is gone or was changed after the run; take a copy or run again")
    if not names:
        raise RunFolderError(f"the manifest of {folder} names no results; take it from a copy or run again")
    return pa.concat_tables([pq.read_table(folder / name) for name in names])


def write_manifest(folder: Path, command: str, parts: Mapping[str, Any]) -> None:
    """Write what the run was, and the sha256 of every file it left. It is written last: with it a run is whole."""
    kept = [*folder.glob("*"), *(folder / PARQUET).glob("*")]
    names = sorted(
        file.relative_to(folder).as_posix() for file in kept if file.is_file() and not file.name.startswith(".")
    )
    document = {
        "command": command,
        "oddhop": __version__,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PARTS}},
        **parts,
        "files": {name: file_entry(folder / name).sha256 for name in names if name != MANIFEST},
    }
    write_atomically(folder / MANIFEST, json.dumps(document, indent=1, sort_keys=True, allow_nan=False).encode())


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Give the manifest of a whole run; None where there is none."""
    file = folder / MANIFEST
    if not file.exists():
        return None
    try:
        manifest = json.loads(file.read_bytes())
        right = _makes_sense(manifest)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        right = False
    if not right:
        raise RunFolderError(f"{file} is not a manifest of oddhop; choose another folder")
    return dict(manifest)


def _makes_sense(manifest: Any) -> bool:
    """Tell whether all that is asked of a manifest later is there and of its kind."""
    names = manifest["files"]
    return (
        all(isinstance(manifest[part], str) for part in ("command", "oddhop"))
        and all(type(manifest["data"][part]) is int for part in ("nodes", "edges"))
        and all(isinstance(sha256, str) and len(name) < 60 and OURS.fullmatch(name) for name, sha256 in names.items())
        and all(one is None or isinstance(one, str) for one in manifest.get("tables", {}).values())
        and all(type(count) is int for count in manifest.get("audit", {}).values())
        and isinstance(manifest["settings"], dict)
    )


def sealed_again(folder: Path, name: str) -> None:
    """Put the sha256 of a file that was written anew into the manifest."""
    manifest = read_manifest(folder)
    if manifest is not None:
        manifest["files"][name] = file_entry(folder / name).sha256
        write_atomically(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True, allow_nan=False).encode())


def data_part(network: Network) -> dict[str, Any]:
    """Tell what was read and what was mended, for the manifest."""
    graph = network.graph
    sizes = graph.node_count, graph.edge_count, graph.attribute_count
    return _data_part(graph.fingerprint, sizes, asdict(graph.mended), network)


def stored_part(stored: Stored, known: Description, fingerprint: str) -> dict[str, Any]:
    """Tell the same of a network on disk, without the graph."""
    manifest = stored.manifest
    sizes = manifest.nodes, manifest.edges, len(manifest.attribute_names)
    return _data_part(fingerprint, sizes, manifest.mended, known)


def _data_part(
    fingerprint: str, sizes: tuple[int, int, int], mended: Mapping[Any, int], network: Network | Description
) -> dict[str, Any]:
    nodes, edges, attributes = sizes
    return {
        "fingerprint": fingerprint,
        "nodes": nodes,
        "edges": edges,
        "attributes": attributes,
        "mended": mended,
        "roles": asdict(network.roles),
        "counts": asdict(network.counts),
        "columns": [asdict(entry) for entry in network.encoding.report],
        "differences": [asdict(one) for one in network.differences],
    }


def show_top(result: pa.Table, top: int | None) -> None:
    """Print the oddest nodes, as many as the budget has and ten at most."""
    from rich.console import Console as Terminal
    from rich.table import Table
    from rich.text import Text

    shown = result.slice(0, min(top or SHOWN, SHOWN)).to_pylist()
    table = Table(title=f"The {len(shown)} oddest of {result.num_rows:,} nodes", title_justify="left")
    for name, justify in (("rank", "right"), ("id", "left"), ("score", "right"), ("90 % ranks", "right")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("in the top", justify="right")
    table.add_column("edges", justify="right")
    kinds = "kind" in result.column_names
    if kinds:
        table.add_column("kind")
    table.add_column("flagged")
    for row in shown:
        table.add_row(
            f"{row['rank']:,}",
            Text(spelled(str(row["id"]))),
            f"{row['score']:.3f}",
            f"{row['rank_low']:,}-{row['rank_high']:,}",
            f"{row['top_probability']:.0%}",
            f"{row['degree']:,}",
            *([row["kind"]] if kinds else []),
            "yes" if row["flagged"] else "",
        )
    # Outside a terminal there is no width to keep to, and a folded id is hard to search for.
    Terminal(width=None if sys.stdout.isatty() else 160).print(table)


def say_where(console: Console, folder: Path, figures: Mapping[str, Any], threshold: float) -> None:
    """Say where the results are and how many were flagged."""
    unjudged = figures["rows"] - figures["judged"]
    if unjudged:
        console.say("unjudged", f"{unjudged:,} nodes have no neighbours and were not judged", count=unjudged)
    if figures["cells_quoted_in_csv"]:
        count = figures["cells_quoted_in_csv"]
        console.say("quoted", f"{count:,} ids that a spreadsheet would run are quoted in {CSV}", count=count)
    flagged = (
        f"{figures['flagged']:,} nodes flagged, with a score of {threshold:.4g} or more"
        if threshold != float("inf")
        else "nothing is flagged without a budget: say --top K"
    )
    report = f"\nto read and hand on: {folder / REPORT}" if (folder / REPORT).exists() else ""
    csv = f" and {folder / CSV}" if (folder / CSV).exists() else ", a folder of files in the order of the ranks"
    console.say(
        "done",
        f"{flagged}\nresults in {folder / PARQUET}{csv}{report}",
        folder=str(folder),
        **figures,
    )
