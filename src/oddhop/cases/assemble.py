"""From flagged nodes, the most unusual first, to drafts of cases: those that share events become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from oddhop.base.arrays import Bools, Ints
from oddhop.cases.growth import LOOK, MEMBERS, Draft
from oddhop.cases.surprise import EventBook

MOST_PARTNERS, BACK_AND_FORTH = 60, 3
CIRCLE, MOST = 3, 0.8  # members of a circle, and the share of the events of a draft that its circles have


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
        drafts = [part for draft in _join_lone(book, drafts) for part in torn(book, draft)]
    place = {one.seeds[0]: k for k, one in enumerate(gathered)}
    drafts = [replace(one, seeds=tuple(sorted(one.seeds, key=place.__getitem__))) for one in drafts]
    return sorted(drafts, key=lambda one: place[one.seeds[0]])


def torn(book: EventBook, draft: Draft) -> list[Draft]:
    """Part a draft whose events are circles of members with a single member in common, such as a ring and a farm."""
    events, members = np.array(sorted(draft.events), dtype=np.int64), np.array(draft.members)
    size = members.size
    if not book.directed or size < 2 * CIRCLE - 1 or not events.size:
        return [draft]
    place = np.full(book.nodes, size)
    place[members] = np.arange(size)
    source, target = place[book.source[events]], place[book.target[events]]
    among = (source < size) & (target < size)
    pairs = np.zeros((size, size), dtype=bool)
    pairs[source[among], target[among]] = True
    between = (pairs.sum(axis=0) > 1) & (pairs.sum(axis=1) > 1)  # it is on two circles
    for shared in np.flatnonzero(between).tolist():
        rest = pairs.copy()
        rest[shared], rest[:, shared] = False, False
        group = connected_components(rest, directed=False)[1]
        large = np.flatnonzero(np.bincount(group) >= CIRCLE - 1)
        circles = [np.flatnonzero(group == one) for one in large] if large.size > 1 else []
        circles = [mine for mine in circles if _is_circle(pairs, np.append(mine, shared))]
        held = sum(int((np.isin(source, mine) | np.isin(target, mine)).sum()) for mine in circles)
        if len(circles) > 1 and held >= MOST * events.size:
            return _parts(book, draft, int(members[shared]), [set(members[mine].tolist()) for mine in circles])
    return [draft]


def _is_circle(pairs: Bools, some: Ints) -> bool:
    """Tell whether all of some members lead to each other."""
    return int(connected_components(pairs[np.ix_(some, some)], connection="strong")[0]) == 1


def _parts(book: EventBook, draft: Draft, shared: int, circles: Sequence[set[int]]) -> list[Draft]:
    """Return a draft for each circle, the first with all that is in none; the draft itself where one has no seed."""
    away = set[int]().union(*circles[1:])
    inside = [{*draft.members} - away, *({*circle, shared} for circle in circles[1:])]
    seeds = [[seed for seed in draft.seeds if seed in some and seed != shared] for some in inside]
    if shared in draft.seeds:
        min(seeds, key=len).append(shared)
    if not all(seeds):
        return [draft]
    parts, left = [], set(draft.events)
    for k in range(len(circles))[::-1]:  # the first takes what is left
        ends = {event: {int(book.source[event]), int(book.target[event])} for event in left}
        own = {event for event, both in ends.items() if k == 0 or both & circles[k]}
        left -= own
        known = set[int]().union(*(ends[event] for event in own))
        members = tuple(node for node in draft.members if node in inside[k])
        outside = tuple(node for node in draft.outside if node in known)
        parts.append(Draft(members, outside, frozenset(own), tuple(seeds[k])))
    return parts[::-1]


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
