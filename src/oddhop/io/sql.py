"""SQL: the answer to a query, over ADBC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from oddhop.errors import TableError
from oddhop.io.frames import Frame


@contextmanager
def answer(uri: str, sql: str, label: str) -> Iterator[Frame]:
    """Send the query and hand out its answer as a stream, batch by batch."""
    try:
        import adbc_driver_manager
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise TableError(
            f"{label} needs the PostgreSQL driver, which is not installed; pip install oddhop[sql]"
        ) from None
    try:
        # Nothing is committed: what the query changes, if anything, is undone when the connection closes.
        with dbapi.connect(uri) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            yield Frame(label, cursor.fetch_record_batch())
    except adbc_driver_manager.Error as error:
        raise TableError(f"{label} cannot be read: {_without_secrets(str(error), uri)}") from None


def _without_secrets(message: str, uri: str) -> str:
    """Strike the address and its password from a message, for messages end up in logs."""
    message = message.replace(uri, "the address")
    try:
        password = urlsplit(uri).password
    except ValueError:
        return "the address is not a valid one"
    for secret in {password or "", unquote(password or "")} - {""}:
        message = message.replace(secret, "***")
    return message
