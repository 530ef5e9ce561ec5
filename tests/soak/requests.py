"""Requests of every kind to the server of a review: what is refused, and that nothing of it is a defect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from oddhop.errors import SettingsError
from oddhop.review.desk import Taken
from oddhop.review.serve import hosts_of
from oddhop.review.server import Review

ENTRY = "8a0f7c3e-7b0f-4c6e-9a53-0123456789ab"
RIGHT = {"host": "127.0.0.1:80", "origin": "http://127.0.0.1:80", "content-type": "application/json"}
HOSTS = (
    *(RIGHT["host"],) * 30,
    "127.0.0.1",
    "evil.example",
    "127.0.0.1:81",
    "",
    "LOCALHOST",
    "127.0.0.1:80, evil",
    "\xff",
)
ORIGINS = (*(RIGHT["origin"],) * 30, "http://127.0.0.1", "https://127.0.0.1:80", "null", "", "http://evil.example")
KINDS = (*(RIGHT["content-type"],) * 30, "application/json; charset=x", "text/plain", "", "application/jsonp")
PATHS = (
    *("/api/answer",) * 12,
    "/api/undo",
    "/api/audit",
    "/",
    "/open?token=x",
    "/review.js",
    "/../x",
    "/api/\0",
)
METHODS = (*("POST",) * 15, "GET", "HEAD", "PUT", "OPTIONS", "X" * 50)
VALUES = (
    ENTRY,
    "x",
    "",
    "a\0b",
    "\ud800",
    "c1",
    ["c1"],
    [],
    [1],
    ["\udfff"],
    None,
    3,
    1e308,
    True,
    {},
    "cleared",
    "=1",
)
KEYS = ("entry", "cases", "verdict", "reason", "note", "answer", "do", "list", "first", "size", "who", "\ud800")
BODIES = (b"", b"{", b"[" * 60_000, b"9" * 60_000, b"\xff", b"null", b"NaN", b" " * 70_000)


class Stub:
    """A desk that keeps what it takes."""

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []

    def answer(self, cases: list[str], **given: str) -> Taken:
        _storable([*cases, *given.values()])
        self.kept.append({"cases": cases, **given})
        return Taken(given["entry"], given["verdict"], tuple(cases))

    def undo(self, **given: str) -> Taken:
        _storable(given.values())
        raise SettingsError("the book does not have this answer")


def _storable(texts: Any) -> None:
    for text in texts:
        text.encode()  # as a book would; the server is to refuse it before


def send_requests(count: int, seed: int = 0) -> dict[str, Any]:
    """Send requests that are drawn by a seed to the application itself; count the answers by status."""
    rng, desk, review = np.random.default_rng(seed), Stub(), Review.__new__(Review)

    async def at_once(work: Callable[[], Any]) -> Any:
        return work()

    review.learning = review.writing = at_once  # type: ignore[assignment]
    review.desk = desk  # type: ignore[assignment]
    review.session = SimpleNamespace(put_audit=lambda _: None, start_audit=lambda *_: None)  # type: ignore[assignment]
    app = review.app(token="secret", hosts=hosts_of("127.0.0.1", 80), cookie="review")  # noqa: S106
    cookie = asyncio.run(_asked(app, "GET", "/open?token=secret", [("host", RIGHT["host"])], b""))[1]["set-cookie"]
    cookie = cookie.partition(";")[0]
    cookies = (*(cookie,) * 20, "review=x", "", cookie + "x")
    counts: dict[int, int] = {}
    errors = []
    for _ in range(count):
        method, path, body = (rng.choice(METHODS), rng.choice(PATHS), _body(rng))
        chosen = [("host", HOSTS), ("origin", ORIGINS), ("content-type", KINDS), ("cookie", cookies)]
        headers = [(name, some[rng.integers(len(some))]) for name, some in chosen if rng.random() < 0.98]
        if rng.random() < 0.05:
            headers.append(("host", RIGHT["host"]))
        before = len(desk.kept)
        try:
            status, _, content = asyncio.run(_asked(app, str(method), str(path), headers, body))
        except Exception as error:
            status, content = 500, repr(error).encode()
        counts[status] = counts.get(status, 0) + 1
        given = dict(headers)
        trusted = given.get("cookie") == cookie and sum(name == "host" for name, _ in headers) == 1
        trusted &= given.get("host", "").lower() in hosts_of("127.0.0.1", 80)
        if method not in ("GET", "HEAD"):
            trusted &= given.get("origin") == f"http://{given.get('host', '').lower()}"
            trusted &= given.get("content-type", "").startswith("application/json")
        what = f"{method} {path!r} {headers} {body[:200]!r}: {status} {content[:100]!r}"
        if status >= 500 or (status == 200 and not trusted):
            errors.append(what)
        if (len(desk.kept) > before) != (status == 200 and path == "/api/answer" and method == "POST"):
            errors.append(f"kept, or not: {what}")
    told = {str(status): counts[status] for status in sorted(counts)}
    return {"test": "requests", "requests": count, **told, "answers": len(desk.kept), "errors": errors[:20]}


def _body(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.1:
        return BODIES[rng.integers(len(BODIES))]
    answer: dict[str, Any] = {"entry": ENTRY, "cases": ["c1"], "verdict": "cleared"}
    for _ in range(rng.integers(0, 3)):
        answer[KEYS[rng.integers(len(KEYS))]] = VALUES[rng.integers(len(VALUES))]
    if rng.random() < 0.2:
        answer.pop(KEYS[rng.integers(3)], None)
    return json.dumps(answer).encode()


async def _asked(
    app: Any, method: str, path: str, headers: list[tuple[str, str]], body: bytes
) -> tuple[int, dict[str, str], bytes]:
    """Ask the application as its server does."""
    sent: list[dict[str, Any]] = []
    parts = [body[:10], body[10:]]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": parts.pop(0) if parts else b"", "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "scheme": "http",
        "server": ("127.0.0.1", 80),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    await app(scope, receive, send)
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(one.get("body", b"") for one in sent[1:])
