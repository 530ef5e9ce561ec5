"""What tasks learn from and score with: in this process, or in files that every machine sees.

A task is handed a place and opens it. In memory that is the thing itself; on a cluster a few paths travel with the
task, and each process reads what lies there once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from oddhop.base.arrays import Floats
from oddhop.base.checkpoints import RunFolder
from oddhop.errors import ModelFileError
from oddhop.graph.graph import Graph
from oddhop.hcm.convolution import Convolution
from oddhop.hcm.hop_pairs import HopPairs
from oddhop.hcm.model import Inputs

TRAINING, CONVOLVED = "training", "convolved"
WIRING = ("indptr", "indices", "weights", "stand_for")
PAIRS = ("left", "right", "starts", "class_sizes")


@dataclass(frozen=True, eq=False)
class Material:
    """Labelled pairs, and what the model sees of the network."""

    pairs: HopPairs
    inputs: Inputs

    def open(self) -> Material:
        """Return itself."""
        return self


class Place(Protocol):
    """Where the material of a run is."""

    def open(self) -> Material:
        """Return the material."""


@dataclass(frozen=True)
class Files:
    """Material in a run folder; the wiring of the whole network is that of the folder made by ``oddhop ingest``."""

    graph: Path
    folder: RunFolder

    def open(self) -> Material:
        """Read the pairs into memory, and the wiring too where it is an excerpt; map the rest."""
        return _opened(self)


def write_material(material: Material, whole: Inputs, graph: Path, folder: RunFolder) -> Files:
    """Write what chains learn from into a folder that every machine sees."""
    dtype = whole.convolved.numpy().dtype
    if folder.load(TRAINING) is None:
        kept: Floats = folder.array(CONVOLVED, tuple(whole.convolved.shape), dtype, fresh=True)
        kept[:] = whole.convolved.numpy()
        if isinstance(kept, np.memmap):
            kept.flush()
        arrays = {name: getattr(material.pairs, name) for name in PAIRS}
        if material.inputs is not whole:
            arrays |= {name: getattr(material.inputs.convolution, name) for name in WIRING}
            arrays["excerpt"] = material.inputs.convolved.numpy()
        info = {"exact": material.pairs.exact, "shape": list(whole.convolved.shape), "dtype": dtype.name}
        folder.save(TRAINING, arrays, info)
    return Files(graph, folder)


@lru_cache(maxsize=1)
def _opened(files: Files) -> Material:
    found = files.folder.load(TRAINING)
    if found is None:
        raise ModelFileError(f"{files.folder.path} has no pairs to learn from", "start again in another folder")
    arrays, info = found
    left, right, starts, sizes = (arrays[name] for name in PAIRS)
    pairs = HopPairs(left, right, starts, sizes, bool(info["exact"]))
    if "excerpt" in arrays:
        wiring = Convolution(*(arrays[name] for name in WIRING))
        return Material(pairs, Inputs(wiring, torch.from_numpy(arrays["excerpt"])))
    convolved = files.folder.array(CONVOLVED, tuple(info["shape"]), info["dtype"], fresh=False)
    wiring = Convolution.of(Graph.open(files.graph), convolved.dtype.type)
    return Material(pairs, Inputs(wiring, torch.from_numpy(convolved)))
