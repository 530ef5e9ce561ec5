"""All checks by name: run them in tests, or report on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from tests.contract import interface, invariance, shapes
from tests.contract.subjects import DoesNotApply


@dataclass(frozen=True)
class Check:
    """One check of one detector: call it; it raises an AssertionError, or whatever the detector raised."""

    name: str
    detector: Any
    function: Callable[[Any], None]

    def __call__(self) -> None:
        """Run the check; :class:`DoesNotApply` says that the detector does not offer what it is about."""
        self.function(self.detector)


def graph_detector_checks(detector: Any) -> list[Check]:
    """Return every check for a detector, the cheap ones first.

    Examples
    --------
    >>> from oddhop import Odd
    >>> from tests.contract.checks import graph_detector_checks
    >>> checks = graph_detector_checks(Odd())
    >>> len(checks) >= 60, checks[0].name
    (True, 'parameters are those of the constructor')
    """
    named = [*_functions(interface), *_functions(invariance)]
    named += [
        (f"{shape}: finite scores or a refusal", partial(shapes.finite_or_refused, shape=shape))
        for shape in shapes.SHAPES
    ]
    return [Check(name, detector, function) for name, function in named]


def graph_detector_report(detector: Any) -> dict[str, str]:
    """Run every check and return its outcome: "passes", "does not apply: ..." or "fails: ..."."""
    return {check.name: _outcome(check) for check in graph_detector_checks(detector)}


def _outcome(check: Check) -> str:
    try:
        check()
    except DoesNotApply as reason:
        return f"does not apply: {reason}"
    except Exception as error:  # whatever a foreign detector raises is the finding
        said = " ".join(str(error).split())
        return f"fails: {type(error).__name__}: {said[:120]}"
    return "passes"


def _functions(module: ModuleType) -> list[tuple[str, Callable[[Any], None]]]:
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    return [(value.__name__.replace("_", " "), value) for value in own if not value.__name__.startswith("_")]
