"""What Odd learned, and its form in a model file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.files import Arrays
from oddhop.detector.model_file import Model, Parts
from oddhop.graph.preparation import Preparation
from oddhop.odd.blocks import Block, Blocks
from oddhop.odd.coordinates import Coordinates
from oddhop.odd.flow import FlowModel
from oddhop.odd.null import Chance
from oddhop.odd.p_values import GRID, STEPS_BELOW, Bulk
from oddhop.odd.settings import OddSettings
from oddhop.odd.stranger import Kinship
from oddhop.odd.views import Panel

SCHEMA = 5
BULKS = ("stranger", "outlier", "clique", "flow", "knot")
FLOWS = ("centre", "spread", "origin", "slopes", "whiten")


@dataclass(frozen=True, eq=False)
class OddLearned:
    """What Odd learned.

    Attributes
    ----------
    panel : what is needed to judge a network.
    chance : how high the nodes of simulated networks score, or None where none were simulated.
    residuals : what communities leave of the edges of the network that was fitted, as ``oddhop.odd.communities.folded``
        keeps it; explanations need it, and to find it again takes longest.
    truncated : how many events the search for cycles did not follow to the end.
    """

    panel: Panel
    residuals: Floats | None = None
    chance: Chance | None = None
    truncated: int = 0


OddModel: TypeAlias = Model[OddSettings, OddLearned]


def to_parts(learned: OddLearned) -> Parts:
    """Take apart what was learned, for a file."""
    arrays: Arrays = {} if learned.residuals is None else {"residuals": learned.residuals}
    if learned.chance is not None:
        arrays["chance"] = learned.chance.scores
    for name, part in _parts(learned.panel).items():
        arrays |= {
            f"{name}.{field.name}": np.atleast_1d(getattr(part, field.name))
            for field in fields(part)
            if isinstance(getattr(part, field.name), np.ndarray | float)
        }
    simulations = 0 if learned.chance is None else learned.chance.simulations
    info = {"columns": learned.panel.blocks.columns, "simulations": simulations, "truncated": learned.truncated}
    return Parts(arrays, info)


def _parts(panel: Panel) -> dict[str, Any]:
    parts: dict[str, Any] = {"kinship": panel.kinship} | {name: getattr(panel, name) for name in BULKS}
    if panel.flows is not None:
        parts["flows"] = panel.flows
    for number, block in enumerate(panel.blocks.parts):
        parts |= {f"block{number}": block, f"block{number}.coordinates": block.coordinates}
        parts[f"block{number}.preparation"] = block.preparation
        if block.coordinates.preparation is not None:
            parts[f"block{number}.reduction"] = block.coordinates.preparation
    return parts


def from_parts(parts: Parts, settings: OddSettings) -> tuple[OddLearned, int]:  # noqa: ARG001 - the contract
    """Put together what a file holds, checked; return it and how many attributes it takes."""
    arrays, columns = parts.arrays, int(parts.info["columns"])
    for name, array in arrays.items():
        if array.dtype.kind not in "fi" or not np.isfinite(array).all():
            raise ValueError(f"{name} holds values that are not finite numbers")
    found = sum(name.endswith(".columns") for name in arrays)
    blocks = Blocks(tuple(_block(arrays, f"block{number}", columns) for number in range(found)), columns)
    width = sum(block.coordinates.width for block in blocks.parts)
    flows = _flows(arrays, width)
    if not blocks.parts and flows is None:
        raise ValueError("it has no block of columns")
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
    stranger, outlier, clique, flow, knot = (_bulk(arrays, name) for name in BULKS)
    panel = Panel(blocks, kinship, stranger, outlier, clique, flow, knot, flows)
    chance = _chance(arrays, int(parts.info["simulations"]))
    return OddLearned(panel, arrays.get("residuals"), chance, int(parts.info["truncated"])), columns


def _flows(arrays: Arrays, width: int) -> FlowModel | None:
    if "flows.centre" not in arrays:
        return None
    centre, spread, origin, slopes, whiten = (arrays[f"flows.{name}"] for name in FLOWS)
    count = centre.size
    shapes = (centre.shape, spread.shape, origin.shape, slopes.shape, whiten.shape)
    if shapes != ((count,), (count,), (width,), (width, count), (count, count)) or not (spread > 0).all():
        raise ValueError(f"flows has shapes {shapes}, which do not fit {width} coordinates")
    return FlowModel(centre, spread, origin, slopes, whiten)


def _chance(arrays: Arrays, simulations: int) -> Chance | None:
    if "chance" not in arrays:
        return None
    scores = arrays["chance"]
    if scores.ndim != 1 or simulations < 1 or (np.diff(scores) < 0).any():
        raise ValueError("the simulated scores are not sorted numbers of at least one network")
    return Chance(scores, simulations)


def _block(arrays: Arrays, name: str, columns: int) -> Block:
    own = arrays[f"{name}.columns"]
    if own.dtype.kind != "i" or own.ndim != 1 or not own.size or own.min() < 0 or own.max() >= columns:
        raise ValueError(f"{name} has columns that a table of {columns} does not have")
    reduction = _preparation(arrays, f"{name}.reduction") if f"{name}.reduction.unit" in arrays else None
    weights, knots = (arrays.get(f"{name}.coordinates.{part}") for part in ("weights", "knots"))
    if (reduction is None) == (knots is None):
        raise ValueError(f"{name} has both or neither of two ways to coordinates")
    for part, axes in ((weights, 1), (knots, 2)):
        if part is not None and (part.ndim != axes or part.size == 0 or part.shape[-1] != own.size):
            raise ValueError(f"{name}.coordinates has shape {part.shape} and there are {own.size} columns")
    preparation, weight = _preparation(arrays, f"{name}.preparation"), _number(arrays, f"{name}.weight")
    if not all(part is None or part.unit.size == own.size for part in (reduction, preparation)) or not weight > 0:
        raise ValueError(f"the parts of {name} do not fit {own.size} columns")
    return Block(own, Coordinates(weights, reduction, knots), preparation, weight)


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
