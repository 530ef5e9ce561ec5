"""Feedback: a detector that re-ranks nodes by what an analyst answered."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats, Ints
from oddhop.base.html import facts, panel, sentences, table
from oddhop.base.parallel import available_workers
from oddhop.base.temporary import temporary_folder
from oddhop.detector.base import GraphDetector
from oddhop.detector.estimator import not_fitted
from oddhop.detector.frames import AsFrames
from oddhop.detector.registry import load as load_detector
from oddhop.errors import GraphError
from oddhop.feedback.answers import as_answers
from oddhop.feedback.explain import LearnedExplanation, Question, like
from oddhop.feedback.learner import Learned, highest, learn
from oddhop.feedback.memory import Memory, read_memory, remember, write_memory
from oddhop.feedback.ranked import Ranked, ranked_network
from oddhop.tables.network import Network, as_network

NO_HIT_AFTER, FEW_HITS = 30, 5
LOOK_ALIKE, SOUGHT_AMONG = 0.6, 200
SHOWN = 10


class Feedback(AsFrames):
    """Re-rank the nodes of a network by an analyst's answers; without any it is the detector's own ranking.

    Parameters
    ----------
    detector : a detector, fitted or not; it is fitted where ``fit`` is given another network than its own.
    seed : of the trees.

    Attributes
    ----------
    result_ : a table like the detector's with ``score`` and ``rank`` learned, and ``rank_label_free`` beside it. From
        the first "harmless" on, ``score`` is a figure between 0 and 1 that orders nodes; it is no tested probability.
    learned_ : what was learned; None as long as the original order stands.

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

    def __init__(self, detector: GraphDetector, *, seed: int = 0) -> None:
        self.detector = detector
        self.seed = seed
        self.memory_: Memory | None = None
        self.learned_: Learned | None = None
        self._ranked: Ranked | None = None
        self._score: Floats | None = None
        self._result: pa.Table | None = None

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
        if result is None:
            result = self._fitted_result(taken)
        ranked = self._ranked
        if ranked is None or ranked.network is not taken or ranked.result is not result:
            # Else there are more answers about the same network.
            ranked = ranked_network(self.detector, taken, result, seed=self.seed)
        self.memory_ = remember(ranked, told, self.memory_)
        self.learned_ = learn(self.memory_.rows, seed=self.seed)
        self._ranked, self._result = ranked, None
        self._score = None if self.learned_ is None else self.learned_.score(ranked.x, workers=available_workers())
        return self

    @property
    def network_(self) -> Network:
        """Return the network that was fitted."""
        return self._fitted.network

    @property
    def result_(self) -> pa.Table:
        """Return the ranked table of the fitted network; it is computed at the first access."""
        ranked = self._fitted
        if self._result is None:
            self._result = ranked.with_scores(self._score)
        return self._result

    def _result_with_kept(self) -> pa.Table:
        return self.network_.with_kept(self.result_)

    def _repr_html_(self) -> str:
        name = type(self).__name__
        if self.memory_ is None:
            return panel(name, sentences(["No network yet. Call fit(network, answers)."]))
        answers = self._memory.answers
        counts = [("confirmed", int(np.sum(answers == 1))), ("cleared", int(np.sum(answers == 0)))]
        told = facts(counts), sentences([] if self.notice is None else [self.notice])
        if self._ranked is None:
            return panel(name, *told, sentences(["Loaded from a file. Call rank(network) or fit(network, answers)."]))
        first = self.result_.slice(0, SHOWN).to_pylist()
        rows = [(row["rank"], str(row["id"]), row["score"], row["rank_label_free"]) for row in first]
        names = ("rank", "id", "score", "original rank")
        return panel(name, *told, table(names, rows, count=self.result_.num_rows))

    def rank(self, network: Any = None, *, nodes: Any = None) -> pa.Table:
        """Rank a network, this one or a later one with the same attributes; return a table like ``result_``."""
        memory = self._memory
        if network is None:
            return self.result_
        taken = self.detector.read(network, nodes)
        ranked = ranked_network(self.detector, taken, self.detector.rank(taken), seed=self.seed)
        if memory.names != ranked.names:
            raise GraphError("the network has other features than the one of the answers", "call fit again")
        learned = self.learned_
        return ranked.with_scores(None if learned is None else learned.score(ranked.x, workers=available_workers()))

    def next_questions(self, n: int = 1, *, exclude: Iterable[Any] = ()) -> list[Question]:
        """Return the nodes to answer next, in order, without answered and excluded nodes."""
        ranked, score = self._fitted, self._score
        return [
            Question(
                id=ranked.network.judged_ids[node].as_py(),
                why=self._why(node),
                rank=self._rank_of(node),
                rank_label_free=int(ranked.rank[node]),
                figure=None if score is None else float(1 / (1 + np.exp(-score[node]))),
            )
            for node in self._next(n, exclude).tolist()
        ]

    def rank_of(self, id: Any) -> int:  # noqa: A002 - as the column is called
        """Return the rank of one node in the learned order, without the table."""
        return self._rank_of(int(self._numbers([id])[0]))

    def explain(self, id: Any) -> LearnedExplanation:  # noqa: A002 - as the column is called
        """Return the reasons for the rank of a node: those from the answers, and those of the detector."""
        ranked, node = self._fitted, int(self._numbers([id])[0])
        return LearnedExplanation(self.detector.explain(id, ranked.network, result=ranked.result), self._why(node))

    def look_alikes(self, id: Any, n: int = 10, *, least: float = LOOK_ALIKE) -> list[Any]:  # noqa: A002
        """Return the nodes that are most similar to this one by the answers, the most similar first.

        They end in the same leaf in at least ``least`` of the trees, and are sought among the next questions. While
        half of these do, the answers tell hardly any node from another, and there are none.
        """
        ranked = self._fitted
        if self.learned_ is None:
            return []
        asked = self._next(SOUGHT_AMONG, [id])
        same = self.learned_.forest.alike(ranked.x[np.concatenate([self._numbers([id]), asked])])
        alike = same.sum(axis=1) / max(same.shape[1], 1)
        if 2 * np.count_nonzero(alike >= least) >= alike.size:
            return []
        order = np.argsort(-alike, kind="stable")[:n]
        return [ranked.network.judged_ids[int(asked[k])].as_py() for k in order.tolist() if alike[k] >= least]

    @property
    def notice(self) -> str | None:
        """Return a notice, such as few confirmed nodes, or thirty answers without one; None if there is none."""
        answers = self._memory.answers
        harmless, hits = int(np.sum(answers == 0)), int(np.sum(answers == 1))
        if 0 < hits < FEW_HITS and self.learned_ is not None:
            return (
                f"Only {hits} confirmed node{'s' if hits > 1 else ''}: the new ranking can still change with every "
                f"answer. Confirm at least {FEW_HITS} nodes before you rely on it."
            )
        if hits or harmless < NO_HIT_AFTER:
            return None
        return (
            f"{harmless} answers and no hit: the ranking may not lead to what you look for. Answer a random sample, "
            "give other columns, or judge another kind of node. The original ranking is still available."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write answers, the features of the answered nodes and the detector's model to one file, without code."""
        memory = self._memory
        with temporary_folder() as folder:
            inner = folder / "model"
            self.detector.save(inner)
            write_memory(Path(path), memory, inner.read_bytes(), seed=self.seed)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote. It ranks networks; ``fit`` takes more answers."""
        memory, content, seed = read_memory(Path(path))
        with temporary_folder() as folder:
            inner = folder / "model"
            inner.write_bytes(content)
            found = cls(load_detector(inner), seed=seed)
        found.memory_, found.learned_ = memory, learn(memory.rows, seed=seed)
        return found

    # What the above is made of.

    @property
    def _memory(self) -> Memory:
        if self.memory_ is None:
            raise not_fitted("this Feedback is not fitted yet; call fit(network, answers)")
        return self.memory_

    @property
    def _fitted(self) -> Ranked:
        _ = self._memory
        if self._ranked is None:
            raise not_fitted(
                "this Feedback was loaded from a file, which has no network; call fit(network, answers), or rank"
            )
        return self._ranked

    def _fitted_result(self, network: Network) -> pa.Table:
        """Return the detector's own ranking of a network; it is fitted where it was not fitted on this one."""
        detector = self.detector
        if getattr(detector, "network_", None) is not network:
            known = "model_" in vars(detector) and detector.model_.fingerprint == network.graph.fingerprint
            if not known or "result_" not in vars(detector):
                detector.fit(network)
        return detector.result_

    def _next(self, n: int, exclude: Iterable[Any]) -> Ints:
        """Return the places of the nodes to be asked about next."""
        ranked = self._fitted
        left = ranked.judged.copy()
        left[self._numbers([*self._memory.ids, *exclude])] = False
        among = ranked.order[left[ranked.order]]
        return among[:n] if self._score is None else among[highest(self._score[among], n)]

    def _rank_of(self, node: int) -> int:
        ranked, score = self._fitted, self._score
        if score is None:
            return int(ranked.rank[node])
        if not ranked.judged[node]:
            return int(np.count_nonzero(ranked.judged | (score > score[node]))) + 1
        before = (score > score[node]) | ((score == score[node]) & (ranked.rank < ranked.rank[node]))
        return int(np.count_nonzero(before & ranked.judged)) + 1

    def _numbers(self, ids: list[Any]) -> Ints:
        """Return the places of those ids among the judged nodes that are in the network; unknown ones are refused."""
        network = self._fitted.network
        known = [one for one in ids if one not in self._memory.away]
        if not known:
            return np.empty(0, dtype=np.int64)
        return np.asarray(network.numbers(known) - network.graph.judged.start)

    def _why(self, node: int) -> str:
        ranked, memory = self._fitted, self._memory
        if self.learned_ is None:
            return f"It has rank {ranked.rank[node]:,} in the original ranking, and no answer lowers it yet."
        own = ranked.network.name(node + ranked.network.graph.judged.start)
        others = np.array([one != own for one in memory.ids])
        return like(ranked.x[node], memory.x, np.where(others, memory.answers, np.nan), memory, self.learned_)
