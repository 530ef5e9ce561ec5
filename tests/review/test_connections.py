"""The connections of a review: a slow or a silent client keeps no other out."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

pytest.importorskip("uvicorn")

import uvicorn

from oddhop.review import connections
from oddhop.review.serve import hosts_of

WHOLE = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc"


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server of that protocol which answers with what it was sent; its limits are small."""
    monkeypatch.setattr(connections, "MOST", 5)
    monkeypatch.setattr(connections, "SECONDS", 0.4)

    async def app(scope, receive, send):
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    config = uvicorn.Config(app, log_config=None, lifespan="off", http=connections.Connection, timeout_keep_alive=60)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def begun(port: int, sent: bytes = b"") -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port), timeout=5)
    one.sendall(sent)
    return one


def answered(one: socket.socket) -> None:
    content = b""
    while not content.endswith(b"\r\n\r\nabc"):
        content += one.recv(1000)


def is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


def ask(port: int) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("POST", "/", b"abc")
    content = connection.getresponse().read()
    connection.close()
    return content


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost", WHOLE[:-1], WHOLE + b"GET / HT"])
def test_a_request_that_does_not_arrive_is_not_waited_for(port: int, sent: bytes) -> None:
    with begun(port, sent) as one:
        if sent.startswith(WHOLE):
            answered(one)
        began = time.monotonic()
        assert is_closed(one)
        assert 0.2 < time.monotonic() - began < 3
    assert ask(port) == b"abc"


def test_a_byte_now_and_then_does_not_keep_it_open(port: int) -> None:
    began = time.monotonic()
    with begun(port) as one, suppress(ConnectionError):
        for byte in WHOLE * 3:
            one.sendall(bytes([byte]))
            time.sleep(0.05)
    assert time.monotonic() - began < 2


def test_requests_one_after_the_other_are_answered(port: int) -> None:
    with begun(port) as one:
        for _ in range(6):  # longer than one may wait
            time.sleep(0.1)
            one.sendall(WHOLE)
            answered(one)


def test_many_silent_connections_keep_nobody_out(port: int) -> None:
    silent = [begun(port, b"GET / HTTP/1.1\r\n") for _ in range(40)]
    began = time.monotonic()
    assert ask(port) == b"abc"
    assert time.monotonic() - began < 0.3  # before their time is over
    for one in silent:
        assert is_closed(one)
        one.close()


def test_of_the_usual_ports_the_number_may_be_left_out() -> None:
    assert "127.0.0.1" in hosts_of("127.0.0.1", 80)
    assert "desk.example" in hosts_of("Desk.example", 443)
    assert hosts_of("127.0.0.1", 8080) == {"127.0.0.1:8080", "localhost:8080", "[::1]:8080"}
