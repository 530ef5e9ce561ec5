"""Feedback: a detector that re-ranks nodes by what an analyst answered."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.exceptions import NotFittedError

from oddhop.base.arrays import Bools, Floats, Ints
from oddhop.base.files import Arrays, pack_arrays, unpack_arrays, write_atomically
from oddhop.base.parallel import available_workers
from oddhop.base.randomness import mixed_pairs
from oddhop.detector.base import GraphDetector
from oddhop.detector.registry import load as load_detector
from oddhop.errors import AnswersError, GraphError, ModelFileError
from oddhop.feedback.answers import Answers, as_answers
from oddhop.feedback.explain import LearnedExplanation, Question, like
from oddhop.feedback.learner import BACKGROUND, Learned, Rows, learn, places
from oddhop.tables.network import Network, as_network

KIND, SCHEMA, NO_HIT_AFTER = "feedback", 1, 30
PLACE = "label-free place"
LOOK_ALIKE, SOUGHT_AMONG = 0.6, 200


@dataclass(frozen=True, eq=False)
class Memory:
    """Answered nodes and random ones, with their features: all that is learned from, and what a file holds.

    ``ids`` are in their order, and ``answers`` belong to them. ``x`` has a row for each, and ``background`` some more
    of nodes whose ids are in ``others``.
    """

    names: tuple[str, ...]
    ids: tuple[Any, ...]
    answers: Floats
    x: Floats
    others: tuple[Any, ...]
    background: Floats

    @property
    def rows(self) -> Rows:
        """What is learned from: unsure answers teach nothing, and an answered node is no random one."""
        sure = ~np.isnan(self.answers)
        answered = {name for name, known in zip(self.ids, sure.tolist(), strict=True) if known}
        free = np.array([name not in answered for name in self.others], dtype=bool)
        return Rows(self.x[sure], self.answers[sure], self.background[free])


class Feedback:
    """Re-rank the nodes of a network by an analyst's answers; without any it is the detector's own ranking.

    Parameters
    ----------
    detector : a detector, fitted or not; it is fitted where ``fit`` is given another network than its own.
    seed : of the trees.

    Attributes
    ----------
    result_ : a table like the detector's with ``score`` and ``rank`` learned, and ``rank_label_free`` beside it. From
        the first "harmless" on, ``score`` is a figure between 0 and 1 that orders nodes; it is no tested probability.
    learned_ : what was learned; None as long as the label-free order stands.

    Examples
    --------
    >>> import numpy as np
    >>> from oddhop import Graph, Odd
    >>> from oddhop.feedback import Feedback
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_arrays(rng.integers(0, 60, (2, 200)), rng.normal(size=(60, 3)))
    >>> first = Feedback(Odd(random_state=0)).fit(graph).next_questions(1)[0]
    >>> first.rank_label_free
    1
    >>> learned = Feedback(Odd(random_state=0)).fit(graph, {first.id: 0})
    >>> learned.next_questions(1)[0].id != first.id
    True
    """

    _x: Floats
    _names: tuple[str, ...]
    _label_free: pa.Table

    def __init__(self, detector: GraphDetector, *, seed: int = 0) -> None:
        self.detector = detector
        self.seed = seed
        self.memory_: Memory | None = None
        self.learned_: Learned | None = None

    def fit(self, network: Any, answers: Any = None, *, nodes: Any = None, result: pa.Table | None = None) -> Self:
        """Learn from answers about the nodes of a network.

        Parameters
        ----------
        network, nodes : as a detector takes them.
        answers : all answers so far, see :func:`oddhop.feedback.as_answers`. One about a node that is not in
            the network counts where its features are known from an earlier fit or from the file it was loaded from.
        result : the table in which the detector, which is fitted, ranks this network; with it a detector that was
            loaded from a model file is not fitted again.
        """
        taken = as_network(network, nodes)
        told = as_answers({} if answers is None else answers)
        if result is None and getattr(self.detector, "network_", None) is not taken:
            known = "model_" in vars(self.detector) and self.detector.model_.fingerprint == taken.graph.fingerprint
            if not known or "result_" not in vars(self.detector):
                self.detector.fit(taken)
        result = self.detector.result_ if result is None else result
        if getattr(self, "network_", None) is taken and self._label_free is result:
            x, names = self._x, self._names  # more answers about the same network: its features are the same
        else:
            result, x, names = self._seen(taken, result)
        self.network_ = taken
        self.memory_ = self._remember(taken, told, x, names)
        self.learned_ = learn(self.memory_.rows, seed=self.seed)
        self._x, self._names, self._label_free = x, names, result
        self.result_ = self._ranked(taken, result, x)
        return self

    def rank(self, network: Any = None, *, nodes: Any = None) -> pa.Table:
        """Rank a network, this one or a later one with the same attributes; return a table like ``result_``."""
        self._check()
        if network is None:
            self._check_network()
            return self.result_
        taken = as_network(network, nodes)
        result, x, names = self._seen(taken, self.detector.rank(taken))
        if self.memory_ is not None and self.memory_.names != names:
            raise GraphError("the network has other features than the one that answers were given for", "fit again")
        return self._ranked(taken, result, x)

    def next_questions(self, n: int = 1, *, exclude: Iterable[Any] = ()) -> list[Question]:
        """Return the nodes to be asked about next, the first one first; none that was answered or is excluded."""
        self._check_network()
        order = self._next(n, exclude)
        if self.learned_ is None:
            chance = np.full(order.size, np.nan)
        else:
            chance = 1 / (1 + np.exp(-self.learned_.score(self._x[order])))
        rank = np.empty(self._order.size, dtype=np.int64)
        rank[self._order] = np.arange(1, rank.size + 1)
        return [
            Question(
                id=self.network_.judged_ids[int(node)].as_py(),
                why=self._why(int(node)),
                rank=int(rank[node]),
                rank_label_free=int(self._static_rank[node]),
                figure=None if np.isnan(one) else float(one),
            )
            for node, one in zip(order, chance, strict=True)
        ]

    def explain(self, id: Any) -> LearnedExplanation:  # noqa: A002 - as the column is called
        """Return why a node is where it is: what the answers say, and the detector's own explanation."""
        self._check_network()
        node = int(self._numbers([id])[0])
        return LearnedExplanation(self.detector.explain(id, self.network_, result=self._label_free), self._why(node))

    def look_alikes(self, id: Any, n: int = 10, *, least: float = LOOK_ALIKE) -> list[Any]:  # noqa: A002
        """Return nodes that the answers hardly tell from this one, the most alike first.

        They end in the same leaf in at least ``least`` of the trees, and are sought among the next questions. While
        half of these do, the answers tell hardly any node from another, and there are none.
        """
        self._check_network()
        if self.learned_ is None or self.learned_.forest is None:
            return []
        asked = self._next(SOUGHT_AMONG, [id])
        leaves = self.learned_.forest.leaves(self._x[np.concatenate([self._numbers([id]), asked])])
        alike = (leaves[1:] == leaves[0]).mean(axis=1)
        if 2 * np.count_nonzero(alike >= least) >= alike.size:
            return []
        order = np.argsort(-alike, kind="stable")[:n]
        return [self.network_.judged_ids[int(asked[k])].as_py() for k in order.tolist() if alike[k] >= least]

    @property
    def notice(self) -> str | None:
        """Return what to know before going on, such as thirty answers without a hit; None where there is nothing."""
        answers = self._memory.answers
        harmless, hits = int(np.sum(answers == 0)), int(np.sum(answers == 1))
        if hits or harmless < NO_HIT_AFTER:
            return None
        return (
            f"{harmless} answers and no hit: the order may not lead to what you look for. Ask about a random sample, "
            "give other columns, or judge another kind of node; the label-free ranking is still beside this one."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers, the features of the answered nodes and the detector's model to one file, without code."""
        self._check()
        memory = self._memory
        with tempfile.TemporaryDirectory() as folder:
            inner = Path(folder) / "model"
            self.detector.save(inner)
            content = np.frombuffer(inner.read_bytes(), dtype=np.uint8)
        arrays: Arrays = {
            "detector": content, "answers": memory.answers, "x": memory.x, "background": memory.background,
        }  # fmt: skip
        ids, others = list(memory.ids), list(memory.others)
        info = {"kind": KIND, "schema": SCHEMA, "seed": self.seed, "names": memory.names, "ids": ids, "others": others}
        write_atomically(Path(path), pack_arrays(arrays, info))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote. It ranks networks; ``fit`` takes more answers."""
        try:
            arrays, info = unpack_arrays(Path(path).read_bytes(), str(path))
            if info["kind"] != KIND or info["schema"] != SCHEMA:
                raise ValueError(f"it holds {info['kind']!r} of schema {info['schema']!r}")
            with tempfile.TemporaryDirectory() as folder:
                inner = Path(folder) / "model"
                inner.write_bytes(arrays["detector"].tobytes())
                found = cls(load_detector(inner), seed=int(info["seed"]))
            names, ids, others = (tuple(info[name]) for name in ("names", "ids", "others"))
            memory = Memory(names, ids, arrays["answers"], arrays["x"], others, arrays["background"])
            if memory.x.shape != (len(ids), len(names)) or memory.background.shape != (len(others), len(names)):
                raise ValueError("its parts do not fit together")
            if (
                memory.answers.shape != (len(ids),)
                or not np.isin(memory.answers[~np.isnan(memory.answers)], (0, 1)).all()
            ):
                raise ValueError("its answers are not 1, 0 or unsure")
        except OSError as error:
            raise ModelFileError(f"{path} cannot be read: {error.strerror}", "give the path of a model file") from None
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} is no usable file of answers: {error}", "save it anew") from None
        found.memory_, found.learned_ = memory, learn(memory.rows, seed=found.seed)
        return found

    # What the above is made of.

    @property
    def _memory(self) -> Memory:
        if self.memory_ is None:
            raise NotFittedError("this Feedback is not fitted yet; call fit(network, answers)")
        return self.memory_

    def _check(self) -> None:
        _ = self._memory

    def _next(self, n: int, exclude: Iterable[Any]) -> Ints:
        """Give the places of the nodes to be asked about next."""
        left = self._judged.copy()
        left[self._numbers([*self._memory.ids, *exclude])] = False
        among = np.flatnonzero(left)
        if self.learned_ is None:
            return among[np.argsort(self._static_rank[among], kind="stable")][:n]
        return self.learned_.head(self._x, among, n, workers=available_workers())

    def _check_network(self) -> None:
        self._check()
        if "result_" not in vars(self):
            raise NotFittedError(
                "this Feedback was loaded, and a file holds no network; call fit(network, answers), or rank(network)"
            )

    def _numbers(self, ids: list[Any]) -> Ints:
        """Give the places of those ids among the judged nodes that are in the network; unknown ones are refused."""
        known = [one for one in ids if one not in self._away]
        if not known:
            return np.empty(0, dtype=np.int64)
        return np.asarray(self.network_.numbers(known) - self.network_.graph.judged.start)

    def _seen(self, network: Network, result: pa.Table) -> tuple[pa.Table, Floats, tuple[str, ...]]:
        """Give the label-free result, and the features in the order of the nodes with their place as the last."""
        table = self.detector.features(network)
        names = tuple(table.column_names[1:])
        x = np.empty((table.num_rows, len(names) + 1), dtype=np.float32)
        for column, name in enumerate(names):
            x[:, column] = table[name].to_numpy()
        order = network.numbers(result["id"]) - network.graph.judged.start
        if order.size != table.num_rows or np.bincount(order, minlength=order.size).max() > 1:
            raise GraphError("the result does not rank every node of the network once", "give the one made of it")
        score = np.empty(table.num_rows)
        score[order] = result["score"].to_numpy()
        x[:, -1] = places(score)
        return result, x, (*names, PLACE)

    def _remember(self, network: Network, told: Answers, x: Floats, names: tuple[str, ...]) -> Memory:
        # A view that is silent on one network and not on another has no features there: 0, as the view would say.
        earlier: dict[Any, Floats] = {}
        if self.memory_ is not None:
            known = {name: k for k, name in enumerate(self.memory_.names)}
            found = [
                self.memory_.x[:, known[name]] if name in known else np.zeros(len(self.memory_.ids)) for name in names
            ]
            aligned = np.column_stack(found).astype(np.float32)
            earlier = dict(zip(self.memory_.ids, aligned, strict=True))
        first, rows, ids, away = network.graph.judged.start, [], [], set()
        asked_about = told.ids.to_pylist()
        for name, number in zip(asked_about, _numbers_of(network, asked_about), strict=True):
            if not isinstance(number, GraphError):
                rows.append(x[number - first])
                ids.append(network.judged_ids[number - first].as_py())
            elif name in earlier:
                rows.append(earlier[name])
                ids.append(name)
                away.add(name)
            else:
                raise AnswersError(f"an answer is about a node there is not: {number.problem}", number.remedy)
        self._away = away
        keys, mixed = network.keys[network.graph.judged], np.empty(x.shape[0], dtype=np.uint64)
        mixed_pairs(keys, np.full(keys.size, self.seed, dtype=np.uint64), mixed)
        drawn = np.argsort(mixed, kind="stable")[:BACKGROUND]
        others = tuple(network.judged_ids.take(pa.array(drawn)).to_pylist())
        asked = np.array(rows, dtype=np.float32).reshape(len(rows), x.shape[1])
        return Memory(names, tuple(ids), told.values, asked, others, x[drawn])

    def _ranked(self, network: Network, result: pa.Table, x: Floats) -> pa.Table:
        order = network.numbers(result["id"]) - network.graph.judged.start
        rank_label_free, judged = result["rank"].to_numpy(), result["judged"].to_numpy(zero_copy_only=False)
        if network is getattr(self, "network_", None):
            self._judged: Bools = np.empty(order.size, dtype=bool)
            self._judged[order] = judged
            self._static_rank: Ints = np.empty(order.size, dtype=np.int64)
            self._static_rank[order] = rank_label_free
            self._order: Ints = order
        out = result.append_column("rank_label_free", pa.array(rank_label_free))
        if self.learned_ is None:
            return out
        logit = self.learned_.score(x, workers=available_workers())[order]
        # Equals keep the label-free order, and nodes that are not judged stay last.
        by = np.lexsort((rank_label_free, -logit, ~judged))
        if network is getattr(self, "network_", None):
            self._order = order[by]
        score = np.where(judged, 1 / (1 + np.exp(-logit)), 0.0)[by]
        ours = {"score": pa.array(score), "rank": pa.array(np.arange(1, order.size + 1))}
        stale = [name for name in ("rank_low", "rank_high", "top_probability", "flagged") if name in out.column_names]
        out = out.drop_columns(stale).take(pa.array(by))  # they are about the label-free ranking
        for name, values in ours.items():
            out = out.set_column(out.column_names.index(name), name, values)
        return out

    def _why(self, node: int) -> str:
        if self.learned_ is None:
            return (
                f"It is number {self._static_rank[node]:,} of the label-free ranking; no answer speaks against it yet."
            )
        return like(self._x[node], self._memory.x, self._memory.answers, self._memory, self.learned_)


def _numbers_of(network: Network, ids: list[Any]) -> list[int | GraphError]:
    """Give the number of each node, or why there is none; all are looked up at once where all are there."""
    if not ids:
        return []
    try:
        return network.numbers(ids).tolist()  # type: ignore[no-any-return]
    except GraphError as error:
        half = len(ids) // 2
        return [*_numbers_of(network, ids[:half]), *_numbers_of(network, ids[half:])] if half else [error]
