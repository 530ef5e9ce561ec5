"""Model files of Odd: safetensors with a JSON document inside; no pickle, and no changed byte passes."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.files import Arrays, opened_parts, pack_arrays, sweep_beside, write_atomically
from oddhop.errors import ModelFileError, SettingsError
from oddhop.graph.preparation import Preparation
from oddhop.odd.coordinates import Coordinates
from oddhop.odd.p_values import GRID, STEPS_BELOW, Bulk
from oddhop.odd.stranger import Kinship
from oddhop.odd.views import Panel
from oddhop.settings import OddSettings, checked_odd_settings
from oddhop.tables.encode import Encoding

SCHEMA = 2
KIND = "oddhop.Odd"
BULKS = ("stranger", "outlier", "ring", "knot")


@dataclass(frozen=True)
class OddModel:
    """All that is needed to score a network: what a model file holds.

    Attributes
    ----------
    settings, seed : how it was fitted.
    panel : what was learned.
    threshold : scores at or above it are flagged.
    fingerprint : of the network it was fitted on.
    version : the oddhop that fitted it.
    encoding : how the columns of a table become the attributes, where they came from one.
    apart : what communities leave of the edges of that network, see ``oddhop.odd.ring.folded``; explanations need
        it, and to find it again takes longest. None in files of old.
    """

    settings: OddSettings
    seed: int
    panel: Panel
    threshold: float
    fingerprint: str
    version: str
    encoding: Encoding | None = None
    apart: Floats | None = None


def save_odd(model: OddModel, path: str | os.PathLike[str]) -> None:
    """Write a model file, atomically."""
    panel = model.panel
    arrays = {"threshold": np.array([model.threshold])} | ({} if model.apart is None else {"apart": model.apart})
    for name, part in _parts(panel).items():
        arrays |= {
            f"{name}.{field.name}": np.atleast_1d(getattr(part, field.name))
            for field in fields(part)
            if getattr(part, field.name) is not None
        }
    info = {
        "kind": KIND,
        "schema": SCHEMA,
        "version": model.version,
        "seed": model.seed,
        "settings": model.settings.model_dump(),
        "fingerprint": model.fingerprint,
        "encoding": None if model.encoding is None else model.encoding.to_json(),
    }
    sweep_beside(Path(path))
    write_atomically(Path(path), pack_arrays(arrays, info))


def load_odd(path: str | os.PathLike[str]) -> OddModel:
    """Read a model file and check everything in it before use."""
    arrays, info = opened_parts(path, KIND, SCHEMA)
    try:
        return _checked(arrays, info)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, SettingsError) as error:
        raise ModelFileError(f"{path} is not a usable model: {error}") from None


def _parts(panel: Panel) -> dict[str, Any]:
    parts: dict[str, Any] = {"preparation": panel.preparation, "kinship": panel.kinship}
    parts |= {name: getattr(panel, name) for name in BULKS}
    if panel.coordinates.preparation is not None:
        parts["reduction"] = panel.coordinates.preparation
    if panel.coordinates.weights is not None or panel.coordinates.knots is not None:
        parts["coordinates"] = Coordinates(panel.coordinates.weights, None, panel.coordinates.knots)
    return parts


def _checked(arrays: Arrays, info: dict[str, Any]) -> OddModel:
    for name, array in arrays.items():
        if array.dtype.kind != "f" or not (name == "threshold" or np.isfinite(array).all()):
            raise ValueError(f"{name} holds values that are not finite numbers")
    reduction = _preparation(arrays, "reduction") if "reduction.unit" in arrays else None
    coordinates = Coordinates(arrays.get("coordinates.weights"), reduction, arrays.get("coordinates.knots"))
    columns = arrays["preparation.unit"].size
    if (reduction is None) == (coordinates.knots is None):
        raise ValueError("it has both or neither of two ways to coordinates")
    for name, part, axes in (("weights", coordinates.weights, 1), ("knots", coordinates.knots, 2)):
        if part is not None and (part.ndim != axes or part.size == 0 or part.shape[-1] != columns):
            raise ValueError(f"coordinates.{name} has shape {part.shape} and there are {columns} columns")
    width = columns if reduction is None else reduction.width
    centre, whiten, turn, correlation = (
        arrays[f"kinship.{name}"] for name in ("centre", "whiten", "turn", "correlation")
    )
    figures = (_number(arrays, f"kinship.{name}") for name in ("information", "middle", "between", "within"))
    kinship = Kinship(centre, whiten, turn, correlation, *figures)
    if correlation.ndim != 1 or not (kinship.between >= 0 and kinship.within > 0):
        raise ValueError("kinship has a variance that is none")
    inner = kinship.correlation.size
    shapes = (kinship.centre.shape, kinship.whiten.shape, kinship.turn.shape)
    if shapes != ((width,), (width, inner), (inner, inner)) or np.abs(kinship.correlation).max(initial=0.0) >= 1:
        raise ValueError(f"kinship has shapes {shapes}, which do not fit {width} coordinates")
    panel = Panel(coordinates, _preparation(arrays, "preparation"), kinship, *(_bulk(arrays, name) for name in BULKS))
    encoding = None if info["encoding"] is None else Encoding.from_json(info["encoding"])
    if encoding is not None and len(encoding.names) != columns:
        raise ValueError(f"the encoding gives {len(encoding.names)} attributes and the model takes {columns}")
    return OddModel(
        settings=checked_odd_settings(info["settings"]),
        seed=int(info["seed"]),
        panel=panel,
        threshold=_number(arrays, "threshold"),
        fingerprint=str(info["fingerprint"]),
        version=str(info["version"]),
        encoding=encoding,
        apart=arrays.get("apart"),
    )


def _preparation(arrays: Arrays, name: str) -> Preparation:
    unit, centre, spread = (arrays[f"{name}.{part}"] for part in ("unit", "centre", "spread"))
    components = arrays.get(f"{name}.components")
    inner = (unit.size,) if components is None else (unit.size, spread.size)
    found = centre.shape if components is None else components.shape
    if (unit.shape, centre.shape, found) != ((unit.size,), (unit.size,), inner) or spread.shape != inner[-1:]:
        raise ValueError(f"the parts of {name} do not fit each other")
    if not (unit > 0).all() or not (spread > 0).all():
        raise ValueError(f"{name} divides by numbers that are not above 0")
    return Preparation(unit, centre, components, spread)


def _bulk(arrays: Arrays, name: str) -> Bulk:
    below, excess = arrays[f"{name}.below"], arrays[f"{name}.excess"]
    if below.shape != (STEPS_BELOW + 1,) or excess.shape != GRID.shape:
        raise ValueError(f"the parts of {name} have shapes {below.shape} and {excess.shape}")
    share, scale, shape = (_number(arrays, f"{name}.{part}") for part in ("share", "scale", "shape"))
    return Bulk(below, share, scale, shape, excess)


def _number(arrays: Arrays, name: str) -> float:
    (number,) = arrays[name].tolist()
    return float(number)
