"""The method of the HCM paper a second time, written from the paper and nothing else.

Dense float64 matrices and networkx, no kernels, no sparse tricks and no import of oddhop: slow, and short enough to be
read against the paper line by line. Where the paper leaves a choice, this follows the project's table of decisions.

Edges are rows (low, high) of an integer array, each undirected edge once. Hop classes are the numbers 1..C as in the
paper, the last of which means "C or farther". Where edges have a direction, arcs are rows (from, to), and the reading
is the paper's remark: no absolute value, and hops along the arcs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx as nx
import numpy as np


def same_edges_once(pairs: np.ndarray) -> np.ndarray:
    """Every undirected edge once, as (low, high), in order, without self loops."""
    kept = {(min(a, b), max(a, b)) for a, b in np.asarray(pairs).tolist() if a != b}
    return np.array(sorted(kept), dtype=np.int64).reshape(-1, 2)


def adjacency_of(edges: np.ndarray, nodes: int) -> np.ndarray:
    adjacency = np.zeros((nodes, nodes))
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = 1.0
    return adjacency


# --- Purify --------------------------------------------------------------------------------------------------------


def is_binary(attributes: np.ndarray) -> bool:
    return bool(np.isin(attributes, (0, 1)).all() and (attributes == 1).any())


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    either = np.sum((one == 1) | (other == 1))
    both = np.sum((one == 1) & (other == 1))
    return float(both / either) if either else 0.0


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    lengths = math.sqrt(float(one @ one)) * math.sqrt(float(other @ other))
    return float(one @ other) / lengths if lengths else 0.0


def edge_similarity(attributes: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Similarity of the two ends of every edge.

    Rounded to float32, because values that are equal on paper differ in the last bits of float64, and the rule for
    ties must see them as ties.
    """
    rows = np.asarray(attributes, dtype=np.float64)
    measure = jaccard if is_binary(rows) else cosine
    return np.array([measure(rows[a], rows[b]) for a, b in edges], dtype=np.float32)


@dataclass(frozen=True)
class Verdict:
    """What purifying must do; which of the ``tied`` edges go is left to the seeded hash."""

    kept: set[tuple[int, int]]
    dropped: set[tuple[int, int]]
    tied: set[tuple[int, int]]
    tied_to_drop: int


def judge_edges(attributes: np.ndarray, edges: np.ndarray, drop_ratio: float) -> Verdict:
    """Drop floor(R x edges), the least similar first."""
    named = [(int(a), int(b)) for a, b in edges]
    count = math.floor(drop_ratio * len(named) + 1e-9)
    if count == 0:
        return Verdict(set(named), set(), set(), 0)
    similarity = edge_similarity(attributes, edges)
    threshold = np.sort(similarity)[count - 1]
    below = {edge for edge, value in zip(named, similarity, strict=True) if value < threshold}
    level = {edge for edge, value in zip(named, similarity, strict=True) if value == threshold}
    left_to_drop = count - len(below)
    if left_to_drop == len(level):
        return Verdict(set(named) - below - level, below | level, set(), 0)
    return Verdict(set(named) - below - level, below, level, left_to_drop)


# --- Hop labels ----------------------------------------------------------------------------------------------------


def hop_classes(edges: np.ndarray, nodes: int, classes: int, *, directed: bool = False) -> np.ndarray:
    """The class of every pair of nodes as an n x n matrix; 0 on the diagonal, C where there is no path at all."""
    network = nx.DiGraph() if directed else nx.Graph()
    network.add_nodes_from(range(nodes))
    network.add_edges_from((int(a), int(b)) for a, b in edges)
    table = np.full((nodes, nodes), classes, dtype=np.int64)
    for source, lengths in nx.all_pairs_shortest_path_length(network):
        for target, length in lengths.items():
            table[source, target] = min(length, classes)
    return table


# --- Model ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Weights:
    """One set of weights: a matrix for every layer of the GCN, then the two layers of the hop head."""

    layers: tuple[np.ndarray, ...]
    head_in: np.ndarray
    head_in_bias: np.ndarray
    head_out: np.ndarray
    head_out_bias: np.ndarray


def relu(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(values, 0.0))


def convolution(edges: np.ndarray, nodes: int) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2, D being the row sums of A + I."""
    with_loops = adjacency_of(edges, nodes) + np.eye(nodes)
    root = np.diag(1.0 / np.sqrt(with_loops.sum(axis=1)))
    return root @ with_loops @ root


def embed(smooth: np.ndarray, attributes: np.ndarray, weights: Weights) -> np.ndarray:
    """The representation Z: ReLU between the layers, none after the last."""
    hidden = np.asarray(attributes, dtype=np.float64)
    for depth, matrix in enumerate(weights.layers, start=1):
        hidden = smooth @ hidden @ matrix
        if depth < len(weights.layers):
            hidden = relu(hidden)
    return hidden


def log_chances(embedding: np.ndarray, pairs: np.ndarray, weights: Weights, *, directed: bool = False) -> np.ndarray:
    """Logarithm of the softmax over the C classes, one row for every pair."""
    difference = embedding[pairs[:, 0]] - embedding[pairs[:, 1]]
    difference = difference if directed else np.abs(difference)
    scores = relu(difference @ weights.head_in + weights.head_in_bias) @ weights.head_out + weights.head_out_bias
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def cross_entropy(
    smooth: np.ndarray,
    attributes: np.ndarray,
    weights: Weights,
    pairs: np.ndarray,
    hops: np.ndarray,
    *,
    directed: bool = False,
) -> float:
    """Mean loss over the pairs; ``hops`` are classes 1..C."""
    chances = log_chances(embed(smooth, attributes, weights), pairs, weights, directed=directed)
    return float(-np.mean([row[hop - 1] for row, hop in zip(chances, hops, strict=True)]))


def expected_hops(
    smooth: np.ndarray, attributes: np.ndarray, weights: Weights, pairs: np.ndarray, *, directed: bool = False
) -> np.ndarray:
    """Mean of the predicted distribution over 1..C, the last class counting as C."""
    chances = np.exp(log_chances(embed(smooth, attributes, weights), pairs, weights, directed=directed))
    return np.asarray(chances @ np.arange(1, chances.shape[1] + 1))


# --- Scores --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeScores:
    ahp: np.ndarray
    iv: np.ndarray
    hav: np.ndarray


def mean_over_neighbours(edge_values: np.ndarray, edges: np.ndarray, nodes: int) -> np.ndarray:
    """Mean of a value over each node's edges; 0 for a node that has none."""
    seen: list[list[float]] = [[] for _ in range(nodes)]
    for (a, b), value in zip(edges, edge_values, strict=True):
        seen[a].append(value)
        seen[b].append(value)
    return np.array([math.fsum(values) / len(values) if values else 0.0 for values in seen])


def share_of_largest(values: np.ndarray) -> np.ndarray:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else np.zeros_like(values)


def hops_along(edges: np.ndarray, arcs: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """The value of every edge: that of its arc, or the mean of its two."""
    of_arc = {(int(a), int(b)): float(value) for (a, b), value in zip(arcs, hops, strict=True)}
    return np.array(
        [np.mean([of_arc[way] for way in ((int(a), int(b)), (int(b), int(a))) if way in of_arc]) for a, b in edges]
    )


def score_nodes(
    attributes: np.ndarray, edges: np.ndarray, samples: list[Weights], *, arcs: np.ndarray | None = None
) -> NodeScores:
    """AHP, IV and HAV from posterior samples of the weights, whichever chains they come from."""
    nodes = len(attributes)
    smooth = convolution(edges, nodes)
    if arcs is None:
        hops = np.array([expected_hops(smooth, attributes, weights, edges) for weights in samples])
    else:
        predicted = [expected_hops(smooth, attributes, weights, arcs, directed=True) for weights in samples]
        hops = np.array([hops_along(edges, arcs, values) for values in predicted])
    # Counted from the first sample, so that samples which never differ have a variance of 0 and not of rounding.
    mean = hops[0] + (hops - hops[0]).mean(axis=0)
    variance = ((hops - mean) ** 2).mean(axis=0)
    ahp = mean_over_neighbours(mean, edges, nodes)
    iv = mean_over_neighbours(variance, edges, nodes)
    return NodeScores(ahp, iv, share_of_largest(ahp) + share_of_largest(iv))
