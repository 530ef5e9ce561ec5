"""The three networks of the gallery: Debian's archive as tables, npm's packages, one with injected anomalies.

ODDHOP_DATA=... python benchmarks/gallery.py debian FOLDER     # tables, model and scores go to FOLDER
ODDHOP_DATA=... python benchmarks/gallery.py npm FOLDER
ODDHOP_DATA=... python benchmarks/gallery.py injected FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop import HCM, Graph
from oddhop.bench.networks import load_network
from oddhop.encode import Encoding, learn_encoding
from oddhop.inject import Injected, inject
from oddhop.io import network_graph, read_network
from oddhop.modelfile import load_model
from oddhop.report import case_report, write_report

TITLES = {
    "debian": "Packages of Debian 12",
    "npm": "Packages of npm, December 2016",
    "injected": "BlogCatalog with 300 injected anomalies",
}
FACETS = {"role": "role", "implemented-in": "written in", "uitoolkit": "toolkit", "interface": "interface"}
CATEGORIES = ("section", "role", "written in", "toolkit", "interface")


def lines(name: str, file: str) -> list[str]:
    path = Path(os.environ["ODDHOP_DATA"]) / name / file
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()


def debian_tables() -> tuple[pa.Table, pa.Table]:
    """Give edges and nodes as an archive's keeper would have them: a row a package, columns of many kinds."""
    names, attributes, sections = (
        lines("debian_bookworm", file) for file in ("nodes.txt.gz", "attributes.txt", "sections.txt")
    )
    path = Path(os.environ["ODDHOP_DATA"]) / "debian_bookworm" / "debian_bookworm.npz"
    with np.load(path) as file:
        edges, section = file["edge_index"], file["y"]
        held, starts = file["x_indices"].astype(np.int64), file["x_indptr"]
        sizes = np.expm1(file["x_num"].astype(float)).round()
    columns: dict[str, list[str | None]] = defaultdict(lambda: [None] * len(names))
    words: list[list[str]] = [[] for _ in names]
    facets: dict[str, list[list[str]]] = {told: [[] for _ in names] for told in FACETS.values()}
    for row in range(len(names)):
        for column in held[starts[row] : starts[row + 1]]:
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
    graph = load_network("npm_2016").graph
    edges = np.stack([np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices])
    names, attributes = (lines("npm_2016", file) for file in ("nodes.txt.gz", "attributes.txt"))
    return Graph.from_arrays(edges[:, edges[0] < edges[1]], graph.attributes, names, attribute_names=attributes)


def injected() -> Injected:
    return inject(load_network("blogcatalog_raw").graph, seed=0)


def network(name: str) -> tuple[Graph, Encoding | None, pa.Table | None]:
    if name == "debian":
        return debian()
    return (npm() if name == "npm" else injected().graph), None, None


def fit(name: str, folder: Path, burn_in: int) -> None:
    graph, _, _ = network(name)
    began = time.perf_counter()
    told: dict[str, int] = {}

    def tell(stage: str, done: int, total: int) -> None:
        if told.get(stage) != (step := 10 * done // total):
            told[stage] = step
            print(f"{time.perf_counter() - began:7.0f} s  {stage} {done} of {total}", flush=True)

    top = 1_000 if name == "npm" else 100
    detector = HCM(workers=1, random_state=0, burn_in=burn_in, top_k=top).fit(graph, progress=tell)
    detector.save(folder / f"{name}.oddhop")
    pq.write_table(detector.result_, folder / f"{name}.parquet")
    edges = {"dropped": detector.diagnostics_.dropped, "tied": detector.diagnostics_.tied}
    (folder / f"{name}.json").write_text(json.dumps(edges))


def report(name: str, folder: Path, cases: int) -> None:
    graph, encoding, originals = network(name)
    model, result = load_model(folder / f"{name}.oddhop"), pq.read_table(folder / f"{name}.parquet")
    edges = json.loads((folder / f"{name}.json").read_text())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    began, used = time.perf_counter(), time.process_time()
    made = case_report(
        model, graph, result, title=TITLES[name], cases=cases, encoding=encoding, originals=originals, **edges
    )
    explained = time.perf_counter() - began
    write_report(made, folder / f"{name}.html")
    seconds, size = time.perf_counter() - began, (folder / f"{name}.html").stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{cases} cases: {seconds:.1f} s ({explained:.1f} s of it explaining), {size:.1f} MB")
    print(f"{time.process_time() - used:.1f} s of a processor")
    print(f"peak {peak:.2f} GiB, {before:.2f} GiB of it before the report")
    for one in made.findings:
        print(one.level, one.sentence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "report"])
    parser.add_argument("network", choices=TITLES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--burn-in", type=int, default=1_000)
    parser.add_argument("--cases", type=int, default=100)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.step == "fit":
        fit(args.network, args.folder, args.burn_in)
    else:
        report(args.network, args.folder, args.cases)


if __name__ == "__main__":
    main()
