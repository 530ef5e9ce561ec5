"""The picture by itself: well-formed, closed to the world, with a legend, whatever nodes are called."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from oddhop.base.html import shown
from oddhop.explain.explanation import Baseline, Explanation, Neighbour, View

USUAL = Baseline(threshold=1.0, usual_hops=1.5, usual_spread=0.1)
SVG = "{http://www.w3.org/2000/svg}"
TAGS = {f"{SVG}{tag}" for tag in ("svg", "style", "circle", "path", "rect", "text", "title", "g")}


def explained(name: str = "a", *others: str, kind: str | None = None) -> Explanation:
    around = tuple(Neighbour(one, 1.0 + k / 10, 0.2, 1.4, node_kind=kind or "") for k, one in enumerate(others))
    count = len(around)
    return Explanation(
        name, 1.4, count, 3.0, 0.2, USUAL, None, around, 1, count, (), None, node_kind=(kind and "own") or ""
    )


@given(st.text(min_size=1), st.text(min_size=1), st.none() | st.text(min_size=1))
def test_it_is_well_formed_and_names_are_text(name: str, other: str, kind: str | None) -> None:
    root = ElementTree.fromstring(explained(name, other, kind=kind).plot().svg)  # noqa: S314 - our own
    assert {one.tag for one in root.iter()} <= TAGS
    assert not [key for one in root.iter() for key in one.attrib if key.startswith("on") or "href" in key]
    label = f"Neighbours of {shown(name)}; the more different, the farther from the centre"
    assert root.get("aria-label", "").split() == label.split()  # a parser may turn one kind of blank into another


@given(st.lists(st.text(min_size=1), min_size=3, max_size=7, unique=True))
def test_a_cycle_is_well_formed_whoever_is_on_it(names: list[str]) -> None:
    views = (View("cycle", 0.001, 7.0),)
    why = replace(explained(names[0], names[1]), views=views, cycle=tuple(names))
    root = ElementTree.fromstring(why.plot().svg)  # noqa: S314 - our own
    assert {one.tag for one in root.iter()} <= TAGS
    assert any((one.text or "").startswith("arrows: the earliest cycle,") for one in root.iter(f"{SVG}text"))


def test_the_legend_names_the_numbered_neighbours_and_counts_the_others() -> None:
    names = [f"node {k}" for k in range(12)]
    root = ElementTree.fromstring(explained("me", *names).plot().svg)  # noqa: S314 - our own
    texts = [one.text or "" for one in root.iter(f"{SVG}text")]
    for k in range(12):
        assert any(text.startswith(f"node {k}:") for text in texts) == (k < 8)
    assert "me: score 1.40" in texts
    assert len(list(root.iter(f"{SVG}title"))) == 12


def test_a_node_without_neighbours_has_a_picture_too() -> None:
    assert "<svg" in Explanation.of_lone_node("a", USUAL).plot().svg


def test_what_is_written_is_what_is_shown(tmp_path: Path) -> None:
    drawn = explained("é", "b").plot()
    drawn.write(tmp_path / "case.svg")
    assert (tmp_path / "case.svg").read_text(encoding="utf-8") == drawn.svg == drawn._repr_svg_()
    assert base64.b64decode(drawn._repr_html_().partition("base64,")[2].rstrip('">')).decode() == drawn.svg
    assert len(drawn.svg) < 6_000
