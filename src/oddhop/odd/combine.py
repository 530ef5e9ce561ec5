"""Joining: one score from five views, and which of them has the largest part in it.

With I the information of an edge about attributes, in nats (0 where they are not related), and w = 1 / (1 + I),

    score = v ((1 - w / 2) S  +  w O  +  (w / 2) R  +  Q)  +  F  +  C

S, O, R, F and C are -log p of stranger, outlier, clique, flow and cycle, Q is -log q of the raw clique
scores. The more the wiring informs about attributes, the more the stranger decides; where it does not, attributes
and wiring are judged each by itself. Cliques that stand apart from the bulk count in any network, as much as they stand
apart. Without events F and C are 0 and v is 1. With events v is one half: three views of the place of a node would
otherwise drown what it did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oddhop.base.arrays import Floats, Ints
from oddhop.odd.all_views import VIEWS
from oddhop.odd.clique import CLIQUE

PLACE = 0.5  # what the views of the place of a node weigh beside events
KINDS = tuple(view.name for view in VIEWS)


@dataclass(frozen=True)
class Evidence:
    """What the views say of every node.

    Attributes
    ----------
    log_p : (views, nodes), in the order of ``KINDS``.
    parts : (views, nodes), what each view adds to the score.
    """

    log_p: Floats
    parts: Floats

    @property
    def score(self) -> Floats:
        """The joined score; high is odd."""
        return np.asarray(self.parts.sum(axis=0))

    @property
    def kind(self) -> Ints:
        """The number of the view that adds most; the first of equals."""
        return np.asarray(np.argmax(self.parts, axis=0))


def join(log_p: Floats, clique_log_q: Floats, information: float, place: float = 1.0) -> Evidence:
    """Join the p-values of the views."""
    apart = 1.0 / (1.0 + max(information, 0.0))
    weights = np.array([(place if view.of_place else 1.0) * view.weight(apart) for view in VIEWS])
    parts = -weights[:, None] * log_p
    parts[VIEWS.index(CLIQUE)] -= place * clique_log_q
    return Evidence(log_p, parts + 0.0)
