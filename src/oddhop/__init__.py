"""oddhop: find the nodes of an attributed network that do not belong where they are wired.

>>> from oddhop import HCM, Graph
"""

from typing import TYPE_CHECKING, Any

from oddhop.version import __version__

if TYPE_CHECKING:
    from oddhop.graph.graph import Graph
    from oddhop.hcm.detector import HCM
    from oddhop.hcm.diagnostics import Diagnostics
    from oddhop.odd.detector import Odd

__all__ = ["HCM", "Diagnostics", "Graph", "Odd", "__version__"]

_HOMES = {
    "HCM": "oddhop.hcm.detector",
    "Diagnostics": "oddhop.hcm.diagnostics",
    "Graph": "oddhop.graph.graph",
    "Odd": "oddhop.odd.detector",
}


def __getattr__(name: str) -> Any:
    # Torch takes seconds to import: a command that only tells its options need not wait for it.
    if name not in _HOMES:
        raise AttributeError(f"module 'oddhop' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
