"""A network as the learner sees it: the original ranking, and the features of every judged node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.randomness import mixed_pairs
from oddhop.detector.base import GraphDetector
from oddhop.errors import GraphError
from oddhop.feedback.learner import BACKGROUND, places
from oddhop.tables.network import Network

PLACE = "place in the original ranking"
ABOUT_ORIGINAL = ("rank_low", "rank_high", "top_probability", "flagged", "reasons")  # columns that learning drops


@dataclass(frozen=True, eq=False)
class Ranked:
    """A network, its original result and its features.

    Attributes
    ----------
    network, result : what was ranked, and the detector's table.
    names, x : the features of every judged node, float32; the last is the place.
    order : the judged nodes by original rank, the first one first.
    rank, judged : of every judged node, in the order of the nodes.
    drawn : some random nodes, the same ones whatever the order of the tables.
    """

    network: Network
    result: pa.Table
    names: tuple[str, ...]
    x: Floats
    order: Ints
    rank: Ints
    judged: Bools
    drawn: Ints

    def with_scores(self, score: Floats | None) -> pa.Table:
        """Return the result in the order of learned scores, with the original rank beside it."""
        before = self.result["rank"].to_numpy()
        out = self.result.append_column("rank_label_free", pa.array(before))
        if score is None:
            return out
        own, judged = score[self.order], self.judged[self.order]
        # Equals keep the original order, and nodes that are not judged stay last.
        by = np.lexsort((before, -own, ~judged))
        ours = {
            "score": pa.array(np.where(judged, 1 / (1 + np.exp(-own)), 0.0)[by]),
            "rank": pa.array(np.arange(1, by.size + 1)),
        }
        stale = [name for name in ABOUT_ORIGINAL if name in out.column_names]
        out = out.drop_columns(stale).take(pa.array(by))
        for name, values in ours.items():
            out = out.set_column(out.column_names.index(name), name, values)
        return out


def ranked_network(detector: GraphDetector, network: Network, result: pa.Table, *, seed: int = 0) -> Ranked:
    """Return a network with its original ranking and the detector's features; ``seed`` is that of the random nodes."""
    table = detector.features(network)
    names = tuple(table.column_names[1:])
    x = np.empty((table.num_rows, len(names) + 1), dtype=np.float32)
    for column, name in enumerate(names):
        x[:, column] = table[name].to_numpy()
    order = np.asarray(network.numbers(result["id"]) - network.graph.judged.start)
    if order.size != table.num_rows or np.bincount(order, minlength=order.size).max() > 1:
        raise GraphError(
            "the result does not rank every node of the network exactly once", "give the result of this network"
        )
    score, rank, judged = np.empty(order.size), np.empty(order.size, dtype=np.int64), np.empty(order.size, dtype=bool)
    score[order] = result["score"].to_numpy()
    rank[order] = result["rank"].to_numpy()
    judged[order] = result["judged"].to_numpy(zero_copy_only=False)
    x[:, -1] = places(score)
    keys, mixed = network.keys[network.graph.judged], np.empty(order.size, dtype=np.uint64)
    mixed_pairs(keys, np.full(keys.size, seed, dtype=np.uint64), mixed)
    drawn = np.argsort(mixed, kind="stable")[:BACKGROUND]
    return Ranked(network, result, (*names, PLACE), x, order, rank, judged, drawn)
