"""All settings of a run, a section each: reading, encoding, and every detector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import create_model

from oddhop.base.settings import Settings, checked
from oddhop.detector.registry import DETECTORS, registered, settings_named
from oddhop.detector.settings import DetectorSettings
from oddhop.tables.settings import EncodeSettings, ReadSettings


class RunSettings(Settings):
    """The settings of a run; every registered detector has a section by its name."""

    read: ReadSettings = ReadSettings()
    encode: EncodeSettings = EncodeSettings()

    def of(self, detector: str) -> DetectorSettings:
        """Return the section of a detector."""
        section: DetectorSettings = getattr(self, registered(detector))
        return section

    def with_random_state(self, detector: str, random_state: int | None) -> Self:
        """Return the settings with this seed of a detector."""
        section = self.of(detector).model_copy(update={"random_state": random_state})
        return self.model_copy(update={detector: section})


WORDS = {"top": "top_k", "seed": "random_state"}
"""What an option of the commands is called in the settings of a detector, where that differs."""


def run_settings(
    settings: RunSettings | Mapping[str, Any] | None, detector: str = "odd", words: Mapping[str, Any] | None = None
) -> RunSettings:
    """Return the settings of a run, with the options of the detector that were given as words of their own on top.

    Examples
    --------
    >>> from oddhop.runs.settings import run_settings
    >>> run_settings({"odd": {"n_resamples": 5}}, "odd", {"top": 20, "seed": None}).of("odd").top_k
    20
    """
    taken = settings if isinstance(settings, RunSettings) else checked_run_settings(settings)
    given = {WORDS.get(name, name): value for name, value in (words or {}).items() if value is not None}
    if not given:
        return taken
    values = taken.model_dump(exclude_unset=True)
    return checked_run_settings({**values, detector: {**values.get(detector, {}), **given}})


def checked_run_settings(values: Mapping[str, Any] | None = None) -> RunSettings:
    """Check the sections of a settings file; the error for an unknown key names the nearest known key.

    Examples
    --------
    >>> from oddhop.runs import checked_run_settings
    >>> checked_run_settings({"hcm": {"burn_in": 200}}).of("hcm").burn_in
    200
    >>> checked_run_settings({"hcm": {"burnin": 200}})
    Traceback (most recent call last):
    oddhop.errors.SettingsError: unknown setting hcm.burnin; did you mean hcm.burn_in?
    """
    sections: dict[str, Any] = {name: (settings_named(name), settings_named(name)()) for name in DETECTORS}
    return checked(create_model("RunSettings", __base__=RunSettings, **sections), values or {})
