"""The excerpt and the chains: what training sees is gathered from the partitions, and each chain is one task."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from oddhop.base.arrays import Floats, Ints
from oddhop.hcm.chains import Plan, Posterior, run_chain
from oddhop.hcm.convolution import Convolution
from oddhop.hcm.hop_pairs import HopPairs
from oddhop.hcm.model import Inputs, Shape
from oddhop.hcm.subgraph import Neighbours, TrainingSubgraph, drawn_neighbours, enough_neighbours, gather_excerpt
from oddhop.partitions.task import Task, TaskRunner

STAGE, TRAINING = "gathering", "training"
WIRING = ("indptr", "indices", "weights", "stand_for")
PAIRS = ("left", "right", "starts", "class_sizes")


def gather(work: Task, pairs: HopPairs, runner: TaskRunner) -> None:
    """Gather what a model sees of the pairs, and write it where the chains will read it."""
    settings = work.settings
    rounds = count()

    def draw(rows: Ints, most: int) -> Neighbours:
        name = f"drawn_{next(rounds)}"
        _ask(work, f"{name}_rows", rows)
        runner.each(STAGE, partial(_draw, work, name, most), work.partitions, 0, 2)
        degrees, drawn = _joined(work, f"{name}_degrees"), _joined(work, f"{name}_nodes")
        return Neighbours(degrees, np.minimum(degrees, most), drawn)

    def look(nodes: Ints) -> tuple[Floats, torch.Tensor]:
        _ask(work, "seen", nodes)
        runner.each(STAGE, partial(_look, work), work.partitions, 1, 2)
        return _joined(work, "seen_weights"), torch.from_numpy(_joined(work, "seen_convolved"))

    if work.run.load("excerpt") is None:
        most = settings.neighbours
        if most is None:
            nodes, at_once = work.stored.manifest.nodes, settings.pairs_per_step
            most = enough_neighbours(pairs, draw, nodes, layers=settings.layers, at_once=at_once)
        _write(work, gather_excerpt(pairs, draw, look, layers=settings.layers, neighbours=most))
        work.run.save("excerpt", {}, {})


def run_chains(work: Task, plan: Plan, shape: Shape, runner: TaskRunner) -> Posterior:
    """Run every chain as a task of its own."""
    finished = runner.each(TRAINING, partial(_run_chain, work, plan, shape), range(plan.chains))
    return Posterior(
        weights=np.stack([kept for kept, _ in finished]),
        shape=shape,
        losses=np.array([loss for _, loss in finished]),
    )


def _run_chain(work: Task, plan: Plan, shape: Shape, number: int) -> tuple[Floats, float]:
    excerpt = {name: work.read(f"excerpt_{name}", 0) for name in (*WIRING, *PAIRS, "convolved")}
    left, right, starts, sizes = (excerpt[name] for name in PAIRS)
    pairs = HopPairs(left, right, starts, sizes, exact=True)
    # Read into memory: a chain goes over it again and again.
    inputs = Inputs(Convolution(*(excerpt[name] for name in WIRING)), torch.from_numpy(excerpt["convolved"].copy()))
    chain = run_chain(number, plan, shape, inputs, pairs, work.run, lambda _: None)
    return chain.kept.numpy(), chain.loss


def _write(work: Task, excerpt: TrainingSubgraph) -> None:
    for name in WIRING:
        work.write(f"excerpt_{name}", 0, getattr(excerpt.inputs.convolution, name))
    for name in PAIRS:
        work.write(f"excerpt_{name}", 0, getattr(excerpt.pairs, name))
    work.write("excerpt_convolved", 0, excerpt.inputs.convolved.numpy())


def _ask(work: Task, name: str, nodes: Ints) -> None:
    """Write nodes, which ascend, for the partitions that they are in: too many to travel with the tasks."""
    for number, some in enumerate(np.split(nodes, np.searchsorted(nodes, work.bounds[1:-1]))):
        work.write(name, number, some)


def _joined(work: Task, name: str) -> npt.NDArray[Any]:
    return np.concatenate([work.read(name, number) for number in work.partitions])


def _draw(work: Task, name: str, count: int, number: int) -> None:
    if work.has(f"{name}_nodes", number):
        return
    part, nodes = work.stored.partition(number), work.read(f"{name}_rows", number)
    found = drawn_neighbours(part.indptr, part.indices, nodes - part.start, nodes, count, work.seed)
    work.write(f"{name}_degrees", number, found.degrees)
    work.write(f"{name}_nodes", number, found.drawn)


def _look(work: Task, number: int) -> None:
    if work.has("seen_convolved", number):
        return
    local = work.read("seen", number) - work.bounds[number]
    work.write("seen_weights", number, work.read("weights", number)[local])
    work.write("seen_convolved", number, work.read("convolved", number)[local])
