"""oddhop: find the nodes of an attributed network that do not belong where they are wired.

>>> from oddhop import Graph, Odd
"""

from typing import TYPE_CHECKING, Any

from oddhop.errors import OddhopError
from oddhop.version import __version__

if TYPE_CHECKING:
    from oddhop.detector.registry import load
    from oddhop.graph.graph import Graph
    from oddhop.hcm.cosine import NeighbourCosine
    from oddhop.hcm.detector import HCM
    from oddhop.odd.detector import Odd
    from oddhop.reports import report
    from oddhop.tables.network import Network, read_network

__all__ = [
    "HCM", "Graph", "NeighbourCosine", "Network", "Odd", "OddhopError", "__version__", "load", "read_network", "report"
]  # fmt: skip

_HOMES = {
    "Graph": "oddhop.graph.graph",
    "Network": "oddhop.tables.network",
    "load": "oddhop.detector.registry",
    "read_network": "oddhop.tables.network",
    "report": "oddhop.reports",
}
_DETECTORS = {"HCM": "hcm", "NeighbourCosine": "cosine", "Odd": "odd"}


def __getattr__(name: str) -> Any:
    # Imports take seconds, and torch is an extra: a command that only shows its options need not wait for them.
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _DETECTORS:
        from oddhop.detector.registry import detector_named

        return detector_named(_DETECTORS[name])
    raise AttributeError(f"module 'oddhop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
