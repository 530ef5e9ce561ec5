"""What is fuzzed: for every reader good files to begin with, and a function that reads a changed one."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

from benchmarks.networks import read_mat
from oddhop import HCM, Graph, Odd
from oddhop.base.checkpoints import RunFolder, open_run
from oddhop.base.files import pack_arrays, unpack_arrays
from oddhop.cli.settings import gathered
from oddhop.detector.registry import load
from oddhop.errors import RunFolderError
from oddhop.hcm.chains import Chain, Plan, restored
from oddhop.hcm.model import Shape
from oddhop.hcm.sampler import Rule
from oddhop.runs.verify import verify
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network, read_network
from tests.soak.hostile_folders import reseal
from tests.soak.mutation import Mutate, changed_bytes, changed_document, either

QUICK = {"burn_in": 5, "samples": 2, "thin": 1, "chains": 2, "hidden": 4, "random_state": 0, "workers": 1}
ARRAYS = ("indices.npy", "indptr.npy", "attributes.npy", "ids.parquet", "encoding.json")


class AcceptedError(AssertionError):
    """A changed model was taken for a good one, or gave scores that are none."""


@dataclass(frozen=True)
class Target:
    """A reader under test.

    Attributes
    ----------
    seeds : good inputs.
    read : reads one input in a folder of its own; only our errors may come out.
    mutate : how an input is changed.
    """

    seeds: list[bytes]
    read: Callable[[bytes, Path], None]
    mutate: Mutate = changed_bytes


def tables() -> tuple[pa.Table, pa.Table]:
    """Return a small network with columns of every kind."""
    rng = np.random.default_rng(0)
    names = [f"n{k}" for k in range(12)]
    nodes = {
        "name": names,
        "age": rng.integers(18, 80, 12),
        "size": rng.normal(size=12),
        "since": [f"2024-0{k % 9 + 1}-1{k % 10}" for k in range(12)],
        "member": [k % 3 == 0 for k in range(12)],
        "note": [None, 'says "so", twice', *[f"word{k} of word{k % 4}" for k in range(10)]],
    }
    edges = {"from": [names[k] for k in range(12)], "to": [names[k * 5 % 12] for k in range(12)]}
    return pa.table(edges), pa.table(nodes)


def written(table: pa.Table, form: str) -> bytes:
    """Write a table in one of the forms."""
    out = io.BytesIO()
    if form == "parquet":
        pq.write_table(table, out)
    elif form == "ndjson":
        return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
    else:
        pa.csv.write_csv(table, out, pa.csv.WriteOptions(delimiter="\t" if form == "tsv" else ","))
    return out.getvalue()


def table_target(form: str) -> Target:
    """Read a node table, join it and encode its columns."""
    edges, nodes = tables()

    def read(content: bytes, folder: Path) -> None:
        (folder / f"nodes.{form}").write_bytes(content)
        read_network(edges, folder / f"nodes.{form}")

    return Target([written(nodes, form), written(nodes.select(["name", "age"]), form)], read)


def edges_target() -> Target:
    """Read an edge table, in CSV."""
    edges, nodes = tables()

    def read(content: bytes, folder: Path) -> None:
        (folder / "edges.csv").write_bytes(content)
        read_network(folder / "edges.csv", nodes)

    return Target([written(edges, "csv")], read)


def mat_target() -> Target:
    """Read a published .mat file, packed and not."""
    parts = {"Network": sp.csc_array(np.eye(6)[::-1]), "Attributes": sp.csc_array(np.eye(6)), "Label": np.ones((6, 1))}
    seeds = []
    for packed in (False, True):
        out = io.BytesIO()
        scipy.io.savemat(out, parts, do_compression=packed)
        seeds.append(out.getvalue())

    def read(content: bytes, folder: Path) -> None:
        (folder / "x.mat").write_bytes(content)
        read_mat(folder / "x.mat")

    return Target(seeds, read)


def settings_target() -> Target:
    """Read settings in TOML."""
    read, odd = b'[read]\nid = "name"\nstrict = true\n', b"[odd]\nn_resamples = 3\n"
    seed = read + odd + b'[hcm]\nhop_classes = 4\nburn_in = 20\nscale = "none"\n'
    more = b'[encode]\nmax_levels = 5\nkinds = { age = "category", note = "text" }\n[hcm]\nstep_size = 1e-3\n'

    def read(content: bytes, folder: Path) -> None:
        (folder / "s.toml").write_bytes(content)
        gathered(folder / "s.toml", [])

    return Target([seed, more], read)


def stored_network(folder: Path) -> Path:
    """Make a network on disk to copy from."""
    edges, nodes = tables()
    pq.write_table(edges, folder / "edges.parquet")
    pq.write_table(nodes.drop_columns(["note"]), folder / "nodes.parquet")
    ingest(folder / "edges.parquet", folder / "nodes.parquet", folder / "graph")
    return folder / "graph"


def manifest_target(home: Path) -> Target:
    """Open a network on disk by a changed manifest."""
    good = stored_network(home)

    def read(content: bytes, folder: Path) -> None:
        if not (folder / "graph").exists():
            shutil.copytree(good, folder / "graph")
        (folder / "graph" / "manifest.json").write_bytes(content)
        open_network(folder / "graph")

    return Target([(good / "manifest.json").read_bytes()], read, either(changed_bytes, changed_document))


def arrays_target(home: Path) -> Target:
    """Open a network on disk with one changed file, sealed again, and look for odd nodes in it."""
    good = stored_network(home)

    def read(content: bytes, folder: Path) -> None:
        shutil.rmtree(folder / "graph", ignore_errors=True)
        shutil.copytree(good, folder / "graph")
        (folder / "graph" / ARRAYS[sum(content[:1]) % len(ARRAYS)]).write_bytes(content[1:])
        reseal(folder / "graph")
        graph = open_network(folder / "graph").graph
        if not np.isfinite(Odd(n_resamples=2, random_state=0, workers=1).fit(graph).anomaly_scores_).all():
            raise AcceptedError("scores that are not finite")

    return Target([bytes([k]) + (good / name).read_bytes() for k, name in enumerate(ARRAYS)], read)


def _graph() -> Graph:
    rng = np.random.default_rng(0)
    return Graph.from_arrays(rng.integers(0, 20, (2, 50)), rng.normal(size=(20, 3)))


def _detector(kind: str) -> Any:
    return HCM(**QUICK) if kind == "HCM" else Odd(n_resamples=2, random_state=0, workers=1)


def model_target(kind: str, home: Path) -> Target:
    """Read a changed model file; each must be refused."""
    _detector(kind).fit(_graph()).save(home / "model.oddhop")
    good = (home / "model.oddhop").read_bytes()

    def read(content: bytes, folder: Path) -> None:
        (folder / "model.oddhop").write_bytes(content)
        load(folder / "model.oddhop")
        if content != good:
            raise AcceptedError("a changed model was accepted")

    return Target([good], read)


def resealed_target(kind: str, home: Path) -> Target:
    """Read a model whose parts were changed by someone who can seal it again, and score by it."""
    _detector(kind).fit(_graph()).save(home / "model.oddhop")
    arrays, info = unpack_arrays((home / "model.oddhop").read_bytes(), "the model")
    graph = _graph()

    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        if rng.random() < 0.5:
            return pack_arrays(arrays, json.loads(changed_document(json.dumps(info).encode(), rng)))
        return pack_arrays(_changed_arrays(arrays, rng), info)

    def read(content: bytes, folder: Path) -> None:
        (folder / "model.oddhop").write_bytes(content)
        detector = load(folder / "model.oddhop")
        detector.workers = 1
        if not np.isfinite(detector.score_samples(graph)).all():
            raise AcceptedError("scores that are not finite")

    return Target([b""], read, mutate)


def _changed_arrays(arrays: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    changed = {name: array.copy() for name, array in arrays.items()}
    name = str(rng.choice(sorted(changed)))
    array = changed[name]
    match rng.integers(0, 7):
        case 0:
            del changed[name]
        case 1:
            changed[name] = array.astype(str(rng.choice(["int64", "float32", "float64", "uint8", "bool"])))
        case 2:
            changed[name] = array.reshape(-1)[: rng.integers(0, array.size + 1)]
        case 3:
            changed[name] = array[..., None]
        case 4:
            changed[name] = np.concatenate([array, array])
        case 5:
            changed[str(rng.choice(sorted(changed)))] = array
        case _ if array.size:
            wrong = [-1, 0, 2**40] if array.dtype.kind == "i" else [np.nan, 1e300, -1.0, 0.0, 1e-300]
            changed[name].reshape(-1)[rng.integers(0, array.size)] = rng.choice(wrong)
        case _:  # one without values gets one
            changed[name] = np.zeros(1)
    return changed


def checkpoint_target(home: Path) -> Target:
    """Go on with a chain whose checkpoint was changed, and sealed again or not."""
    import torch

    plan = Plan(Rule(0.1, 3, 0.0, 0.0), chains=1, samples=2, thin=2, pairs_per_class=1, seed=0)
    begun = Chain(0, plan, Shape(1, 1, 1, 2), torch.float32)
    arrays = begun.arrays()
    document = {"run": "abc", "info": {"step": 3, "loss": 0.5, "halvings": 0}}
    good = pack_arrays(arrays, document)

    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        match rng.integers(0, 3):
            case 0:
                return changed_bytes(good, rng)
            case 1:
                return pack_arrays(arrays, json.loads(changed_document(json.dumps(document).encode(), rng)))
            case _:
                return pack_arrays(_changed_arrays(arrays, rng), document)

    def read(content: bytes, folder: Path) -> None:
        (folder / "chain-0.safetensors").write_bytes(content)
        restored(RunFolder(folder, "abc"), begun)

    return Target([good], read, mutate)


def run_target() -> Target:
    """Hold a run folder by a changed manifest, and verify the run that it tells of."""
    parts = {
        "command": "detect",
        "oddhop": "0.1",
        "data": {"nodes": 3, "edges": 2},
        "files": {"results.csv": hashlib.sha256().hexdigest()},
    }
    seed = json.dumps({**parts, "settings": {"odd": {"n_resamples": 4}}, "seed": 3}).encode()

    def read(content: bytes, folder: Path) -> None:
        (folder / "manifest.json").write_bytes(content)
        (folder / "results.csv").touch()
        with suppress(RunFolderError), open_run(folder, {"seed": 3}, resume=True):
            pass
        list(verify(folder))

    return Target([seed], read, either(changed_bytes, changed_document))


def target(name: str, home: Path) -> Target:
    """Make a target by its name."""
    match name.split():
        case [form] if form in ("csv", "tsv", "ndjson", "parquet"):
            return table_target(form)
        case ["model", kind]:
            return model_target(kind, home)
        case ["resealed", kind]:
            return resealed_target(kind, home)
    makers = {
        "edges": edges_target,
        "mat": mat_target,
        "toml": settings_target,
        "run": run_target,
        "manifest": lambda: manifest_target(home),
        "arrays": lambda: arrays_target(home),
        "checkpoint": lambda: checkpoint_target(home),
    }
    return makers[name]()


NAMES = (
    *("csv", "tsv", "ndjson", "parquet", "edges", "mat", "toml", "manifest", "arrays", "checkpoint", "run"),
    *("model HCM", "model Odd", "resealed HCM", "resealed Odd"),
)
