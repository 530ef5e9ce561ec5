"""The settings of HCM: one checked model, unknown or impossible values refused by name."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oddhop.errors import SettingsError


class HCMSettings(BaseModel):
    """Every setting of HCM with its default; the meanings are in :class:`oddhop.HCM`.

    Examples
    --------
    >>> from oddhop.settings import HCMSettings
    >>> HCMSettings().chains
    4
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    hops: int = Field(4, ge=2, le=16)
    drop_ratio: float = Field(0.2, ge=0, lt=1)
    sampling_ratio: float = Field(0.3, gt=0, le=1)
    layers: int = Field(2, ge=1, le=8)
    hidden: int = Field(128, ge=1)
    sampler: Literal["sgld", "sgd"] = "sgld"
    chains: int = Field(4, ge=1)
    score: Literal["hav", "ahp"] = "hav"
    random_state: int | None = Field(None, ge=0)
    samples: int = Field(10, ge=1)
    burn_in: int = Field(1_000, ge=1)
    thin: int = Field(10, ge=1)
    step_size: float = Field(0.002, gt=0)
    warm_start: float = Field(10.0, ge=1)
    weight_decay: float = Field(5e-8, ge=0)
    temperature: float | None = Field(None, ge=0)
    pairs_per_step: int = Field(8_192, ge=1)
    labels: Literal["sampled", "exhaustive"] = "sampled"
    scale: Literal["standard", "none"] = "standard"
    pca_components: int | None = Field(20, ge=1)
    pca_above: int = Field(100, ge=1)
    contamination: Literal["auto"] | float = "auto"
    top_k: int | None = Field(None, ge=1)
    precision: Literal["float32", "float64"] = "float32"
    workers: int | None = Field(None, ge=1)
    max_memory: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> HCMSettings:
        if self.chains == 1 and self.samples < 4:
            raise ValueError("one chain needs at least 4 samples to tell how sure a rank is")
        if isinstance(self.contamination, float) and not 0 < self.contamination <= 0.5:
            raise ValueError(f"contamination must be 'auto' or in (0, 0.5], got {self.contamination}")
        if self.contamination != "auto" and self.top_k is not None:
            raise ValueError("give contamination or top_k, not both: each says how many nodes to flag")
        return self

    @property
    def dtype(self) -> type[np.floating]:
        """The type of the model's numbers."""
        return np.float32 if self.precision == "float32" else np.float64


def checked_settings(values: dict[str, Any]) -> HCMSettings:
    """Check settings given by name; say plainly what is wrong with the first bad one."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    try:
        return HCMSettings(**plain)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        got = f"{name}={plain.get(str(first['loc'][0]))!r}: " if first["loc"] else ""
        raise SettingsError(f"{got}{first['msg'].removeprefix('Value error, ')}") from None
