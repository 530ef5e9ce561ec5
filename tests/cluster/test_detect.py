"""``oddhop detect`` on a real cluster: the scores of one machine, and no process that maps the whole network."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from benchmarks.large import Large, write_large
from benchmarks.networks import load_network
from oddhop import HCM, Graph, Odd
from oddhop.base.parallel import Mapper
from oddhop.cli import app
from oddhop.errors import OddhopError
from oddhop.graph.adjacency import upper_edges
from oddhop.graph.disk import open_stored
from oddhop.graph.preparation import learn_preparation
from oddhop.tables.ingest import ingest
from oddhop.tables.network import open_network
from tests.cluster.machines import ADDRESS, HEAD, Machines

pytestmark = [pytest.mark.cluster, pytest.mark.slow]
QUICK = {"burn_in": 30, "samples": 2, "thin": 2, "chains": 3}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put blogcatalog on the disk in four partitions, its 8,189 words reduced to 20 columns before."""
    try:
        graph = load_network("blogcatalog_dominant").graph
    except OddhopError as error:
        pytest.skip(str(error))
    home = tmp_path_factory.mktemp("blogcatalog")
    left, right = upper_edges(graph.indptr, graph.indices, graph.upper, 0, graph.edge_count)
    reduced = (
        learn_preparation(graph.attributes, scale="standard", pca_components=20, pca_above=100).apply(graph).attributes
    )
    columns = {f"c{k}": reduced[:, k] for k in range(20)}
    pq.write_table(pa.table({"source": left, "target": right}), home / "edges.parquet")
    pq.write_table(pa.table({"id": np.arange(graph.node_count), **columns}), home / "nodes.parquet")
    return ingest(home / "edges.parquet", home / "nodes.parquet", home / "graph", partition_entries=90_000).folder


@pytest.fixture(scope="module")
def alone(network: Path) -> HCM:
    """Judge it on one machine."""
    return HCM(**QUICK, random_state=3).fit(Graph.open(network))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put a network of 70,000 nodes on the disk in four partitions; Odd works on 16,384 rows and more at a time."""
    home = tmp_path_factory.mktemp("generated")
    write_large(Large(70_000, 280_000, attributes=5, community=100, cliques=5, clique_size=8, swapped=40), home)
    return ingest(home / "edges", home / "nodes", home / "graph", partition_entries=140_000).folder


@contextmanager
def watched(machines: Machines, network: Path) -> Iterator[list[float]]:
    """Look all the while at what every process of the cluster maps of the wiring; give the largest shares."""
    file = network / "indices.npy"
    whole = file.stat().st_size
    shares: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            for machine in (1, 2, 3):
                shares.extend(mapped_of(process, file) / whole for process in machines.processes(machine))
            time.sleep(0.05)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield shares
    finally:
        over.set()
        thread.join()


def detected(machines: Machines, network: Path, out: Path, *options: str) -> pa.Table:
    """Judge a network on the cluster; give the results in the order of the ids."""
    command = [str(Path(sys.executable).with_name("oddhop")), "detect", str(network), "--engine", "ray"]
    command += ["--address", ADDRESS, "--out", str(out), "--seed", "3", *options]
    ended = subprocess.run(
        machines.on(HEAD, command), env=machines.environment(), capture_output=True, text=True, timeout=600
    )
    assert ended.returncode == 0, ended.stderr
    return pq.read_table(out / "results.parquet")


def scores_by_id(result: pa.Table) -> np.ndarray:
    scores = np.empty(result.num_rows)
    scores[result["id"].to_numpy()] = result["score"].to_numpy()
    return scores


def mapped_of(process: int, file: Path) -> int:
    """Count the bytes of a file that a process maps."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    except OSError:  # gone since
        return 0
    spans = [line.split()[0].split("-") for line in lines if line.endswith(str(file))]
    return sum(int(stop, 16) - int(start, 16) for start, stop in spans)


def test_a_run_on_the_cluster_ends_with_the_scores_of_one_machine(
    machines: Machines, network: Path, alone: HCM, tmp_path: Path
) -> None:
    assert open_stored(network).partitions == 4
    settings = [part for name, value in QUICK.items() for part in ("--set", f"hcm.{name}={value}")]
    result = detected(machines, network, tmp_path / "run", "--detector", "hcm", *settings)
    assert scores_by_id(result).tobytes() == alone.anomaly_scores_.tobytes()
    assert result["id"].to_pylist() == alone.result_["id"].to_pylist()
    for told in (
        ["verify", f"{tmp_path}/run"],
        ["report", f"{tmp_path}/run", "--explain", "3"],
    ):  # on one machine after
        said = CliRunner().invoke(app, told)
        assert said.exit_code == 0, said.output


def test_odd_on_the_cluster_has_the_scores_of_one_machine(machines: Machines, generated: Path, tmp_path: Path) -> None:
    assert open_stored(generated).partitions >= 4
    with watched(machines, generated) as shares:
        result = detected(machines, generated, tmp_path / "run", "--set", "odd.n_resamples=2", "--top", "50")
    expected = Odd(n_resamples=2, simulate=False, random_state=3).fit(open_network(generated))
    np.testing.assert_allclose(scores_by_id(result), expected.anomaly_scores_, atol=1e-6)
    assert result["id"].to_pylist()[:100] == expected.result_["id"].to_pylist()[:100]
    for told in (["verify", f"{tmp_path}/run"], ["report", f"{tmp_path}/run", "--explain", "3"]):
        said = CliRunner().invoke(app, told)
        assert said.exit_code == 0, said.output
    assert max(shares) > 0.1
    assert max(shares) < 0.75  # a partition and a peer, where triangles are counted


@pytest.mark.long
def test_simulated_networks_on_the_cluster_are_those_of_one_machine(
    machines: Machines, generated: Path, tmp_path: Path
) -> None:
    result = detected(machines, generated, tmp_path / "run", "--set", "odd.n_resamples=2", "--max-chance", "0.1")
    expected = Odd(n_resamples=2, max_chance=0.1, random_state=3).fit(open_network(generated))
    np.testing.assert_allclose(scores_by_id(result), expected.anomaly_scores_, atol=1e-6)
    flagged = result.filter(result["flagged"])["id"].to_pylist()
    assert flagged == expected.result_.filter(expected.result_["flagged"])["id"].to_pylist()
    assert flagged


def test_the_mapper_of_the_cluster_serves_the_library_too(
    driver: Mapper, network: Path, alone: HCM, tmp_path: Path
) -> None:
    fitted = HCM(**QUICK, random_state=3).fit_partitions(network, mapper=driver, run_folder=tmp_path / "run")
    assert fitted.anomaly_scores_.tobytes() == alone.anomaly_scores_.tobytes()
