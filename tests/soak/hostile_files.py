"""Files that someone hostile could hand over: each function puts one into a folder and says which commands meet it."""

from __future__ import annotations

import gzip
import io
import json
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
import scipy.io

from oddhop.runs import pack_arrays, unpack_arrays
from oddhop.stored import file_entry
from tests.soak.warm import ALIKE, HCM

FOUND = "../canary"  # made by whatever is run
NODES = "name,age,size\n" + "".join(f"n{k},{k * 37 % 11},{k * 17 % 7}\n" for k in range(24))
EDGES = "from,to\n" + "".join(f"n{k},n{(k * step + 1) % 24}\n" for k in range(24) for step in (1, 5))
DETECT = ["detect", "edges.csv", "--nodes", "nodes.csv", "--out", "run", *ALIKE]
SCORE = ["score", "model.oddhop", "edges.csv", "--nodes", "nodes.csv", "--out", "scores", "--log-format", "plain"]
MODEL = [["verify", "model.oddhop"], SCORE]
NETWORK = [
    ["verify", "graph"],
    ["detect", "graph", "--out", "run", *ALIKE],
    ["detect", "graph", "--out", "other", *HCM, *ALIKE],
]
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
model_of("parts of other shapes", resealed(lambda a, i: a.update({"kinship.centre": np.zeros((3, 3, 3))})))
model_of("a script in the version", resealed(lambda a, i: i.update(version="\x1b]0;owned\x07<script>")))


def table_of(name: str, edges: bytes | str = EDGES, nodes: bytes | str = NODES, **options: Any) -> None:
    """Two tables, one of which is not what it seems."""

    @hostile(f"tables: {name}")
    def put(work: Path) -> Commands:
        for label, content in (("edges", edges), ("nodes", nodes)):
            form = options.get(f"{label}_form", "csv")
            (work / f"{label}.{form}").write_bytes(content if isinstance(content, bytes) else content.encode())
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


BOMB = parquet(
    pa.table({"from": pa.array(np.zeros(30_000_000, np.int64)), "to": pa.array(np.zeros(30_000_000, np.int64))})
)
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
table_of("Parquet of 30 million equal rows", edges=BOMB, edges_form="parquet")
table_of(
    "Parquet whose footer is longer than the file",
    edges=GOOD[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1",
    edges_form="parquet",
)
table_of("Parquet without its middle", edges=GOOD[:30] + GOOD[-400:], edges_form="parquet")
table_of("NDJSON 100,000 deep", edges=b'{"from":' + b"[" * 100_000 + b"]" * 100_000 + b"}", edges_form="ndjson")
table_of("NDJSON with one line of 64 MB", edges=b'{"from":"' + b"a" * (1 << 26) + b'","to":"b"}', edges_form="ndjson")
table_of("NDJSON with numbers of 10,000 digits", edges=b'{"from":' + b"9" * 10_000 + b',"to":1}', edges_form="ndjson")


def network_of(name: str, change: Callable[[Path], None], *, seal: bool = True) -> None:
    """A network on disk that was changed, and sealed again."""

    @hostile(f"network: {name}")
    def put(work: Path) -> Commands:
        import shutil

        shutil.copytree(work.parent / "graph", work / "graph")
        change(work / "graph")
        if seal:
            reseal(work / "graph")
        return NETWORK


def reseal(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for name in list(manifest["files"]):
        if (folder / name).is_file():
            manifest["files"][name] = file_entry(folder / name).model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def said(**changes: Any) -> Callable[[Path], None]:
    """Change what the manifest says."""

    def change(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        for name, value in changes.items():
            manifest[name] = value(manifest[name]) if callable(value) else value
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return change


def numbers(file: str, dtype: str, change: Callable[[Any], None]) -> Callable[[Path], None]:
    """Change the numbers of an array file."""

    def changed(folder: Path) -> None:
        content = bytearray((folder / file).read_bytes())
        values = np.frombuffer(content, dtype, offset=128)
        change(values)
        (folder / file).write_bytes(content)

    return changed


def elsewhere(name: str) -> Callable[[Path], None]:
    """Put a link in the place of a file."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to("/etc/passwd")

    return change


def put(values: Any, where: Any, what: Any) -> None:
    values[where] = what


network_of(
    "a file named ../../canary.npy", said(files=lambda f: {**f, "../../canary.npy": f["indptr.npy"]}), seal=False
)
network_of("an array named ../canary", said(arrays=lambda a: {**a, "../canary": a["indptr"]}), seal=False)
network_of("2^62 nodes", said(nodes=2**62, bounds=[0, 2**62]), seal=False)
network_of("5,000 digits of nodes", said(nodes=int("9" * 4_000)), seal=False)
network_of(
    "a manifest 100,000 deep",
    lambda f: (f / "manifest.json").write_text('{"kind": "oddhop graph", "a":' + "[" * 100_000),
    seal=False,
)
network_of("neighbours beyond the last node", numbers("indices.npy", "<i4", lambda v: put(v, slice(0, 3), 2**31 - 1)))
network_of("neighbours below zero", numbers("indices.npy", "<i4", lambda v: put(v, slice(0, 3), -(2**31))))
network_of("rows that go back", numbers("indptr.npy", "<i8", lambda v: put(v, 3, 2**40)))
network_of("rows below zero", numbers("indptr.npy", "<i8", lambda v: put(v, 3, -5)))
network_of("neighbours out of order", numbers("indices.npy", "<i4", lambda v: put(v, slice(None), v[::-1].copy())))
network_of("one neighbour for all", numbers("indices.npy", "<i4", lambda v: put(v, slice(None), 0)))
network_of("attributes that are not finite", numbers("attributes.npy", "<f4", lambda v: put(v, 2, np.nan)))
network_of("an array of objects", lambda f: (f / "indices.npy").write_bytes(npy(np.array([Runs()], dtype=object))))
network_of("ids that are a pickle", lambda f: (f / "ids.parquet").write_bytes(pickle.dumps(Runs())))
network_of("a link in the place of ids", elsewhere("ids.parquet"))
network_of("an encoding 100,000 deep", lambda f: (f / "encoding.json").write_text("[" * 100_000))
network_of("an encoding of nothing", lambda f: (f / "encoding.json").write_text("{}"))


@hostile("settings: TOML 10,000 deep")
def _deep_settings(work: Path) -> Commands:
    (work / "s.toml").write_text("a = " + "[" * 10_000 + "]" * 10_000)
    return with_tables(work, "--settings", "s.toml")


@hostile("settings: a number of 5,000 digits")
def _long_number(work: Path) -> Commands:
    (work / "s.toml").write_text("[odd]\nrepeats = " + "9" * 5_000)
    return [*with_tables(work, "--settings", "s.toml"), [*DETECT, "--set", "odd.repeats=" + "9" * 5_000]]


def with_tables(work: Path, *more: str) -> Commands:
    (work / "edges.csv").write_text(EDGES)
    (work / "nodes.csv").write_text(NODES)
    return [[*DETECT, *more]]


@hostile("a table whose file name is SQL")
def _named_table(work: Path) -> Commands:
    with_tables(work)
    name = "x'); COPY (SELECT 1) TO '..canary'; --.csv"
    (work / "edges.csv").rename(work / name)
    return [["detect", name, "--nodes", "nodes.csv", "--out", "run", *ALIKE]]


@hostile("run folder: links in the place of every file to come")
def _linked_results(work: Path) -> Commands:
    (work / "run").mkdir()
    for name in ("results.csv", "results.parquet", "model.oddhop", "report.html", ".lock", ".results.csv.1.tmp"):
        (work / "run" / name).symlink_to("../../victim")
    return with_tables(work)


@hostile("run folder: links in the place of checkpoints")
def _linked_checkpoints(work: Path) -> Commands:
    (work / "run" / "checkpoints").mkdir(parents=True)
    for name in (".lock", "mean.bin", "square.bin", "draws.bin"):
        (work / "run" / "checkpoints" / name).symlink_to("../../../victim")
    return with_tables(work, *HCM, "--resume")


@hostile("run folder: a pickle as a checkpoint")
def _pickled_checkpoint(work: Path) -> Commands:
    (work / "run" / "checkpoints").mkdir(parents=True)
    for name in ("chain-0.safetensors", "scoring.safetensors", "manifest.json"):
        (work / "run" / "checkpoints" / name).write_bytes(pickle.dumps(Runs()))
    return with_tables(work, *HCM, "--resume")


@hostile("model: links where its temporary file will be")
def _linked_model(work: Path) -> Commands:
    for process in range(os.getpid(), os.getpid() + 3_000):
        (work / f".model.oddhop.{process}.tmp").symlink_to("../victim")
    with_tables(work)
    return [["fit", "edges.csv", "--nodes", "nodes.csv", "--model", "model.oddhop", *ALIKE]]


@hostile("run folder: a manifest that names files elsewhere")
def _named_elsewhere(work: Path) -> Commands:
    with_tables(work)
    (work / "run").mkdir()
    parts = {
        "command": "detect",
        "files": {"../../victim": "0" * 64},
        "tables": {"edges": "/etc/passwd", "nodes": None},
    }
    (work / "run" / "manifest.json").write_text(json.dumps(parts))
    return [["verify", "run"], ["report", "run"], ["explain", "run", "n0"]]


def mat_of(name: str, make: Callable[[], bytes]) -> None:
    @hostile(f".mat: {name}")
    def put(work: Path) -> Commands:
        (work / "x.mat").write_bytes(make())
        return [["inject", "x.mat", "--out", "injected.mat", "--cliques", "1", "--clique-size", "2"]]


def mat(**parts: Any) -> bytes:
    out = io.BytesIO()
    scipy.io.savemat(out, parts)
    return out.getvalue()


mat_of("a pickle", lambda: pickle.dumps(Runs()))
mat_of("cells of objects", lambda: mat(Network=np.array([["a"], [1]], dtype=object), Attributes=np.eye(3)))
mat_of("a text for a network", lambda: mat(Network="a", Attributes="b"))
mat_of("a network that is no square", lambda: mat(Network=np.ones((2, 3)), Attributes=np.eye(3)))
mat_of("sizes beyond the end", lambda: mat(Network=np.eye(3), Attributes=np.eye(3))[:-40])
