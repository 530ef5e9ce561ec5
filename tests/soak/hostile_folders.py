"""Folders, settings and .mat files that someone hostile could hand over, added to those of hostile_files.py."""

from __future__ import annotations

import io
import json
import os
import pickle  # noqa: TID251 - what an attacker writes
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from oddhop.graph.disk import file_entry
from tests.soak.hostile_files import EDGES, NODES, Commands, Runs, hostile, npy
from tests.soak.warm import ALIKE, HCM

DETECT = ["detect", "edges.csv", "--nodes", "nodes.csv", "--out", "run", *ALIKE]
NETWORK = [
    ["verify", "graph"],
    ["detect", "graph", "--out", "run", *ALIKE],
    ["detect", "graph", "--out", "other", *HCM, *ALIKE],
]


def network_of(name: str, change: Callable[[Path], None], *, seal: bool = True) -> None:
    """A network on disk that was changed, and sealed again."""

    @hostile(f"network: {name}")
    def put(work: Path) -> Commands:
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
    (work / "s.toml").write_text("[odd]\nn_resamples = " + "9" * 5_000)
    return [*with_tables(work, "--settings", "s.toml"), [*DETECT, "--set", "odd.n_resamples=" + "9" * 5_000]]


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
