"""The settings of Odd."""

from __future__ import annotations

from pydantic import Field

from oddhop.detector.settings import DetectorSettings


class OddSettings(DetectorSettings):
    """Every setting of Odd with its default; the meanings are in :class:`oddhop.Odd`.

    Examples
    --------
    >>> from oddhop.odd.settings import OddSettings
    >>> OddSettings().n_resamples
    4
    """

    n_resamples: int = Field(4, ge=2)
