"""What a case could be, with the test of the innocent reading; where to look next; and how sure this is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oddhop.cases.case import Reading, Sureness
from oddhop.cases.nouns import Words, article, duration
from oddhop.cases.shape import Shape
from oddhop.cases.surprise import DAY, WEEK, EventBook
from oddhop.explain.phrases import spoken

LOOKS = {
    "passed on": "It looks like money that is only passed through, so that its origin is hard to see.",
    "chain": "It looks like layering: a sum is moved step by step, so that its origin is hard to see.",
    "ring": "It looks like turnover that exists on paper only: the same money goes round.",
    "fan-in": "It looks like a collection: many pay one, who did not receive such {events} before.",
    "fan-out": "It looks like {an_account} that is emptied, or used up to its limit, within a short time.",
    "group": "It looks like a group that acts together.",
    "stranger": "It looks like {an_account} that is not what its record says.",
    "outlier": "It looks like a wrong entry, or {an_account} of a kind of its own.",
    "single": "It looks like a change of use.",
}
PLAIN = "It looks like a group that acts together."
COULD = {
    "passed on": "It could also be somebody who collects for a common purchase, or a landlord or a treasurer.",
    "chain": "It could also be a group that settles between its own companies.",
    "ring": "It could also be a savings club, or partners that trade with each other.",
    "fan-in": "It could also be a collection for a trip or a club, or a new shop.",
    "fan-out": "It could also be a holiday, a move or another large purchase.",
    "group": "It could also be a family, a team or branches of one firm.",
    "stranger": "It could also be a slip in one of its columns.",
    "outlier": "It could also be a correct but rare value.",
    "single": "It could also be a season, or a new job or business.",
}
FEW_RUNS, REGULAR = 3, 0.2


def reading_of(words: Words, book: EventBook, shape: Shape) -> Reading:
    """Return what a case with events could be: its pattern, an innocent one, and the first test that decides."""
    pattern = shape.pattern
    looks = LOOKS[pattern] if words.sums and book.paid else PLAIN
    could = COULD[pattern]
    if not (words.sums and book.paid):
        could = COULD["group"]
    test, likely = _test(words, book, shape)
    fills = {"events": words.nouns.events, "an_account": article(words.nouns.node)}
    return Reading(looks.format(**fills), could.format(**fills), test, likely)  # type: ignore[arg-type]


def _test(words: Words, book: EventBook, shape: Shape) -> tuple[str, str]:
    """Test whether the same pairs deal with each other otherwise, regularly, or back."""
    events = shape.events
    pairs = np.unique(book.source[events] * book.nodes + book.target[events])
    back = book.target[events] * book.nodes + book.source[events]
    if shape.pattern != "ring" and book.directed:
        inside = np.isin(pairs, back).sum()
        returned = pairs[np.isin((pairs % book.nodes) * book.nodes + pairs // book.nodes, book.arcs)].size
        if returned >= max(1, 0.5 * pairs.size) and inside < pairs.size:
            many = "all" if returned == pairs.size else f"{returned:,}"
            return f"For it: between {many} of the {pairs.size:,} pairs, {words.nouns.events} go both ways.", "for"
    if book.timed and len(shape.runs) >= FEW_RUNS:
        starts = np.array([book.time[run].min() for run in shape.runs])
        gaps = np.diff(starts)
        if gaps.size and gaps.std() <= REGULAR * gaps.mean():
            every = duration(float(gaps.mean()))
            return f"For it: it comes back regularly, {len(shape.runs)} times, every {every}.", "for"
    if book.timed:
        first = float(book.time[events].min())
        own = np.unique(np.concatenate([book.of(node) for node in shape.focus]))
        keys = book.source[own] * book.nodes + book.target[own]
        known = np.unique(keys[np.isin(keys, pairs) & (book.time[own] < first - DAY)]).size
        period = duration(first - float(book.time.min()))
        if known == 0 and first - book.time.min() > WEEK:
            never = f"none of the {pairs.size:,} pairs" if pairs.size > 1 else "the pair had not"
            said = f"{never} had dealt with each other" if pairs.size > 1 else f"{never} dealt with each other"
            return f"Against it: {said} in the {period} before.", "against"
        if known:
            return f"For it: {known:,} of the {pairs.size:,} pairs had dealt with each other before.", "for"
    return f"Nothing in the {words.nouns.events} decides between the two.", "undecided"


def next_steps(words: Words, book: EventBook, shape: Shape) -> tuple[str, ...]:
    """Return where to look next: what is left at the end, where it came from, and who else was opened that week."""
    steps = []
    last = float(book.time[shape.events].max()) if book.timed else 0.0
    ends = sorted(shape.of("collects", "is paid", outside=True), key=lambda node: (-shape.received[node], node))
    if ends and book.paid and words.sums:
        end = ends[0]
        own = book.of(end)
        later = own[(book.source[own] == end) & (book.time[own] > last)] if book.timed else own[:0]
        left = float(np.nansum(book.told[later]))
        got, name = words.amount(shape.received[end]), words.name(end)
        if later.size:
            many = words.event_count(later.size)
            steps.append(f"{name}, which received {got} and sent {words.amount(left)} since, by {many}.")
        elif book.timed:
            steps.append(f"{name}: the {got} had not left it by {words.day(int(book.when[book.when > 0].max()))}.")
        else:
            steps.append(f"{name}, which received {got}.")
    sources = sorted(shape.of("pays in", outside=True), key=lambda node: (-shape.sent[node], node))
    if sources and shape.draft.seeds[0] != sources[0]:
        gave = words.amount(shape.sent[sources[0]]) if book.paid and words.sums else ""
        what = f"where its {gave} came from" if gave else f"its other {words.nouns.events}"
        steps.append(f"{words.name(sources[0])}: {what}.")
    steps += _opened_together(words, book, shape)
    if not steps:
        steps.append(f"The other {words.nouns.events} of {words.names(shape.focus)}.")
    return tuple(steps[:3])


def _opened_together(words: Words, book: EventBook, shape: Shape) -> list[str]:
    """Count the other nodes that were opened in the week of most members."""
    if book.born is None:
        return []
    born = book.born[list(shape.draft.members)]
    born = np.sort(born[np.isfinite(born)])
    if born.size < 2:
        return []
    many = np.searchsorted(born, born + WEEK, "right") - np.arange(born.size)
    first = born[many.argmax()]
    if many.max() < 2 or first < book.time.min() - 365 * DAY:
        return []
    there = (book.born >= first) & (book.born <= first + WEEK)
    there[list(shape.draft.members)] = False
    others = int(there.sum())
    return [f"The other {words.node_count(others)} opened in the same week as {many.max()} members."] if others else []


def sureness(words: Words, p: Sequence[float], nodes: int) -> Sureness:
    """Say among how many ordinary nodes one is as unusual, at most as many as there are; ``p`` has a value a member."""
    among = int(np.clip(_two_digits(1 / max(min(p, default=1.0), 1e-12)), 1, max(nodes, 1)))
    same = sum(one <= 1.05 / among for one in p)
    noun = words.nouns
    if among < 3:
        return Sureness(f"Many {noun.nodes} look as unusual as this.", among, same)
    whole = (
        f"Among all {nodes:,} {noun.nodes}, at most one"
        if among >= nodes
        else f"Among {among:,} ordinary {noun.nodes}, about one"
    )
    here = f"; here {same} do" if same > 1 else ""
    chance = nodes / among
    many = f" That makes about {chance:.0f} of the {nodes:,} by chance." if chance >= 1.5 and same <= 1 else ""
    return Sureness(f"{whole} would look this unusual by chance{here}.{many}", among, same)


def _two_digits(value: float) -> int:
    digits = max(int(np.floor(np.log10(max(value, 1.0)))) - 1, 0)
    return int(round(value / 10**digits) * 10**digits)


def group_reading(words: Words, pattern: str, columns: Sequence[str]) -> Reading:
    """Return what a case without events could be; ``columns`` are those that set it apart."""
    fills = {"events": words.nouns.events, "an_account": article(words.nouns.node)}
    test = "Nothing in the table decides between the two."
    if columns and pattern in ("stranger", "outlier"):
        names = spoken([f"“{name}”" for name in columns[:2]])
        test = f"Check {names} first: with a usual value there, the score would be lower."
    return Reading(LOOKS[pattern].format(**fills), COULD[pattern].format(**fills), test)
