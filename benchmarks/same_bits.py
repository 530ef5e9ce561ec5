"""The sha256 of what both detectors give, and of what commands write: a change of the layout leaves every line alone.

    python -m benchmarks.same_bits odd         # compares the lines that begin with a word, or all of them
    python -m benchmarks.same_bits --write     # replaces the table

The networks are made on the spot: small ones in blocks of 64 rows, judged in memory, on two threads over partitions
and by tasks that are sent as bytes; a bank with events and a shop with several kinds in blocks as they are. Last bits
of floating sums depend on the processor, so make the table and compare it on one machine.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.bank import bank
from benchmarks.shop import shop
from benchmarks.synthetic import synthetic
from oddhop import HCM, Odd
from oddhop.arrays import stores as ranges
from oddhop.graph.disk import open_stored
from oddhop.odd import null
from oddhop.tables.ingest import ingest
from oddhop.tables.network import Network, open_network
from oddhop.tables.settings import EncodeSettings, ReadSettings
from tests.odd.networks import elsewhere, written

TABLE = Path(__file__).with_suffix(".json")
SMALL = ("numbers", "flows and times", "silent", "shop", "shop, friends, flows", "shop, one device")
QUICK: dict[str, Any] = {"burn_in": 20, "samples": 2, "thin": 2, "chains": 2, "hidden": 16}
HCM_WORDS = ["--detector", "hcm", *(w for name, value in QUICK.items() for w in ("--set", f"hcm.{name}={value}"))]
TABLES = ["edges.csv", "--nodes", "nodes.csv"]
Rows = dict[str, str]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def of_array(values: Any) -> str:
    return sha256(np.ascontiguousarray(values).tobytes())


def odd(**settings: Any) -> Odd:
    return Odd(random_state=0, n_resamples=2, **{"simulate": False, "workers": 2, **settings})


def fitted_rows(what: str, fitted: Odd) -> Rows:
    """Return what a fit gives: scores, deviations, p-values, residuals and the scores of simulated networks."""
    learned, table = fitted.model_.learned, fitted.result_.sort_by("id")
    rows = {"scores": of_array(fitted.anomaly_scores_), "deviations": of_array(fitted.anomaly_std_)}
    rows |= {name: of_array(table[name].to_numpy()) for name in table.column_names if name.startswith("p_")}
    if learned.residuals is not None:
        rows["residuals"] = of_array(learned.residuals)
    if learned.chance is not None:
        rows["simulated"] = of_array(learned.chance.scores)
    return {f"{what}/{name}": digest for name, digest in rows.items()}


def judged_rows(what: str, fitted: Odd, network: Network) -> Rows:
    """Return what a fitted model says of the network again, and the figures of some explanations."""
    figures = [
        (why.score, why.views, [(one.score, one.rarity) for one in why.neighbours])
        for why in fitted.explain(fitted.result_["id"].to_pylist()[:3], network)
    ]
    again = fitted.rank(network).sort_by("id")
    features = fitted.features(network)
    digests = {name: of_array(features[name].to_numpy()) for name in features.column_names[1:]}
    return {
        f"{what}/again": of_array(again["score"].to_numpy()),
        f"{what}/explained": sha256(repr(figures).encode()),
        **{f"{what}/feature {name}": digest for name, digest in digests.items()},
    }


def small_rows(home: Path) -> Rows:
    rows: Rows = {}
    block, ranges.BLOCK, null.SIMULATED_NODES = ranges.BLOCK, 64, 0
    for kind in SMALL:
        folder = written(home / kind, kind, 3)
        network, asked = open_network(folder), {"simulate": kind != "numbers"}
        memory = odd(**asked).fit(replace(network, folder=None))
        rows |= fitted_rows(f"odd/{kind}/memory", memory) | judged_rows(f"odd/{kind}", memory, network)
        on_disk = odd(**asked).fit(network, run_folder=home / f"{kind}-run")
        rows |= fitted_rows(f"odd/{kind}/disk", on_disk)
        sent = odd(**asked).fit_partitions(folder, mapper=elsewhere, run_folder=home / f"{kind}-sent")
        rows |= fitted_rows(f"odd/{kind}/sent", sent)
    ranges.BLOCK, null.SIMULATED_NODES = block, 500_000
    return rows


def large_rows(home: Path) -> Rows:
    graph = synthetic(20_000, 100_000, 12)
    rows = fitted_rows("odd/synthetic", odd(simulate=True).fit(graph))
    made, market = bank(accounts=4_000, payments=25_000), shop(small=10)
    tables = {"payments": made.payments, "people": made.accounts, "trade": market.edges}
    for name, table in {**tables, "accounts": market.accounts, "devices": market.devices}.items():
        pq.write_table(table, home / f"{name}.parquet")
    several = {"account": home / "accounts.parquet", "device": home / "devices.parquet"}
    for name, edges, nodes, read in (
        ("bank", "payments", home / "people.parquet", ReadSettings()),
        ("market", "trade", several, ReadSettings(judge="account", source_kind="account")),
    ):
        folder = home / name
        stored = ingest(home / f"{edges}.parquet", nodes, folder, read, EncodeSettings(), partition_entries=20_000)
        assert open_stored(stored.folder).partitions > 2
        network = open_network(folder)
        memory = odd(simulate=True).fit(replace(network, folder=None))
        rows |= fitted_rows(f"odd/{name}/memory", memory) | judged_rows(f"odd/{name}", memory, network)
        rows |= fitted_rows(f"odd/{name}/disk", odd(simulate=True).fit(network, run_folder=home / f"{name}-run"))
    return rows


def odd_rows(home: Path) -> Rows:
    return small_rows(home) | large_rows(home)


def hcm_rows(home: Path) -> Rows:  # noqa: ARG001 - in memory
    fitted = HCM(random_state=0, **QUICK).fit(synthetic(2_000, 8_000, 10))
    return {"hcm/scores": of_array(fitted.anomaly_scores_), "hcm/deviations": of_array(fitted.anomaly_std_)}


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


def command_rows(home: Path) -> Rows:
    before = Path.cwd()
    os.chdir(home)
    try:
        return _command_rows()
    finally:
        os.chdir(before)


def _command_rows() -> Rows:
    write_tables()
    rows: Rows = {}
    for name, words in (("odd", []), ("hcm", HCM_WORDS)):
        common = [*words, "--seed", "0"]
        oddhop("detect", *TABLES, "--out", f"detect-{name}", "--top", "5", "--explain", "20", *common)
        oddhop("fit", *TABLES, "--model", f"{name}.oddhop", *common)
        oddhop("score", f"{name}.oddhop", *TABLES, "--out", f"score-{name}")
        rows[f"commands/explain-{name}"] = sha256(oddhop("explain", f"detect-{name}", "p7", "--json"))
        oddhop("report", f"detect-{name}", "--explain", "30")
        rows[f"commands/verify-{name}"] = sha256(oddhop("verify", f"{name}.oddhop").split(b",")[0])
    oddhop("ingest", *TABLES, "--out", "graph")
    oddhop("detect", "graph", "--out", "detect-graph", "--seed", "0")
    for file in sorted(Path().rglob("*")):
        if file.is_file() and file.name != ".lock":
            rows |= {f"commands/{name}": digest for name, digest in file_rows(file).items()}
    return rows


def file_rows(file: Path) -> Rows:
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


def parts_of(document: dict[str, object], name: str) -> Rows:
    return {f"{name}/{key}": sha256(json.dumps(value, sort_keys=True).encode()) for key, value in document.items()}


PARTS: dict[str, Callable[[Path], Rows]] = {"odd": odd_rows, "hcm": hcm_rows, "commands": command_rows}


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--write"] or list(PARTS)
    rows: Rows = {}
    for word in words:
        with tempfile.TemporaryDirectory() as home:
            rows |= PARTS[word](Path(home))
    kept: Rows = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    own = {name: digest for name, digest in kept.items() if name.split("/")[0] in words}
    if "--write" in sys.argv[1:]:
        kept = {name: digest for name, digest in kept.items() if name.split("/")[0] in PARTS.keys() - set(words)}
        TABLE.write_text(json.dumps(kept | rows, indent=1, sort_keys=True) + "\n")
        return 0
    changed = sorted(name for name in rows.keys() | own.keys() if rows.get(name) != own.get(name))
    for name in changed:
        state = "changed" if name in rows and name in own else "new" if name in rows else "gone"
        print(f"{state}: {name}")
    print(f"{len(own)} lines in the table, {len(changed)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
