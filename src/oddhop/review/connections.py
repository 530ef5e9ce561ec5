"""The connections of a review: how many there may be, and how long a request may take to arrive."""

from __future__ import annotations

import asyncio
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 100
SECONDS = 10.0  # for the headers of a request, and again for its body


class Connection(H11Protocol):
    """A connection that is closed if a request does not arrive in time, or if it waits the longest of too many."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        super().connection_made(transport)
        self._wait()
        waiting = {one._late.when(): one for one in cast("set[Connection]", self.connections) if one._late}
        if len(self.connections) > MOST:
            waiting[min(waiting)]._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait(begin=False)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait for the next part of a request where one is complete; that a byte came is not enough."""
        before = self.conn.their_state
        super().data_received(data)
        if self.conn.their_state is not before:
            self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def _wait(self, *, begin: bool = True) -> None:
        if self._late is not None:
            self._late.cancel()
        awaited = begin and self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        self._late = self.loop.call_later(SECONDS, self._close) if awaited else None

    def _close(self) -> None:
        self._wait(begin=False)
        self.connections.discard(self)  # it is lost only in the next turn
        self.transport.abort()
