"""Progress in a real kernel: a bar after two seconds, updated in place; nothing elsewhere."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

from oddhop.base.notebook import Bar, shown_progress
from oddhop.base.parallel import silent

Message = tuple[str, dict[str, Any]]
PATCH = """
import time
from oddhop import Graph, Odd
graph = Graph.from_arrays([[0, 1], [1, 2]], [[1.0], [2.0], [3.0]])
def learn(self, graph, run):
    run.progress("views", 0, 5)
    run.progress("views", 2, 5)
    time.sleep(pause)
    raise ValueError("enough")
Odd._learn = learn
"""
CALLBACK = """
pause, told = 2.6, []
try:
    Odd().fit(graph, progress=lambda *one: told.append(one))
except ValueError:
    print(told)
"""


@pytest.fixture(scope="module")
def cell() -> Iterator[Callable[[str], list[Message]]]:
    manager, client = start_new_kernel(kernel_name="python3")

    def run(code: str) -> list[Message]:
        found: list[Message] = []
        client.execute_interactive(code, timeout=120, output_hook=lambda one: found.append((one["msg_type"], one)))
        return found

    run(PATCH)
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def displayed(messages: list[Message]) -> list[tuple[str, str, str]]:
    """Return the kind, the display and the HTML of every message that shows something."""
    return [
        (kind, one["content"]["transient"]["display_id"], one["content"]["data"]["text/html"])
        for kind, one in messages
        if kind in ("display_data", "update_display_data")
    ]


@pytest.mark.slow
def test_a_fit_of_more_than_two_seconds_shows_one_bar_and_updates_it(cell: Callable[[str], list[Message]]) -> None:
    messages = cell("pause = 3.3\nOdd().fit(graph)")
    seen = displayed(messages)
    assert [kind for kind, _, _ in seen].count("display_data") == 1
    assert len(seen) >= 3
    assert len({place for _, place, _ in seen}) == 1
    assert seen[0][0] == "display_data"
    assert '<progress value="2" max="5"' in seen[0][2]
    assert "views: 2 of 5 after" in seen[0][2]
    assert "left" in seen[0][2]
    assert re.search(r"Stopped after \d+ s\.", seen[-1][2])  # how many depends on the machine
    assert "stream" not in [kind for kind, _ in messages]


@pytest.mark.slow
def test_a_short_fit_and_one_with_a_callback_show_nothing(cell: Callable[[str], list[Message]]) -> None:
    assert displayed(cell("pause = 0.1\nOdd().fit(graph)")) == []
    messages = cell(CALLBACK)
    assert displayed(messages) == []
    assert [one["content"]["text"] for kind, one in messages if kind == "stream"] == [
        "[('views', 0, 5), ('views', 2, 5)]\n"
    ]


@pytest.mark.slow
def test_what_ended_well_says_so(cell: Callable[[str], list[Message]]) -> None:
    code = "from oddhop.base.notebook import shown_progress\nwith shown_progress(None) as tell:\n"
    seen = displayed(cell(f"{code}    tell('training', 0, 9)\n    time.sleep(2.7)"))
    assert "training: 0 of 9" in seen[0][2]
    assert re.search(r"Finished in \d+ s\.", seen[-1][2])


def test_outside_a_kernel_nothing_is_shown_though_ipython_is_loaded() -> None:
    import IPython  # noqa: F401

    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), shown_progress(None) as tell:
        assert tell is silent
    assert said.getvalue() == ""


def test_ipython_is_not_imported_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", None)
    with shown_progress(None) as tell:
        assert tell is silent


def test_the_time_left_counts_from_where_a_stage_began() -> None:
    assert repr(Bar("training", 60, 100, 20.0, first=50)) == "training: 60 of 100 after 20 s, about 1 min 20 s left"
    assert repr(Bar("training", 50, 100, 20.0, first=50)) == "training: 50 of 100 after 20 s"
    assert "&lt;b&gt;" in Bar("<b>", 1, 2, 1.0)._repr_html_()
