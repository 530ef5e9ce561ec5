"""Write a network of the data folder as two tables: ``python -m benchmarks.tables debian_bookworm out``."""

from __future__ import annotations

import gzip
import itertools
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def words(folder: Path, arrays: np.lib.npyio.NpzFile, prefixes: tuple[str, ...]) -> list[str | None]:
    """Return the attributes of every node that begin so, in one text; None where there are none, as a CSV has it."""
    names = (folder / "attributes.txt").read_text().splitlines()
    kept = [name.split(":", 1)[1] if name.startswith(prefixes) else None for name in names]
    indptr, indices = arrays["x_indptr"], arrays["x_indices"].astype(np.int64)
    return [" ".join(kept[k] or "" for k in indices[a:b] if kept[k]) or None for a, b in itertools.pairwise(indptr)]


def tables(name: str, data: Path) -> tuple[pa.Table, pa.Table]:
    """Return the edge table and the node table of a network."""
    folder = data / name
    arrays = np.load(folder / f"{name}.npz")
    left, right = arrays["edge_index"].astype(np.int64)
    if name == "debian_bookworm":
        ids = np.array(gzip.decompress((folder / "nodes.txt.gz").read_bytes()).decode().splitlines())
        sections = np.array((folder / "sections.txt").read_text().splitlines())
        kinds = np.array(["", "depends", "recommends", "suggests", "enhances"])
        columns = {
            "package": ids,
            "section": sections[arrays["y"]],
            "installed_kib": np.expm1(arrays["x_num"][:, 0]).round().astype(np.int64),
            "download_bytes": np.expm1(arrays["x_num"][:, 1]).round().astype(np.int64),
            "tags": words(folder, arrays, ("tag:",)),
            "summary": words(folder, arrays, ("word:",)),
        }
        return pa.table({"from": ids[left], "to": ids[right], "relation": kinds[arrays["edge_type"]]}), pa.table(
            columns
        )
    if name == "npm_2016":
        ids = np.array(gzip.decompress((folder / "nodes.txt.gz").read_bytes()).decode().splitlines(), dtype=object)
        indptr = arrays["x_indptr"]
        names = (folder / "attributes.txt").read_text().splitlines()
        indices = arrays["x_indices"].astype(np.int64)
        said = [" ".join(names[k] for k in indices[a:b]) for a, b in itertools.pairwise(indptr)]
        scoped = np.array([text.startswith("@") for text in ids])
        return pa.table({"from": ids[left], "to": ids[right]}), pa.table(
            {"package": ids, "words": said, "scoped": scoped}
        )
    ids = np.arange(arrays["y"].size if "y" in arrays else int(arrays["x_shape"][0]))
    if "x" in arrays:
        x = arrays["x"]
        columns = {"id": ids, **{f"a{k}": x[:, k] for k in range(x.shape[1])}}
    else:
        indptr, indices = arrays["x_indptr"], arrays["x_indices"].astype(np.int64)
        columns = {
            "id": ids,
            "words": [" ".join(f"w{k}" for k in indices[a:b]) for a, b in itertools.pairwise(indptr)],
        }
    return pa.table({"u": left, "v": right}), pa.table(columns)


if __name__ == "__main__":
    network, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for label, table in zip(("edges", "nodes"), tables(network, Path(os.environ["ODDHOP_DATA"])), strict=True):
        pa.csv.write_csv(table, out / f"{label}.csv")
        pa.parquet.write_table(table, out / f"{label}.parquet")
