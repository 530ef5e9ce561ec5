"""What Odd learned, and its form in a model file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.files import Arrays
from oddhop.detector.model_file import Model, Parts
from oddhop.graph.preparation import Preparation
from oddhop.odd.coordinates import Coordinates
from oddhop.odd.p_values import GRID, STEPS_BELOW, Bulk
from oddhop.odd.settings import OddSettings
from oddhop.odd.stranger import Kinship
from oddhop.odd.views import Panel

SCHEMA = 3
BULKS = ("stranger", "outlier", "ring", "knot")


@dataclass(frozen=True, eq=False)
class OddLearned:
    """What Odd learned.

    Attributes
    ----------
    panel : what is needed to judge a network.
    residuals : what communities leave of the edges of the network that was fitted, as ``oddhop.odd.communities.folded``
        keeps it; explanations need it, and to find it again takes longest.
    """

    panel: Panel
    residuals: Floats | None = None


OddModel: TypeAlias = Model[OddSettings, OddLearned]


def to_parts(learned: OddLearned) -> Parts:
    """Take apart what was learned, for a file."""
    arrays: Arrays = {} if learned.residuals is None else {"residuals": learned.residuals}
    for name, part in _parts(learned.panel).items():
        arrays |= {
            f"{name}.{field.name}": np.atleast_1d(getattr(part, field.name))
            for field in fields(part)
            if getattr(part, field.name) is not None
        }
    return Parts(arrays, {})


def _parts(panel: Panel) -> dict[str, Any]:
    parts: dict[str, Any] = {"preparation": panel.preparation, "kinship": panel.kinship}
    parts |= {name: getattr(panel, name) for name in BULKS}
    if panel.coordinates.preparation is not None:
        parts["reduction"] = panel.coordinates.preparation
    if panel.coordinates.weights is not None or panel.coordinates.knots is not None:
        parts["coordinates"] = Coordinates(panel.coordinates.weights, None, panel.coordinates.knots)
    return parts


def from_parts(parts: Parts, settings: OddSettings) -> tuple[OddLearned, int]:  # noqa: ARG001 - the contract
    """Put together what a file holds, checked; return it and how many attributes it takes."""
    arrays = parts.arrays
    for name, array in arrays.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
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
    return OddLearned(panel, arrays.get("residuals")), columns


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
