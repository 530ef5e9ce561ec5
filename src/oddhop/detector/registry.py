"""The detectors by name, and a model file opened by whichever wrote it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from oddhop.base.files import unpack_arrays
from oddhop.errors import ModelFileError
from oddhop.odd import model_file as oddfile
from oddhop.odd.detector import Odd

if TYPE_CHECKING:
    from oddhop.hcm.detector import HCM

AnyDetector: TypeAlias = "HCM | Odd"


def detector_named(name: str) -> type[HCM] | type[Odd]:
    """Give the detector of a name.

    Examples
    --------
    >>> from oddhop.detector.registry import detector_named
    >>> detector_named("odd").__name__
    'Odd'
    """
    if name == "odd":
        return Odd
    from oddhop.hcm.detector import HCM  # with torch, which takes seconds to import and Odd does without

    return HCM


def load_detector(path: str | os.PathLike[str]) -> AnyDetector:
    """Read a model file of any detector; its kind says of which.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from oddhop import Graph, Odd
    >>> from oddhop.detector.registry import load_detector
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Odd(random_state=0).fit(graph).save(f"{folder}/model.oddhop")
    ...     type(load_detector(f"{folder}/model.oddhop")).__name__
    'Odd'
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}; give the path of a model file") from None
    kind = unpack_arrays(content, str(path))[1].get("kind")
    return detector_named("odd" if kind == oddfile.KIND else "hcm").load(path)
