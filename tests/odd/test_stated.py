"""What a card says of every fact of a node is counted again here from the rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from oddhop import Odd
from oddhop.cases.case import Fact
from oddhop.cases.marks import StatedFact
from oddhop.cases.nouns import Words, nouns_of, share
from oddhop.odd.facts.stated import FactsInWords
from oddhop.odd.facts.table import FACTS
from tests.cases.small_bank import MULE, RING, bank, everyday

ROWS = [*everyday(), *MULE, *RING]


@pytest.fixture(scope="module")
def said() -> FactsInWords:
    network = bank([*MULE, *RING])
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(network)
    facts = detector._facts
    assert facts is not None
    return FactsInWords(facts, Words(nouns_of(network), network))


@pytest.mark.parametrize("name", [one.name for one in FACTS])
def test_figures_are_those_of_the_payments(said: FactsInWords, name: str) -> None:
    facts, words = said.facts, said.words
    fact = next(one for one in facts.facts if one.name == name)
    node = int(words.network.numbers(["mule"])[0])
    ends = facts.known.setting.ends(node, node + 1)
    carries = facts.adds(fact, ends) > 0
    carries = carries if carries.any() else np.ones_like(carries)
    told = said._said(fact, node, ends, carries)
    if told is None:
        return
    got = [row for row in ROWS if row[1] == "mule"]
    gave = [row for row in ROWS if row[0] == "mule"]
    measure = fact.measure
    if measure == "share":
        whole = 0.0
        if (carries & (ends.side == 1)).any():
            whole += sum(row[2] for row in got)
        if (carries & (ends.side == 0)).any():
            whole += sum(row[2] for row in gave)
        part = float(ends.amount[carries].sum())
        assert told.here.startswith(f"{words.amount(part)} ({share(part / whole)}) of what mule ")
        if "{partners}" in fact.sentence:
            assert words.node_count(len({*ends.partner[carries].tolist()})) in told.here
    elif measure in ("total", "mean"):
        rows = got if name.endswith("received") else gave
        total = sum(row[2] for row in rows)
        assert words.amount(total if measure == "total" else total / len(rows)) in told.here
        side = 1 if name.endswith("received") else 0
        sums: dict[str, list[float]] = {}
        for row in ROWS:
            sums.setdefault(row[side], []).append(round(row[2], 2))
        alike = said.alike == said.alike[node]
        ids = [str(words.network.name(k)) for k in np.flatnonzero(alike)]
        if measure == "total":
            usual = float(np.median([sum(sums.get(one, [0.0])) for one in ids]))
        else:
            usual = float(np.median([np.mean(sums[one]) for one in ids if one in sums]))
        assert told.usual == f"Usually it is {words.amount(usual)}."
    assert told.count is not None
    assert told.count <= words.network.graph.node_count
    assert told.p is not None
    assert 0 <= told.p <= 1


def test_facts_that_do_not_look_rare_are_not_said(said: FactsInWords) -> None:
    for node in range(said.words.network.graph.node_count):
        for one in said(node):
            assert one.loud >= np.log(20)
            assert one.fact is None or one.fact.here.endswith(".")
            assert one.fact is None or one.fact.usual.startswith("Usually ")
            assert one.partner.size == one.time.size == one.received.size


@pytest.mark.parametrize(("largest", "said_so"), [(66.0, False), (68.0, True)])
def test_what_explains_at_least_half_of_a_fact_is_said(largest: float, said_so: bool) -> None:
    # One payment of x and two of (1 - x) / 2 are a single one by x^2 + (1 - x)^2 / 2: by half if x is 2 / 3.
    rest = (100.0 - largest) / 2
    late = [("new", f"a{k:03d}", part, 24.0 * (60 + k), "card") for k, part in enumerate((largest, rest, rest), 5)]
    network = bank(late)
    detector = Odd(random_state=0, simulate=False, n_resamples=2).fit(network)
    facts = detector._facts
    assert facts is not None
    words = Words(nouns_of(network), network)
    node = int(network.numbers(["new"])[0])
    ends = facts.known.setting.ends(node, node + 1)
    (fact,) = (one for one in facts.facts if one.name == "change")
    assert ("Most of it is a single payment." in FactsInWords(facts, words)._against(fact, node, ends)) == said_so


def test_a_card_says_a_reason_against_several_facts_once() -> None:
    none, known = np.zeros(0, dtype=np.int64), set[str]()
    fact = Fact("silence", "It was silent.", "Usually none is.")
    found = [
        StatedFact("silence", 3.0, none > 0, none, none, lambda: fact, partial(list, reasons)).beside_reasons(known)
        for reasons in (["One."], ["One.", "Another."], [])
    ]
    usual = [one.usual for one in found if one is not None]
    assert usual == ["Usually none is. One.", "Usually none is. Another.", "Usually none is."]
