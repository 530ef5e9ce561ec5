"""Earlier runs: the one to compare with, and the one to replace or to leave as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

from oddhop.base.checkpoints import LOCK
from oddhop.errors import OddhopError, RunFolderError
from oddhop.runs import folder as files
from oddhop.runs.compare import Side, open_side
from oddhop.runs.log import Log

LAST, CHECKPOINTS = "last", "checkpoints"


def earlier_run(since: str | Path | None, out: str | Path, log: Log) -> Side | None:
    """Open the run to compare with. "last" is the latest complete one beside ``out``; a first night has none."""
    if since != LAST:
        return None if since is None else open_side(since)
    beside = [one for one in Path(out).absolute().parent.glob("*/") if _is_complete(one) and one.name != Path(out).name]
    if not beside:
        log.say("first", "there is no earlier run: nothing to compare with")
        return None
    # Not the time of the manifest: a report that is written again seals the folder anew.
    found = open_side(max(beside, key=lambda one: ((one / files.PARQUET).stat().st_mtime_ns, one.name)))
    log.say("since", f"compared with {found.folder.name}", folder=str(found.folder))
    return found


def _is_complete(folder: Path) -> bool:
    try:
        return (folder / files.PARQUET).exists() and bool(files.read_run(folder))
    except OddhopError:
        return False


def check_free(folder: Path) -> None:
    """Refuse a folder that has a complete run."""
    if files.read_manifest(folder) is not None:
        raise RunFolderError(
            f"{folder} already has a complete run",
            "choose another folder, or replace the run with overwrite=True",
            command="choose another folder, or replace the run with --overwrite",
        )


def remove_run(folder: Path) -> None:
    """Empty the folder of a run, complete or not, that this process holds. One with anything else is left as it is."""
    manifest = files.read_manifest(folder)
    begun = (folder / CHECKPOINTS).is_dir()
    named = {Path(name).parts[0] for name in (manifest or {"files": ()})["files"]}
    ours = {*named, files.MANIFEST, CHECKPOINTS, LOCK, *((files.MODEL, files.STATE) if begun else ())}
    others = sorted(one.name for one in folder.iterdir() if one.name not in ours)
    if others:
        what = "has no run of oddhop" if manifest is None and not begun else f"also has {others[0]}"
        raise RunFolderError(f"{folder} {what}: it is not overwritten", "choose another folder, or remove it yourself")
    (folder / files.MANIFEST).unlink(missing_ok=True)  # first: what is left must not pass for a run
    for name in sorted(ours - {LOCK}):
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            shutil.rmtree(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
