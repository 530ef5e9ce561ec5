"""What a careful reader asks of a run of HCM, in figures and in words: how well its chains agree, what it left out."""

from __future__ import annotations

from dataclasses import dataclass

from oddhop.base.arrays import Floats
from oddhop.explain.audit import Finding
from oddhop.explain.guide import Guide
from oddhop.explain.phrases import share
from oddhop.hcm.ranking import Agreement

HALF = 0.5
STEADY = 0.75  # of the first nodes that another seed keeps
GUIDE = Guide(
    repeated="in another run with a new seed",
    entries=(
        (
            "A high score is not proof of a problem.",
            "A high score means that a node does not fit its neighbours. A person must decide whether a node with a "
            "high score needs attention.",
        ),
        (
            "Predicted hops.",
            "HCM predicts the distance of two nodes in hops from the attributes of the nodes. The real distance of a "
            "neighbour is one hop. A neighbour with a predicted distance of three hops does not fit the node.",
        ),
        (
            "Score.",
            "The score of a node is high if the predicted distances of its neighbours are large or uncertain. A score "
            "is not a probability. Use scores to rank nodes and to see which nodes reach the alert threshold.",
        ),
    ),
)


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

    def __repr__(self) -> str:
        chains = f"{self.chains} chain{'s' * (self.chains > 1)}"
        loss = " to ".join(dict.fromkeys((f"{self.losses.min():.3f}", f"{self.losses.max():.3f}")))
        return f"Diagnostics({chains}, loss {loss}. {kept_by_another_seed(self.agreement, self.chains).sentence})"


def kept_by_another_seed(agreement: Agreement | None, chains: int) -> Finding:
    """Say what another run, with another seed, would keep of the ranking."""
    if agreement is None and chains > 1:
        return Finding("seeds", "fine", None, "There are fewer than two nodes with neighbours to rank.", always=True)
    if agreement is None:
        told = "One chain does not show what another seed would keep of the ranking."
        return Finding("seeds", "warning", None, f"{told} {_more_chains(4)}", always=True)
    told = (
        f"Another seed would keep about {round(agreement.kept * agreement.first)} of the first {agreement.first} nodes "
        f"(rank correlation of all nodes {agreement.correlation:.2f})."
    )
    if agreement.kept >= STEADY:
        return Finding("seeds", "fine", agreement.kept, told, always=True)
    advice = f"Check the rank intervals before you act. {_more_chains(4 * chains)}"
    return Finding("seeds", "warning", agreement.kept, f"{told} {advice}", always=True)


def _more_chains(chains: int) -> str:
    return f"To make the ranking steadier, set chains={chains} (command line: --set hcm.chains={chains})."


def ties(dropped: int, tied: int) -> Finding:
    """Say how many of the edges that were left out of the labels were chosen among ties."""
    part = tied / dropped
    told = (
        f"HCM left the {dropped:,} least similar edges out of training. Because of ties in similarity, {share(part)} "
        f"of the {dropped:,} edges were chosen at random"
    )
    if part <= HALF:
        return Finding("ties", "fine", part, f"{told}.")
    poor = "Many edges are equally similar, so the attributes distinguish edges poorly."
    return Finding("ties", "warning", part, f"{told}. {poor}")
