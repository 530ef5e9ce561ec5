"""Where a fit begins, and where a killed one goes on: its seed, and the folder of its checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import numpy as np

from oddhop.base.arrays import Ints
from oddhop.base.checkpoints import RunFolder, open_run, recorded
from oddhop.detector.settings import DO_NOT_IDENTIFY_A_RUN, DetectorSettings
from oddhop.errors import NothingToLearnError, RunFolderError
from oddhop.graph.disk import Stored
from oddhop.graph.kinds import NodeKinds
from oddhop.version import __version__

SomeSettings = TypeVar("SomeSettings", bound=DetectorSettings)


@contextmanager
def begun(
    settings: SomeSettings,
    data: Mapping[str, Any],
    run_folder: str | os.PathLike[str] | None,
    *,
    resume: bool,
) -> Iterator[tuple[SomeSettings, int, RunFolder | None]]:
    """Return the settings and the seed of a fit, and its folder where it has one.

    A resumed fit takes the seed that the fit began with, and ``random_state`` as it was given then, so that it writes
    the same model file. ``data`` is what the network is known by, such as its fingerprint.
    """
    if run_folder is not None and resume:
        settings, seed = _resumed(settings, run_folder)
    else:
        seed = settings.random_state
    if seed is None:
        seed = drawn_seed()
    identity = {
        **settings.model_dump(exclude=set(DO_NOT_IDENTIFY_A_RUN)),
        "seed": seed,
        **data,
        "version": __version__,
    }
    opened = open_run(run_folder, identity, resume=resume) if run_folder is not None else nullcontext(None)
    with opened as folder:
        yield settings, seed, folder


def drawn_seed() -> int:
    """Return a fresh seed."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def _resumed(settings: SomeSettings, run_folder: str | os.PathLike[str]) -> tuple[SomeSettings, int | None]:
    """Return the settings with the ``random_state`` of the fit that is resumed, and its seed if it has begun."""
    given, seed = settings.random_state, recorded(run_folder, "seed")
    if seed is None:
        return settings, given
    if type(seed) is not int or seed < 0:
        raise RunFolderError(
            f"{run_folder} has a manifest with a seed that is not valid, {seed!r}", "start again in another folder"
        )
    if given not in (None, seed):
        raise RunFolderError(
            f"the run in {run_folder} began with the seed {seed}, got the seed {given}",
            f"resume it without random_state or with random_state={seed}, or choose another folder",
            command=f"resume it without --seed or with --seed {seed}, or choose another folder",
        )
    first = seed if recorded(run_folder, "random_state") == seed else None
    return settings.model_copy(update={"random_state": first}), seed


@contextmanager
def begun_on_disk(
    settings: SomeSettings, stored: Stored, run_folder: str | os.PathLike[str], *, resume: bool
) -> Iterator[tuple[SomeSettings, int, RunFolder]]:
    """Begin a fit over the partitions of a network on disk, which is known by its files; refuse one without edges."""
    manifest = stored.manifest
    if not manifest.edges:
        raise NothingToLearnError(f"{stored.folder} has no edges", "give at least one edge")
    check_judged(manifest.node_kinds, stored.rows("indptr"))
    files = {name: entry.sha256 for name, entry in sorted(manifest.files.items())}
    with begun(settings, {"files": files, "sharded": True}, run_folder, resume=resume) as (taken, seed, folder):
        assert folder is not None  # noqa: S101 - there is one where one was asked for
        yield taken, seed, folder


def check_judged(kinds: NodeKinds | None, indptr: Ints) -> None:
    """Raise an error for a network in which no node of the judged kind has an edge."""
    if kinds is None:
        return
    judged = kinds.nodes(kinds.judged)
    if indptr[judged.start] == indptr[judged.stop]:
        raise NothingToLearnError(
            f"no edge connects a node of the kind {kinds.names[kinds.judged]!r}, which is to be judged",
            "judge another kind, or check the kinds of the sources and targets",
        )
