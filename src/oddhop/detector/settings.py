"""The settings that every detector has."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from oddhop.base.settings import Settings
from oddhop.base.sizes import in_bytes

DO_NOT_IDENTIFY_A_RUN = ("workers", "max_memory")
"""Settings that may differ when a run is resumed."""


class DetectorSettings(Settings):
    """Base of the settings of a detector.

    Attributes
    ----------
    random_state : the seed, or None for a fresh one.
    contamination, top_k : how many nodes to flag: a share, a number, or none ("auto").
    workers : threads; None takes all cores. No score depends on it.
    max_memory : bytes, or text such as "4GiB"; a run that needs more fails at the start. None uses the free memory.
    """

    random_state: int | None = Field(None, ge=0)
    contamination: Literal["auto"] | float = "auto"
    top_k: int | None = Field(None, ge=1)
    workers: int | None = Field(None, ge=1)
    max_memory: Annotated[int, Field(ge=1), BeforeValidator(in_bytes)] | None = None

    @model_validator(mode="after")
    def _flags_one_way(self) -> Self:
        if isinstance(self.contamination, float) and not 0 < self.contamination <= 0.5:
            raise ValueError(f"contamination must be 'auto' or in (0, 0.5], got {self.contamination}")
        if self.contamination != "auto" and self.top_k is not None:
            raise ValueError("give contamination or top_k, not both: each sets how many nodes to flag")
        return self

    @property
    def flags(self) -> bool:
        """Whether any node is to be flagged."""
        return self.contamination != "auto" or self.top_k is not None
