"""Networks of PyTorch Geometric."""

import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch

from oddhop import Graph
from oddhop.errors import GraphError

with warnings.catch_warnings():  # importing it warns of its own use of torch
    warnings.simplefilter("ignore")
    from torch_geometric.data import Data


def test_from_pyg_reads_real_data_and_leaves_it_alone():
    data = Data(
        x=torch.tensor([[1.0, 0.0], [0.5, 2.0], [3.0, 1.0]], requires_grad=True),
        edge_index=torch.tensor([[0, 1, 2], [1, 2, 2]]),
        y=torch.zeros(3),
    )
    graph = Graph.from_pyg(data)
    assert graph.fingerprint == Graph.from_arrays([[0, 1], [1, 2]], data.x.detach().numpy()).fingerprint
    assert graph.attributes.dtype == np.float32
    assert graph.repairs.loops == 1
    assert data.x.requires_grad
    assert data.edge_index.tolist() == [[0, 1, 2], [1, 2, 2]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(edge_index=torch.tensor([[0], [1]])), "has x missing and edge_index present; give data that has both"),
        (Data(x=torch.ones(2, 1)), "has x present and edge_index missing"),
    ],
)
def test_from_pyg_says_which_part_is_missing(data, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_pyg(data)


def test_from_pyg_takes_half_precision_of_either_kind():
    for dtype in (torch.bfloat16, torch.float16):
        graph = Graph.from_pyg(Data(x=torch.ones(2, 1, dtype=dtype), edge_index=torch.tensor([[0], [1]])))
        assert graph.attributes.dtype == np.float32
        assert graph.attributes.tolist() == [[1.0], [1.0]]
