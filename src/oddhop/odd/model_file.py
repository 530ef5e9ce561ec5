"""What Odd learned, and its form in a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.base.files import Arrays
from oddhop.detector.model_file import Model, Parts
from oddhop.graph.preparation import Preparation
from oddhop.odd.all_views import BULKS
from oddhop.odd.blocks import Block, Blocks
from oddhop.odd.clique import UsualScores
from oddhop.odd.coordinates import Coordinates
from oddhop.odd.kinds import OtherKind
from oddhop.odd.null import Chance
from oddhop.odd.p_values import GRID, STEPS_BELOW, Bulk
from oddhop.odd.rate import Rate
from oddhop.odd.relation import Relation
from oddhop.odd.settings import OddSettings
from oddhop.odd.stranger import Homophily
from oddhop.odd.views import FittedViews

SCHEMA = 8
ABOVE_0, BELOW_1 = float(np.nextafter(0, 1)), float(np.nextafter(1, 0))
Part = TypeVar("Part")
# The axes of every array. Axes of a part with one letter have one size; those with a capital letter are not empty.
AXES: dict[Any, dict[str, str]] = {
    Homophily: {"centre": "n", "whiten": "nk", "turn": "km", "correlation": "m"},
    Bulk: {"below": "b", "excess": "g"},
    UsualScores: {"places": "N", "medians": "N"},
    Rate: {"tilts": "N", "cumulants": "N"},
    Relation: {"near_columns": "a", "near_usual": "a", "far_columns": "b", "far_usual": "b"},
    Preparation: {"unit": "n", "centre": "n", "components": "nk", "spread": "k"},
    Coordinates: {"weights": "N", "knots": "KN"},
    Block: {"columns": "N"},
}
SIZES = {"b": STEPS_BELOW + 1, "g": GRID.size}
# The smallest and the largest number in each.
LIMITS: dict[Any, dict[str, tuple[float, float]]] = {
    Homophily: {"correlation": (-BELOW_1, BELOW_1), "between": (0, np.inf), "within": (ABOVE_0, np.inf)},
    UsualScores: {"chance": (0, np.inf), "nodes": (1, np.inf)},
    Rate: {"spread": (0, np.inf)},
    Relation: {"unrelated": (0, BELOW_1)},
    Preparation: {"unit": (ABOVE_0, np.inf), "spread": (ABOVE_0, np.inf)},
    Block: {"weight": (ABOVE_0, np.inf)},
    OtherKind: {"share": (0, 1), "chance": (0, np.inf), "count": (1, np.inf)},
}


@dataclass(frozen=True, eq=False)
class OddLearned:
    """What Odd learned.

    Attributes
    ----------
    views : what is needed to judge a network.
    chance : how high the nodes of simulated networks score, or None where none were simulated.
    residuals : what communities leave of the edges of the network that was fitted, as ``oddhop.odd.communities.folded``
        keeps it; explanations need it, and to find it again takes longest.
    truncated : how many events the search for cycles did not follow to the end.
    hubs : how many nodes of other kinds were left out of common neighbours, by kind.
    cycles : whether cycles of events were searched; they are not where the events do not fit in memory.
    """

    views: FittedViews
    residuals: Floats | None = None
    chance: Chance | None = None
    truncated: int = 0
    hubs: Mapping[str, int] = field(default_factory=dict)
    cycles: bool = True


OddModel: TypeAlias = Model[OddSettings, OddLearned]


def to_parts(learned: OddLearned) -> Parts:
    """Take apart what was learned, for a file."""
    arrays: Arrays = {} if learned.residuals is None else {"residuals": learned.residuals}
    if learned.chance is not None:
        arrays["chance"] = learned.chance.scores
        arrays["chance.nodes"], arrays["chance.ratio"] = (
            np.array([learned.chance.nodes]),
            np.array([learned.chance.ratio]),
        )
    for name, part in _parts(learned.views).items():
        arrays |= {
            f"{name}.{one.name}": np.atleast_1d(getattr(part, one.name))
            for one in fields(part)
            if isinstance(getattr(part, one.name), np.ndarray | float)
        }
    simulations = 0 if learned.chance is None else learned.chance.simulations
    others = learned.views.others
    info = {
        "columns": learned.views.blocks.columns + sum(one.blocks.columns for one in others),
        "simulations": simulations,
        "truncated": learned.truncated,
        "others": [[one.kind, one.blocks.columns] for one in others],
        "hubs": dict(learned.hubs),
        "cycles": learned.cycles,
        "place": learned.views.place,
    }
    return Parts(arrays, info)


def _parts(fitted: FittedViews) -> dict[str, Any]:
    parts: dict[str, Any] = {"homophily": fitted.homophily} | dict(fitted.bulks)
    parts |= {"usual": fitted.usual, "rate": fitted.rate} | _block_parts(fitted.blocks, "")
    for number, one in enumerate(fitted.others):
        own = {"edges": one, "rate": one.rate, "near": one.relation.near, "far": one.relation.far}
        parts |= {f"other{number}.{name}": part for name, part in own.items()}
        parts |= {f"other{number}.relation": one.relation} | _block_parts(one.blocks, f"other{number}.")
    return {name: part for name, part in parts.items() if part is not None}


def _block_parts(blocks: Blocks, before: str) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for number, block in enumerate(blocks.parts):
        name = f"{before}block{number}"
        parts |= {name: block, f"{name}.coordinates": block.coordinates, f"{name}.preparation": block.preparation}
        if block.coordinates.preparation is not None:
            parts[f"{name}.reduction"] = block.coordinates.preparation
    return parts


def from_parts(parts: Parts, settings: OddSettings) -> tuple[OddLearned, int]:  # noqa: ARG001 - the contract
    """Put together what a file holds, checked; return it and how many attributes it takes."""
    arrays, columns = parts.arrays, int(parts.info["columns"])
    for name, array in arrays.items():
        if array.dtype.kind not in "fi" or not np.isfinite(array).all():
            raise ValueError(f"{name} has values that are not finite numbers")
    named = [(str(kind), int(own)) for kind, own in parts.info["others"]]
    if len({kind for kind, _ in named}) != len(named) or any(name.startswith(f"other{len(named)}.") for name in arrays):
        raise ValueError("it does not name every other kind of node exactly once")
    blocks = _blocks(arrays, "", columns - sum(own for _, own in named))
    width = sum(block.coordinates.width for block in blocks.parts)
    if not blocks.parts and not blocks.columns and not named:
        raise ValueError("it has no block of columns")
    bulks = {name: _part(Bulk, arrays, name, SIZES) for name in BULKS}
    others = tuple(_other(arrays, f"other{number}.", kind, own, width) for number, (kind, own) in enumerate(named))
    homophily, rate = _part(Homophily, arrays, "homophily", {"n": width}), _part_if_any(Rate, arrays, "rate")
    if (rate is None) != (homophily.silent or not named):
        raise ValueError("the rate of the edges within the kind is missing, or the edges say nothing about columns")
    usual, place = _part(UsualScores, arrays, "usual"), float(parts.info["place"])
    if not 0 < place <= 1:
        raise ValueError(f"the weight of the place must be above 0 and at most 1, got {place}")
    fitted = FittedViews(blocks, homophily, bulks, usual, place, others, rate)
    chance = _chance(arrays, int(parts.info["simulations"]))
    hubs = {str(kind): int(count) for kind, count in parts.info["hubs"].items()}
    cut, cycles = int(parts.info["truncated"]), bool(parts.info.get("cycles", True))  # models of before have none
    return OddLearned(fitted, arrays.get("residuals"), chance, cut, hubs, cycles), columns


def _part(
    kind: Callable[..., Part],
    arrays: Arrays,
    name: str,
    sizes: Mapping[str, int] | None = None,
    known: Mapping[str, Any] | None = None,
) -> Part:
    """Read a part from the arrays of its fields, and check their axes and limits.

    ``sizes`` are those of axes that are known, and ``known`` the fields that are not in the file.
    """
    values, sizes = dict(known or {}), dict(sizes or {})
    for one in fields(cast("Any", kind)):
        where = f"{name}.{one.name}"
        if one.type == "Floats | None" and where not in arrays:
            values[one.name] = None
        if one.name in values:
            continue
        array, axes = arrays[where], AXES.get(kind, {}).get(one.name)
        if axes is None:
            (number,) = array.tolist()
            values[one.name] = float(number)
        else:
            expected = tuple(sizes.setdefault(axis, size) for axis, size in zip(axes, array.shape, strict=False))
            empty = any(axis.isupper() and not size for axis, size in zip(axes, array.shape, strict=False))
            if array.ndim != len(axes) or array.shape != expected or empty:
                raise ValueError(f"{where} has shape {array.shape}, which does not match {sizes}")
            if one.type == "Ints" and array.dtype.kind != "i":
                raise ValueError(f"{where} must have whole numbers, got {array.dtype}")
            values[one.name] = array
        low, high = LIMITS.get(kind, {}).get(one.name, (-np.inf, np.inf))
        if not ((array >= low) & (array <= high)).all():
            raise ValueError(f"{where} has values that are not from {low:g} to {high:g}")
    return kind(**values)


def _part_if_any(
    kind: Callable[..., Part], arrays: Arrays, name: str, sizes: Mapping[str, int] | None = None
) -> Part | None:
    """Read a part that a model may lack."""
    first = fields(cast("Any", kind))[0].name
    return _part(kind, arrays, name, sizes) if f"{name}.{first}" in arrays else None


def _blocks(arrays: Arrays, before: str, columns: int) -> Blocks:
    names = [f"{before}block{number}" for number in range(len(arrays))]
    found = [name for name in names if f"{name}.columns" in arrays]
    return Blocks(tuple(_block(arrays, name, columns) for name in found), columns)


def _block(arrays: Arrays, name: str, columns: int) -> Block:
    count = arrays[f"{name}.columns"].size
    reduction = _preparation(arrays, f"{name}.reduction", count) if f"{name}.reduction.unit" in arrays else None
    coordinates = _part(Coordinates, arrays, f"{name}.coordinates", {"N": count}, {"preparation": reduction})
    if (reduction is None) == (coordinates.knots is None):
        raise ValueError(f"{name} has both or neither of two ways to coordinates")
    parts = {"coordinates": coordinates, "preparation": _preparation(arrays, f"{name}.preparation", count)}
    block = _part(Block, arrays, name, known=parts)
    _check_places(block.columns, columns, f"{name}.columns")
    return block


def _preparation(arrays: Arrays, name: str, columns: int) -> Preparation:
    same = {} if f"{name}.components" in arrays else {"k": columns}
    return _part(Preparation, arrays, name, {"n": columns, **same})


def _check_places(places: Ints, count: int, name: str) -> None:
    if places.min(initial=0) < 0 or places.max(initial=-1) >= count:
        raise ValueError(f"{name} has places that a table of {count} columns does not have")


def _other(arrays: Arrays, before: str, kind: str, columns: int, width: int) -> OtherKind:
    blocks, name = _blocks(arrays, before, columns), f"{before}relation"
    both = {"n": sum(arrays[f"{name}.{side}_columns"].size for side in ("near", "far"))}  # own and borrowed
    near, far = (_part(Homophily, arrays, f"{before}{side}", both) for side in ("near", "far"))
    relation = _part(Relation, arrays, name, known={"kind": kind, "near": near, "far": far})
    _check_places(relation.near_columns, width, f"{name}.near_columns")
    _check_places(relation.far_columns, sum(one.coordinates.width for one in blocks.parts), f"{name}.far_columns")
    if not np.array_equal(near.correlation, far.correlation):
        raise ValueError(f"the sides of {name} do not match")
    rate = _part_if_any(Rate, arrays, f"{before}rate")
    if (rate is None) != relation.silent:
        raise ValueError(f"{before}rate is missing, or the edges say nothing about columns")
    parts = {"kind": kind, "blocks": blocks, "relation": relation, "rate": rate}
    return _part(OtherKind, arrays, f"{before}edges", known=parts)


def _chance(arrays: Arrays, simulations: int) -> Chance | None:
    if "chance" not in arrays:
        return None
    scores, (nodes,) = arrays["chance"], arrays["chance.nodes"].tolist()
    (ratio,) = arrays.get("chance.ratio", np.ones(1)).tolist()  # a model of an older version has none
    if scores.ndim != 1 or simulations < 1 or nodes < 1 or (np.diff(scores) < 0).any() or not ratio > 0:
        raise ValueError("the simulated scores are not sorted numbers of at least one network")
    return Chance(scores, simulations, int(nodes), float(ratio))
