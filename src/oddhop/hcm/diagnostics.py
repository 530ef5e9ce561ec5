"""What a careful reader asks of a run of HCM: how well its chains agree, and what it learned from."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.base.arrays import Floats
from oddhop.hcm.phrases import kept_by_another_seed
from oddhop.hcm.ranking import Agreement


@dataclass(frozen=True, repr=False)
class Diagnostics:
    """Diagnostics of a fit.

    Attributes
    ----------
    chains : how many there are.
    agreement : what another run with another seed would keep of the ranking, see
        :class:`~oddhop.hcm.ranking.Agreement`; None with a single chain
        or fewer than two judged nodes.
    iv_within, iv_between : the two parts of IV of every node: the variance within the chains, and between them.
    losses : the training loss of every chain at its end.
    class_sizes, classes_counted : pairs of every hop class, and whether counted or estimated.
    dropped, tied, similarity : edges dropped before labelling, how many of them by a tie, and
        by which similarity.
    temperature : of the noise.
    hubs : nodes of so many neighbours that no hop was counted over them.
    """

    chains: int
    agreement: Agreement | None
    iv_within: Floats
    iv_between: Floats
    losses: Floats
    class_sizes: Floats
    classes_counted: bool
    dropped: int
    tied: int
    similarity: str
    temperature: float
    hubs: int

    def __repr__(self) -> str:
        loss = f"loss {self.losses.min():.3f} to {self.losses.max():.3f}"
        return (
            f"Diagnostics({self.chains} chains, {loss}. {kept_by_another_seed(self.agreement, self.chains).sentence})"
        )
