"""Settings: a field is the one place that gives an option its name, its type, its default and a sentence.

The options of the commands, the keywords of functions and their docstrings are made from the fields. Values are
checked: unknown and impossible ones are refused by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import fill
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oddhop.errors import SettingsError

WIDTH = 110  # of the lines of a docstring


class Settings(BaseModel):
    """Base of all settings: frozen, nothing unknown, no conversion of types.

    ``panel`` is the group of the help in which the options of a class are shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    panel: ClassVar[str | None] = None


Some = TypeVar("Some", bound=Settings)
Other = TypeVar("Other", bound=Settings)
Function = TypeVar("Function", bound=Callable[..., Any])


def option(
    default: Any,
    sentence: str,
    *,
    flag: str | None = None,
    shown: str | None = None,
    of_model: bool = False,
    metavar: str | None = None,
    variable: str | None = None,
    **checks: Any,
) -> Any:
    """Declare a field: its default, what it does, and the option of the commands that sets it.

    ``shown`` is the default in words. With ``of_model`` a fitted model keeps the value, and later tables are read with
    it. ``metavar`` is what the help calls the value, and ``variable`` a variable of the environment that sets it too.
    ``checks`` are those of pydantic, such as ``ge=1``.
    """
    names = {"flag": flag, "shown": shown, "metavar": metavar, "variable": variable}
    extra: dict[str, Any] = {**names, "of_model": of_model}
    return Field(default, description=sentence, json_schema_extra=extra, **checks)


@dataclass(frozen=True)
class Option:
    """A field of a settings class, for those who show it; see :func:`option`.

    Attributes
    ----------
    types : those that a value may have.
    least, most : the limits of a number.
    """

    name: str
    annotation: Any
    types: tuple[Any, ...]
    default: Any
    sentence: str
    flag: str | None = None
    shown: str | None = None
    of_model: bool = False
    metavar: str | None = None
    variable: str | None = None
    panel: str | None = None
    least: float | None = None
    most: float | None = None

    @property
    def repeatable(self) -> bool:
        """Whether it takes several values."""
        return any(get_origin(one) is tuple for one in self.types)


def options_of(model: type[Settings]) -> list[Option]:
    """Return the fields of a settings class, its own first."""
    annotations, own = get_type_hints(model), set(model.__annotations__)
    found = []
    for name, field in sorted(model.model_fields.items(), key=lambda one: one[0] not in own):
        limits = {"least": ("ge", "gt"), "most": ("le", "lt")}
        bounds = {
            end: getattr(one, by)
            for end, bys in limits.items()
            for by in bys
            for one in field.metadata
            if hasattr(one, by)
        }
        home: Any = next(one for one in model.__mro__ if name in vars(one).get("__annotations__", ()))
        more: Any = {"panel": home.panel, **bounds}
        if isinstance(field.json_schema_extra, dict):
            more |= field.json_schema_extra
        kind = annotations[name]
        default = ... if field.is_required() else field.get_default(call_default_factory=True)
        found.append(Option(name, kind, types_of(kind), default, field.description or "", **more))
    return found


def types_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types that an annotation names; of words that may be given, that of texts."""
    named = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return tuple(str if get_origin(one) is Literal else one for one in named)


def takes(*models: type[Settings]) -> Callable[[Function], Function]:
    """Show what a function takes as ``**options`` in its signature, and in its docstring in place of {settings}."""

    def shown(function: Function) -> Function:
        function.__signature__ = with_keywords(signature(function), *models)  # type: ignore[attr-defined]
        function.__doc__ = described(function.__doc__, *models)
        return function

    return shown


def with_keywords(own: Signature, *models: type[Settings]) -> Signature:
    """Return a signature with the settings in place of ``**options``."""
    parameters = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    return own.replace(parameters=[*parameters, *keywords_of(*models)])


def keywords_of(*models: type[Settings]) -> list[Parameter]:
    """Return the settings as keywords of a signature."""
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=one.annotation)
        for model in models
        for one in options_of(model)
    ]


def described(docstring: str | None, *models: type[Settings]) -> str | None:
    """Write the settings into a docstring, in place of {settings}."""
    if docstring is None:  # python -OO
        return None
    lines = []
    for one in (one for model in models for one in options_of(model)):
        several = " One name or several." if one.repeatable else ""
        default = f" Default: {one.shown}." if one.shown else ""
        lines.append(fill(f"{one.name} : {one.sentence}{several}{default}", WIDTH, subsequent_indent="    "))
    return cleandoc(docstring).replace("{settings}", "\n".join(lines))


def checked(model: type[Some], values: Mapping[str, Any]) -> Some:
    """Check settings given by name; the error names the first one that is wrong."""
    if not isinstance(values, Mapping):
        raise SettingsError(f"settings must be names and values, got {type(values).__name__}", "give a dictionary")
    scalar = getattr(sys.modules.get("numpy"), "generic", ())  # without an import of NumPy, which takes long
    plain = {name: value.item() if isinstance(value, scalar) else value for name, value in values.items()}
    try:
        return model(**plain)
    except ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        name = ".".join(place)
        if first["type"] == "extra_forbidden":
            known = [
                ".".join((section, inner) if inner else (section,))
                for section, field in model.model_fields.items()
                for inner in getattr(field.annotation, "model_fields", None) or [""]
            ]
            raise SettingsError(f"unknown setting {name}", _nearest(place, known)) from None
        got = f"{name}={first['input']!r}: " if place and not isinstance(first["input"], dict) else ""
        raise SettingsError(f"{got}{first['msg'].removeprefix('Value error, ')}") from None


def checked_two(first: type[Some], second: type[Other], values: Mapping[str, Any]) -> tuple[Some, Other]:
    """Check the settings of two classes, which are given together."""
    own, other = ({name: values[name] for name in model.model_fields if name in values} for model in (first, second))
    for name in values:
        if name not in own and name not in other:
            known = [*first.model_fields, *second.model_fields]
            raise SettingsError(f"unknown setting {name}", _nearest([name], known))
    return checked(first, own), checked(second, other)


def _nearest(place: Sequence[str], known: Collection[str]) -> str:
    """Return the known name that is nearest to a wrong one, in whatever section it is."""
    by_name: dict[str, str] = {}
    for path in known:
        by_name.setdefault(path.rpartition(".")[2], path)
    near = get_close_matches(".".join(place), known, 1) or [
        by_name[name] for name in get_close_matches(place[-1], by_name, 1)
    ]
    return f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"
