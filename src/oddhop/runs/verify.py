"""``verify``: a file, a run or a network on disk is checked against its checksums."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from oddhop.base.sizes import sized
from oddhop.detector.registry import load
from oddhop.errors import RunFolderError
from oddhop.graph.disk import is_stored, open_stored, verify_stored
from oddhop.runs.folder import check_file, read_manifest


def verify(path: str | Path) -> Iterator[str]:
    """Check a model file, the folder of a run, or one of ``oddhop ingest``; yield a line about every part.

    One that was changed is an error.
    """
    path = Path(path)
    if is_stored(path):
        yield from (f"{file}: ok" for file in verify_stored(path))
        manifest = open_stored(path).manifest
        yield f"  ingest by oddhop {manifest.oddhop}: {manifest.nodes:,} nodes, {manifest.edges:,} edges"
    elif path.is_dir():
        yield from _run(path)
    else:
        yield from _model(path)


def _model(path: Path) -> Iterator[str]:
    detector = load(path)
    model = detector.model_
    columns = "unknown" if model.encoding is None else ", ".join(one.name for one in model.encoding.columns)
    kind = type(detector).__name__
    yield f"{path}: ok, a model of {kind} by oddhop {model.version}, {sized(path.stat().st_size)}"
    yield f"  seed {model.seed}, columns: {columns}"
    yield f"  fitted on the network {model.fingerprint[:16]}..."


def _run(folder: Path) -> Iterator[str]:
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunFolderError(
            f"{folder} has no complete run: manifest.json is missing", "complete it with oddhop detect --resume"
        )
    for name in manifest["files"]:
        check_file(folder, manifest, name)
        yield f"{folder / name}: ok"
    data = manifest["data"]
    yield f"  {manifest['command']} by oddhop {manifest['oddhop']}: {data['nodes']:,} nodes, {data['edges']:,} edges"
