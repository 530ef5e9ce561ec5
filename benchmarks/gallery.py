"""The three networks of the gallery: Debian's archive as tables, npm's packages, one with injected anomalies.

ODDHOP_DATA=... python benchmarks/gallery.py debian FOLDER     # tables, model and scores go to FOLDER
ODDHOP_DATA=... python benchmarks/gallery.py npm FOLDER
ODDHOP_DATA=... python benchmarks/gallery.py injected FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from networks import inject, load

from oddhop import HCM, Graph
from oddhop.encode import Encoding, learn_encoding
from oddhop.io import network_graph, read_network

FACETS = {"role": "role", "implemented-in": "written in", "uitoolkit": "toolkit", "interface": "interface"}
CATEGORIES = ("section", "role", "written in", "toolkit", "interface")


def lines(name: str, file: str) -> list[str]:
    path = Path(os.environ["ODDHOP_DATA"]) / name / file
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()


def debian_tables() -> tuple[pa.Table, pa.Table]:
    """Give edges and nodes as an archive's keeper would have them: a row a package, columns of many kinds."""
    edges, x, section = load("debian_bookworm")
    names, attributes, sections = (
        lines("debian_bookworm", file) for file in ("nodes.txt.gz", "attributes.txt", "sections.txt")
    )
    path = Path(os.environ["ODDHOP_DATA"]) / "debian_bookworm" / "debian_bookworm.npz"
    with np.load(path) as file:
        sizes = np.expm1(file["x_num"].astype(float)).round()
    columns: dict[str, list[str | None]] = defaultdict(lambda: [None] * len(names))
    words: list[list[str]] = [[] for _ in names]
    facets: dict[str, list[list[str]]] = {told: [[] for _ in names] for told in FACETS.values()}
    for row in range(len(names)):
        for column in x.indices[x.indptr[row] : x.indptr[row + 1]]:
            kind, _, rest = attributes[column].partition(":")
            if kind == "word":
                words[row].append(rest)
            elif kind == "tag":
                facet, _, value = rest.partition("::")
                if facet in FACETS:
                    facets[FACETS[facet]][row].append(value)
            else:
                columns[{"arch": "architecture", "multiarch": "multi-arch"}.get(kind, kind)][row] = rest
    table = {
        "package": names,
        "section": [sections[k] for k in section],
        "priority": [value or "optional" for value in columns["priority"]],
        "architecture": [value or "amd64" for value in columns["architecture"]],
        "multi-arch": [value or "no" for value in columns["multi-arch"]],
        **{told: ["+".join(values) or None for values in rows] for told, rows in facets.items()},
        "installed KiB": sizes[:, 0],
        "download bytes": sizes[:, 1],
        "description": [" ".join(row) or None for row in words],
    }
    packages = np.array(names, dtype=object)
    return pa.table({"package": packages[edges[0]], "relates to": packages[edges[1]]}), pa.table(table)


def debian() -> tuple[Graph, Encoding, pa.Table]:
    edges, nodes = debian_tables()
    tables = read_network(edges, nodes, source="package", target="relates to", id="package")
    encoding = learn_encoding(tables.columns, kinds=dict.fromkeys(CATEGORIES, "category"), max_levels=58)
    attributes, names = encoding.apply(tables.columns)
    return network_graph(tables, attributes, names), encoding, tables.columns


def npm() -> Graph:
    edges, x, _ = load("npm_2016")
    return Graph.from_arrays(
        edges, x, lines("npm_2016", "nodes.txt.gz"), attribute_names=lines("npm_2016", "attributes.txt")
    )


def injected() -> tuple[Graph, np.ndarray]:
    edges, x, _ = load("blogcatalog_raw")
    return inject(edges, x, seed=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=["debian", "npm", "injected"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--burn-in", type=int, default=1_000)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    graph = {"debian": lambda: debian()[0], "npm": npm, "injected": lambda: injected()[0]}[args.network]()
    began = time.perf_counter()
    detector = HCM(workers=1, random_state=0, burn_in=args.burn_in, top_k=1_000 if args.network == "npm" else 100)
    stages = {}

    def tell(stage: str, done: int, total: int) -> None:
        if stages.get(stage) != (step := 10 * done // total):
            stages[stage] = step
            print(f"{time.perf_counter() - began:7.0f} s  {stage} {done} of {total}", flush=True)

    detector.fit(graph, progress=tell)
    detector.save(args.folder / f"{args.network}.oddhop")
    pq.write_table(detector.result_, args.folder / f"{args.network}.parquet")
    print(detector.diagnostics_.dropped, detector.diagnostics_.tied, detector.diagnostics_.losses)


if __name__ == "__main__":
    main()
