"""Names for the arrays that flow between the stages."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.integer]
Floats: TypeAlias = npt.NDArray[np.floating]
Bools: TypeAlias = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])


def frozen(array: Array) -> Array:
    """Return the same data through a view that refuses to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def lies_on_disk(array: Any) -> bool:
    """Return whether an array is mapped from a file, or a view of one that is."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None
