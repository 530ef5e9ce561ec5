"""The settings of HCM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import model_validator

from oddhop.base.settings import option
from oddhop.detector.settings import DetectorSettings
from oddhop.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np

BY_NEED, MOST_STEPS = (4, 8, 16, 32), 9_000  # chains, until they agree or have taken so many steps together
PASSES, BURN_IN = 10, (100, 1_000)  # over the pairs of the smallest class, and the fewest and most steps
SAMPLED_ABOVE, MANY = 2**20, 256  # nodes; the neighbours that a step then sees of one

AS_PRINTED: dict[str, Any] = {
    "layers": 2,
    "chains": 1,
    # The paper prints no number of steps; the script of its authors has 100 epochs, and scores from the 40th on.
    "burn_in": 40,
    "samples": 60,
    "thin": 1,
    "step_size": 0.01,
    "initial_step_factor": 1.0,
    "preconditioned": False,
    "temperature": 1.0,
    "pairs_per_step": None,
    "pca_above": 20,
    "relu_vectors": True,
    "relu_logits": True,
    "normalised_input": False,
    "prediction": "most_likely",
    "score": "hav",
}
PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "BlogCatalog": AS_PRINTED | {"pair_labels": "exhaustive"},
    "Flickr": AS_PRINTED | {"pair_labels": "exhaustive"},
    "ACM": AS_PRINTED,
    "Amazon": AS_PRINTED | {"pair_labels": "exhaustive", "layers": 4},
    "Enron": AS_PRINTED | {"layers": 4},
}
"""What the paper prints for each of its networks. All pairs are listed where they fit into 4 GiB."""


def published(name: Any) -> Mapping[str, Any]:
    """Return the settings that the paper prints for one of its networks."""
    if name not in PUBLISHED:
        raise SettingsError(f"the paper has no network {name!r}", f"it has {', '.join(PUBLISHED)}")
    return PUBLISHED[name]


def replicate_count(chains: int, samples: int) -> int:
    """Return in how many parts the samples of a run are compared: its chains, or equal parts of a single chain."""
    if chains > 1:
        return chains
    return next((count for count in (4, 3, 2) if samples % count == 0), samples)


class HCMSettings(DetectorSettings):
    """The settings of HCM with their defaults; see :class:`oddhop.HCM`."""

    hop_classes: int = option(4, 'Number C of classes of hops: 1, 2, ..., C-1 and "C or more".', ge=2, le=16)
    directed: bool = option(
        False,
        "Whether hops follow the direction of the edges. The network must then have directed edges: arrays with "
        "directed=True, or an edge table that is read as events.",
    )
    drop_ratio: float = option(
        0.2, "Share R of the least similar edges that are left out when hops are counted.", ge=0, lt=1
    )
    sampling_ratio: float = option(
        0.3,
        "Share S of the smallest class that a step draws from every class, up to pairs_per_step pairs in all.",
        gt=0,
        le=1,
    )
    layers: int = option(2, "Number of layers of the graph convolutional network.", ge=1, le=8)
    hidden: int = option(128, "Width of the layers.", ge=1)
    sampler: Literal["sgld", "sgd"] = option(
        "sgld", "Sampler: sgld draws samples from the posterior, and sgd takes the same steps without noise."
    )
    chains: int | None = option(
        None,
        "Number of independent chains. By need, chains are added until another seed would keep the ranking.",
        shown="by need: 4, 8, 16 or 32",
        ge=1,
    )
    score: Literal["hav", "ahp"] = option(
        "ahp", "Score: ahp is average hop prediction, and hav adds the inferred variance."
    )
    samples: int = option(4, "Number of samples that each chain keeps.", ge=1)
    burn_in: int | None = option(
        None,
        "Number of steps of each chain before its first sample.",
        shown="by need: ten passes over the pairs of the smallest class, at least 100 and at most 1,000",
        ge=1,
    )
    thin: int = option(5, "Number of steps between two samples.", ge=1)
    step_size: float = option(0.002, "Size of a step after burn-in.", gt=0)
    initial_step_factor: float = option(10.0, "Factor of the first step. During burn-in, the factor falls to 1.", ge=1)
    preconditioned: bool = option(
        True,
        "Whether to divide each step by the root mean square of the gradient. Without it, and with step_size=0.01 and "
        "initial_step_factor=1, the sampler is SGLD as the paper prints it.",
    )
    weight_decay: float = option(5e-8, "Precision of the prior, in units of the mean loss.", ge=0)
    temperature: float | None = option(
        None,
        "Temperature of the posterior on the mean loss.",
        shown="1 / (classes x smallest class), at most 1e-4",
        ge=0,
    )
    pairs_per_step: int | None = option(512, "Maximum number of pairs in a step. None sets no limit.", ge=1)
    pair_labels: Literal["sampled", "exhaustive"] = option(
        "sampled", "Pairs to learn from: sampled, or exhaustive for all pairs as in the paper (small networks)."
    )
    neighbours: int | None = option(
        None,
        "Maximum number of neighbours of a node that training sees, drawn at random. Scores always come from all.",
        shown="all, or 256 in networks of more than 2^20 nodes",
        ge=1,
    )
    scale: Literal["standard", "none"] = option("standard", "Scaling of the attributes: standard, or none.")
    pca_components: int | None = option(
        20, "Number of principal components of the attributes. None keeps all attributes.", ge=1
    )
    pca_above: int = option(100, "Number of attributes above which principal components are used.", ge=1)
    precision: Literal["float32", "float64"] = option("float32", "Precision of the model: float32 or float64.")
    relu_vectors: bool = option(False, "Whether the vectors of the last convolution pass through a ReLU.")
    relu_logits: bool = option(False, "Whether the logits of the hop classes pass through a ReLU.")
    normalised_input: bool = option(True, "Whether the first convolution is normalised by degrees, like the others.")
    prediction: Literal["expected", "most_likely"] = option(
        "expected", "Predicted hop count of a pair: the expected one, or that of the most likely class."
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = option(
        "cpu",
        "Device of the model: cpu, cuda, mps, or auto for a GPU if there is one. On a GPU, scores may differ from run "
        "to run in their last digits.",
        flag="--device",
        shown="cpu",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "as_published" not in values:
            return values
        given = dict(values)
        return {**published(given.pop("as_published")), **given}

    @model_validator(mode="after")
    def _tells_how_sure(self) -> Self:
        if self.chains == 1 and self.samples < 4:
            raise ValueError("one chain needs at least 4 samples for rank intervals")
        if self.device == "mps" and self.precision == "float64":
            raise ValueError("device='mps' has no float64; set precision='float32'")
        return self

    @property
    def dtype(self) -> type[np.floating]:
        """The floating-point type of the model."""
        import numpy as np  # which a list of options does without

        return np.float64 if self.precision == "float64" else np.float32

    def most_neighbours(self, nodes: int) -> int | None:
        """Return how many neighbours of a node a training step sees at most; None for all."""
        return MANY if self.neighbours is None and nodes > SAMPLED_ABOVE else self.neighbours

    def pairs_a_class(self, smallest: float, classes: int) -> int:
        """Return how many pairs of every class a step draws, where the smallest has so many."""
        most = int(self.sampling_ratio * smallest)
        return max(1, most if self.pairs_per_step is None else min(most, self.pairs_per_step // classes))

    def steps_before(self, smallest: float, classes: int) -> int:
        """Return how many steps a chain takes before its first sample."""
        if self.burn_in is not None:
            return self.burn_in
        passes = math.ceil(PASSES * smallest / self.pairs_a_class(smallest, classes))
        return min(max(passes, BURN_IN[0]), BURN_IN[1])

    def rounds(self, smallest: float, classes: int) -> tuple[int, ...]:
        """Return how many chains there are each time it is asked whether they agree."""
        if self.chains is not None:
            return (self.chains,)
        steps = self.steps_before(smallest, classes) + self.samples * self.thin
        return tuple(chains for chains in BY_NEED if chains == BY_NEED[0] or chains * steps <= MOST_STEPS)
