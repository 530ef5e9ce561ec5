"""The settings: one checked model a part, unknown or impossible values refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oddhop.errors import SettingsError

SAMPLED_ABOVE = 2**20  # nodes
STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)


class ReadSettings(BaseModel):
    """How tables are read; the meanings are in :func:`oddhop.tables.read.read_network`."""

    model_config = STRICT

    source: str | None = None
    target: str | None = None
    id: str | None = None
    strict: bool = False
    memory_limit: str | None = None


class EncodeSettings(BaseModel):
    """How columns become attributes; the meanings are in :func:`oddhop.tables.encode.learn_encoding`."""

    model_config = STRICT

    kinds: dict[str, str] = {}
    max_levels: int = 50
    rare: float = 0.001
    text_columns: int = 256


def _check_flagging(contamination: Literal["auto"] | float, top_k: int | None) -> None:
    if isinstance(contamination, float) and not 0 < contamination <= 0.5:
        raise ValueError(f"contamination must be 'auto' or in (0, 0.5], got {contamination}")
    if contamination != "auto" and top_k is not None:
        raise ValueError("give contamination or top_k, not both: each says how many nodes to flag")


class HCMSettings(BaseModel):
    """Every setting of HCM with its default; the meanings are in :class:`oddhop.HCM`.

    Examples
    --------
    >>> from oddhop.settings import HCMSettings
    >>> HCMSettings().chains
    4
    """

    model_config = STRICT

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
    training: Literal["auto", "full", "sampled"] = "auto"
    neighbours: int | None = Field(None, ge=1)
    scale: Literal["standard", "none"] = "standard"
    pca_components: int | None = Field(20, ge=1)
    pca_above: int = Field(100, ge=1)
    contamination: Literal["auto"] | float = "auto"
    top_k: int | None = Field(None, ge=1)
    precision: Literal["float32", "float64", "bfloat16"] = "float32"
    workers: int | None = Field(None, ge=1)
    max_memory: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> HCMSettings:
        if self.chains == 1 and self.samples < 4:
            raise ValueError("one chain needs at least 4 samples to tell how sure a rank is")
        _check_flagging(self.contamination, self.top_k)
        return self

    @property
    def dtype(self) -> type[np.floating]:
        """The type of the model's numbers; bfloat16 is for embeddings while they are scored, and for nothing else."""
        return np.float64 if self.precision == "float64" else np.float32

    def samples_neighbours(self, nodes: int) -> bool:
        """Whether a network of this size is learned from sampled neighbours."""
        return self.training == "sampled" or (self.training == "auto" and nodes > SAMPLED_ABOVE)

    @property
    def coarse(self) -> bool:
        """Whether embeddings are kept in bfloat16."""
        return self.precision == "bfloat16"


class OddSettings(BaseModel):
    """Every setting of Odd with its default; the meanings are in :class:`oddhop.Odd`.

    Examples
    --------
    >>> from oddhop.settings import OddSettings
    >>> OddSettings().repeats
    4
    """

    model_config = STRICT

    repeats: int = Field(4, ge=2)
    random_state: int | None = Field(None, ge=0)
    contamination: Literal["auto"] | float = "auto"
    top_k: int | None = Field(None, ge=1)
    workers: int | None = Field(None, ge=1)
    max_memory: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> OddSettings:
        _check_flagging(self.contamination, self.top_k)
        return self


class RunSettings(BaseModel):
    """All settings of a command, a section each, as in a TOML file."""

    model_config = STRICT

    read: ReadSettings = ReadSettings()
    encode: EncodeSettings = EncodeSettings()
    hcm: HCMSettings = HCMSettings()
    odd: OddSettings = OddSettings()


def checked_settings(values: Mapping[str, Any]) -> HCMSettings:
    """Check settings of HCM given by name; say plainly what is wrong with the first bad one."""
    return _checked(HCMSettings, _plain(values))


def checked_odd_settings(values: Mapping[str, Any]) -> OddSettings:
    """Check settings of Odd given by name; say plainly what is wrong with the first bad one."""
    return _checked(OddSettings, _plain(values))


def checked_run_settings(values: Mapping[str, Any]) -> RunSettings:
    """Check the sections of a settings file; an unknown key is refused with the nearest known one.

    Examples
    --------
    >>> from oddhop.settings import checked_run_settings
    >>> checked_run_settings({"hcm": {"burn_in": 200}}).hcm.burn_in
    200
    >>> checked_run_settings({"hcm": {"burnin": 200}})
    Traceback (most recent call last):
    oddhop.errors.SettingsError: there is no setting hcm.burnin; did you mean hcm.burn_in?
    """
    return _checked(RunSettings, values)


Settings = TypeVar("Settings", bound=BaseModel)


def _checked(model: type[Settings], values: Mapping[str, Any]) -> Settings:
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        name = ".".join(place)
        if first["type"] == "extra_forbidden":
            raise SettingsError(f"there is no setting {name}; {_nearest(model, place)}") from None
        got = f"{name}={first['input']!r}: " if place and not isinstance(first["input"], dict) else ""
        raise SettingsError(f"{got}{first['msg'].removeprefix('Value error, ')}") from None


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise SettingsError(f"settings must be names and values, got {type(values).__name__}; give a dictionary")
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def _nearest(model: type[BaseModel], place: Sequence[str]) -> str:
    """Give the known name that is nearest to a wrong one, in whatever section it is."""
    known = {
        ".".join((section, name) if name else (section,)): None
        for section, field in model.model_fields.items()
        for name in getattr(field.annotation, "model_fields", None) or [""]
    }
    by_name: dict[str, str] = {}
    for path in known:
        by_name.setdefault(path.rpartition(".")[2], path)
    near = get_close_matches(".".join(place), known, 1) or [
        by_name[name] for name in get_close_matches(place[-1], by_name, 1)
    ]
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
