"""The folded part of a card: its figures are those of the explanation, in the words of the table."""

from __future__ import annotations

from oddhop.cases.case import Nouns
from oddhop.cases.technical import technical
from oddhop.explain.explanation import (
    Baseline,
    Change,
    ColumnDifference,
    Counterfactual,
    Explanation,
    Neighbour,
    View,
)

NOUNS = Nouns("account", "accounts", "payment", "payments", "€", "pays", "paid")
LINE = Baseline(5.0, 1.4, 0.2)


def test_the_views_are_as_they_are_and_columns_say_whose_values_they_are_beside() -> None:
    apart = ColumnDifference("trade", "florist", "garage (9 of 9)", "12 % have the same", "garage", -1.0)
    why = Explanation("a", 7.0, 9, LINE, "stranger", (View("stranger", 0.01, 7.0),), looked_at=9, columns=(apart,))
    found = technical(NOUNS, why)
    assert (found.id, found.score, found.views) == ("a", 7.0, (("stranger", 0.01, 7.0),))
    assert found.columns == (
        "trade: florist; accounts it deals with: garage (9 of 9); 12% of all accounts have the same.",
    )


def test_the_neighbours_that_are_most_unlike_it_are_named_and_no_others() -> None:
    rarities = {"b": 0.3, "c": 0.02, "d": 0.01, "e": 0.24, "f": 0.1}
    near = tuple(Neighbour(name, 1.0, rarity) for name, rarity in rarities.items())
    found = technical(NOUNS, Explanation("a", 7.0, 6, LINE, neighbours=near, looked_at=6))
    assert found.sentences == (
        "Of the 6 it deals with, d, c and f are most unlike it: "
        "at most 10% of such links join two that differ as much.",
    )
    assert not technical(NOUNS, Explanation("a", 1.0, 6, LINE, neighbours=near[:1], looked_at=6)).sentences


def test_predicted_steps_stand_beside_the_usual_ones_and_a_draw_is_said() -> None:
    near = tuple(Neighbour(name, 3.0, hops=hops, spread=0.1) for name, hops in zip("bc", (3.5, 2.0), strict=True))
    found = technical(NOUNS, Explanation("a", 7.0, 900, LINE, neighbours=near, looked_at=512, hops=2.75, spread=0.3))
    assert found.sentences == (
        "Those it deals with look 2.8 ± 0.3 steps away; 1.4 ± 0.2 is usual. The farthest: b (3.5) and c (2.0).",
        "These figures are about 512 of the 900 it deals with.",
    )


def test_what_would_lower_the_score_is_said_with_the_line_it_falls_below() -> None:
    changes = (Change("edge", "b"), Change("attribute", "trade", "garage"), Change("edge", "c"))
    enough, short = (Counterfactual(changes, 7.0, after, LINE) for after in (4.0, 6.0))
    for what, where in ((enough, "below"), (short, "still above")):
        found = technical(NOUNS, Explanation("a", 7.0, 9, LINE, looked_at=9, counterfactual=what))
        assert found.sentences == (
            f"Without its links to b and c and with trade of garage, its score would be {what.after:.2f} instead of "
            f"7.00, {where} the 5.00 of the flagged accounts.",
        )


def test_a_node_without_neighbours_has_no_score() -> None:
    assert technical(NOUNS, Explanation("a", 0.0, 0, LINE)).sentences == ("It has no payments, so it has no score.",)
