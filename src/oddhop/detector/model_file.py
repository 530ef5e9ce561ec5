"""Model files: one safetensors file with a JSON document inside. No pickle, and no changed byte passes.

The envelope is the same for all detectors: which detector, settings, seed, threshold, the network it was fitted on, how
columns become attributes. What was learned is the detector's own: arrays, and a part of the document.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from oddhop.base.files import Arrays, pack_arrays, sweep_beside, unpack_arrays, write_atomically
from oddhop.base.settings import checked
from oddhop.detector.settings import DetectorSettings
from oddhop.errors import ModelFileError, SettingsError
from oddhop.tables.encode import Encoding
from oddhop.tables.settings import PLAIN, ReadSettings

THRESHOLD = "threshold"
SomeSettings = TypeVar("SomeSettings", bound=DetectorSettings)
Learned = TypeVar("Learned")


@dataclass(frozen=True, eq=False)
class Model(Generic[SomeSettings, Learned]):
    """All that is needed to score a network: what a model file holds.

    Attributes
    ----------
    settings, seed : how it was fitted.
    learned : what the detector learned.
    threshold : nodes with a higher score are flagged.
    fingerprint : of the network it was fitted on.
    version : the oddhop that fitted it.
    encoding : how the columns of a table become the attributes, where they came from one.
    read : the settings by which later tables are read, too.
    """

    settings: SomeSettings
    seed: int
    learned: Learned
    threshold: float
    fingerprint: str
    version: str
    encoding: Encoding | None = None
    read: ReadSettings = PLAIN


@dataclass(frozen=True)
class Parts:
    """What a detector learned, in the form of a file: arrays of numbers, and what JSON can say."""

    arrays: Arrays
    info: Mapping[str, Any]


def save_model(path: str | os.PathLike[str], detector: str, schema: int, model: Model[Any, Any], parts: Parts) -> None:
    """Write a model file, whole or not at all."""
    info = {
        "kind": detector,
        "schema": schema,
        "version": model.version,
        "seed": model.seed,
        "settings": model.settings.model_dump(),
        "learned": parts.info,
        "fingerprint": model.fingerprint,
        "encoding": None if model.encoding is None else model.encoding.to_json(),
        "read": model.read.model_dump(mode="json", exclude_defaults=True),
    }
    sweep_beside(Path(path))
    write_atomically(Path(path), pack_arrays({**parts.arrays, THRESHOLD: np.array([model.threshold])}, info))


def read_parts(path: str | os.PathLike[str]) -> tuple[Arrays, dict[str, Any]]:
    """Read a model file of any detector; what its parts mean is still to be checked. ``info["kind"]`` names whose."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}", "give the path of a model file") from None
    arrays, info = unpack_arrays(content, str(path))
    if not isinstance(info, dict) or not isinstance(info.get("kind"), str):
        raise ModelFileError(f"{path} does not name the model in it", "give the path of a model file")
    return arrays, info


def load_model(
    path: str | os.PathLike[str],
    detector: str,
    schema: int,
    settings: type[SomeSettings],
    learned: Callable[[Parts, SomeSettings], tuple[Learned, int | None]],
) -> Model[SomeSettings, Learned]:
    """Read a model file and check everything in it before use.

    ``learned`` makes what was learned of its parts, and says how many attributes it takes, where that matters.
    """
    arrays, info = read_parts(path)
    if info.get("kind") != detector or info.get("schema") != schema:
        raise ModelFileError(
            f"{path} has {info.get('kind')!r} of schema {info.get('schema')!r}, "
            f"expected {detector!r} of schema {schema}",
            "load it with the detector and the oddhop that wrote it, or fit again",
        )
    try:
        chosen = checked(settings, info["settings"])
        (threshold,) = arrays.pop(THRESHOLD).tolist()
        if not threshold > -np.inf:
            raise ValueError(f"the threshold is {threshold}")
        found, columns = learned(Parts(arrays, info["learned"]), chosen)
        encoding = None if info["encoding"] is None else Encoding.from_json(info["encoding"])
        if encoding is not None and columns is not None and len(encoding.names) != columns:
            raise ValueError(f"the encoding gives {len(encoding.names)} attributes and the model takes {columns}")
        return Model(
            settings=chosen,
            seed=int(info["seed"]),
            learned=found,
            threshold=float(threshold),
            fingerprint=str(info["fingerprint"]),
            version=str(info["version"]),
            encoding=encoding,
            read=checked(ReadSettings, info["read"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, SettingsError) as error:
        raise ModelFileError(f"{path} is not a usable model: {error}") from None
