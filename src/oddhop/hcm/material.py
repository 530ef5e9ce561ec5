"""What tasks learn from and score with: in this process, or in files that every machine sees.

A task is handed a place and opens it. In memory that is the thing itself; on a cluster a few paths travel with the
task, and each process reads what lies there once. Arrays that tasks fill, each a part of its own, are in the place too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from oddhop.base.checkpoints import RunFolder
from oddhop.errors import ModelFileError
from oddhop.graph.graph import Graph
from oddhop.hcm.convolution import Convolution
from oddhop.hcm.hop_pairs import HopPairs
from oddhop.hcm.model import Inputs

MATERIAL, CONVOLVED = "material", "convolved"
PAIRS = ("left", "right", "starts", "class_sizes")
Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Material:
    """A network, what the model sees of it, and the labelled pairs where there is something to learn."""

    graph: Graph
    inputs: Inputs
    pairs: HopPairs | None = None


@dataclass(frozen=True, eq=False)
class InProcess:
    """Material in this process; with a folder the arrays are files, which the system can write out for room."""

    material: Material
    folder: RunFolder | None = None
    arrays: dict[str, Array] = field(default_factory=dict)

    def open(self) -> Material:
        """Return it."""
        return self.material

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, *, fresh: bool) -> Array:
        """Return an array in memory or in the folder."""
        if fresh:
            self.arrays.pop(name, None)  # before the new one takes room
            new = np.zeros(shape, dtype) if self.folder is None else self.folder.array(name, shape, dtype, fresh=True)
            self.arrays[name] = new
        return self.arrays[name]


@dataclass(frozen=True)
class InFiles:
    """Material in a run folder and in a folder made by ``oddhop ingest``."""

    graph: Path
    folder: RunFolder

    def open(self) -> Material:
        """Read the pairs, and map the rest."""
        return _opened(self)

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, *, fresh: bool) -> Array:
        """Map an array of the folder."""
        return self.folder.array(name, shape, dtype, fresh=fresh)


Place: TypeAlias = InProcess | InFiles
"""Where the material of a run is, and its arrays: new ones if they are fresh, or as they were left."""


def written(array: Array) -> None:
    """Make sure that another machine sees what was written."""
    if isinstance(array, np.memmap):
        array.flush()


def put(place: Place, name: str, values: Array) -> None:
    """Put an array where every task finds it."""
    array = place.array(name, values.shape, values.dtype, fresh=True)
    array[:] = values
    written(array)


def write_material(material: Material, graph: Path, folder: RunFolder) -> InFiles:
    """Write what tasks need beside the network into a folder that every machine sees."""
    assert material.pairs is not None  # noqa: S101 - a fit has pairs
    inputs, place = material.inputs, InFiles(graph, folder)
    if folder.load(MATERIAL) is None:
        put(place, CONVOLVED, inputs.convolved)
        info = {
            "exact": material.pairs.exact,
            "shape": list(inputs.convolved.shape),
            "dtype": inputs.convolved.dtype.name,
            "most": inputs.convolution.most,
            "seed": inputs.convolution.seed,
        }
        folder.save(MATERIAL, {name: getattr(material.pairs, name) for name in PAIRS}, info)
    return place


@lru_cache(maxsize=1)
def _opened(place: InFiles) -> Material:
    found = place.folder.load(MATERIAL)
    if found is None:
        raise ModelFileError(f"{place.folder.path} has no pairs to learn from", "start again in another folder")
    arrays, info = found
    left, right, starts, sizes = (arrays[name] for name in PAIRS)
    pairs = HopPairs(left, right, starts, sizes, bool(info["exact"]))
    graph = Graph.open(place.graph)
    convolved = place.folder.array(CONVOLVED, tuple(info["shape"]), info["dtype"], fresh=False)
    convolution = Convolution.of(graph, convolved.dtype.type, most=info["most"], seed=info["seed"])
    return Material(graph, Inputs(convolution, convolved), pairs)
