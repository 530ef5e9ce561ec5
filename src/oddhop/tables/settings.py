"""How tables are read and encoded: the settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Annotated, Any, ClassVar, Literal, Self, TypedDict

from pydantic import BeforeValidator, Field

from oddhop.base.settings import Settings, option, options_of

PANDAS_INDEX = r"__index_level_\d+__"  # what pandas calls an index that it writes along
NAMED_LIKE_AN_ID = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|uuid|guid|key|index|idx)$)|[a-z](?:Id|ID)$"
    rf"|^{PANDAS_INDEX}$|^Unnamed: \d+$"  # the second is its name in a CSV
)
WIDEST_TEXT = 65_536
DETECTED = "detected"


def _as_text(path: Any) -> Any:
    return fspath(path) if isinstance(path, PathLike) else path


Names = Annotated[tuple[str, ...], Field(strict=False)]
Folder = Annotated[str, BeforeValidator(_as_text)]


class ReadSettings(Settings):
    """How tables are read.

    A field with a ``flag`` is an option of the commands that read tables. ``ReadOptions`` has a line for every field,
    for type checkers and editors.
    """

    panel: ClassVar = "Input"

    source: str | None = option(
        None, "Column of the edge table with the source nodes.", flag="--source", shown=DETECTED, of_model=True
    )
    target: str | None = option(
        None, "Column of the edge table with the target nodes.", flag="--target", shown=DETECTED, of_model=True
    )
    id: str | None = option(
        None, "Column of the node table with the node ids.", flag="--id", shown=DETECTED, of_model=True
    )
    judge: str | None = option(
        None, "Rank only the nodes of this kind, if the network has several kinds of nodes.", flag="--judge"
    )
    node_kind: str | None = option(
        None,
        "Column of the node table with the kind of each node, if one table has several kinds of nodes.",
        flag="--node-kind",
    )
    source_kind: str | None = option(
        None,
        "Column of the edge table with the kind of each source node. If all source nodes have one kind, give the name "
        "of this kind instead of a column name.",
        flag="--source-kind",
        shown=DETECTED,
    )
    target_kind: str | None = option(
        None,
        "Column of the edge table with the kind of each target node. If all target nodes have one kind, give the name "
        "of this kind instead of a column name.",
        flag="--target-kind",
        shown=DETECTED,
    )
    amount: Names | None = option(
        None, "Column of the edge table with amounts, for example of payments.", flag="--amount", shown=DETECTED
    )
    time: str | None = option(None, "Column of the edge table with dates or times.", flag="--time", shown=DETECTED)
    edge_kind: Names | None = option(
        None,
        "Column of the edge table with the category of each row, for example the payment type.",
        flag="--edge-kind",
        shown=DETECTED,
    )
    directed: bool | None = option(
        None,
        "Whether edges have a direction, from the source to the target.",
        flag="--directed/--undirected",
        shown=DETECTED,
    )
    since: str | None = option(
        None, "Read only edges at or after this date or time, for example 2026-11-16.", flag="--from"
    )
    until: str | None = option(None, "Read only edges before this date or time.", flag="--until")
    decimal: Literal[".", ","] | None = option(
        None,
        "Decimal mark of numbers in columns of text: . or a comma.",
        flag="--decimal",
        shown=DETECTED,
        of_model=True,
    )
    dates: Literal["dmy", "mdy"] | None = option(
        None,
        "Order of day and month in dates such as 03/04/2026: dmy or mdy.",
        flag="--dates",
        shown=DETECTED,
        of_model=True,
    )
    keep_unknown: bool = option(
        False,
        "Keep nodes that appear only in the edge table, with missing values in all node columns.",
        flag="--keep-unknown",
    )
    flows: bool = option(
        True, "Compute node columns from the edge table, for example from its amounts and times.", flag="--no-flows"
    )
    keep_columns: Names = option((), "Column of the node table to copy to the results.", flag="--keep-columns")
    strict: bool = option(
        False, "Stop with an error instead of skipping rows or columns of the tables.", flag="--strict"
    )
    memory_limit: str | None = option(
        None, "Memory limit of DuckDB, for example 4GB. Beyond the limit, DuckDB works on disk."
    )
    temp_folder: Folder | None = option(
        None,
        "Folder for the temporary files of DuckDB and for copies of tables from elsewhere.",
        shown="the temporary folder of the system",
    )

    def like(self, fitted: ReadSettings) -> Self:
        """Return these settings, and where nothing was given, those that a fitted model keeps."""
        kept = [one for one in options_of(ReadSettings) if one.of_model and getattr(self, one.name) == one.default]
        return self.model_copy(update={one.name: getattr(fitted, one.name) for one in kept})


PLAIN = ReadSettings()


class EncodeSettings(Settings):
    """How columns become attributes; ``EncodeOptions`` has a line for every field."""

    kinds: dict[str, str] = option(
        {}, "Kinds of columns, by name: number, boolean, category, date, time, text or ignore.", shown=DETECTED
    )
    max_levels: int = option(
        50,
        "Maximum number of attributes for the categories of one column. A column with more categories is encoded as "
        "text, unless the most frequent ones cover nine rows in ten.",
        ge=1,
        le=WIDEST_TEXT,
    )
    rare: float = option(
        0.001,
        "Share of rows that a category needs for an attribute of its own. Every category needs at least two rows.",
        ge=0,
        lt=1,
    )
    text_columns: int = option(
        256, "Number of attributes into which the words of a text column are hashed.", ge=1, le=WIDEST_TEXT
    )


class ReadOptions(TypedDict, total=False):
    """The fields of :class:`ReadSettings` as keywords of a function."""

    source: str | None
    target: str | None
    id: str | None
    judge: str | None
    node_kind: str | None
    source_kind: str | None
    target_kind: str | None
    amount: Sequence[str] | None
    time: str | None
    edge_kind: Sequence[str] | None
    directed: bool | None
    since: str | None
    until: str | None
    decimal: Literal[".", ","] | None
    dates: Literal["dmy", "mdy"] | None
    keep_unknown: bool
    flows: bool
    keep_columns: Sequence[str]
    strict: bool
    memory_limit: str | None
    temp_folder: str | PathLike[str] | None


class EncodeOptions(TypedDict, total=False):
    """The fields of :class:`EncodeSettings` as keywords of a function."""

    kinds: dict[str, str]
    max_levels: int
    rare: float
    text_columns: int


class TableOptions(ReadOptions, EncodeOptions, total=False):
    """The fields of both."""
