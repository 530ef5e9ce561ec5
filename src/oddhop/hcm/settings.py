"""The settings of HCM."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from oddhop.detector.settings import DetectorSettings

SAMPLED_ABOVE = 2**20  # nodes


def replicate_count(chains: int, samples: int) -> int:
    """Return in how many parts the samples of a run are compared: its chains, or equal parts of a single chain.

    Examples
    --------
    >>> from oddhop.hcm.settings import replicate_count
    >>> replicate_count(3, 10), replicate_count(1, 12), replicate_count(1, 10), replicate_count(1, 7)
    (3, 4, 2, 7)
    """
    if chains > 1:
        return chains
    return next((count for count in (4, 3, 2) if samples % count == 0), samples)


class HCMSettings(DetectorSettings):
    """The settings of HCM with their defaults; see :class:`oddhop.HCM`.

    Examples
    --------
    >>> from oddhop.hcm.settings import HCMSettings
    >>> HCMSettings().chains
    4
    """

    hop_classes: int = Field(4, ge=2, le=16)
    directed: bool = False
    drop_ratio: float = Field(0.2, ge=0, lt=1)
    sampling_ratio: float = Field(0.3, gt=0, le=1)
    layers: int = Field(2, ge=1, le=8)
    hidden: int = Field(128, ge=1)
    sampler: Literal["sgld", "sgd"] = "sgld"
    chains: int = Field(4, ge=1)
    score: Literal["hav", "ahp"] = "hav"
    samples: int = Field(10, ge=1)
    burn_in: int = Field(1_000, ge=1)
    thin: int = Field(10, ge=1)
    step_size: float = Field(0.002, gt=0)
    initial_step_factor: float = Field(10.0, ge=1)
    preconditioned: bool = True
    weight_decay: float = Field(5e-8, ge=0)
    temperature: float | None = Field(None, ge=0)
    pairs_per_step: int = Field(2_048, ge=1)
    pair_labels: Literal["sampled", "exhaustive"] = "sampled"
    training: Literal["auto", "full", "sampled"] = "auto"
    neighbours: int | None = Field(None, ge=1)
    scale: Literal["standard", "none"] = "standard"
    pca_components: int | None = Field(20, ge=1)
    pca_above: int = Field(100, ge=1)
    precision: Literal["float32", "float64"] = "float32"

    @model_validator(mode="after")
    def _tells_how_sure(self) -> Self:
        if self.chains == 1 and self.samples < 4:
            raise ValueError("one chain needs at least 4 samples for rank intervals")
        return self

    @property
    def dtype(self) -> type[np.floating]:
        """The floating-point type of the model."""
        return np.float64 if self.precision == "float64" else np.float32

    def samples_neighbours(self, nodes: int) -> bool:
        """Whether a network of this size is learned from sampled neighbours."""
        return self.training == "sampled" or (self.training == "auto" and nodes > SAMPLED_ABOVE)

    @property
    def replicates(self) -> int:
        """The number of parts in which the samples are compared."""
        return replicate_count(self.chains, self.samples)
