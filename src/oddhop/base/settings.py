"""Settings, checked: unknown and impossible values are refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from oddhop.errors import SettingsError


class Settings(BaseModel):
    """Base of all settings: frozen, nothing unknown, no conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Some = TypeVar("Some", bound=Settings)


def checked(model: type[Some], values: Mapping[str, Any]) -> Some:
    """Check settings given by name; the error names the first one that is wrong.

    Examples
    --------
    >>> from oddhop.base.settings import checked
    >>> from oddhop.odd.settings import OddSettings
    >>> checked(OddSettings, {"topk": 4})
    Traceback (most recent call last):
    oddhop.errors.SettingsError: unknown setting topk; did you mean top_k?
    """
    if not isinstance(values, Mapping):
        raise SettingsError(f"settings must be names and values, got {type(values).__name__}", "give a dictionary")
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    try:
        return model(**plain)
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        name = ".".join(place)
        if first["type"] == "extra_forbidden":
            raise SettingsError(f"unknown setting {name}", _nearest(model, place)) from None
        got = f"{name}={first['input']!r}: " if place and not isinstance(first["input"], dict) else ""
        raise SettingsError(f"{got}{first['msg'].removeprefix('Value error, ')}") from None


def _nearest(model: type[BaseModel], place: Sequence[str]) -> str:
    """Return the known name that is nearest to a wrong one, in whatever section it is."""
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
    return f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"
