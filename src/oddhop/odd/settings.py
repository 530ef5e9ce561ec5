"""The settings of Odd."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from oddhop.base.settings import option
from oddhop.detector.settings import DetectorSettings


class OddSettings(DetectorSettings):
    """The settings of Odd with their defaults; see :class:`oddhop.Odd`."""

    n_resamples: int = option(
        4, "Number of times that the network is judged without a fifth of its edges, for the rank intervals.", ge=2
    )
    simulate: Literal["auto"] | bool = option(
        "auto",
        "Whether to simulate networks without anomalies, to estimate how many nodes stand out. With auto, oddhop "
        "simulates networks of at least 300 nodes if that takes less than a minute.",
    )
    max_chance: float | None = option(
        None,
        "Acceptable share of chance results among the flagged nodes, for example 0.1 for 10 %. To estimate the effect "
        "of chance, oddhop simulates networks without anomalies.",
        flag="--max-chance",
        shown="flag none",
        gt=0,
        le=0.5,
    )

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
