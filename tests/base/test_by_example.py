"""Functions that one example each shows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from oddhop.base.arrays import lies_on_disk
from oddhop.base.compiling import compiling, told_of_compiling
from oddhop.base.durations import spoken_time
from oddhop.base.html import facts, named, panel, sentences, shown, table
from oddhop.base.kernels import compiled, kernel_digest
from oddhop.base.notebook import Bar, shown_progress
from oddhop.base.parallel import map_blocks, threads
from oddhop.base.prefetch import AHEAD, prefetch
from oddhop.base.randomness import STEP, generator
from oddhop.base.ray import late
from oddhop.base.roots import sign_change
from oddhop.base.settings import checked, options_of
from oddhop.base.sizes import in_bytes, sized
from oddhop.errors import SettingsError
from oddhop.odd.settings import OddSettings
from oddhop.tables.settings import ReadSettings


def test_rows_that_are_fetched_ahead_change_no_result() -> None:
    @compiled
    def total(values, places):
        found = 0.0
        for k in range(places.size):
            prefetch(values, places[min(k + AHEAD, places.size - 1)])
            found += values[places[k]]
        return found

    assert float(total(np.arange(5.0), np.array([4, 0, 3]))) == 7.0


def test_who_asks_is_told_that_kernels_are_compiled() -> None:
    told: list[str] = []
    with told_of_compiling(lambda: told.append("compiling")):
        compiling()
        compiling()
    assert told == ["compiling"]


def test_kernels_of_other_constants_have_other_digests() -> None:
    one, other = (lambda number: number + 1), (lambda number: number + 2)
    assert kernel_digest(one) != kernel_digest(other)


def test_an_array_in_memory_does_not_lie_on_disk() -> None:
    assert not lies_on_disk(np.zeros(3))


def test_a_time_is_said_in_at_most_two_units() -> None:
    assert (spoken_time(4.2), spoken_time(75), spoken_time(7500)) == ("4 s", "1 min 15 s", "2 h 5 min")


def test_facts_are_a_table_with_separators_in_numbers() -> None:
    assert ("<td" in facts([("nodes", 1200)]), "1,200" in facts([("nodes", 1200)])) == (True, True)


def test_a_table_says_how_many_rows_are_left_out() -> None:
    assert "3 more" in table(["id", "score"], [("a", 0.5)], count=4)


def test_no_sentences_are_nothing() -> None:
    assert str(sentences([])) == ""


def test_the_first_names_are_listed_and_the_others_counted() -> None:
    assert named(["a", "b", "c"], most=2) == "a, b and 1 more"


def test_a_value_is_shown_short() -> None:
    assert [shown(one) for one in (1200, 0.123456, True, None, "x" * 500)][:4] == ["1,200", "0.1235", "yes", ""]


def test_a_bar_says_how_long_is_left() -> None:
    assert repr(Bar("training", 30, 120, 10.0)) == "training: 30 of 120 after 10 s, about 30 s left"


def test_results_come_in_the_order_of_the_blocks() -> None:
    assert list(map_blocks(lambda block: block * block, range(4), workers=2)) == [0, 1, 4, 9]


def test_a_key_gives_the_same_numbers_again() -> None:
    assert float(generator(0, STEP, 1).random()) == float(generator(0, STEP, 1).random())


def test_a_block_that_takes_much_longer_is_late() -> None:
    assert late([(0, 5.0), (1, 90.0)], took=[2.0, 3.0, 2.5], now=100.0) == [0]


def test_the_change_of_sign_is_found() -> None:
    assert round(sign_change(lambda x: 2 - x * x, 0.0, 2.0, 1e-9), 6) == 1.414214


def test_options_are_those_of_the_fields_in_their_order() -> None:
    assert [(one.name, one.flag) for one in options_of(ReadSettings)][:2] == [
        ("source", "--source"),
        ("target", "--target"),
    ]


def test_an_unknown_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=re.escape("unknown setting topk; did you mean top_k?")):
        checked(OddSettings, {"topk": 4})


def test_a_size_is_read_with_its_unit() -> None:
    assert (in_bytes("4GiB"), in_bytes("500M"), in_bytes(2048)) == (4294967296, 524288000, 2048)


def test_a_size_is_said_with_its_unit() -> None:
    assert (sized(3 * 2**30), sized(5 * 2**20)) == ("3.0 GiB", "5 MiB")


def test_a_panel_has_its_title_before_its_parts() -> None:
    html = panel("A <b>", sentences(["One & two."])).partition("</style>")[2]
    assert html == "<strong>A &lt;b&gt;</strong>\n<ul><li>One &amp; two.</li></ul></div>"


def test_outside_a_notebook_nobody_is_told_of_progress() -> None:
    with shown_progress(None) as tell:
        tell("training", 1, 2)


def test_a_mapper_reports_every_block_that_is_done() -> None:
    told: list[int] = []
    assert threads(2)(len, ["one", "three"], told.append) == [3, 5]
    assert told == [1, 2]
