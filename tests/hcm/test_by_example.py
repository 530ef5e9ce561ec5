"""Functions that one example each shows."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from oddhop import Graph
from oddhop.detector.cost import Size
from oddhop.errors import GraphError
from oddhop.graph.kinds import NodeKinds
from oddhop.hcm.arrows import arrows
from oddhop.hcm.convolution import Convolution, product
from oddhop.hcm.cost import memory
from oddhop.hcm.diagnostics import ties
from oddhop.hcm.model import HopModel, Shape, device_of
from oddhop.hcm.purify import check_one_kind
from oddhop.hcm.sampler import SGLD, Rule
from oddhop.hcm.settings import HCMSettings, replicate_count


def test_arrows_say_which_way_events_go() -> None:
    graph = Graph.from_arrays([[0, 2, 1, 0], [1, 1, 0, 2]], [[0.0], [1.0], [2.0]], directed=True)
    assert arrows(graph).tolist() == [3, 1, 2]


def test_a_block_has_a_node_and_its_neighbours() -> None:
    path = Convolution.of(Graph.from_arrays([[0, 1], [1, 2]], [[0.0], [1.0], [2.0]]), np.float64)
    nodes, block = path.block(np.array([0]))
    assert nodes.tolist() == [0, 1]
    found = product(block, torch.tensor([[2.0], [4.0]], dtype=torch.float64))
    assert found.round(decimals=3).item() == 2.633


def test_a_million_nodes_are_fitted_in_six_gibibytes() -> None:
    assert max(memory(Size(1_000_000, 10_000_000, 20), HCMSettings(), workers=2).memory.values()) < 6 * 2**30


def test_several_kinds_are_refused_with_the_way_out() -> None:
    with pytest.raises(GraphError, match="one kind of node, got 2: account, device; use Odd, or give an edge table"):
        check_one_kind(NodeKinds(("account", "device"), (0, 3, 5), (0, 1), judged=0))


def test_a_shape_knows_the_number_of_weights() -> None:
    assert Shape(attributes=20, hidden=128, layers=2, classes=4).size == 52996


def test_the_processor_is_always_there() -> None:
    assert device_of(HCMSettings()) == "cpu"


def test_a_model_gives_every_node_a_vector() -> None:
    shape = Shape(attributes=2, hidden=3, layers=1, classes=4)
    model = HopModel(shape, shape.start(torch.Generator().manual_seed(0), torch.float64))
    assert repr(model.vectors(torch.ones(5, 2, dtype=torch.float64), ()).shape) == "torch.Size([5, 3])"


def test_without_noise_a_step_is_half_the_gradient() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    sampler = SGLD([weight], Rule(step_size=0.5, burn_in=0, temperature=0.0, weight_decay=0.0))
    (weight**2).sum().backward()
    sampler.step(torch.Generator())
    assert weight.item() == 0.5


def test_a_single_chain_is_cut_into_equal_parts() -> None:
    assert [replicate_count(*of) for of in ((3, 10), (1, 12), (1, 10), (1, 7))] == [3, 4, 2, 7]


def test_there_are_as_many_rounds_as_steps_allow() -> None:
    assert HCMSettings().rounds(smallest=1_000, classes=4) == (4, 8, 16, 32)
    assert HCMSettings().rounds(smallest=100_000, classes=4) == (4, 8)


def test_many_ties_are_a_warning() -> None:
    assert [ties(100, tied).level for tied in (50, 80)] == ["fine", "warning"]
