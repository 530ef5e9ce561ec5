"""All views, in the order of results: a view that is added is named here."""

from __future__ import annotations

from oddhop.odd.clique import CLIQUE
from oddhop.odd.event_views import CYCLE, FLOW
from oddhop.odd.outlier import OUTLIER
from oddhop.odd.stranger import STRANGER
from oddhop.odd.view import NodeView, View

VIEWS: tuple[View, ...] = (STRANGER, OUTLIER, CLIQUE, FLOW, CYCLE)
NODE_VIEWS = tuple(view for view in VIEWS if isinstance(view, NodeView))
RAW_CLIQUE = "raw_clique"
BULKS = (*(one.name for one in VIEWS if not isinstance(one, NodeView) or one.has_bulk), RAW_CLIQUE)
