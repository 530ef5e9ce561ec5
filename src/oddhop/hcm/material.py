"""What tasks learn from and score with: in this process, or in files that every machine sees.

A task is handed the material itself. On a cluster only two paths travel: a process that receives them reads once what
lies there. Arrays that tasks fill, each a part of its own, belong to the material too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oddhop.base.checkpoints import RunFolder
from oddhop.base.files import Arrays
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
    """A network, what the model sees of it, and where the run keeps its files.

    Attributes
    ----------
    pairs : the labelled pairs, where there is something to learn.
    folder : of the run; with one, arrays are files, which the system can write out for room.
    stored : where the network lies on disk, if tasks in other processes are to read it there.
    """

    graph: Graph
    inputs: Inputs
    pairs: HopPairs | None = None
    folder: RunFolder | None = None
    stored: Path | None = None
    arrays: Arrays = field(default_factory=dict)

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, *, fresh: bool) -> Array:
        """Return an array in memory or in the folder: zeros where it is fresh, else as it was left."""
        if self.folder is not None:
            return self.folder.array(name, shape, dtype, fresh=fresh)
        if fresh:
            self.arrays.pop(name, None)  # before the new one takes room
            self.arrays[name] = np.zeros(shape, dtype)
        return self.arrays[name]

    def put(self, name: str, values: Array) -> None:
        """Put an array where every task finds it."""
        array = self.array(name, values.shape, values.dtype, fresh=True)
        array[:] = values
        written(array)

    def in_files(self, stored: Path) -> Material:
        """Write what tasks need beside the network into the folder of the run, and return material that travels."""
        assert self.folder is not None and self.pairs is not None  # noqa: S101, PT018 - of a fit over tasks
        if self.folder.load(MATERIAL) is None:
            convolved, convolution = self.inputs.convolved, self.inputs.convolution
            self.put(CONVOLVED, convolved)
            info = {
                "exact": self.pairs.exact,
                "shape": list(convolved.shape),
                "dtype": convolved.dtype.name,
                "most": convolution.most,
                "seed": convolution.seed,
            }
            self.folder.save(MATERIAL, {name: getattr(self.pairs, name) for name in PAIRS}, info)
        return replace(self, stored=stored)

    def __reduce__(self) -> tuple[Callable[[Path, RunFolder], Material], tuple[Path | None, RunFolder | None]]:
        return opened, (self.stored, self.folder)


@lru_cache(maxsize=1)
def opened(stored: Path, folder: RunFolder) -> Material:
    """Read the pairs of a run, and map the rest."""
    found = folder.load(MATERIAL)
    if found is None:
        raise ModelFileError(f"{folder.path} has no pairs to learn from", "start again in another folder")
    arrays, info = found
    graph = Graph.open(stored)
    convolved = folder.array(CONVOLVED, tuple(info["shape"]), info["dtype"], fresh=False)
    convolution = Convolution.of(graph, convolved.dtype.type, most=info["most"], seed=info["seed"])
    left, right, starts, sizes = (arrays[name] for name in PAIRS)
    pairs = HopPairs(left, right, starts, sizes, bool(info["exact"]))
    return Material(graph, Inputs(convolution, convolved), pairs, folder, stored)


def checkpoint(folder: RunFolder | None, name: str, like: Arrays) -> tuple[Arrays, dict[str, Any]] | None:
    """Return what a run that was killed has kept under a name; its arrays must be like these."""
    found = folder.load(name) if folder else None
    if found is not None and _forms(found[0]) != _forms(like):
        raise misfit(name)
    return found


def misfit(name: str) -> ModelFileError:
    """Return the error of a checkpoint that cannot have come of its run."""
    return ModelFileError(f"the checkpoint of {name} does not match its run", "start again in another folder")


def written(array: Array) -> None:
    """Make sure that another machine sees what was written."""
    if isinstance(array, np.memmap):
        array.flush()


def _forms(arrays: Arrays) -> dict[str, tuple[Any, ...]]:
    return {name: (array.shape, array.dtype) for name, array in arrays.items()}
