"""Settings from a TOML file, from --set, and from the options that have a name of their own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oddhop.detector.registry import registered, settings_named
from oddhop.errors import SettingsError
from oddhop.runs.read import is_query
from oddhop.runs.settings import RunSettings, checked_run_settings

KIND = re.compile(r"[\w -]*\w[\w -]*")


def gathered(
    file: Path | None,
    assignments: Sequence[str],
    *,
    read: Mapping[str, Any] | None = None,
    detector: str = "odd",
    learn: Mapping[str, Any] | None = None,
) -> RunSettings:
    """Join the three, the later ones on top; ``read`` and ``learn`` are the options, None for what was not given.

    Settings of learning go into the section of the detector.
    """
    values: dict[str, Any] = {} if file is None else _from_file(file)
    detector = registered(detector)
    settings_named(detector)  # an unknown detector is refused by its own name
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name.strip():
            raise SettingsError(
                f"--set takes name=value, got {assignment!r}", "write for example --set hcm.burn_in=200"
            )
        _put(values, name.strip(), _value(text.strip()))
    for section, options in (("read", read), (detector, learn)):
        for name, value in (options or {}).items():
            if value is not None:
                _put(values, f"{section}.{name}", value)
    return checked_run_settings(values)


def named_nodes(given: Sequence[str] | None) -> str | dict[str, str] | None:
    """Return the node table, or those that --nodes names by kind as KIND=TABLE."""
    if not given:
        return None
    tables: dict[str, str] = {}
    for one in given:
        kind, equals, table = one.partition("=")
        if not equals or not KIND.fullmatch(kind) or is_query(one) or Path(one).exists():
            if len(given) == 1:
                return one
            raise SettingsError(
                f"--nodes is given {len(given)} times, and {one!r} does not name the kind of its nodes",
                "write --nodes KIND=TABLE for each, such as --nodes account=accounts.csv",
            )
        if kind.strip() in tables:
            raise SettingsError(
                f"--nodes names two tables of the kind {kind.strip()!r}",
                f"name both with one pattern, such as --nodes '{kind.strip()}=parts-*.csv'",
            )
        tables[kind.strip()] = table
    return tables


def _from_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"the settings file {str(file)!r} cannot be read: {error.strerror}", "give another file"
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is none of tomllib's errors
        raise SettingsError(f"the settings file {str(file)!r} is not TOML: {error}", "correct that line") from None


def _value(text: str) -> Any:
    """Read a value as TOML would; what is none is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _put(values: dict[str, Any], name: str, value: Any) -> None:
    # What is a column may have a dot of its own, as in encode.kinds.account.age.
    *sections, last = name.split(".", 2 if name.startswith("encode.kinds.") else -1)
    for section in sections:
        inner = values.setdefault(section, {})
        if not isinstance(inner, dict):
            raise SettingsError(f"{name} cannot be set: {section} is {inner!r}, not a section", "remove that value")
        values = inner
    values[last] = value
