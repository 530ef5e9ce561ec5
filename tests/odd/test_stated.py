"""What a card says of every fact of a node is counted again here from the rows."""

from __future__ import annotations

import numpy as np
import pytest

from oddhop import Odd
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
