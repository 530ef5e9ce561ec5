"""Memory: the answered nodes with their features. All that is learned from, and what a file holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oddhop.base.arrays import Floats
from oddhop.base.files import Arrays, pack_arrays, unpack_arrays, write_atomically
from oddhop.errors import AnswersError, GraphError, ModelFileError
from oddhop.feedback.answers import Answers
from oddhop.feedback.learner import Rows
from oddhop.feedback.ranked import Ranked
from oddhop.tables.network import Network

KIND, SCHEMA = "feedback", 5


@dataclass(frozen=True, eq=False)
class Memory:
    """Answered nodes and random ones, with their features.

    Attributes
    ----------
    names : of the features.
    ids, answers, x : of the answered nodes, in the order of the ids.
    others, background : ids and features of random nodes.
    nodes : how many nodes were ranked.
    away : those of ``ids`` that are not in the network.
    """

    names: tuple[str, ...]
    ids: tuple[Any, ...]
    answers: Floats
    x: Floats
    others: tuple[Any, ...]
    background: Floats
    nodes: int
    away: frozenset[Any] = frozenset()

    @property
    def rows(self) -> Rows:
        """The data to learn from, without unsure answers and without answered nodes among the random ones."""
        sure = ~np.isnan(self.answers)
        answered = {name for name, known in zip(self.ids, sure.tolist(), strict=True) if known}
        free = np.array([name not in answered for name in self.others], dtype=bool)
        return Rows(self.x[sure], self.answers[sure], self.background[free], self.nodes)


def remember(ranked: Ranked, answers: Answers, before: Memory | None) -> Memory:
    """Return the answered nodes with the features that they have in a network, or had in an earlier one."""
    earlier = {}
    if before is not None:
        # A view that is silent on one network and not on another has no features there: 0, as the view would say.
        known = dict(zip(before.names, before.x.T, strict=True))
        columns = [known.get(name, np.zeros(len(before.ids))) for name in ranked.names]
        earlier = dict(zip(before.ids, np.column_stack(columns).astype(np.float32), strict=True))
    network, first = ranked.network, ranked.network.graph.judged.start
    rows, ids, away = [], [], set()
    asked_about = answers.ids.to_pylist()
    for name, number in zip(asked_about, _numbers_of(network, asked_about), strict=True):
        if not isinstance(number, GraphError):
            rows.append(ranked.x[number - first])
            ids.append(network.judged_ids[number - first].as_py())
        elif name in earlier:
            rows.append(earlier[name])
            ids.append(name)
            away.add(name)
        else:
            raise AnswersError(f"an answer is about a node that does not exist: {number.problem}", number.remedy)
    asked = np.array(rows, dtype=np.float32).reshape(len(rows), ranked.x.shape[1])
    others = tuple(network.judged_ids[k].as_py() for k in ranked.drawn.tolist())
    background, nodes = ranked.x[ranked.drawn], ranked.rank.size
    return Memory(ranked.names, tuple(ids), answers.values, asked, others, background, nodes, away=frozenset(away))


def write_memory(path: Path, memory: Memory, detector: bytes, *, seed: int) -> None:
    """Write a memory and the model file of its detector to one file, without code."""
    content = np.frombuffer(detector, dtype=np.uint8)
    arrays: Arrays = {
        "detector": content, "answers": memory.answers, "x": memory.x, "background": memory.background,
    }  # fmt: skip
    texts = {"names": memory.names, "ids": list(memory.ids), "others": list(memory.others)}
    info = {"kind": KIND, "schema": SCHEMA, "seed": seed, "nodes": memory.nodes, **texts}
    write_atomically(path, pack_arrays(arrays, info))


def read_memory(path: Path) -> tuple[Memory, bytes, int]:
    """Read what :func:`write_memory` wrote: the memory, the detector's model file, and the seed."""
    try:
        arrays, info = unpack_arrays(path.read_bytes(), str(path))
        if info["kind"] != KIND or info["schema"] != SCHEMA:
            raise ValueError(f"it has {info['kind']!r} of schema {info['schema']!r}")
        names, ids, others = (tuple(info[name]) for name in ("names", "ids", "others"))
        answers, x, background = (arrays[name] for name in ("answers", "x", "background"))
        if x.shape != (len(ids), len(names)) or background.shape != (len(others), len(names)):
            raise ValueError("its parts do not match")
        if answers.shape != (len(ids),) or not np.isin(answers[~np.isnan(answers)], (0, 1)).all():
            raise ValueError("its answers are not 1, 0 or unsure")
        if not int(info["nodes"]) > 0:
            raise ValueError("it has no nodes")
        memory = Memory(names, ids, answers, x, others, background, int(info["nodes"]))
        return memory, arrays["detector"].tobytes(), int(info["seed"])
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}", "give the path of a model file") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a usable file of answers: {error}", "save it again") from None


def _numbers_of(network: Network, ids: list[Any]) -> list[int | GraphError]:
    """Return the number of each node, or why there is none; all are looked up at once where all are there."""
    if not ids:
        return []
    try:
        return network.numbers(ids).tolist()  # type: ignore[no-any-return]
    except GraphError as error:
        half = len(ids) // 2
        return [*_numbers_of(network, ids[:half]), *_numbers_of(network, ids[half:])] if half else [error]
