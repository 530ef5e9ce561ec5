"""Files that someone hostile could hand over: each function puts one into a folder and says which commands meet it."""

from __future__ import annotations

import gzip
import io
import os
import pickle  # noqa: TID251 - what an attacker writes
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.base.files import pack_arrays, unpack_arrays
from tests.soak.warm import ALIKE

FOUND = "../canary"  # made by whatever is run
NODES = "name,age,size\n" + "".join(f"n{k},{k * 37 % 11},{k * 17 % 7}\n" for k in range(24))
EDGES = "from,to\n" + "".join(f"n{k},n{(k * step + 1) % 24}\n" for k in range(24) for step in (1, 5))
SCORE = ["score", "model.oddhop", "edges.csv", "--nodes", "nodes.csv", "--out", "scores", "--log-format", "plain"]
MODEL = [["verify", "model.oddhop"], SCORE]
Commands = list[list[str]]


class Runs:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return (os.system, (f"touch {FOUND}",))


@dataclass(frozen=True)
class Hostile:
    name: str
    put: Callable[[Path], Commands]


ALL: list[Hostile] = []


def hostile(name: str) -> Callable[[Callable[[Path], Commands]], Callable[[Path], Commands]]:
    def kept(put: Callable[[Path], Commands]) -> Callable[[Path], Commands]:
        ALL.append(Hostile(name, put))
        return put

    return kept


def model_of(name: str, make: Callable[[bytes], bytes]) -> None:
    """A model file that is made of a good one."""

    @hostile(f"model: {name}")
    def put(work: Path) -> Commands:
        good = (work.parent / "model.oddhop").read_bytes()
        (work / "model.oddhop").write_bytes(make(good))
        return MODEL


def resealed(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    """Change the parts of a model and seal it again, as someone who knows the format can."""

    def make(good: bytes) -> bytes:
        arrays, info = unpack_arrays(good, "the model")
        arrays = {name: array.copy() for name, array in arrays.items()}
        change(arrays, info)
        return pack_arrays(arrays, info)

    return make


def header(text: bytes, body: bytes = b"", size: int | None = None) -> bytes:
    return struct.pack("<Q", len(text) if size is None else size) + text + body


def zipped(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_UP_", "../../"), content)
    return out.getvalue()


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


for protocol in (0, 2, 4):
    model_of(f"a pickle, protocol {protocol}", lambda _, p=protocol: pickle.dumps(Runs(), p))
model_of("torch's zip with a pickle", lambda _: zipped(archive__data_pkl=pickle.dumps(Runs()), archive__version=b"3"))
model_of("a packed pickle, as joblib has it", lambda _: gzip.compress(pickle.dumps(Runs())))
model_of("an array of objects", lambda _: npy(np.array([Runs()], dtype=object)))
model_of("a zip that climbs out", lambda _: zipped(_UP_canary=b"x", weights_npy=npy(np.zeros(2))))
model_of("a header of 2^63 bytes", lambda _: header(b"{}", size=2**63))
model_of("a header of 2^40 bytes", lambda good: header(good[8:], size=2**40))
model_of("a header of blanks", lambda _: header(b" " * (1 << 22)))
model_of("a header 100,000 deep", lambda _: header(b"[" * 100_000 + b"]" * 100_000))
model_of(
    "sizes beyond the end",
    lambda _: header(b'{"w":{"dtype":"F32","shape":[1000000],"data_offsets":[0,4000000]}}', b"1234"),
)
model_of(
    "2^62 numbers",
    lambda _: header(b'{"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,4]}}', b"1234"),
)
model_of("a size below zero", lambda _: header(b'{"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}', b"1234"))
model_of(
    "parts that overlap",
    lambda _: header(
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
        b"1234",
    ),
)
model_of("a good one and a pickle behind it", lambda good: good + pickle.dumps(Runs()))
model_of("a document 100,000 deep", resealed(lambda a, i: i.update(version="[" * 100_000)))
model_of("code among the settings", resealed(lambda a, i: i["settings"].update(__import__="os")))
model_of("a seed of 5,000 digits", resealed(lambda a, i: i.update(seed="9" * 5_000)))
model_of("an infinite threshold", resealed(lambda a, i: a["threshold"].fill(np.nan)))
model_of("no settings", resealed(lambda a, i: i.pop("settings")))
model_of("an encoding of 2^40 columns", resealed(lambda a, i: i["encoding"]["columns"][0].update(width=2**40)))
model_of("an encoding that is a list", resealed(lambda a, i: i.update(encoding=[1, 2])))
model_of("parts of other shapes", resealed(lambda a, i: a.update({"homophily.centre": np.zeros((3, 3, 3))})))
model_of("a script in the version", resealed(lambda a, i: i.update(version="\x1b]0;owned\x07<script>")))


def table_of(
    name: str, edges: bytes | str | Callable[[], bytes] = EDGES, nodes: bytes | str = NODES, **options: Any
) -> None:
    """Two tables, one of which is not what it seems."""

    @hostile(f"tables: {name}")
    def put(work: Path) -> Commands:
        for label, content in (("edges", edges), ("nodes", nodes)):
            form = options.get(f"{label}_form", "csv")
            made = content() if callable(content) else content
            (work / f"{label}.{form}").write_bytes(made if isinstance(made, bytes) else made.encode())
        files = [f"edges.{options.get('edges_form', 'csv')}", "--nodes", f"nodes.{options.get('nodes_form', 'csv')}"]
        more = options.get("more", [])
        return [["detect", *files, *more, "--out", "run", *ALIKE], ["ingest", *files, *more, "--out", "graph"]]


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


INJECTION = "age\"); COPY (SELECT 1) TO '../canary'; --"
CALLED = {
    "n0": "=cmd|' /C calc'!A0",
    "n1": "<script>alert(1)</script>",
    "n2": "{{ 7 * 191 }}",
    "n3": "\x1b]0;owned\x07",
}


def renamed(text: str) -> str:
    for plain, called in CALLED.items():
        text = text.replace(f"{plain},", f"{called},").replace(f",{plain}\n", f",{called}\n")
    return text


def bomb() -> bytes:
    """Return 30 million rows that take a few kB; not before they are needed."""
    zeros = pa.array(np.zeros(30_000_000, np.int64))
    return parquet(pa.table({"from": zeros, "to": zeros}))


GOOD = parquet(pa.table({"from": ["n0", "n1"] * 12, "to": ["n2", "n3"] * 12}))
table_of("SQL in the name of a column", nodes=NODES.replace("age", '"' + INJECTION.replace('"', '""') + '"'))
table_of("SQL in an option", more=["--id", INJECTION])
table_of("SQL in an id", nodes=NODES.replace("n0", "'; COPY (SELECT 1) TO '../canary'; --"))
table_of("ids that a spreadsheet, a browser, a template or a terminal would run", renamed(EDGES), renamed(NODES))
table_of("a script as the name of a column", nodes=NODES.replace("age", "<img src=x onerror=alert(1)>"))
table_of("a zero byte in an id", nodes=NODES.replace("n5", "n\0five"))
table_of("a packed gigabyte", edges=gzip.compress(b"from,to\n" + bytes(1 << 27)), edges_form="csv.gz")
table_of("a packed line without an end", edges=gzip.compress(b"from,to\n" + b"a" * (1 << 27)), edges_form="csv.gz")
table_of("a header of 20 MB", nodes="name," + "x" * 20_000_000)
table_of("50,000 columns", nodes=",".join(f"c{k}" for k in range(50_000)) + "\n" + "1," * 49_999 + "1\n")
table_of("an open quote", nodes='name,age\nn0,"' + "x" * 1_000_000)
table_of("a pickle as CSV", edges=pickle.dumps(Runs()))
table_of("a pickle as Parquet", edges=pickle.dumps(Runs()), edges_form="parquet")
table_of("a pickle as NDJSON", edges=pickle.dumps(Runs()), edges_form="ndjson")
table_of("Parquet of 30 million equal rows", edges=bomb, edges_form="parquet")
table_of(
    "Parquet whose footer is longer than the file",
    edges=GOOD[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1",
    edges_form="parquet",
)
table_of("Parquet without its middle", edges=GOOD[:30] + GOOD[-400:], edges_form="parquet")
table_of("NDJSON 100,000 deep", edges=b'{"from":' + b"[" * 100_000 + b"]" * 100_000 + b"}", edges_form="ndjson")
table_of("NDJSON with one line of 64 MB", edges=b'{"from":"' + b"a" * (1 << 26) + b'","to":"b"}', edges_form="ndjson")
table_of("NDJSON with numbers of 10,000 digits", edges=b'{"from":' + b"9" * 10_000 + b',"to":1}', edges_form="ndjson")
