"""The options of a run that are no settings of reading or of a detector: where results go, and what else is written."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict

from oddhop.base.settings import Settings, option

CASES = 100
"""How many nodes are explained."""
ANSWERS = (
    "Table, query or book of cases with your answers about nodes. From the answers, oddhop learns a second ranking of "
    "the nodes. A table of answers needs the columns id and answer. An answer is 1 (worth your time), 0 (harmless) or "
    "empty (unsure)."
)


class Source(Settings):
    """Where queries are answered."""

    panel: ClassVar = "Input"

    database: str | None = option(
        None,
        "Address of the database for queries: postgresql://..., sqlite:///FILE or duckdb:///FILE. If the address "
        "contains a password, set the environment variable ODDHOP_DATABASE instead of this option. Other users of the "
        "machine can see a password on the command line.",
        flag="--database",
        variable="ODDHOP_DATABASE",
    )


class Resuming(Settings):
    """Whether a run goes on."""

    panel: ClassVar = "Detection"

    resume: bool = option(False, "Continue an interrupted run.", flag="--resume")


class Cluster(Settings):
    """What runs the work."""

    panel: ClassVar = "Detection"

    engine: Literal["local", "ray"] = option(
        "local",
        "Run on this machine (local) or on a Ray cluster (ray). A run on a Ray cluster needs a folder made by oddhop "
        "ingest as input.",
        flag="--engine",
    )
    address: str | None = option(
        None,
        "Address of the head node of the Ray cluster, as HOST:PORT.",
        flag="--address",
        variable="RAY_ADDRESS",
    )


class Written(Settings):
    """What else takes the results."""

    write_to: str | None = option(
        None,
        "Also write the results to this target: a table of the --database, an S3 object (s3://bucket/key.parquet or "
        ".csv), or the character - for CSV on standard output.",
        flag="--write-to",
    )
    write_mode: Literal["create", "replace", "append"] = option(
        "create",
        "What to do if the target of --write-to exists: stop with an error (create), overwrite the target (replace) or "
        "add rows to the target (append). Only database tables support append.",
        flag="--write-mode",
    )


class Replacing(Settings):
    """Whether a run takes the place of another."""

    panel: ClassVar = "Output"

    overwrite: bool = option(
        False,
        "Replace an earlier run in the output folder. A folder that has anything else is left as it is.",
        flag="--overwrite",
    )


class Answering(Replacing):
    """What a run is ranked again by."""

    panel: ClassVar = "Output"

    answers: Any = option(..., ANSWERS, flag="--answers")


class Output(Written, Resuming, Replacing, Source):
    """What a run writes besides the ranking, and where."""

    panel: ClassVar = "Output"

    report: bool = option(
        True,
        "Whether to write the case report to report.html. The same nodes are flagged with and without a report.",
        flag="--report/--no-report",
    )
    explain: int = option(
        CASES,
        "Number of top-ranked nodes to explain and to group into cases. With --explain 0, oddhop makes no cases and "
        "writes no report. With --explain 0, --top sets a number of nodes instead of cases.",
        flag="--explain",
        ge=0,
    )
    cases: str | Path | None = option(
        None,
        "Book of cases: an SQLite file or PostgreSQL database (postgresql://...) that stores cases and verdicts. The "
        "command adds the flagged cases to the book of cases. A case that a reviewer has cleared as harmless stays "
        "hidden until the case changes.",
        flag="--cases",
        metavar="BOOK",
    )
    answers: Any = option(None, ANSWERS, flag="--answers")
    since: str | Path | None = option(
        None,
        "Folder of an earlier run to compare the results with, or last: the latest complete run beside the output "
        "folder, if there is one. The command prints the changes and writes them to changes.parquet.",
        flag="--since",
    )


class OutputOptions(TypedDict, total=False):
    """The fields of :class:`Output` as keywords of a function."""

    database: str | None
    resume: bool
    write_to: str | None
    write_mode: Literal["create", "replace", "append"]
    overwrite: bool
    report: bool
    explain: int
    cases: str | PathLike[str] | None
    answers: Any
    since: str | PathLike[str] | None


class DetectOptions(OutputOptions, total=False):
    """Those, and the fields of :class:`Cluster`."""

    engine: Literal["local", "ray"]
    address: str | None
