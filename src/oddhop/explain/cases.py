"""Cases: nodes that are odd together are one case."""

from __future__ import annotations

from collections.abc import Sequence

from oddhop.explain.explanation import Explanation

TOGETHER = ("clique", "cycle")  # the kinds of anomaly that several nodes share


def case_numbers(explanations: Sequence[Explanation]) -> list[int]:
    """Return the numbers of the cases of some nodes, from 1 on; the members of a clique or a cycle share a number.

    Two nodes belong together if the kind of both is clique or cycle, and one names the other as a member.
    """
    places = {why.id: place for place, why in enumerate(explanations) if why.kind in TOGETHER}
    first = list(range(len(explanations)))

    def root(place: int) -> int:
        while first[place] != place:
            first[place] = first[first[place]]
            place = first[place]
        return place

    for place, why in enumerate(explanations):
        for other in why.group if why.kind in TOGETHER else ():
            if other in places:
                one, two = sorted((root(place), root(places[other])))
                first[two] = one
    roots = [root(place) for place in range(len(explanations))]
    numbers = {one: number for number, one in enumerate(dict.fromkeys(roots), 1)}
    return [numbers[one] for one in roots]
