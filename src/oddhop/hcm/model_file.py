"""What HCM learned, and its form in a model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from oddhop.detector.model_file import Model, Parts
from oddhop.graph.preparation import Preparation
from oddhop.hcm.chains import Posterior
from oddhop.hcm.model import Shape
from oddhop.hcm.purify import LeftOut
from oddhop.hcm.ranking import Agreement
from oddhop.hcm.settings import BY_NEED, HCMSettings

SCHEMA = 3


@dataclass(frozen=True, eq=False)
class HCMLearned:
    """What HCM learned.

    Attributes
    ----------
    preparation, posterior : the attributes' scaling and PCA, and the weights.
    maxima : what HAV divides AHP and IV by.
    left_out : the edges that hop labels were made without.
    agreement : what another seed would keep of the ranking that was fitted; None with a single chain or fewer than two
        judged nodes.
    """

    preparation: Preparation
    posterior: Posterior
    maxima: tuple[float, float]
    left_out: LeftOut
    agreement: Agreement | None


HCMModel: TypeAlias = Model[HCMSettings, HCMLearned]


def to_parts(learned: HCMLearned) -> Parts:
    """Take apart what was learned, for a file."""
    posterior, agreed = learned.posterior, learned.agreement
    arrays = {
        **learned.preparation.arrays(),
        "weights": posterior.weights,
        "losses": posterior.losses,
        "maxima": np.array(learned.maxima),
    }
    info = {"shape": vars(posterior.shape), "left_out": vars(learned.left_out), "agreement": agreed and vars(agreed)}
    return Parts(arrays, info)


def from_parts(parts: Parts, settings: HCMSettings) -> tuple[HCMLearned, int]:
    """Put together what a file holds, checked; return it and how many attributes it takes."""
    arrays, shape = parts.arrays, Shape(**parts.info["shape"])
    # First of all: a shape of a billion layers would take all memory to be worked out.
    if shape != Shape.of(settings, shape.attributes):
        raise ValueError(f"the shape {shape} does not match the settings")
    weights, columns, reduced = arrays["weights"], arrays["unit"].size, "components" in arrays
    chains = settings.chains or (len(weights) if len(weights) in BY_NEED else BY_NEED[-1])
    expected = {
        "weights": (chains, settings.samples, shape.size),
        "losses": (chains,),
        "maxima": (2,),
        "unit": (columns,),
        "centre": (columns,),
        "spread": (shape.attributes,),
        **({"components": (columns, shape.attributes)} if reduced else {}),
    }
    for name, size in expected.items():
        array = arrays[name]
        if array.shape != size or array.dtype.kind != "f":
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, expected floats of shape {size}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} has values that are not finite")
    if not (arrays["unit"] > 0).all() or not (arrays["spread"] > 0).all():
        raise ValueError("it has scales that are not above 0")
    if (not reduced and columns != shape.attributes) or weights.dtype != settings.dtype:
        raise ValueError("the weights do not match the attributes or the precision")
    left_out = LeftOut(**parts.info["left_out"])
    if any(type(count) is not int or count < 0 for count in (left_out.dropped, left_out.tied)):
        raise ValueError(f"{left_out} has counts that are not valid")
    agreed = None if parts.info["agreement"] is None else Agreement(**parts.info["agreement"])
    if agreed is not None:
        shares = all(type(share) is float and abs(share) <= 1 for share in (agreed.kept, agreed.correlation))
        if not shares or type(agreed.first) is not int or agreed.first < 1:
            raise ValueError(f"{agreed} is no agreement of two rankings")
    max_ahp, max_iv = (float(one) for one in arrays["maxima"])
    posterior = Posterior(weights, shape, arrays["losses"])
    return HCMLearned(Preparation.of(arrays), posterior, (max_ahp, max_iv), left_out, agreed), columns
