"""Where a function of one number changes its sign.

``scipy.optimize`` has such searches. To import it takes longer than to rank a network of a thousand nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, copysign, log2, ulp


def sign_change(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return a number within ``tolerance``, or rounding, of one where a decreasing function changes its sign.

    The method is ITP (Oliveira and Takahashi 2020): false position, held so near to the middle of the interval that
    there is at most one call more than bisection makes.
    """
    at_low, at_high = function(low), function(high)
    if not at_low >= 0 >= at_high:
        raise ValueError(f"the function must fall from above 0 to below: got {at_low} at {low} and {at_high} at {high}")
    tolerance = max(tolerance, 2 * ulp(max(abs(low), abs(high))))
    calls = ceil(log2(max((high - low) / tolerance, 2.0)))
    steepness = 0.2 / max(high - low, tolerance)
    while high - low > 2 * tolerance:
        width, middle = high - low, low + (high - low) / 2
        crossing = low + width * at_low / (at_low - at_high)
        towards = copysign(1.0, middle - crossing)
        nudged = steepness * width**2
        place = crossing + towards * nudged if nudged <= abs(middle - crossing) else middle
        most = tolerance * 2.0**calls - width / 2
        if abs(place - middle) > most:
            place = middle - towards * most
        value = function(place)
        if value > 0:
            low, at_low = place, value
        elif value < 0:
            high, at_high = place, value
        else:
            return place
        calls -= 1
    return low + (high - low) / 2
