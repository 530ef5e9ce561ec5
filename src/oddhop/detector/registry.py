"""The detectors by name. One of oddhop's own is a line in ``DETECTORS``; any other is named as a class."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from oddhop.errors import MissingExtraError, ModelFileError, SettingsError

if TYPE_CHECKING:
    from oddhop.detector.base import GraphDetector
    from oddhop.detector.settings import DetectorSettings


@dataclass(frozen=True)
class Entry:
    """Where a detector and its settings are ("module:name"), the extra that it needs, and one line about it.

    Settings have a module of their own, so that a command can check them without importing the detector.
    """

    detector: str
    settings: str
    extra: str | None = None
    summary: str = ""


DETECTORS: dict[str, Entry] = {
    "odd": Entry(
        "oddhop.odd.detector:Odd",
        "oddhop.odd.settings:OddSettings",
        summary="statistical tests, no training",
    ),
    "hcm": Entry(
        "oddhop.hcm.detector:HCM",
        "oddhop.hcm.settings:HCMSettings",
        "hcm",
        "neural network of the HCM paper, needs torch",
    ),
    "cosine": Entry(
        "oddhop.hcm.cosine:NeighbourCosine",
        "oddhop.detector.settings:DetectorSettings",
        summary="mean cosine to the neighbours, no training",
    ),
}


def registered(name: str) -> str:
    """Return the name of a detector; a class, ``package.module:Class``, is known by its own name from now on.

    Only a caller can name a class: what a model file or the folder of a run says imports nothing.
    """
    if ":" not in name:
        return name
    from oddhop.detector.base import GraphDetector

    try:
        found = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"the detector {name!r} cannot be imported: {error}",
            "write package.module:Class, and install the package or name its folder in PYTHONPATH",
        ) from None
    if not (isinstance(found, type) and issubclass(found, GraphDetector)):
        raise SettingsError(f"{name!r} is not a detector", "name a class that derives from GraphDetector")
    entry = Entry(name, f"{name}.settings_type")
    if DETECTORS.setdefault(found.name, entry) != entry:
        raise SettingsError(f"another detector is called {found.name!r} already", "give the class another name")
    return found.name


def detector_named(name: str) -> type[GraphDetector]:
    """Return the detector of a name."""
    entry = _entry(name)
    try:
        return resolve_name(entry.detector)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if entry.extra is None or (error.name or "oddhop").partition(".")[0] == "oddhop":
            raise
        raise MissingExtraError(
            f"the detector {name!r} needs {error.name}, which is not installed", f'pip install "oddhop[{entry.extra}]"'
        ) from None


def settings_named(name: str) -> type[DetectorSettings]:
    """Return the settings of the detector of a name; the detector itself is not imported."""
    return resolve_name(_entry(name).settings)  # type: ignore[no-any-return]


def load(path: str | os.PathLike[str]) -> GraphDetector:
    """Read a model file of any detector.

    What :meth:`oddhop.feedback.Feedback.save` wrote holds answers too: :meth:`oddhop.feedback.Feedback.load` reads it.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import oddhop
    >>> rng = np.random.default_rng(0)
    >>> graph = oddhop.Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     oddhop.Odd(random_state=0).fit(graph).save(f"{folder}/model.oddhop")
    ...     type(oddhop.load(f"{folder}/model.oddhop")).__name__
    'Odd'
    """
    from oddhop.detector.model_file import read_parts  # with NumPy and Arrow, which a list of names does without

    kind = read_parts(path)[1].get("kind")
    if kind == "feedback":  # Feedback is no detector: what a detector is asked for, such as its model, it does not have
        raise ModelFileError(
            f"{path} has a detector and the answers that it learned from",
            "read it with oddhop.feedback.Feedback.load",
            command="give the model.oddhop of the run, and the answers with --answers",
        )
    if kind not in DETECTORS:
        raise ModelFileError(
            f"{path} is a model of {kind!r}, and the known detectors are {', '.join(DETECTORS)}",
            "load it with the oddhop that wrote it, or fit again",
            command="name the class with --detector package.module:Class, or fit again",
        )
    return detector_named(kind).load(path)


def _entry(name: str) -> Entry:
    if name not in DETECTORS:
        raise SettingsError(f"no detector is called {name!r}", f"choose {' or '.join(DETECTORS)}")
    return DETECTORS[name]
