"""The words of Odd: the loudest view first, and nothing said that is not so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from oddhop.explain.explanation import Neighbour, View
from oddhop.explain.phrases import one_in
from oddhop.odd.null import Chance
from oddhop.odd.phrases import COMPARISONS, controls, reasons, standing_out

UNLIKE = "At most {}."


def views(stranger: float = 0.5, outlier: float = 0.5, clique: float = 0.5) -> tuple[View, ...]:
    return (View("stranger", stranger, 1.0), View("outlier", outlier, 1.0), View("clique", clique, 1.0))


def listed(*rarities: float, members: int = 0) -> tuple[Neighbour, ...]:
    return tuple(Neighbour(f"n{k}", 2.0, 0.0, 0.0, None, one, k < members) for k, one in enumerate(rarities))


def test_where_no_view_speaks_nothing_is_said() -> None:
    told = reasons("outlier", views(), listed(0.5), 1, 0, 0, 0)
    assert told == ("The detector Odd finds nothing unusual about this node.",)


def test_the_loudest_comes_first_and_the_others_after_it() -> None:
    told = reasons("clique", views(stranger=0.01, clique=1e-4), listed(0.3, 0.4, members=2), 2, 0, 2, 1)
    assert "its members. The other members of the group are nodes n0 and n1. " in told[0]
    assert told[0].endswith("The members of the group are connected by all 3 possible edges.")
    assert told[1].startswith("Only 1 in 10,000 typical nodes would be in such a closely connected group.")
    assert told[2] == (
        "This node is also unlike its neighbours: only 1 in 100 typical nodes would differ so much from their "
        "neighbours."
    )


@pytest.mark.parametrize(
    ("rarities", "degree", "far", "said", "part"),
    [
        ((0.01,), 1, 1, "its only neighbour, node n0. At most {}.", 5),
        ((0.2,), 1, 0, "its only neighbour, node n0. Only {}.", 20),
        ((0.01, 0.02), 2, 2, f"all of its 2 neighbours: nodes n0 and n1. {UNLIKE}", 5),
        ((0.01, 0.2), 2, 1, f"1 of its 2 neighbours: node n0. {UNLIKE}", 5),
        ((0.1, 0.2, 0.9), 3, 0, "its neighbours. Only {} as this node and 2 of its 3 neighbours.", 20),
        ((0.1, 0.2), 90, 0, "its neighbours. Only {} as this node and 2 of its 90 neighbours.", 20),
        ((0.04, 0.1, 0.2), 90, 1, "its neighbours. Only {} as this node and 3 of its 90 neighbours.", 20),
        ((0.001, *[0.5] * 9), 10, 1, f"1 of its 10 neighbours: node n0. {UNLIKE}", 5),
        ((0.01,) * 5, 9, 5, f"5 of its 9 neighbours: nodes n0, n1, n2 and 2 other nodes. {UNLIKE}", 5),
    ],
)
def test_how_different_the_neighbours_are(
    rarities: tuple[float, ...], degree: int, far: int, said: str, part: int
) -> None:
    told = reasons("stranger", views(stranger=0.001), listed(*rarities), degree, far, 0, 0)
    more = f"{part} % of all edges connect nodes that differ as much"
    assert told[0] == f"This node is unlike {said.format(more)}"


def test_a_group_that_is_not_all_listed_is_counted_as_far_as_it_is() -> None:
    told = reasons("clique", views(clique=0.001), listed(0.5, 0.5, 0.5, members=3), 90, 0, 30, 3)
    assert "The other members of the group are nodes n0, n1, n2 and 27 other nodes. " in told[0]
    assert told[0].endswith("This node and 3 other members of the group are connected by all 6 possible edges.")


def test_shares_keep_two_digits() -> None:
    assert [one_in(one) for one in (1 / 3, 1 / 12345, 2e-6)] == ["1 in 3", "1 in 12,000", "1 in 500,000"]


@pytest.mark.parametrize(("columns", "edges", "level"), [(0.001, 0.5, "warning"), (0.95, 0.001, "fine")])
def test_a_list_that_columns_alone_would_give_is_a_warning(columns: float, edges: float, level: str) -> None:
    rest = [0.9] * 40
    judged = {"p_outlier": [columns] * 10 + rest, "p_clique": [edges] * 10 + rest, "judged": [True] * 50}
    assert controls(pa.table(judged), 10).level == level


@pytest.mark.parametrize("score", [1.0, 99.0])
def test_the_count_of_nodes_that_stand_out_says_how_it_differs_from_a_p_value(score: float) -> None:
    told = standing_out(Chance(np.arange(50.0), 20), np.full(3, score), 0.1)
    assert (told.figure == 0.0) == (score == 1.0)
    assert told.more.endswith(COMPARISONS)
    assert "typical nodes" in COMPARISONS  # the words of the explanations
    assert "typical nodes" not in standing_out(None, np.full(3, score), 0.1).sentence
