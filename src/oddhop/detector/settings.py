"""The settings that every detector has."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, model_validator

from oddhop.base.settings import Settings, option
from oddhop.base.sizes import checked_bytes

DO_NOT_IDENTIFY_A_RUN = ("workers", "max_memory")
"""Settings that may differ when a run is resumed."""


class DetectorSettings(Settings):
    """Base of the settings of a detector; a field with a ``flag`` is an option of the commands."""

    panel: ClassVar = "Detection"

    top_k: int | None = option(
        None,
        "Maximum number of nodes to flag. A run that groups nodes into cases counts the nodes of a clique or cycle as "
        "one.",
        flag="--top",
        shown="flag none",
        ge=1,
    )
    contamination: Literal["auto"] | float = option(
        "auto", "Share of the nodes to flag, above 0 and at most 0.5.", shown="flag none"
    )
    random_state: int | None = option(
        None, "Seed of the random number generator.", flag="--seed", shown="drawn at random and recorded", ge=0
    )
    workers: int | None = option(
        None,
        "Number of threads to use. The scores are the same for any number.",
        flag="--workers",
        shown="all cores",
        ge=1,
    )
    max_memory: Annotated[int | str | None, BeforeValidator(checked_bytes)] = option(
        None,
        "Stop with an error if the run would need more memory than this limit, for example 4GiB.",
        flag="--max-memory",
        shown="available memory",
    )

    @model_validator(mode="after")
    def _flags_one_way(self) -> Self:
        if isinstance(self.contamination, float) and not 0 < self.contamination <= 0.5:
            raise ValueError(f"contamination must be 'auto' or in (0, 0.5], got {self.contamination}")
        if self.contamination != "auto" and self.top_k is not None:
            raise ValueError("give contamination or top_k, not both: each sets how many nodes to flag")
        return self

    @property
    def memory(self) -> int | None:
        """The limit of memory in bytes."""
        return checked_bytes(self.max_memory)

    @property
    def flags(self) -> bool:
        """Whether any node is to be flagged."""
        return self.contamination != "auto" or self.top_k is not None
