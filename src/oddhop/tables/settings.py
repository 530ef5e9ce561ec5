"""How tables are read and encoded: the settings."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from oddhop.base.settings import Settings

PANDAS_INDEX = r"__index_level_\d+__"  # what pandas calls an index that it writes along
NAMED_LIKE_AN_ID = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|uuid|guid|key|index|idx)$)|[a-z](?:Id|ID)$"
    rf"|^{PANDAS_INDEX}$|^Unnamed: \d+$"  # the second is its name in a CSV
)


class ReadSettings(Settings):
    """Settings of reading tables; see :func:`oddhop.read_network`."""

    source: str | None = None
    target: str | None = None
    id: str | None = None
    judge: str | None = None
    node_kind: str | None = None
    source_kind: str | None = None
    target_kind: str | None = None
    amount: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    time: str | None = None
    edge_kind: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    directed: bool | None = None
    since: str | None = None
    until: str | None = None
    keep_unknown: bool = False
    flows: bool = True
    keep_columns: Annotated[tuple[str, ...], Field(strict=False)] = ()
    strict: bool = False
    memory_limit: str | None = None


class EncodeSettings(Settings):
    """Settings of encoding columns; see :func:`oddhop.tables.encode.learn_encoding`."""

    kinds: dict[str, str] = Field(default_factory=dict)
    max_levels: int = 50
    rare: float = 0.001
    text_columns: int = 256
