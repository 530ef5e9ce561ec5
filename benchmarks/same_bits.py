"""The sha256 of both detectors' scores on six networks, and of what every command writes.

``python -m benchmarks.same_bits`` compares with the committed table and names what differs; ``--write`` replaces it.
A change of the code's layout must leave every line as it is. Last bits of floating sums depend on the processor, so
make the table and compare it on one machine. The networks are read from the folder that ODDHOP_DATA names.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from oddhop import HCM, Graph, Odd

TABLE = Path(__file__).with_suffix(".json")
NETWORKS = ("bond_disney", "bond_gen_1000", "hcm_amazon", "cora_cola_injected", "facebook_tam", "blogcatalog_dominant")
QUICK: dict[str, Any] = {"burn_in": 20, "samples": 2, "thin": 2, "chains": 2, "hidden": 16}
HCM_WORDS = ["--detector", "hcm", *(w for name, value in QUICK.items() for w in ("--set", f"hcm.{name}={value}"))]
TABLES = ["edges.csv", "--nodes", "nodes.csv"]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def network(name: str) -> Graph:
    with np.load(Path(os.environ["ODDHOP_DATA"]) / name / f"{name}.npz") as parts:
        if "x" in parts:
            x = parts["x"]
        else:
            indices = parts["x_indices"].astype(np.int32)
            x = sp.csr_array((parts["x_data"], indices, parts["x_indptr"]), shape=tuple(parts["x_shape"]))
        return Graph.from_arrays(parts["edge_index"], x)


def score_rows() -> dict[str, str]:
    rows = {}
    for name in NETWORKS:
        graph = network(name)
        for detector in (Odd(random_state=0), HCM(random_state=0, **QUICK)):
            fitted = detector.fit(graph)
            what = f"scores/{name}/{type(detector).__name__}"
            rows[what] = sha256(np.ascontiguousarray(fitted.anomaly_scores_).tobytes())
            rows[f"{what}/std"] = sha256(np.ascontiguousarray(fitted.anomaly_std_).tobytes())
    return rows


def write_tables() -> None:
    rng = np.random.default_rng(0)
    names = np.array(["=1+1", *(f"p{k}" for k in range(1, 120))])
    half = rng.integers(0, 60, (2, 260))
    left, right = np.concatenate([half, half + 60], axis=1)
    edges = [f"{a},{b},{c:.3f}" for a, b, c in zip(names[left], names[right], rng.uniform(size=left.size), strict=True)]
    Path("edges.csv").write_text("from,to,amount\n" + "\n".join(edges) + "\n")
    nodes = [
        f"{name},{age},{'Bonn' if k < 60 else 'Cork'},{'' if k == 0 else f'pays {age % 7} days late'}"
        for k, (name, age) in enumerate(zip(names, rng.integers(18, 80, 120), strict=True))
    ]
    Path("nodes.csv").write_text("name,age,town,note\n" + "\n".join(nodes) + "\n")


def oddhop(*words: str) -> bytes:
    command = [sys.executable, "-c", "from oddhop.cli import app; app()", *words]
    return subprocess.run(command, check=True, capture_output=True).stdout


def command_rows() -> dict[str, str]:
    write_tables()
    rows = {}
    for name, words in (("odd", []), ("hcm", HCM_WORDS)):
        common = [*words, "--seed", "0"]
        oddhop("detect", *TABLES, "--out", f"detect-{name}", "--top", "5", "--explain", "20", *common)
        oddhop("fit", *TABLES, "--model", f"{name}.oddhop", *common)
        oddhop("score", f"{name}.oddhop", *TABLES, "--out", f"score-{name}")
        rows[f"explain-{name}"] = sha256(oddhop("explain", f"detect-{name}", "p7", "--json"))
        oddhop("report", f"detect-{name}", "--explain", "30")
        rows[f"verify-{name}"] = sha256(oddhop("verify", f"{name}.oddhop").split(b",")[0])
    oddhop("ingest", *TABLES, "--out", "graph")
    oddhop("detect", "graph", "--out", "detect-graph", "--seed", "0")
    oddhop("inject", *TABLES, "--out", "injected", "--cliques", "2", "--clique-size", "5")
    for file in sorted(Path().rglob("*")):
        if file.is_file() and file.name != ".lock":
            rows |= file_rows(file)
    return rows


def file_rows(file: Path) -> dict[str, str]:
    """Hash a file; documents and model files part by part, so that a renamed setting shows as just that."""
    content, name = file.read_bytes(), file.as_posix()
    if file.suffix == ".oddhop":
        size = int.from_bytes(content[:8], "little")
        document = json.loads(json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["oddhop"])["document"])
        arrays = {f"{name}/array {part}": digest for part, digest in document["sha256"].items()}
        return arrays | parts_of(document["info"], name)
    if file.name == "manifest.json":
        document = json.loads(content)
        for made_of_others in ("files", "model", "versions"):
            document.pop(made_of_others, None)
        return parts_of(document, name)
    if file.suffix == ".html":
        today = datetime.now(UTC).strftime("%d %B %Y").lstrip("0")
        content = content.replace(today.encode(), b"TODAY")
    return {name: sha256(content)}


def parts_of(document: dict[str, object], name: str) -> dict[str, str]:
    return {f"{name}/{key}": sha256(json.dumps(value, sort_keys=True).encode()) for key, value in document.items()}


def main() -> int:
    lines = Path("benchmarks/cells.jsonl").resolve()
    rows = score_rows()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            rows |= command_rows()
            oddhop("bench", "report", "--lines", str(lines), "--page", "page.md")
            rows["bench/page.md"] = sha256(re.sub(rb"pictures/[\w-]+", b"", Path("page.md").read_bytes()))
        finally:
            os.chdir(before)
    if "--write" in sys.argv[1:]:
        TABLE.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")
        return 0
    kept = json.loads(TABLE.read_text())
    changed = sorted(name for name in rows.keys() | kept.keys() if rows.get(name) != kept.get(name))
    for name in changed:
        state = "changed" if name in rows and name in kept else "new" if name in rows else "gone"
        print(f"{state}: {name}")
    print(f"{len(kept)} lines in the table, {len(changed)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
