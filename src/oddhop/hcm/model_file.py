"""Model files: safetensors with a JSON document inside; no pickle, and no changed byte passes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oddhop.base.files import opened_parts, pack_arrays, sweep_beside, write_atomically
from oddhop.errors import ModelFileError, SettingsError
from oddhop.graph.preparation import Preparation
from oddhop.hcm.chains import Posterior
from oddhop.hcm.model import Shape
from oddhop.settings import HCMSettings, checked_settings
from oddhop.tables.encode import Encoding

SCHEMA = 1
KIND = "oddhop.HCM"


@dataclass(frozen=True)
class Model:
    """All that is needed to score a network: what a model file holds.

    Attributes
    ----------
    settings, seed : how it was fitted.
    preparation, posterior : the attributes' scaling and PCA, and the weights.
    maxima : what HAV divides AHP and IV by.
    threshold : scores at or above it are flagged.
    fingerprint : of the network it was fitted on.
    version : the oddhop that fitted it.
    encoding : how the columns of a table become the attributes, where they came from one.
    """

    settings: HCMSettings
    seed: int
    preparation: Preparation
    posterior: Posterior
    maxima: tuple[float, float]
    threshold: float
    fingerprint: str
    version: str
    encoding: Encoding | None = None


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file, atomically."""
    posterior = model.posterior
    arrays = {
        **model.preparation.arrays(),
        "weights": posterior.weights,
        "losses": posterior.losses,
        "figures": np.array([*model.maxima, model.threshold]),
    }
    info = {
        "kind": KIND,
        "schema": SCHEMA,
        "version": model.version,
        "seed": model.seed,
        "settings": model.settings.model_dump(),
        "shape": vars(posterior.shape),
        "fingerprint": model.fingerprint,
        "encoding": None if model.encoding is None else model.encoding.to_json(),
    }
    sweep_beside(Path(path))
    write_atomically(Path(path), pack_arrays(arrays, info))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file and check everything in it before use."""
    arrays, info = opened_parts(path, KIND, SCHEMA)
    try:
        return _checked(arrays, info)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, SettingsError) as error:
        raise ModelFileError(f"{path} is not a usable model: {error}") from None


def _checked(arrays: dict[str, Any], info: dict[str, Any]) -> Model:
    settings = checked_settings(info["settings"])
    shape = Shape(**info["shape"])
    # First of all: a shape of a billion layers would take all memory to be worked out.
    if (shape.hidden, shape.layers, shape.classes) != (settings.hidden, settings.layers, settings.hops):
        raise ValueError(f"the shape {shape} does not fit the settings")
    weights = arrays["weights"]
    components = arrays.get("components")
    columns = arrays["unit"].size
    expected = {
        "weights": (settings.chains, settings.samples, shape.size),
        "losses": (settings.chains,),
        "figures": (3,),
        "unit": (columns,),
        "centre": (columns,),
        "spread": (shape.attributes,),
    }
    if components is not None:
        expected["components"] = (columns, shape.attributes)
    for name, size in expected.items():
        array = arrays[name]
        if array.shape != size or array.dtype.kind != "f":
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, expected floats of shape {size}")
        if not np.isfinite(array[:2] if name == "figures" else array).all():
            raise ValueError(f"{name} holds values that are not finite")
    if not (arrays["unit"] > 0).all() or not (arrays["spread"] > 0).all():
        raise ValueError("it divides by numbers that are not above 0")
    if (components is None and columns != shape.attributes) or weights.dtype != settings.dtype:
        raise ValueError("the weights do not fit the attributes or the precision")
    encoding = None if info["encoding"] is None else Encoding.from_json(info["encoding"])
    if encoding is not None and len(encoding.names) != columns:
        raise ValueError(f"the encoding gives {len(encoding.names)} attributes and the model takes {columns}")
    max_ahp, max_iv, threshold = (float(figure) for figure in arrays["figures"])
    return Model(
        settings=settings,
        seed=int(info["seed"]),
        preparation=Preparation.of(arrays),
        posterior=Posterior(weights, shape, arrays["losses"]),
        maxima=(max_ahp, max_iv),
        threshold=threshold,
        fingerprint=str(info["fingerprint"]),
        version=str(info["version"]),
        encoding=encoding,
    )
