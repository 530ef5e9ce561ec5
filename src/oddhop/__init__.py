"""oddhop: find the nodes of an attributed network that do not belong where they are wired.

>>> from oddhop import HCM, Graph
"""

from oddhop.detectors.hcm import HCM, Diagnostics
from oddhop.graph import Graph
from oddhop.version import __version__

__all__ = ["HCM", "Diagnostics", "Graph", "__version__"]
