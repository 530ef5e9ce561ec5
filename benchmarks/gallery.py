"""The three networks of the gallery: Debian's archive, npm's packages, one with injected anomalies.

    ODDHOP_DATA=... python -m benchmarks.gallery pages FOLDER             # the three pages of the documentation, by Odd

    ODDHOP_DATA=... python -m benchmarks.gallery fit debian FOLDER        # also npm, injected
    ODDHOP_DATA=... python -m benchmarks.gallery report debian FOLDER     # a page of its own, with its cost
    ODDHOP_DATA=... python -m benchmarks.gallery fit debian FOLDER --detector odd

Models that are in FOLDER already are not fitted again.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.inject import Injected, inject
from benchmarks.networks import load_network
from benchmarks.tables import tables
from oddhop import HCM, Graph, Network, Odd, load, read_network
from oddhop.reports import report as case_report
from oddhop.tables.encode import learn_encoding
from oddhop.tables.read import read_tables
from oddhop.tables.settings import ReadSettings

PAGES = Path(__file__).parents[1] / "docs" / "_static" / "gallery"
BUDGET, SHOWN = 50, 36  # alerts, and cases of a page of the documentation: 400 kB each at most, or thereabouts

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
    """Return edges and nodes as an archive's keeper would have them: a row a package, columns of many kinds."""
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


def debian() -> Network:
    edges, nodes = debian_tables()
    tables = read_tables(edges, nodes, ReadSettings(source="package", target="relates to", id="package"))
    encoding = learn_encoding(tables.columns, kinds=dict.fromkeys(CATEGORIES, "category"), max_levels=58)
    attributes, names = encoding.apply(tables.columns)
    graph = Graph.from_arrays(
        tables.edge_index, attributes, tables.ids.to_numpy(zero_copy_only=False), attribute_names=names
    )
    return Network(graph, tables.ids, encoding, originals=tables.columns)


def npm() -> Graph:
    graph = load_network("npm_2016").graph
    edges = np.stack([np.repeat(np.arange(graph.node_count), graph.degrees), graph.indices])
    names, attributes = (lines("npm_2016", file) for file in ("nodes.txt.gz", "attributes.txt"))
    return Graph.from_arrays(edges[:, edges[0] < edges[1]], graph.attributes, names, attribute_names=attributes)


def injected() -> Injected:
    return inject(load_network("blogcatalog_raw").graph, random_state=0)


def network(name: str, detector: str) -> Network:
    """Return a network, and what else a report tells of it; for Odd from the tables that ``tables.py`` writes."""
    if name == "injected":
        return Network.of(injected().graph)
    if detector == "odd":
        edges, nodes = tables({"debian": "debian_bookworm", "npm": "npm_2016"}[name], Path(os.environ["ODDHOP_DATA"]))
        return read_network(edges, nodes, flows=False)  # an edge is a relation between packages, not an event
    return Network.of(npm()) if name == "npm" else debian()


def files(name: str, detector: str, folder: Path) -> tuple[Path, Path]:
    """Return the places of the model and the scores."""
    stem = name if detector == "hcm" else f"{name}-odd"
    return folder / f"{stem}.oddhop", folder / f"{stem}.parquet"


def fit(name: str, folder: Path, detector: str, top: int, burn_in: int) -> None:
    taken = network(name, detector)
    began = time.perf_counter()
    told: dict[str, int] = {}

    def tell(stage: str, done: int, total: int) -> None:
        if told.get(stage) != (step := 10 * done // total):
            told[stage] = step
            print(f"{time.perf_counter() - began:7.0f} s  {stage} {done} of {total}", flush=True)

    model, scores = files(name, detector, folder)
    if detector == "odd":
        fitted: Odd | HCM = Odd(workers=1, random_state=0, top_k=top).fit(taken, progress=tell)
    else:
        fitted = HCM(workers=1, random_state=0, burn_in=burn_in, top_k=top).fit(taken, progress=tell)
    fitted.save(model)
    pq.write_table(fitted.result_, scores)


def report(name: str, folder: Path, detector: str, cases: int, page: Path) -> None:
    taken = network(name, detector)
    model, scores = files(name, detector, folder)
    fitted, result = load(model), pq.read_table(scores)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    began, used = time.perf_counter(), time.process_time()
    made = case_report(fitted, taken, result, title=TITLES[name], cases=cases)
    explained = time.perf_counter() - began
    made.write(page)
    seconds, size = time.perf_counter() - began, page.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name}: {cases} cases: {seconds:.1f} s ({explained:.1f} s of it explaining), {size:.2f} MB")
    print(f"{time.process_time() - used:.1f} s of a processor")
    print(f"peak {peak:.2f} GiB, {before:.2f} GiB of it before the report")
    for one in made.findings:
        print(one.level, one.sentence)
    if name == "injected":
        tell_truth(result)


def tell_truth(result: pa.Table) -> None:
    """Say how many of the first nodes were injected, and how many of each kind the detector calls what."""
    made = injected()
    ids, kinds = result["id"].to_numpy(), result["kind"].to_pylist() if "kind" in result.column_names else []
    for first in (10, SHOWN, BUDGET, 100, int(made.anomalous.sum())):
        some = ids[:first]
        print(
            f"of the first {first} {made.anomalous[some].sum()} were injected: "
            f"{made.structural[some].sum()} in cliques, {made.contextual[some].sum()} with foreign attributes"
        )
    for what, truth in (("cliques", made.structural), ("foreign attributes", made.contextual)):
        print(what, Counter(kind for node, kind in zip(ids[:SHOWN].tolist(), kinds, strict=False) if truth[node]))


def pages(folder: Path) -> None:
    """Write the pages of the documentation."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in TITLES:
        if not files(name, "odd", folder)[0].exists():
            fit(name, folder, "odd", BUDGET, 0)
        report(name, folder, "odd", SHOWN, PAGES / f"{name}.html")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "report", "pages"])
    parser.add_argument("network", choices=TITLES, nargs="?")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--detector", choices=["hcm", "odd"], default="hcm")
    parser.add_argument("--burn-in", type=int, default=1_000)
    parser.add_argument("--cases", type=int, default=100)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.step == "pages":
        pages(args.folder)
    elif args.step == "fit":
        fit(args.network, args.folder, args.detector, 1_000 if args.network == "npm" else 100, args.burn_in)
    else:
        report(args.network, args.folder, args.detector, args.cases, args.folder / f"{args.network}.html")


if __name__ == "__main__":
    main()
