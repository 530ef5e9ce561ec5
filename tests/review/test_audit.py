"""An audit under review: its order and nothing else, on the page and by the command, whatever happens in between."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from oddhop.base.printable import spelled
from oddhop.casebook import open_book
from oddhop.cli import app
from oddhop.errors import RunFolderError, SettingsError
from oddhop.feedback import Audit
from oddhop.review import Session
from oddhop.runs.reopen import OpenedRun
from tests.reports.browser import CHROMIUM, Page
from tests.review.serving import Client, Server

Sit = Callable[..., Session]


@pytest.fixture
def own_run(run: Path, tmp_path: Path) -> Path:
    """Return a copy of the run, for an audit is kept in its folder."""
    return Path(shutil.copytree(run, tmp_path / "run"))


@pytest.fixture
def sit(opened: OpenedRun, own_run: Path, tmp_path: Path) -> Iterator[Sit]:
    with ExitStack() as stack:

        def start(who: str = "ann", book: str = "cases.db") -> Session:
            return Session(opened, stack.enter_context(open_book(tmp_path / book)), folder=own_run, who=who)

        yield start


def frozen(run: Path) -> Audit:
    """Return the last audit that is on the disk."""
    kept = json.loads((run / "audits.json").read_text())["audits"][-1]["audit"]
    return Audit.from_json(json.dumps(kept))


def test_questions_follow_the_order_of_the_audit_and_nothing_else(sit: Sit, own_run: Path) -> None:
    session = sit()
    told = session.start_audit("original", 40, 12)
    assert told is not None
    assert (told.low, told.high, told.listed) == (0, 40, 40)
    order = frozen(own_run).order
    assert sorted(order) == sorted(session.cases.at(place).case_id for place in range(40))
    assert told.left == order[:12]
    for k, case in enumerate(order[:12]):
        asked = session.question()
        assert asked.case == case
        assert asked.why == (
            f"Drawn at random for the audit of the first 40 cases of the original list: case {k + 1} of 40."
        )
        assert session.look_alikes(case) == []
        session.answer(case, "confirmed" if k % 3 == 0 else "cleared")
        session = sit() if k == 5 else session  # as after a restart
        told = session.audit()
        assert told is not None
        assert told.drawn == k + 1
        assert told.low <= told.high
    answers = {case: int(k % 3 == 0) for k, case in enumerate(order[:12])}
    result = frozen(own_run).result(answers)
    assert (told.low, told.high) == tuple(result.shown)
    assert "the verdicts of ann" in told.about
    assert [one.case for one in session.queue()] == list(order[12:])  # beyond the size it goes on


def test_answers_from_before_and_early_ones_count_at_their_place(sit: Sit, own_run: Path) -> None:
    session = sit()
    before = session.question().case
    session.answer(before, "confirmed")
    session.start_audit("original", 30, 10)
    order = frozen(own_run).order
    assert before not in order
    assert frozen(own_run).known == ((before, 1),)
    session.answer(order[2], "cleared")
    told = session.audit()
    assert told is not None
    assert (told.drawn, told.low, told.high) == (0, 1, 29)
    assert [one.case for one in session.queue()[:3]] == [order[0], order[1], order[3]]
    session.answer(list(order[:2]), "cleared")
    told = session.audit()
    assert told is not None
    assert told.drawn == 3
    session.undo()
    told = session.audit()
    assert told is not None
    assert (told.drawn, session.question().case) == (0, order[0])


def test_an_audit_is_paused_gone_on_with_and_ended_by_any_session_of_its_book(sit: Sit, own_run: Path) -> None:
    ann, bob, other = sit("ann"), sit("bob"), sit("cy", "other.db")
    other.answer(other.question().case, "cleared")
    ann.answer(ann.question().case, "cleared")
    ann.start_audit("learned", 20, 5)
    order = frozen(own_run).order
    assert bob.question().case == order[0]
    assert other.audit() is None
    bob.answer(order[0], "watch")
    ann.answer(order[1], "cleared")
    told = ann.audit()
    assert told is not None
    assert "the verdicts of ann and bob" in told.about
    with pytest.raises(SettingsError, match="with 5 answers is open; end it first"):
        ann.start_audit("learned", 20, 6)
    bob.put_audit("paused")
    assert "at random" not in ann.question().why
    assert ann.start_audit("learned", 20, 5) is not None  # the same one, and not another draw
    assert (frozen(own_run).order, ann.question().case) == (order, order[2])
    assert ann.put_audit("ended") is None
    with pytest.raises(SettingsError, match="no open audit"):
        bob.put_audit("paused")
    assert bob.start_audit("original", 20, 5) is not None
    assert len(json.loads((own_run / "audits.json").read_text())["audits"]) == 2


def test_what_is_no_audit_is_refused(sit: Sit, own_run: Path) -> None:
    session = sit()
    for words in (("newest", 10, 5), ("original", 0, 5), ("original", True, 5), ("original", 10, 0)):
        with pytest.raises(SettingsError):
            session.start_audit(*words)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="there is no learned list yet"):
        session.start_audit("learned", 10, 5)
    session.answer([session.cases.at(place).case_id for place in range(3)], "cleared")
    with pytest.raises(SettingsError, match="all of the first 3 cases"):
        session.start_audit("original", 3, 5)
    assert not (own_run / "audits.json").exists()
    session.start_audit("original", 10, 5)
    whole = (own_run / "audits.json").read_text()
    for damaged in (whole[:-40], whole.replace("asking", "thinking"), whole.replace("audits 1", "audits 9")):
        (own_run / "audits.json").write_text(damaged)
        with pytest.raises(RunFolderError, match="is not a file of audits"):
            sit().question()


def test_a_case_system_drives_it_by_the_command(own_run: Path, tmp_path: Path) -> None:
    book, begin = str(tmp_path / "cases.db"), ["audit", str(own_run), "--cases", str(tmp_path / "cases.db")]
    size = ["--first", "20", "--size", "4"]
    done = CliRunner().invoke(app, [*begin, *size], catch_exceptions=False)
    ids = frozen(own_run).order[:4]
    assert done.stdout == "".join(f"{spelled(one)}\n" for one in ids)
    assert "0 to 20 of the first 20 cases of the original list are worth your time" in done.stderr
    assert "Only 0 of 4 planned answers" in done.stderr
    for case in ids[1:]:
        CliRunner().invoke(app, ["cases", "set", book, case, "confirmed", "--who", "bob"], catch_exceptions=False)
    done = CliRunner().invoke(app, [*begin, *size, "--log-format", "json"], catch_exceptions=False)
    assert done.stdout == f"{spelled(ids[0])}\n"
    told = json.loads(done.stderr.strip().split("\n")[-1])
    assert (told["event"], told["drawn"], told["low"], told["left"]) == ("audited", 0, 3, [ids[0]])
    assert "the verdicts of bob" in told["about"]
    CliRunner().invoke(app, ["cases", "set", book, ids[0], "cleared", "--who", "bob"], catch_exceptions=False)
    done = CliRunner().invoke(app, [*begin, "--end"], catch_exceptions=False)
    assert (done.stdout, "from 4 answers drawn at random" in done.stderr) == ("", True)
    done = CliRunner().invoke(app, [*begin, "--end"])
    assert (done.exit_code, "no open audit" in done.stderr) == (2, True)


@pytest.mark.slow
def test_a_killed_server_goes_on_with_the_same_audit(own_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    server = Server(own_run, tmp_path / "b.db")
    client = Client(server)
    start = {"do": "start", "list": "original", "first": 30, "size": 4}
    for headers, status in (({"origin": "null"}, 403), ({"cookie": None}, 403), ({"content-type": None}, 415)):
        assert client.ask("POST", "/api/audit", start, headers)[0] == status
    refused = [{}, {"do": "start"}, {"do": "stop"}, {**start, "first": "30"}, {**start, "size": True}, {"do": "paused"}]
    for body in refused:
        assert client.ask("POST", "/api/audit", body)[0] == 422, body
    assert client.told("/api/question")["audit"] is None
    assert client.send("/api/audit", start) == client.send("/api/audit", start)
    order = frozen(own_run).order
    given = []
    for k in range(4):
        state = client.told("/api/question")
        assert (state["asked"]["case"], state["alike"], state["changed"]) == (order[k], [], None)
        assert state["audit"]["drawn"] == k
        given.append({"entry": str(uuid4()), "cases": [order[k]], "verdict": "confirmed"})
        client.send("/api/answer", given[-1])
        if k == 1:
            server.kill()
            server = Server(own_run, tmp_path / "b.db", port=server.port)
            client = Client(server)
    try:
        told = client.told("/api/question")["audit"]
        result = frozen(own_run).result(dict.fromkeys(order[:4], 1))
        assert [told["low"], told["high"]] == list(result.shown)
        client.send("/api/undo", {"entry": str(uuid4()), "answer": given[-1]["entry"]})
        state = client.told("/api/question")
        assert (state["asked"]["case"], state["audit"]["drawn"]) == (order[3], 3)
        assert client.send("/api/audit", {"do": "ended"})["audit"] is None
        assert client.told("/api/question")["audit"] is None
    finally:
        assert server.stop() == 0


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_an_audit_on_the_page(own_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    server = Server(own_run, tmp_path / "cases.db")
    page = Page(server.address, tmp_path / "profile")
    idle = "!document.body.classList.contains('busy') && document.body.dataset.shown"
    text = "document.getElementById('{}').textContent"
    try:
        page.wait("document.body.dataset.shown !== undefined")
        page.run("document.getElementById('first').value = 20, document.getElementById('size').value = 3, 0")
        page.click("#begin button")
        page.wait("!document.getElementById('audit').hidden")
        order = frozen(own_run).order
        for case in order[:3]:
            page.wait(f"{idle} === {json.dumps(case)}")
            assert "Drawn at random" in page.run(text.format("why"))
            page.press("y")
        page.wait(f"{idle} === {json.dumps(order[3])}")
        assert "from 3 answers drawn at random" in page.run(text.format("audited"))
        assert "the verdicts of ann" in page.run(text.format("about"))
        page.press("z")
        page.wait(f"{idle} === {json.dumps(order[2])}")
        page.click("#pause")
        page.wait(f"{text.format('pause')} === 'Continue'")
        assert "Drawn at random" not in page.run(text.format("why"))
        page.click("#pause")
        page.wait(f"{idle} === {json.dumps(order[2])}")
        page.click("#end")
        page.wait("document.getElementById('audit').hidden && !document.getElementById('begin').hidden")
        for width in (360, 1200):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            assert page.run("document.documentElement.scrollWidth") <= width, width
    finally:
        page.close()
        server.stop()
