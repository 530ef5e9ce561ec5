"""The settings of Odd."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from oddhop.detector.settings import DetectorSettings


class OddSettings(DetectorSettings):
    """The settings of Odd with their defaults; see :class:`oddhop.Odd`.

    Examples
    --------
    >>> from oddhop.odd.settings import OddSettings
    >>> OddSettings().n_resamples
    4
    """

    n_resamples: int = Field(4, ge=2)
    simulate: Literal["auto"] | bool = "auto"
    max_chance: float | None = Field(None, gt=0, le=0.5)

    @model_validator(mode="after")
    def _flags_by_chance_alone(self) -> Self:
        if self.max_chance is not None and (self.top_k is not None or self.contamination != "auto"):
            raise ValueError("give only one of max_chance, top_k and contamination: each sets which nodes to flag")
        if self.max_chance is not None and self.simulate is False:
            raise ValueError("max_chance needs simulated networks: leave out simulate, or set it to 'auto' or True")
        return self

    @property
    def flags(self) -> bool:
        """Whether any node is to be flagged."""
        return super().flags or self.max_chance is not None
