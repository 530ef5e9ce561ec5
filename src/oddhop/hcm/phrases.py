"""What HCM says of its scores, in words."""

from __future__ import annotations

from oddhop.explain.audit import Finding
from oddhop.explain.guide import Guide
from oddhop.explain.phrases import share

HALF = 0.5
CONVERGED = 1.1  # R-hat up to which chains are taken to agree
GUIDE = Guide(
    repeated="in another run with a new seed",
    picture="Each ring in the picture is one predicted hop. The dashed ring marks the typical predicted distance of a "
    "neighbour.",
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


def convergence(r_hat: float | None, *, chains: int, samples: int, thin: int) -> tuple[Finding, ...]:
    """Say whether the chains agree; nothing where R-hat is unknown or does not compare chains.

    Examples
    --------
    >>> from oddhop.hcm.phrases import convergence
    >>> convergence(1.62, chains=4, samples=10, thin=10)[0].sentence[:70]
    'The chains have not converged: the median R-hat of the nodes is 1.62 a'
    """
    if r_hat is None or chains < 2 or samples < 2:
        return ()
    if r_hat <= CONVERGED:
        return (
            Finding(
                "chains", "fine", r_hat, f"The chains have converged: the median R-hat of the nodes is {r_hat:.2f}."
            ),
        )
    sentence = (
        f"The chains have not converged: the median R-hat of the nodes is {r_hat:.2f} and should be at most "
        f"{CONVERGED}. Check the rank intervals before you act, or fit again with more samples that are farther apart. "
        f"For example, set samples={2 * samples} and thin={2 * thin} (command line: --set hcm.samples={2 * samples} "
        f"--set hcm.thin={2 * thin})."
    )
    return (Finding("chains", "warning", r_hat, sentence),)


def ties(dropped: int, tied: int) -> Finding:
    """Say how many of the edges that were left out of the labels were chosen among ties.

    Examples
    --------
    >>> from oddhop.hcm.phrases import ties
    >>> ties(100, 80).level
    'warning'
    """
    part = tied / dropped
    told = (
        f"HCM left the {dropped:,} least similar edges out of training. Because of ties in similarity, {share(part)} "
        f"of the {dropped:,} edges were chosen at random"
    )
    if part <= HALF:
        return Finding("ties", "fine", part, f"{told}.")
    poor = "Many edges are equally similar, so the attributes distinguish edges poorly."
    return Finding("ties", "warning", part, f"{told}. {poor}")
