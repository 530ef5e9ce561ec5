"""What Odd learned, and its form in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.files import Arrays
from oddhop.detector.model_file import Model, Parts
from oddhop.graph.preparation import Preparation
from oddhop.odd.blocks import Block, Blocks
from oddhop.odd.clique import UsualScores
from oddhop.odd.coordinates import Coordinates
from oddhop.odd.flow import FlowModel
from oddhop.odd.kinds import OtherKind
from oddhop.odd.null import Chance
from oddhop.odd.p_values import GRID, STEPS_BELOW, Bulk
from oddhop.odd.rate import Rate
from oddhop.odd.relation import Relation
from oddhop.odd.settings import OddSettings
from oddhop.odd.stranger import Homophily
from oddhop.odd.views import FittedViews

SCHEMA = 7
BULKS = ("stranger", "outlier", "clique", "flow", "raw_clique")
HOMOPHILY = ("centre", "whiten", "turn", "correlation", "information", "middle", "between", "within")
FLOWS = ("centre", "spread", "origin", "slopes", "whiten")


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
        arrays["chance"], arrays["chance.nodes"] = learned.chance.scores, np.array([learned.chance.nodes])
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
    }
    return Parts(arrays, info)


def _parts(fitted: FittedViews) -> dict[str, Any]:
    parts: dict[str, Any] = {"homophily": fitted.homophily} | {name: getattr(fitted, name) for name in BULKS}
    parts |= {"usual": fitted.usual, "flows": fitted.flows, "rate": fitted.rate} | _block_parts(fitted.blocks, "")
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
    told = [(str(kind), int(own)) for kind, own in parts.info["others"]]
    if len({kind for kind, _ in told}) != len(told) or any(name.startswith(f"other{len(told)}.") for name in arrays):
        raise ValueError("it does not name every other kind of node exactly once")
    blocks = _blocks(arrays, "", columns - sum(own for _, own in told))
    width = sum(block.coordinates.width for block in blocks.parts)
    flows = _flows(arrays, width)
    if not blocks.parts and flows is None and not told:
        raise ValueError("it has no block of columns")
    stranger, outlier, clique, flow, raw = (_bulk(arrays, name) for name in BULKS)
    others = tuple(_other(arrays, f"other{number}.", kind, own, width) for number, (kind, own) in enumerate(told))
    homophily, rate = _homophily(arrays, "homophily", width), _rate(arrays, "rate")
    if (rate is None) != (homophily.silent or not told):
        raise ValueError("the rate of the edges within the kind is missing, or the edges say nothing about columns")
    fitted = FittedViews(blocks, homophily, stranger, outlier, clique, flow, raw, _usual(arrays), flows, others, rate)
    chance = _chance(arrays, int(parts.info["simulations"]))
    hubs = {str(kind): int(count) for kind, count in parts.info["hubs"].items()}
    cut, cycles = int(parts.info["truncated"]), bool(parts.info.get("cycles", True))  # models of before have none
    return OddLearned(fitted, arrays.get("residuals"), chance, cut, hubs, cycles), columns


def _blocks(arrays: Arrays, before: str, columns: int) -> Blocks:
    names = [f"{before}block{number}" for number in range(len(arrays))]
    found = [name for name in names if f"{name}.columns" in arrays]
    return Blocks(tuple(_block(arrays, name, columns) for name in found), columns)


def _homophily(arrays: Arrays, name: str, width: int) -> Homophily:
    centre, whiten, turn, correlation = (arrays[f"{name}.{part}"] for part in HOMOPHILY[:4])
    homophily = Homophily(
        centre, whiten, turn, correlation, *(_number(arrays, f"{name}.{part}") for part in HOMOPHILY[4:])
    )
    if correlation.ndim != 1 or not (homophily.between >= 0 and homophily.within > 0):
        raise ValueError(f"{name} has a variance that is not valid")
    inner = whiten.shape[-1]
    shapes = (centre.shape, whiten.shape, turn.shape)
    if shapes != ((width,), (width, inner), (inner, correlation.size)) or np.abs(correlation).max(initial=0.0) >= 1:
        raise ValueError(f"{name} has shapes {shapes}, which do not match {width} coordinates")
    return homophily


def _rate(arrays: Arrays, name: str) -> Rate | None:
    if f"{name}.tilts" not in arrays:
        return None
    tilts, cumulants = arrays[f"{name}.tilts"], arrays[f"{name}.cumulants"]
    spread = _number(arrays, f"{name}.spread")
    if tilts.ndim != 1 or tilts.shape != cumulants.shape or not tilts.size or spread < 0:
        raise ValueError(f"{name} has shapes {tilts.shape} and {cumulants.shape}, or a spread below 0")
    return Rate(tilts, cumulants, spread)


def _other(arrays: Arrays, before: str, kind: str, columns: int, width: int) -> OtherKind:
    blocks = _blocks(arrays, before, columns)
    theirs = sum(block.coordinates.width for block in blocks.parts)
    used = []
    for side, most in (("near", width), ("far", theirs)):
        own, usual = arrays[f"{before}relation.{side}_columns"], arrays[f"{before}relation.{side}_usual"]
        right = own.dtype.kind == "i" and own.ndim == 1 and own.shape == usual.shape
        if not right or (own.size and (own.min() < 0 or own.max() >= most)):
            raise ValueError(f"{before}relation uses coordinates that do not exist")
        used.append((own, usual))
    both = used[0][0].size + used[1][0].size  # own and borrowed
    near, far = (_homophily(arrays, f"{before}{side}", both) for side in ("near", "far"))
    unrelated = _number(arrays, f"{before}relation.unrelated")
    if not np.array_equal(near.correlation, far.correlation) or not 0 <= unrelated < 1:
        raise ValueError(f"the sides of {before}relation do not match")
    relation = Relation(kind, near, far, used[0][0], used[1][0], used[0][1], used[1][1], unrelated)
    share, chance, count = (_number(arrays, f"{before}edges.{part}") for part in ("share", "chance", "count"))
    if not 0 <= share <= 1 or chance < 0 or count < 1:
        raise ValueError(f"{before}edges has a share of {share}, a chance of {chance} and a count of {count}")
    rate = _rate(arrays, f"{before}rate")
    if (rate is None) != relation.silent:
        raise ValueError(f"{before}rate is missing, or the edges say nothing about columns")
    return OtherKind(kind, blocks, share, relation, rate, chance, count)


def _usual(arrays: Arrays) -> UsualScores:
    places, medians = arrays["usual.places"], arrays["usual.medians"]
    chance, nodes = _number(arrays, "usual.chance"), _number(arrays, "usual.nodes")
    if places.ndim != 1 or places.shape != medians.shape or not places.size or chance < 0 or nodes < 1:
        raise ValueError(f"usual has shapes {places.shape} and {medians.shape}, or a chance below 0")
    return UsualScores(places, medians, chance, nodes)


def _flows(arrays: Arrays, width: int) -> FlowModel | None:
    if "flows.centre" not in arrays:
        return None
    centre, spread, origin, slopes, whiten = (arrays[f"flows.{name}"] for name in FLOWS)
    count = centre.size
    shapes = (centre.shape, spread.shape, origin.shape, slopes.shape, whiten.shape)
    if shapes != ((count,), (count,), (width,), (width, count), (count, count)) or not (spread > 0).all():
        raise ValueError(f"flows has shapes {shapes}, which do not match {width} coordinates")
    return FlowModel(centre, spread, origin, slopes, whiten)


def _chance(arrays: Arrays, simulations: int) -> Chance | None:
    if "chance" not in arrays:
        return None
    scores = arrays["chance"]
    nodes = int(_number(arrays, "chance.nodes"))
    if scores.ndim != 1 or simulations < 1 or nodes < 1 or (np.diff(scores) < 0).any():
        raise ValueError("the simulated scores are not sorted numbers of at least one network")
    return Chance(scores, simulations, nodes)


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
        raise ValueError(f"the parts of {name} do not match {own.size} columns")
    return Block(own, Coordinates(weights, reduction, knots), preparation, weight)


def _preparation(arrays: Arrays, name: str) -> Preparation:
    unit, centre, spread = (arrays[f"{name}.{part}"] for part in ("unit", "centre", "spread"))
    components = arrays.get(f"{name}.components")
    inner = (unit.size,) if components is None else (unit.size, spread.size)
    found = centre.shape if components is None else components.shape
    if (unit.shape, centre.shape, found) != ((unit.size,), (unit.size,), inner) or spread.shape != inner[-1:]:
        raise ValueError(f"the parts of {name} do not match")
    if not (unit > 0).all() or not (spread > 0).all():
        raise ValueError(f"{name} has scales that are not above 0")
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
