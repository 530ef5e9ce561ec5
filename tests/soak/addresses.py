"""Addresses with passwords in every wrong place: nothing that is said of them has a part of the password."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.casebook import open_book
from oddhop.errors import OddhopError
from oddhop.runs.targets import target_named
from oddhop.tables.read import Query
from oddhop.tables.read.addresses import check_put, put_table
from oddhop.tables.read.sources import opened

MARK = "zq"  # in every part of every password, and nowhere else
PASSWORDS = (
    *("zqa", "zqa@zqb", "zqa:zqb", "zqa/zqb", "zqa?zqb", "zqa#zqb", "zqa%20zqb", "zqa%zzqb", "zqa zqb", "zqa%40zqb"),
    *("zqa@zqb@zqc", "zqa[zqb", "zqa]zqb", "zqa&zqb", "zqa=zqb", "zqa'zqb", 'zqa"zqb', "zqa\\zqb", "zqa,zqb", "zqäzqb"),
    *("zqa\nzqb", "%7Aqzqb", "zqa?b=zqc", "zqa%2Fzqb", "zqa;zqb", "zqa//zqb", "zqa|zqb", "zqa*zqb", "12?a=zqb"),
)
FORMS = (
    "{scheme}://ann:{password}@127.0.0.1:1/db",
    "{scheme}://ann:{password}@[::1]:1/db",
    "{scheme}://ann:{password}@[bad/db",
    "{scheme}://127.0.0.1:1/db?user=ann&password={password}",
    "{scheme}://ann@127.0.0.1:1/db?PassWord={password}&connect_timeout=1",
    "{scheme}://127.0.0.1:1/db?sslpassword={password}",
    "{scheme}://:{password}@127.0.0.1:1",
    "{scheme}:/ann:{password}@127.0.0.1:1/db",
    "{scheme}//ann:{password}@127.0.0.1:1/db",
    "{scheme}:ann:{password}@127.0.0.1:1/db",
    " {scheme}://ann:{password}@127.0.0.1:1/db",
    "jdbc:{scheme}://ann:{password}@127.0.0.1:1/db",
    "ann:{password}@127.0.0.1/db",
    "{scheme}:///ann:{password}@127.0.0.1/db",
    "host=127.0.0.1 port=1 user=ann password={password}",
)
SCHEMES = ("postgresql", "POSTGRES", "sqlite", "duckdb", "s3", "https", "mysql+pymysql", "gs", "postgresql+psycopg")
ANSWER = pa.table({"id": ["a"]})


def _opened(name: Any) -> None:
    with opened(name, "the edge table"):
        pass


USES: dict[str, Callable[[str], Any]] = {
    "a table": _opened,
    "a query": lambda name: _opened(Query(name, "select 1")),
    "a table to write": lambda name: put_table(ANSWER, name, "scores"),
    "a table to check": lambda name: check_put(name, "scores", mode="create"),
    "a target": lambda name: target_named(name, "create", None),
    "a target of a database": lambda name: target_named("scores", "create", name),
    "a book": lambda name: open_book(name, create=False).close(),
}


def nasty(count: int, seed: int) -> Iterator[str]:
    """Draw different addresses."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(FORMS) * len(SCHEMES) * len(PASSWORDS))[:count]
    for place in places:
        rest, k = divmod(int(place), len(FORMS))
        m, n = divmod(rest, len(SCHEMES))
        yield FORMS[k].format(scheme=SCHEMES[n], password=PASSWORDS[m])


def show_addresses(count: int, seed: int = 0) -> dict[str, Any]:
    """Use every address for everything that takes one; count what was said, and show what leaked."""
    leaks, refused, other = [], 0, []
    with TemporaryDirectory() as folder:
        for name in nasty(count, seed):
            for use, work in USES.items():
                try:
                    work(name.replace("///", f"///{folder}/") if use.startswith("a table to") else name)
                except OddhopError as error:
                    refused += 1
                    # As a log has it: with what it was raised from.
                    if MARK in f"{error} {error.problem} {error.command} {traceback.format_exception_only(error)}":
                        leaks.append(f"{use}: {name!r}: {error}")
                except Exception as error:
                    other.append(f"{use}: {name!r}: {type(error).__name__}: {error}")
    left = [file for file in map(str, Path().iterdir()) if MARK in file]
    return {"test": "addresses with secrets", "addresses": count, "refused": refused, "errors": [*leaks, *other, *left]}
