"""The server of a review: who is refused, what is acknowledged, and what outlives it."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from oddhop.casebook import open_book
from oddhop.cli import app
from tests.casebook.conftest import where  # noqa: F401 - a fixture
from tests.review.serving import Client, Server

pytestmark = pytest.mark.slow
EVERYWHERE = "0.0.0.0"  # noqa: S104 - it is what must be refused


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("book") / "cases.db"


@pytest.fixture(scope="module")
def server(run: Path, book: Path) -> Iterator[Server]:
    server = Server(run, book)
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def client(server: Server) -> Client:
    return Client(server)


def test_the_key_is_exchanged_for_a_cookie_and_leaves_the_address(server: Server, client: Client) -> None:
    status, headers, _ = client.ask("GET", f"/open?token={server.token}", headers={"cookie": None})
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert server.token not in cookie


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {"cookie": None}, 403),
        ("/api/question", {"cookie": None}, 403),
        ("/review.js", {"cookie": "oddhop_review_1=x"}, 403),
        ("/open?token=wrong", {}, 403),
        ("/open?token=%C3%A9", {}, 403),
        ("/open", {}, 403),
        ("/", {"host": "evil.example"}, 421),
        ("/", {"host": "127.0.0.1"}, 421),
        ("/", {"host": "127.0.0.1:1"}, 421),
        ("/", {"host": None}, 400),
        ("/api/question", {"sec-fetch-site": "cross-site"}, 403),
        ("/api/question", {"sec-fetch-site": "same-site"}, 403),
        ("/api/answer", {}, 405),
        ("/../../etc/passwd", {}, 404),
        ("/api/card?case=nobody", {}, 422),
        ("/api/card", {}, 422),
    ],
)
def test_foreign_requests_are_refused(client: Client, path: str, headers: dict[str, str], status: int) -> None:
    assert client.ask("GET", path, headers=headers)[0] == status


def test_a_wrong_cookie_of_the_right_name_is_refused(client: Client, server: Server) -> None:
    name = client.cookie.partition("=")[0]
    assert client.ask("GET", "/", headers={"cookie": f"{name}=wrong"})[0] == 403
    assert client.ask("GET", "/", headers={"cookie": f"{name}={server.token}"})[0] == 403
    assert client.ask("GET", "/", headers={"cookie": f"{name}=wrong; {client.cookie}"})[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": None}, 403),
        ({"origin": "http://localhost:1"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": None}, 415),
        ({"cookie": None}, 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, 421),
    ],
)
def test_a_foreign_answer_is_refused(client: Client, book: Path, headers: dict[str, str], status: int) -> None:
    with open_book(book) as opened:
        before = len(opened)
        case = client.told("/api/question")["asked"]["case"]
        body = {"entry": str(uuid4()), "cases": [case], "verdict": "cleared"}
        assert client.ask("POST", "/api/answer", body, headers)[0] == status
        assert len(opened) == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[" * 50_000, 400),
        (b" " * 70_000, 413),
        ([], 422),
        ({"entry": "x"}, 422),
        ({"entry": "x", "cases": [1], "verdict": "cleared"}, 422),
        ({"entry": "x", "cases": ["p9"], "verdict": "cleared"}, 422),
        ({"entry": str(uuid4()), "cases": ["p9"], "verdict": "cleared", "who": "bob"}, 422),
        ({"entry": str(uuid4()), "cases": [], "verdict": "cleared"}, 422),
        ({"entry": str(uuid4()), "cases": ["p9"], "verdict": "cleared", "note": 3}, 422),
        ({"entry": str(uuid4()), "cases": ["p9"], "verdict": "cleared", "note": "\ud800"}, 422),
        ({"entry": str(uuid4()), "cases": ["\udfff"], "verdict": "cleared"}, 422),
        ({"entry": str(uuid4()), "cases": ["p9"], "verdict": "cleared", "note": "\0"}, 422),
    ],
)
def test_what_is_no_answer_is_refused(client: Client, body: object, status: int) -> None:
    assert client.ask("POST", "/api/answer", body)[0] == status


def test_every_answer_has_the_headers(client: Client) -> None:
    for path in ("/", "/review.js", "/review.css", "/report.css", "/api/question", "/nothing"):
        _, headers, content = client.ask("GET", path)
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
        assert "style=" not in content or path.startswith("/api")


def test_an_answer_is_in_the_book_once_and_undone_by_another_entry(client: Client, book: Path) -> None:
    asked = client.told("/api/question")["asked"]["case"]
    body = {"entry": str(uuid4()), "cases": [asked], "verdict": "confirmed", "reason": "mule", "note": "<b>\u202e\n"}
    assert client.send("/api/answer", body) == client.send("/api/answer", body)
    state = client.told("/api/question")
    assert state["asked"]["case"] != asked
    assert state["curve"]["found"] == [0, 1]
    assert state["last"] == body["entry"]
    client.send("/api/undo", {"entry": str(uuid4()), "answer": body["entry"]})
    with open_book(book) as opened:
        assert [one.verdict for one in opened.history(asked)] == ["confirmed", "open"]
    assert client.told("/api/curve")["found"] == [0]
    again = {"entry": str(uuid4()), "answer": body["entry"]}
    assert client.ask("POST", "/api/undo", again)[0] == 422


def test_a_book_that_does_not_take_it_is_no_acknowledgement(client: Client, book: Path) -> None:
    asked = client.told("/api/question")["asked"]["case"]
    body = {"entry": str(uuid4()), "cases": [asked], "verdict": "confirmed"}
    with sqlite3.connect(book) as other:  # what a full disk does, without one
        other.execute("CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'disk is full'); END")
    try:
        status, _, content = client.ask("POST", "/api/answer", body)
        assert status == 503
        assert "disk is full" in json.loads(content)["error"]
    finally:
        with sqlite3.connect(book) as other:
            other.execute("DROP TRIGGER full")
    with open_book(book) as opened:
        assert opened.entry(body["entry"]) is None
    client.send("/api/answer", body)
    with open_book(book) as opened:
        assert opened.entry(body["entry"]) is not None


def test_a_full_disk_loses_nothing_that_was_acknowledged(run: Path, tmp_path: Path) -> None:
    path, taken, refused = tmp_path / "b.db", [], None
    server = Server(run, path, largest_file=250_000)  # the log of the book cannot grow beyond it
    client = Client(server)
    for one in client.told("/api/question")["queue"]:
        body = {"entry": str(uuid4()), "cases": [one["case"]], "verdict": "confirmed", "note": "x" * 9_000}
        status, _, content = client.ask("POST", "/api/answer", body)
        if status != 200:
            assert status == 503, content
            refused = body
            break
        taken.append(body["entry"])
    server.kill()
    assert taken
    assert refused is not None
    again = Server(run, path)
    try:
        with open_book(path) as book:
            assert sorted(one.entry for one in book.entries()) == sorted(taken)
        Client(again).send("/api/answer", refused)
        with open_book(path) as book:
            assert len(book) == len(taken) + 1
    finally:
        assert again.stop() == 0


def test_without_the_extra_it_says_what_to_install(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["review", str(run), "--cases", str(tmp_path / "b.db")])
    assert done.exit_code == 2
    assert "pip install oddhop[review]" in done.output
    assert not (tmp_path / "b.db").exists()


def test_another_machine_is_let_in_only_in_so_many_words(run: Path, tmp_path: Path) -> None:
    for host in (EVERYWHERE, "::", "192.0.2.1", "example.com"):
        done = CliRunner().invoke(app, ["review", str(run), "--cases", str(tmp_path / "b.db"), "--host", host])
        assert done.exit_code == 2, done.output
    server = Server(run, tmp_path / "b.db", more=("--host", EVERYWHERE, "--allow-remote"))
    try:
        client = Client(server)
        assert client.ask("GET", "/")[0] == 200
        assert client.ask("GET", "/", headers={"host": "evil.example"})[0] == 421
    finally:
        assert server.stop() == 0


def test_a_killed_server_loses_nothing_and_its_key_is_void(run: Path, tmp_path: Path) -> None:
    server = Server(run, tmp_path / "b.db")
    client = Client(server)
    asked = client.told("/api/question")["asked"]["case"]
    body = {"entry": str(uuid4()), "cases": [asked], "verdict": "confirmed"}
    client.send("/api/answer", body)
    server.kill()
    again = Server(run, tmp_path / "b.db", port=server.port)
    try:
        assert client.ask("GET", "/")[0] == 403
        client = Client(again)
        client.send("/api/answer", body)
        assert client.told("/api/curve")["found"] == [0, 1]
        with open_book(tmp_path / "b.db") as book:
            assert len(book) == 1
    finally:
        assert again.stop() == 0


def test_a_book_in_postgresql_or_a_file_has_what_was_acknowledged_after_a_kill(run: Path, where: str) -> None:  # noqa: F811
    server, written = Server(run, where), []
    client = Client(server)
    for k in range(6):
        asked = client.told("/api/question")
        several = [one["case"] for one in asked["queue"][: 1 + k % 2]]
        body = {
            "entry": str(uuid4()),
            "cases": several,
            "verdict": "cleared" if k % 3 else "confirmed",
            "note": "\u202e",
        }
        assert client.send("/api/answer", body) == client.send("/api/answer", body)
        written += several
        if k == 2:
            server.kill()
            server = Server(run, where, port=server.port)
            client = Client(server)
    try:
        client.send("/api/undo", {"entry": str(uuid4()), "answer": body["entry"]})
        assert client.told("/api/question")["asked"]["case"] in several
        with open_book(where, create=False) as book:
            assert sorted(one.case_id for one in book.entries()) == sorted([*written, *several])
            assert [one.verdict for one in book.history(several[0])] == ["cleared", "open"]
    finally:
        assert server.stop() == 0
