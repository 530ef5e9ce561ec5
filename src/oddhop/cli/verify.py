"""``oddhop verify``: check a file, a run or a network on disk against its checksums."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oddhop.base.sizes import sized
from oddhop.cli import options as o
from oddhop.cli.console import echo


@o.command()
def verify(
    path: Annotated[
        Path,
        typer.Argument(help="Model file, output folder of a run, or folder made by oddhop ingest.", show_default=False),
    ],
) -> None:
    """Verify the checksums of a model file, a run or an ingested network.

    The command compares every part of the file or folder with its SHA-256 checksum, and prints a summary of the
    contents.

    Example:

        oddhop verify model.oddhop
    """
    from oddhop.graph.disk import is_stored

    if is_stored(path):
        _verify_network(path)
    elif path.is_dir():
        _verify_run(path)
    else:
        _verify_model(path)


def _verify_model(path: Path) -> None:
    from oddhop.detector.registry import load

    detector = load(path)
    model = detector.model_
    columns = "unknown" if model.encoding is None else ", ".join(one.name for one in model.encoding.columns)
    kind = type(detector).__name__
    echo(f"{path}: ok, a model of {kind} by oddhop {model.version}, {sized(path.stat().st_size)}")
    echo(f"  seed {model.seed}, columns: {columns}")
    echo(f"  fitted on the network {model.fingerprint[:16]}...")


def _verify_network(folder: Path) -> None:
    from oddhop.graph.disk import open_stored, verify_stored

    for file in verify_stored(folder):
        echo(f"{file}: ok")
    manifest = open_stored(folder).manifest
    echo(f"  ingest by oddhop {manifest.oddhop}: {manifest.nodes:,} nodes, {manifest.edges:,} edges")


def _verify_run(folder: Path) -> None:
    from oddhop.errors import RunFolderError
    from oddhop.runs.folder import check_file, read_manifest

    manifest = read_manifest(folder)
    if manifest is None:
        raise RunFolderError(
            f"{folder} has no complete run: manifest.json is missing", "complete it with oddhop detect --resume"
        )
    for name in manifest["files"]:
        check_file(folder, manifest, name)
        echo(f"{folder / name}: ok")
    data = manifest["data"]
    echo(f"  {manifest['command']} by oddhop {manifest['oddhop']}: {data['nodes']:,} nodes, {data['edges']:,} edges")
