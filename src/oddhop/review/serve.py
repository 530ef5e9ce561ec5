"""Serving a review until it is interrupted: where it listens, and the address with its key."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oddhop.casebook import open_book
from oddhop.errors import MissingExtraError, SettingsError
from oddhop.review.session import Session
from oddhop.runs.reopen import OpenedRun

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def check_host(host: str, *, allow_remote: bool) -> None:
    """Refuse to listen anywhere but on loopback, unless that was said in so many words."""
    if host == "localhost" or allow_remote:
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    raise SettingsError(f"other machines can reach {host}", "give --allow-remote to allow this")


def check_installed() -> None:
    """Refuse to go on without the packages of the extra."""
    try:
        import starlette
        import uvicorn
    except ImportError:
        raise MissingExtraError(
            "oddhop review needs a server, which is not installed", "pip install oddhop[review]"
        ) from None
    _ = starlette, uvicorn


def hosts_of(name: str, port: int) -> frozenset[str]:
    """Return what browsers call the server: of the usual ports, they leave the number out."""
    names = (*LOOPBACK_NAMES, name.lower())
    return frozenset((*(f"{one}:{port}" for one in names), *(names if port in (80, 443) else ())))


def serve(
    opened: OpenedRun,
    folder: Path,
    book: str | Path,
    *,
    who: str,
    host: str = "127.0.0.1",
    port: int = 0,
    allow_remote: bool = False,
    ready: Callable[[str], Any],
) -> None:
    """Serve the review of a run until it is interrupted. ``ready`` is called with the address, which holds the key."""
    check_installed()
    check_host(host, allow_remote=allow_remote)
    import uvicorn

    from oddhop.review.connections import MOST, Connection
    from oddhop.review.server import Review

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        problem = getattr(error, "strerror", None) or error
        raise SettingsError(f"cannot listen on {host} port {port}: {problem}", "give another --port") from None
    with listening:
        port = listening.getsockname()[1]
        named = f"[{host}]" if ":" in host else host
        hosts = hosts_of(named, port)
        review = Review(
            lambda: Session(opened, open_book(book), folder=folder, who=who), lambda: open_book(book, create=False)
        )
        try:
            review.learning.now(review.session.refresh)
            token = secrets.token_urlsafe(32)
            # Cookies do not know ports: the name keeps two servers of one machine apart.
            app = review.app(token=token, hosts=hosts, cookie=f"oddhop_review_{port}")
            config = uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                http=Connection,
                backlog=MOST,
                loop="asyncio",
                timeout_graceful_shutdown=5,
            )
            ready(f"http://{named}:{port}/open?token={token}")
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            pass  # uvicorn raises it again after it has ended
        finally:
            review.close()
