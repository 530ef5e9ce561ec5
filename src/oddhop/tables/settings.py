"""How tables are read and encoded: the settings."""

from __future__ import annotations

from pydantic import Field

from oddhop.base.settings import Settings


class ReadSettings(Settings):
    """How tables are read; the meanings are in :func:`oddhop.read_network`."""

    source: str | None = None
    target: str | None = None
    id: str | None = None
    strict: bool = False
    memory_limit: str | None = None


class EncodeSettings(Settings):
    """How columns become attributes; the meanings are in :func:`oddhop.tables.encode.learn_encoding`."""

    kinds: dict[str, str] = Field(default_factory=dict)
    max_levels: int = 50
    rare: float = 0.001
    text_columns: int = 256
