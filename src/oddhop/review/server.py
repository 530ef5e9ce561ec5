"""The page of a review, served on loopback: who may ask, and what is answered."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib.resources import files
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oddhop.casebook import Book
from oddhop.errors import CaseBookError, OddhopError
from oddhop.review.audits import ASKING
from oddhop.review.desk import Desk
from oddhop.review.session import Session

LONGEST_BODY = 65_536
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types card"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
FILES = {
    "/": ("oddhop.review", "page.html", "text/html"),
    "/review.js": ("oddhop.review", "review.js", "text/javascript"),
    "/review.css": ("oddhop.review", "review.css", "text/css"),
    "/card.css": ("oddhop.cases.drawing", "card.css", "text/css"),
}
GIVEN = ("verdict", "who", "reason")  # of an answer
Found = TypeVar("Found")


class Refused(Exception):  # noqa: N818 - it is an answer
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Guard:
    """Refuse whoever calls us by a foreign name, comes from a foreign page or has no cookie; add the headers."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], cookie: str, secret: str) -> None:
        self.app, self.hosts, self.cookie, self.secret = app, hosts, cookie, secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        answered = self.app if refusal is None else PlainTextResponse(refusal.sentence + "\n", refusal.status)
        await answered(scope, receive, sent)

    def _refusal(self, scope: Scope) -> Refused | None:
        request = Request(scope)
        said = request.headers.getlist("host")
        if len(said) != 1 or said[0].lower() not in self.hosts:
            return Refused(421, "This server has another name. Open the address that the terminal shows.")
        if request.method not in ("GET", "HEAD"):
            origins = request.headers.getlist("origin")
            if origins != [f"http://{said[0].lower()}"]:
                return Refused(403, "The request comes from another page.")
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return Refused(415, "The content must be application/json.")
        if scope["path"] == "/open":
            return None
        # Another port of this machine is the same site to a browser, which sends it our cookie.
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Refused(403, "The request comes from another page.")
        given = cookies(request.headers, self.cookie)
        if not any(hmac.compare_digest(one.encode(), self.secret.encode()) for one in given):
            return Refused(403, "The key is missing. Open the address that the terminal shows.")
        return None


def cookies(headers: Headers, name: str) -> list[str]:
    """Return all values of a cookie: another server of this machine may have set one of the same name."""
    parts = [part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";")]
    return [value for key, _, value in parts if key == name]


class Worker:
    """One thread that owns what it works on, for a connection to SQLite belongs to the thread that opened it."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def __call__(self, work: Callable[[], Found]) -> Found:
        """Do something there, after what was asked before."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def now(self, work: Callable[[], Found]) -> Found:
        """Do something there, and wait for it."""
        return self._threads.submit(work).result()

    def close(self) -> None:
        """End the thread when its work is done."""
        self._threads.shutdown()


class Review:
    """A review behind HTTP. One thread writes answers and another learns, so that no answer waits for learning."""

    def __init__(self, start: Callable[[], Session], open_book: Callable[[], Book]) -> None:
        self.learning, self.writing = Worker("learning"), Worker("writing")
        self.session = self.learning.now(start)
        told = self.session.desk
        self.desk = self.writing.now(lambda: Desk(told.cases, open_book(), run=told.run, who=told.who))

    def close(self) -> None:
        """Finish what is being written, and close the book."""
        self.writing.now(self.desk.book.close)
        self.learning.now(self.session.book.close)
        self.writing.close()
        self.learning.close()

    def app(self, *, token: str, hosts: frozenset[str], cookie: str) -> ASGIApp:
        """Return the application; ``cookie`` is the name of the cookie that ``token`` is exchanged for."""
        secret = secrets.token_urlsafe(32)

        async def opened(request: Request) -> Response:
            given = request.query_params.get("token", "")
            if not hmac.compare_digest(given.encode(), token.encode()):
                raise Refused(403, "The key is wrong. Open the address that the terminal shows.")
            away = RedirectResponse("/", 303)
            away.set_cookie(cookie, secret, httponly=True, samesite="strict", path="/")
            return away

        routes = [
            Route("/open", opened),
            *(Route(path, _file(*where)) for path, where in FILES.items()),
            Route("/api/question", self.question),
            Route("/api/card", self.card),
            Route("/api/curve", self.curve),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/audit", self.audit, methods=["POST"]),
        ]
        app = Starlette(
            routes=routes,
            exception_handlers={Refused: _refused, OddhopError: _refused, Exception: _refused},
        )
        return Guard(app, hosts=hosts, cookie=cookie, secret=secret)

    async def question(self, request: Request) -> Response:
        """Tell the next questions, what the last answer changed, and the curve."""
        session, named = self.session, request.query_params.get("case")

        def state() -> dict[str, Any]:
            queue, audit = session.queue(), session.audit()
            audited = audit is not None and audit.state == ASKING  # what is learned meanwhile has no part in it
            last = session.reading.given[:-11:-1]  # the last one first
            asked = session.question(named) if named else queue[0] if queue else None
            return {
                "run": session.desk.run,
                "who": session.desk.who,
                "asked": None if asked is None else asdict(asked),
                "queue": [asdict(one) for one in queue],
                "alike": [] if asked is None else [asdict(one) for one in session.look_alikes(asked.case)],
                "changed": None if audited else session.changed,
                "notice": None if audited else session.feedback.notice,
                "audit": None if audit is None else asdict(audit),
                "last": session.last_answer(),
                "given": [{name: getattr(one, name) for name in GIVEN} | {"case": one.case_id} for one, _ in last],
                "curve": _curve(session),
            }

        return JSONResponse(await self.learning(state))

    async def card(self, request: Request) -> Response:
        """Return the card of a case: HTML that the report's own template escaped."""
        named = request.query_params.get("case", "")
        return JSONResponse({"html": await self.learning(lambda: self.session.card(named))})

    async def curve(self, request: Request) -> Response:  # noqa: ARG002 - a route is called with it
        """Return the confirmed cases by the number of answers, and in the order of the original list."""
        return JSONResponse(await self.learning(lambda: _curve(self.session)))

    async def answer(self, request: Request) -> Response:
        """Write an answer; what is returned is in the book."""
        said = await _body(request, {"entry": str, "cases": list, "verdict": str}, {"reason": str, "note": str})
        cases = said.pop("cases")
        if not all(isinstance(one, str) for one in cases):
            raise Refused(422, "The ids of cases must be texts.")
        return JSONResponse(asdict(await self.writing(lambda: self.desk.answer(cases, **said))))

    async def undo(self, request: Request) -> Response:
        """Undo an answer by another entry; what is returned is in the book."""
        said = await _body(request, {"entry": str, "answer": str}, {})
        return JSONResponse(asdict(await self.writing(lambda: self.desk.undo(**said))))

    async def audit(self, request: Request) -> Response:
        """Start an audit, or pause it, go on with it or end it; what is returned is on the disk."""
        said = await _body(request, {"do": str}, {"list": str, "first": int, "size": int})
        do, session = said["do"], self.session
        if do != "start":
            told = await self.learning(lambda: session.put_audit(do))
        elif {"list", "first", "size"} <= said.keys():
            told = await self.learning(lambda: session.start_audit(said["list"], said["first"], said["size"]))
        else:
            raise Refused(422, "An audit needs list, first and size.")
        return JSONResponse({"audit": None if told is None else asdict(told)})


def _curve(session: Session) -> dict[str, Any]:
    curve = session.curve()
    return {**asdict(curve), "sentence": curve.sentence}


def _file(package: str, name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    content = files(package).joinpath(name).read_bytes()

    async def served(request: Request) -> Response:  # noqa: ARG001 - a route is called with it
        return Response(content, media_type=kind)

    return served


async def _body(request: Request, needed: dict[str, type], allowed: dict[str, type]) -> dict[str, Any]:
    """Read a JSON object with just these keys."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LONGEST_BODY:
            raise Refused(413, f"An answer must have at most {LONGEST_BODY:,} bytes.")
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        raise Refused(400, "The content must be JSON.") from None
    known = {**needed, **allowed}
    if not isinstance(said, dict) or not needed.keys() <= said.keys() <= known.keys():
        raise Refused(422, f"The content must be an object with {', '.join(known)}.")
    if not all(isinstance(said[name], known[name]) for name in said):
        raise Refused(422, "A value has the wrong type.")
    try:
        json.dumps(said, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused(422, "The text has half a character, which cannot be stored.") from None
    return said


async def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001 - a handler is called with it
    """Say what was wrong. 503 is the book's fault, and the same request may be sent again."""
    if isinstance(error, Refused):
        status, sentence = error.status, error.sentence
    elif isinstance(error, CaseBookError):
        status, sentence = 503, str(error)
    elif isinstance(error, OddhopError):
        status, sentence = 422, str(error)
    else:
        status, sentence = 500, f"A defect in oddhop: {type(error).__name__}."
    return JSONResponse({"error": sentence}, status)
