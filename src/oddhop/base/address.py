"""Addresses of databases, stores and other places, taken apart in one way; what is shown of one has no secret."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
HOSTS = re.compile(r"((\[[0-9A-Fa-f:.%]+\]|[\w.%-]*)(:\d*)?(,|$))+")
SECRET = re.compile(r"(?i)pass|pwd|secret|token|signature|key")
# What a person may have meant as an address, though it is none, with something like a password in it.
LIKE_A_SECRET = re.compile(r"(?is):.*@|(pass\w*|pwd|secret\w*|token|signature)=")


@dataclass(frozen=True)
class Server:
    """The hosts that an address names, which may be shown, and all of it as a driver takes it, every part escaped."""

    hosts: str
    escaped: str = field(repr=False)


def scheme_of(name: str) -> str | None:
    """Return the scheme of an address in lower case; None where a text is none, and "" where it has no proper one."""
    scheme, found, _ = name.partition("://")
    return (scheme.lower() if SCHEME.fullmatch(scheme) else "") if found else None


def server_of(name: str) -> Server | None:
    """Take an address apart; None where it is not clear which part is the user, the password or the host.

    An @ in a user or a password need not be escaped; characters that end a host must be.
    """
    scheme = scheme_of(name)
    host, separator, rest = re.split(r"([/?#]|$)", name.partition("://")[2], maxsplit=1)
    who, _, hosts = host.rpartition("@")
    path, _, asked = (separator + rest).removeprefix("/").partition("?")
    pairs = [part.partition("=") for part in asked.split("&") if part]
    unclear = "@" in path or "#" in path or any(not key.isidentifier() or not equal for key, equal, _ in pairs)
    # Behind a host, an @ may be the end of a user and a password that were not escaped.
    unclear = unclear or any("@" in value and not SECRET.search(key) for key, _, value in pairs)
    if not scheme or unclear or not HOSTS.fullmatch(hosts):
        return None
    credentials = ":".join(map(_escaped, who.split(":", 1))) + "@" if who else ""
    query = "&".join(f"{key}={_escaped(value)}" for key, _, value in pairs)
    return Server(hosts, f"{scheme}://{credentials}{hosts}/{_escaped(path)}{'?' * bool(query)}{query}")


def _escaped(part: str) -> str:
    return quote(unquote(part), safe="")


def shown(name: str) -> str:
    """Return a name for a message, which is that of no file; what may be a mistyped address is left out."""
    return "a name that is not shown, for it may hold a password" if LIKE_A_SECRET.search(name) else repr(name)


def without_secrets(message: str, name: str) -> str:
    """Strike an address and what may be its user, its password and secrets of its query from a message of a driver."""
    message = message.replace(name, "the address")
    # A server may read an address in another way, so the parts of what may be a password are secrets, too.
    who, _, password = name.partition("://")[2].rpartition("@")[0].partition(":")
    found = {password, *(part for part in re.split(r"[@:/?&=\s]", password) if len(part) > 2)}
    for key, value in re.findall(r"[?&]([^=&]*)=([^&]*)", name):
        found |= {value, *value.split("@")} if SECRET.search(key) else set()
    found |= {unquote(one) for one in found} | {part for one in found for part in unquote(one).split() if len(part) > 2}
    found |= {f'"{one}"' for one in (who, unquote(who))}
    for secret in sorted(found - {"", '""'}, key=len, reverse=True):
        message = message.replace(secret, "***")
    return message
