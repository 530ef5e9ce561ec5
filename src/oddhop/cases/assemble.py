"""From flagged nodes, the most unusual first, to drafts of cases: those that share events become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from oddhop.cases.growth import LOOK, MEMBERS, Draft
from oddhop.cases.surprise import EventBook

MOST_PARTNERS, BACK_AND_FORTH = 60, 3


def assemble(book: EventBook | None, gathered: Sequence[Draft], groups: Mapping[int, Sequence[int]]) -> list[Draft]:
    """Join drafts, each gathered around one flagged node, and return them in the order of their first node.

    ``groups`` has for nodes whose kind of anomaly several share, a clique or a cycle, the others of it.

    Examples
    --------
    >>> from oddhop.cases.assemble import assemble
    >>> from oddhop.cases.growth import Draft
    >>> lone = [Draft((node,), (), frozenset(), (node,)) for node in (3, 1, 2)]
    >>> [one.members for one in assemble(None, lone, {3: [2], 2: [3]})]
    [(3, 2), (1,)]
    """
    drafts: list[Draft] = []
    for new in gathered:
        for old in list(drafts):
            if _overlap(old, new) and len({*old.members, *new.members}) <= 2 * MEMBERS:
                drafts.remove(old)
                new = _joined(old, new)
        drafts.append(new)
    drafts = _join_groups(drafts, groups)
    if book is not None:
        drafts = _join_lone(book, drafts)
    place = {one.seeds[0]: k for k, one in enumerate(gathered)}
    drafts = [replace(one, seeds=tuple(sorted(one.seeds, key=place.__getitem__))) for one in drafts]
    return sorted(drafts, key=lambda one: place[one.seeds[0]])


def _joined(one: Draft, other: Draft, events: frozenset[int] = frozenset()) -> Draft:
    members = tuple(dict.fromkeys((*one.members, *other.members)))
    outside = tuple(node for node in dict.fromkeys((*one.outside, *other.outside)) if node not in members)
    return Draft(members, outside, one.events | other.events | events, (*one.seeds, *other.seeds))


def _overlap(old: Draft, new: Draft) -> bool:
    """Tell whether two drafts share a quarter of the smaller's events, or one is a lone node that the other has."""
    if not new.events:
        return bool(old.events) and new.seeds[0] in old.members
    if not old.events:
        return len(old.seeds) == 1 and old.seeds[0] in new.members
    both, least = len(old.events & new.events), min(len(old.events), len(new.events))
    return both >= min(2, least) and 4 * both >= least


def _join_groups(drafts: list[Draft], groups: Mapping[int, Sequence[int]]) -> list[Draft]:
    """Join flagged nodes one of which names the other as of its group; the kind of both is one that several share."""
    own = {seed: draft for draft in drafts for seed in draft.seeds}
    for node, others in groups.items():
        for other in others:
            if other in groups and other in own and own[other] is not own[node]:
                new = _joined(own[node], own[other])
                own.update(dict.fromkeys(new.seeds, new))
    return list(dict.fromkeys(own.values()))


def _join_lone(book: EventBook, drafts: list[Draft]) -> list[Draft]:
    """Join lone flagged nodes that have three events with each other."""
    own = {one.seeds[0]: one for one in drafts if not one.events and len(one.seeds) == 1}
    own = {node: one for node, one in own.items() if book.partners[node] <= MOST_PARTNERS}
    rest = [one for one in drafts if not any(one is lone for lone in own.values())]
    for node in list(own):
        events = book.of(node, LOOK)
        others = book.other(events, node)
        for other in list(own):
            some = events[others == other]
            if own[other] is not own[node] and some.size >= BACK_AND_FORTH:
                new = _joined(own[node], own[other], frozenset(some.tolist()))
                own.update(dict.fromkeys(new.seeds, new))
    return [*rest, *dict.fromkeys(own.values())]
