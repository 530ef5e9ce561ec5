"""One million nodes, ten million edges: memory and speed, as ratios to the bare kernels in one run.

    python -m benchmarks.scale ratios          # about three minutes
    python -m benchmarks.scale fit             # all stages with the default settings, about an hour
    python -m benchmarks.scale fit --burn-in 20 --samples 1 --thin 1    # the same memory, in minutes

Every ratio compares what oddhop does with the bare products or searches of the same shapes, at the
same number of threads, alternating between the two; figures are medians with the quartiles.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numba import njit

from benchmarks.synthetic import synthetic
from oddhop import HCM, Graph
from oddhop.base.parallel import single_threaded
from oddhop.base.randomness import START, STEP, generator, torch_generator
from oddhop.graph.adjacency import upper_edges
from oddhop.hcm.chains import Posterior
from oddhop.hcm.hop_pairs import draw_batch, sample_pairs
from oddhop.hcm.hop_search import search
from oddhop.hcm.material import Material
from oddhop.hcm.model import HopModel, Inputs, Shape, Step
from oddhop.hcm.purify import learn_attributes, purify
from oddhop.hcm.scoring import EDGES_AT_ONCE, score_nodes
from oddhop.hcm.settings import HCMSettings

HIDDEN, CLASSES, PAIRS = 128, 4, 2_048


def compared(ours: Callable[[], Any], bare: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Time both in turn; give the median ratio with its quartiles, and the median seconds."""
    ours(), bare()
    times = np.empty((repeats, 2))
    for k in range(repeats):
        for column, function in enumerate((ours, bare)):
            begin = time.perf_counter()
            function()
            times[k, column] = time.perf_counter() - begin
    ratio = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    seconds = np.median(times, axis=0)
    return {
        "ratio": round(ratio[1], 3),
        "quartiles": [round(ratio[0], 3), round(ratio[2], 3)],
        "ours_s": round(seconds[0], 4),
        "bare_s": round(seconds[1], 4),
    }


def torch_csr(matrix: sp.csr_array) -> torch.Tensor:
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data),
        size=matrix.shape,
        check_invariants=False,
    )


def normalised(graph: Graph) -> sp.csr_array:
    ones = np.ones(graph.indices.size, dtype=np.float32)
    a = sp.csr_array((ones, graph.indices, graph.indptr), shape=(graph.node_count,) * 2) + sp.eye_array(
        graph.node_count, dtype=np.float32
    )
    d = sp.diags_array((1 / np.sqrt(graph.degrees + 1)).astype(np.float32))
    return sp.csr_array(d @ a @ d)


def training(graph: Graph, inputs: Inputs, shape: Shape, pairs: Any, repeats: int) -> dict[str, Any]:
    """Against the products alone: on the very nodes that a step needs, and on the whole network."""
    weights = shape.start(torch_generator(0, START, 0), torch.float32)
    batch = draw_batch(pairs, PAIRS // CLASSES, generator(0, STEP, 0, 0))
    ends = np.unique(np.concatenate([batch.left, batch.right]))
    field, _ = inputs.convolution.block(ends)
    s = normalised(graph)
    part = sp.csr_array(s[ends][:, field])
    forward, backward, whole = torch_csr(part), torch_csr(sp.csr_array(part.T)), torch_csr(s)
    everything = torch.from_numpy(inputs.convolved)
    seen, model = everything[field], HopModel(shape, weights)
    w0, w1, v0, _, v1, _ = (part.detach() for part in model.weights)

    def ours() -> None:
        model.zero_grad()
        model.loss(Step.of(inputs, batch, shape.layers)).backward()

    def bare(x: torch.Tensor, there: torch.Tensor, back: torch.Tensor) -> None:
        h = x @ w0
        p = there @ h
        z = p @ w1
        gap = z[:1].expand(PAIRS, -1)
        units = gap @ v0
        g = units @ v1
        units.t() @ g
        g_units = g @ v1.t()
        gap.t() @ g_units
        g_units @ v0.t()
        p.t() @ z
        x.t() @ (back @ (z @ w1.t()))

    return {
        "nodes drawn": ends.size,
        "nodes needed": field.size,
        "same nodes": compared(ours, lambda: bare(seen, forward, backward), repeats),
        "whole network": compared(ours, lambda: bare(everything, whole, whole), max(3, repeats // 2)),
    }


@njit(cache=True)
def bare_search(indptr: Any, indices: Any, sources: Any, starts: Any, targets: Any) -> int:
    """Depth two from each source, and one step back from each of its targets: labels, nothing else."""
    mark = np.zeros(indptr.size - 1, dtype=np.uint8)
    queue = np.empty(indptr.size - 1, dtype=indices.dtype)
    ends = np.zeros(4, dtype=np.int64)
    touched = 0
    for k in range(sources.size):
        search(indptr, indices, sources[k], 2, mark, queue, ends)
        for t in targets[starts[k] : starts[k + 1]]:
            for place in range(indptr[t], indptr[t + 1]):
                if mark[indices[place]] == 3:
                    touched += 1
                    break
        mark[queue[: ends[2]]] = 0
    return touched


def hop_pairs(graph: Graph, repeats: int) -> dict[str, Any]:
    """Against the bare search that tells the labels of the very pairs that were drawn, from the same sources."""
    network = purify(graph, 0.2, seed=0)
    pairs = sample_pairs(network, CLASSES, pairs_per_class=2**19, max_sources=2**14, seed=0)
    last = slice(pairs.starts[2], pairs.starts[4])  # nearer pairs lie in the ball: no look-up
    order = np.argsort(pairs.left[last], kind="stable")
    sources = np.unique(pairs.left)
    starts = np.searchsorted(pairs.left[last][order], np.append(sources, graph.node_count))
    shuffled = np.random.default_rng(0).permutation(sources.size)  # no source is near the one before it
    begin, end = starts[:-1][shuffled], starts[1:][shuffled]
    right = pairs.right[last][order]
    targets = np.concatenate([right[a:b] for a, b in zip(begin, end, strict=True)])
    starts = np.concatenate([[0], np.cumsum(end - begin)])
    return compared(
        lambda: sample_pairs(network, CLASSES, pairs_per_class=2**19, max_sources=2**14, seed=0),
        lambda: bare_search(network.indptr, network.indices, sources[shuffled], starts, targets),
        repeats,
    )


def scoring(graph: Graph, inputs: Inputs, shape: Shape, repeats: int) -> dict[str, Any]:
    weights = shape.start(torch_generator(0, START, 0), torch.float32)
    s = torch_csr(normalised(graph))
    w0, w1, v0, _, v1, _ = (part.detach() for part in HopModel(shape, weights).weights)
    everything = torch.from_numpy(inputs.convolved)
    posterior = Posterior(weights.numpy()[None, None], shape, np.zeros(1))
    left, right = upper_edges(graph.indptr, graph.indices, graph.upper, 0, graph.edge_count)
    left_t, right_t = torch.from_numpy(left).long(), torch.from_numpy(right).long()

    def ours() -> None:
        score_nodes(posterior, Material(graph, inputs))

    def bare() -> None:
        z = (s @ torch.relu(everything @ w0)) @ w1
        for a in range(0, graph.edge_count, EDGES_AT_ONCE):
            gap = z[left_t[a : a + EDGES_AT_ONCE]] - z[right_t[a : a + EDGES_AT_ONCE]]
            (gap @ v0) @ v1

    return compared(ours, bare, repeats)


def ratios(args: argparse.Namespace) -> None:
    graph = synthetic(args.nodes, args.edges, args.attributes)
    prepared = learn_attributes(graph, HCMSettings()).apply(graph, np.float32)
    shape = Shape(args.attributes, HIDDEN, 2, CLASSES)
    inputs = Inputs.of(prepared, np.float32)
    network = purify(prepared, 0.2, seed=0)
    pairs = sample_pairs(network, CLASSES, pairs_per_class=2**19, max_sources=2**14, seed=0)
    print(graph, "class sizes", pairs.class_sizes.round().tolist(), flush=True)
    with single_threaded():
        print("training step", json.dumps(training(prepared, inputs, shape, pairs, args.repeats)), flush=True)
        print("hop pairs", json.dumps(hop_pairs(prepared, args.repeats)), flush=True)
        print("scoring a sample", json.dumps(scoring(prepared, inputs, shape, 3)), flush=True)


def fit(args: argparse.Namespace) -> None:
    graph = synthetic(args.nodes, args.edges, args.attributes)
    built = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, seen = time.perf_counter(), {}

    def progress(stage: str, done: int, total: int) -> None:
        if stage not in seen or done == total:
            seen[stage] = True
            print(f"{time.perf_counter() - begin:8.1f} s  {stage} {done}/{total}", flush=True)

    detector = HCM(burn_in=args.burn_in, samples=args.samples, thin=args.thin, random_state=0)
    detector.fit(graph, progress=progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{graph}: built at {built / 2**20:.2f} GiB, peak {peak / 2**20:.2f} GiB, "
        f"{time.perf_counter() - begin:.0f} s, {detector.diagnostics_}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["ratios", "fit"])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_200_000)
    parser.add_argument("--attributes", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--burn-in", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--thin", type=int, default=10)
    args = parser.parse_args()
    {"ratios": ratios, "fit": fit}[args.what](args)


if __name__ == "__main__":
    main()
