"""Networks by name: the right file or a plain error, and the published .mat forms."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from benchmarks.networks import data_folder, load_network, read_mat
from oddhop.errors import DataFolderError, GraphError

DATA = os.environ.get("ODDHOP_DATA", "")
needs_data = pytest.mark.skipif(
    not DATA or not Path(DATA, "hcm_amazon").is_dir(), reason="ODDHOP_DATA names no data folder"
)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataFolderError, match=r"no network is called 'cora2'.*cora_cola_injected"):
        load_network("cora2", "anywhere")


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cora").mkdir()
    (tmp_path / "cora" / "cora.npz").write_bytes(b"not the one")
    with pytest.raises(DataFolderError, match=r"sha256 .* was expected"):
        load_network("cora", tmp_path)


def test_without_a_folder_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ODDHOP_DATA", raising=False)
    with pytest.raises(DataFolderError, match="set ODDHOP_DATA, or pass --data"):
        data_folder()


@pytest.mark.parametrize("names", [("Network", "Attributes", "Label"), ("A", "X", "gnd")])
def test_published_mat_files_are_read(tmp_path: Path, names: tuple[str, str, str]) -> None:
    adjacency = sp.csc_array((np.ones(2), ([0, 1], [1, 2])), shape=(3, 3))
    parts = dict(zip(names, (adjacency, sp.csc_array(np.eye(3)), [[0], [1], [1]]), strict=True))
    kinds = {"str_anomaly_label": [[0, 1, 0]], "attr_anomaly_label": [[0, 0, 1]]}
    scipy.io.savemat(tmp_path / "small.mat", parts | kinds)
    network = load_network(str(tmp_path / "small.mat"))
    assert (network.name, network.graph.edge_count) == ("small", 2)
    assert network.anomalous.tolist() == [False, True, True]
    assert network.structural.tolist() == [False, True, False]
    assert network.contextual.tolist() == [False, False, True]


def test_a_mat_file_without_a_network_says_what_it_holds(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "other.mat", {"weather": [1.0]})
    with pytest.raises(DataFolderError, match=r"it holds \['weather'\]"):
        read_mat(tmp_path / "other.mat")
    (tmp_path / "text.mat").write_text("hello")
    with pytest.raises(DataFolderError, match="cannot be read"):
        read_mat(tmp_path / "text.mat")


@pytest.mark.data
@needs_data
def test_networks_come_with_labels_kinds_and_directions() -> None:
    amazon = load_network("hcm_amazon")
    assert (amazon.graph.node_count, amazon.graph.edge_count, int(amazon.anomalous.sum())) == (1418, 3695, 28)
    assert amazon.directed_edges.shape == (2, 3695)
    assert (amazon.directed_edges[0] > amazon.directed_edges[1]).any()
    cora = load_network("cora_cola_injected")
    assert ((cora.structural | cora.contextual) == cora.anomalous).all()
    assert load_network("cora").anomalous is None
    with pytest.raises(DataFolderError, match="no attributes"):
        load_network("acm_structure_only")


@pytest.mark.parametrize(
    "parts",
    [
        {"Network": "a", "Attributes": "b"},
        {"Network": np.ones((2, 3)), "Attributes": np.eye(3)},
        {"Network": np.array([["a"], [1]], dtype=object), "Attributes": np.eye(3)},
    ],
)
def test_a_mat_file_that_holds_no_network_is_refused(tmp_path: Path, parts: dict) -> None:
    scipy.io.savemat(tmp_path / "x.mat", parts)
    with pytest.raises((DataFolderError, GraphError)):
        read_mat(tmp_path / "x.mat")


def test_a_mat_file_whose_numbers_lead_astray_is_refused(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "x.mat", {"Network": sp.csc_array(np.eye(3)[::-1]), "Attributes": np.eye(3)})
    content = (tmp_path / "x.mat").read_bytes()
    rows = np.array([2, 1, 0], dtype=np.int32).tobytes()
    assert content.count(rows) == 1
    (tmp_path / "x.mat").write_bytes(content.replace(rows, np.array([2, 10**6, 0], dtype=np.int32).tobytes()))
    with pytest.raises(DataFolderError, match="cannot be read as a MATLAB file"):
        read_mat(tmp_path / "x.mat")


def test_a_file_that_is_no_mat_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.mat").write_bytes(b"\x80\x04\x95" + bytes(range(200)))
    with pytest.raises(DataFolderError, match="cannot be read as a MATLAB file"):
        read_mat(tmp_path / "x.mat")


def test_classes_of_nodes_are_not_taken_for_anomalies(tmp_path: Path) -> None:
    parts = {"homo": sp.csc_array(np.eye(3)[::-1]), "features": np.eye(3)}
    scipy.io.savemat(tmp_path / "classes.mat", parts | {"label": [[1], [2], [3]]})
    assert read_mat(tmp_path / "classes.mat").anomalous is None
    scipy.io.savemat(tmp_path / "known.mat", parts | {"label": [[0], [1], [0]]})
    assert read_mat(tmp_path / "known.mat").anomalous.tolist() == [False, True, False]
