"""Cases: nodes that are odd together are one case."""

from __future__ import annotations

from collections.abc import Sequence

from oddhop.explain.explanation import Explanation

TOGETHER = ("clique", "cycle")  # the kinds of anomaly that several nodes share


def case_numbers(explanations: Sequence[Explanation]) -> list[int]:
    """Return the numbers of the cases of some nodes, from 1 on; the members of a clique or a cycle share a number.

    Two nodes belong together if the kind of both is clique or cycle, and one names the other as a member.

    Examples
    --------
    >>> from oddhop.explain.cases import case_numbers
    >>> from oddhop.explain.explanation import Baseline, Explanation, Neighbour
    >>> usual = Baseline(threshold=1.0, usual_hops=1.0, usual_spread=0.0)
    >>> def why(name, kind, *group):
    ...     members = tuple(Neighbour(one, 1.0, 0.0, 0.0, member=True) for one in group)
    ...     return Explanation(name, 9.0, 3, 1.0, 0.0, usual, kind, members, 0, 3, (), None)
    >>> case_numbers([why("a", "clique", "c"), why("b", "stranger"), why("c", "clique", "a"), why("d", "clique", "b")])
    [1, 2, 1, 3]
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
