"""The folded part of a card: what the detector computed for one node, in short lines and the words of the table."""

from __future__ import annotations

from oddhop.cases.case import Nouns, Technical
from oddhop.explain.explanation import ColumnDifference, Counterfactual, Explanation
from oddhop.explain.phrases import share, spoken

NAMED = 3
CLOSE = "neighbours"  # what most columns are compared with
RARE = 0.25  # of all links: those that more links equal are not named


def technical(nouns: Nouns, why: Explanation) -> Technical:
    """Return the figures of one node: views, columns, the neighbours most unlike it, what would lower its score."""
    if not why.degree:
        return Technical(why.id, why.score, (), (), (f"It has no {nouns.events}, so it has no score.",))
    lines = [_neighbours(nouns, why), _hops(nouns, why)]
    if why.looked_at < why.degree:
        lines.append(f"These figures are about {why.looked_at:,} of the {why.degree:,} it {linked(nouns)}.")
    if why.counterfactual is not None:
        lines.append(_what_if(nouns, why.counterfactual))
    return Technical(
        why.id,
        why.score,
        tuple((one.name, one.p, one.part) for one in why.views),
        tuple(_column(nouns, one) for one in why.columns),
        tuple(filter(None, lines)),
    )


def linked(nouns: Nouns) -> str:
    """Return the verb between two nodes that an edge joins."""
    return "deals with" if nouns.sends == "pays" else "is linked to"


def among_all(nouns: Nouns, one: ColumnDifference) -> str:
    """Return how a value stands among all nodes, such as "54% of all accounts have less"."""
    return one.elsewhere.replace(" %", "%").replace("have", f"of all {nouns.nodes} have")


def _column(nouns: Nouns, one: ColumnDifference) -> str:
    whom = f"{nouns.nodes} it {linked(nouns)}" if one.others == CLOSE else f"{nouns.nodes} with a common partner"
    rest = f"; {among_all(nouns, one)}" if one.elsewhere else ""
    return f"{one.column}: {one.own}; {whom}: {one.usual}{rest}."


def _neighbours(nouns: Nouns, why: Explanation) -> str:
    """Name the neighbours that are most unlike a node, where its detector says how rare such links are."""
    known = [(one.rarity, str(one.id)) for one in why.neighbours if one.rarity is not None and one.rarity <= RARE]
    known = sorted(known, key=lambda one: one[0])[:NAMED]
    if not known:
        return ""
    are = "is" if len(known) == 1 else "are"
    whom = f"Of the {why.degree:,} it {linked(nouns)}, " if why.degree > len(known) else ""
    rare = f"at most {share(known[-1][0]).replace(' %', '%')} of such links join two that differ as much"
    return f"{whom}{spoken([name for _, name in known])} {are} most unlike it: {rare}."


def _hops(nouns: Nouns, why: Explanation) -> str:
    """Say how many steps away neighbours look, where the detector predicts that."""
    if why.hops is None or why.spread is None:
        return ""
    usual = f"{why.baseline.usual_hops:.1f} ± {why.baseline.usual_spread:.1f}"
    mean = f"Those it {linked(nouns)} look {why.hops:.1f} ± {why.spread:.1f} steps away; {usual} is usual"
    first = [f"{one.id} ({one.hops:.1f})" for one in why.neighbours[:NAMED] if one.hops is not None]
    return f"{mean}. The farthest: {spoken(first)}."


def _what_if(nouns: Nouns, what: Counterfactual) -> str:
    links = [str(one.name) for one in what.changes if one.kind == "edge"]
    values = [f"{one.name} of {one.to}" for one in what.changes if one.kind == "attribute"]
    parts = [f"without its links to {spoken(links)}"] if links else []
    parts += [f"with {spoken(values)}"] if values else []
    if_so = spoken(parts)
    score = f"its score would be {what.after:.2f} instead of {what.before:.2f}"
    line = f"{'below' if what.enough else 'still above'} the {what.baseline.threshold:.2f} of the flagged {nouns.nodes}"
    return f"{if_so[0].upper()}{if_so[1:]}, {score}, {line}."
