"""What a notebook shows: escaped, closed to the world, small; of every class that shows itself."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter

from oddhop import Graph, Network, Odd, read_network
from oddhop.base.html import facts, named, panel, sentences, shown, table
from oddhop.detector.model_file import Model
from oddhop.detector.settings import DetectorSettings
from oddhop.detector.shown import fitted_html
from oddhop.explain.audit import Finding
from oddhop.explain.explanation import Baseline, ColumnDifference, Explanation, Neighbour
from oddhop.feedback.explain import LearnedExplanation

PIECES = (
    "<script>",
    "</script>",
    "</style>",
    '"',
    "'",
    "<img src=x onerror=alert(1)>",
    "&lt;",
    "{{",
    "{0}",
    "%s",
    "\x00",
)
HOSTILE = st.lists(st.sampled_from(PIECES) | st.characters(), min_size=1, max_size=8).map("".join)
TAGS = {"div", "style", "strong", "table", "tr", "td", "th", "ul", "li"}
MODEL = Model(DetectorSettings(), 1, None, 0.5, "", "0.0")


class Parsed(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.names, self.attributes, self.texts = set[str](), set[str](), list[str]()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def check(html: str, *texts: str) -> None:
    """Hold that the texts are read as text, and that nothing is in the HTML but what the module writes."""
    json.dumps(html).encode()
    html.encode()
    parsed = Parsed(html)
    assert parsed.names <= TAGS
    assert parsed.attributes <= {"class"}
    assert len(html.encode()) < 20_000
    for text in texts:
        assert any(shown(text) in one for one in parsed.texts), text


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_text_from_outside_makes_no_tag_in_any_part(one: str, two: str) -> None:
    parts = facts([(one, two)]), table([one], [[two]]), sentences([one, two])
    check(panel(one, *parts), one, two)
    check(panel("", facts([("", named([one]))])), shown(one, 40))


@settings(deadline=None)
@given(st.lists(HOSTILE.filter(lambda text: "\x00" not in text), min_size=2, max_size=2, unique=True), HOSTILE)
def test_a_graph_and_a_network_show_ids_and_names_as_text(ids: list[str], name: str) -> None:
    ids = [one.encode("utf-8", "replace").decode() for one in ids]
    if len(set(ids)) < 2:
        return
    graph = Graph.from_arrays([[0, 0], [1, 1]], [[1.0], [2.0]], node_ids=np.array(ids), attribute_names=[name])
    check(graph._repr_html_(), shown(name, 40))
    check(Network.of(graph)._repr_html_(), shown(name, 40), *(shown(one, 40) for one in ids))


@settings(max_examples=25, deadline=None)
@given(HOSTILE, HOSTILE)
def test_tables_show_columns_as_text(column: str, value: str) -> None:
    column, value = (one.replace("\x00", "").encode("utf-8", "replace").decode() for one in (column, value))
    if not column.strip() or column in ("id", "from", "to"):
        return
    people = pa.table({"id": ["a", "b", "c"], column: [1.0, 2.0, 4.0], "kept": [value, value, "x"]})
    network = read_network(pa.table({"from": ["a", "b"], "to": ["b", "c"]}), people, id="id")
    check(network._repr_html_(), column)


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_results_and_explanations_show_ids_as_text(name: str, said: str) -> None:
    apart = ColumnDifference(said, said, name, "", "", -0.1)
    why = Explanation(name, 0.7, 1, Baseline(0.5), said, neighbours=(Neighbour(said, 0.1),), columns=(apart,))
    check(why._repr_html_(), name, said)
    check(LearnedExplanation(why, said)._repr_html_(), name, said)
    plain = name.encode("utf-8", "replace").decode()
    row = {"id": plain, "score": 0.7, "rank": 1, "rank_low": 1, "rank_high": 1, "kind": "clique"}
    result = pa.Table.from_pylist([{**row, "degree": 2, "judged": True, "flagged": True}])
    ending = Finding("end", "fine", 1.0, said)
    check(fitted_html(f"Odd({said})", MODEL, result, ending, alert_threshold=0.5, top=1), plain, said)


def test_what_is_shown_stays_small_however_much_there_is(small: Graph) -> None:
    many = [f"a long name of a column {k} " + "x" * 500 for k in range(5_000)]
    wide = Graph.from_arrays([[0], [1]], np.zeros((2, 5_000)), attribute_names=many)
    assert len(wide._repr_html_()) < 3_000
    people = pa.table({"id": ["a", "b", "c"]} | {name: [1.0, 2.0, 4.0] for name in many[:300]})
    network = read_network(pa.table({"from": ["a", "b"], "to": ["b", "c"]}), people)
    assert len(network._repr_html_()) < 8_000
    assert repr(network).startswith("Network(3 nodes, 2 edges, ")
    assert len(repr(network)) < 60


def test_a_detector_shows_itself_in_all_its_states_and_not_as_scikit_learn_does(small: Graph) -> None:
    detector = Odd(top_k=3, random_state=0, simulate=False, workers=1)
    bundle = DisplayFormatter().format(detector)[0]
    assert "Not fitted" in bundle["text/html"]
    assert bundle["text/plain"].startswith("Odd(")
    detector.fit(small)
    html = DisplayFormatter().format(detector)[0]["text/html"]
    check(html, "60 of 61", str(detector.result_["id"][0]), "and 51 more")
    assert len(html) < 5_000


def test_a_loaded_detector_shows_that_it_has_no_result(small: Graph, tmp_path: Path) -> None:
    path = tmp_path / "model"
    Odd(top_k=3, random_state=0, simulate=False, workers=1).fit(small).save(path)
    check(Odd.load(path)._repr_html_(), "Loaded from a model file. Call rank(network) to score a network.")


def test_a_short_repr_stands_for_an_explanation(small: Graph) -> None:
    why = Odd(random_state=0, simulate=False, workers=1).fit(small).explain(3)
    assert repr(why).startswith("Explanation(3, ")
    assert len(repr(why)) < 60


def test_numbers_are_aligned_and_ids_have_no_separators() -> None:
    html = table(["id", "count"], [(str(12345), 12345)])
    assert '<td>12345</td><td class="n">12,345</td>' in html


def test_a_detector_shows_the_threshold_of_its_explanations(small: Graph) -> None:
    detector = Odd(random_state=0).fit(small)
    line = detector.explain(detector.result_["id"][0].as_py()).baseline.threshold
    assert f"{line:.4g} in explanations" in detector._repr_html_()
    flagging = Odd(random_state=0, top_k=3).fit(small)
    assert f"{flagging.threshold_:.4g}<" in flagging._repr_html_()
    assert "the probability of a rank up to 3" in flagging._repr_html_()
