"""Answers: what an analyst said of some nodes, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from oddhop.base.arrays import Floats
from oddhop.errors import AnswersError

ANSWER_COLUMNS = ("answer", "label", "value")
ID_COLUMNS = ("id", "node")


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers by id, in the order of the ids.

    Attributes
    ----------
    ids : whom they are about, of one type.
    values : 1 where the node is worth the analyst's time, 0 where it is harmless, NaN where he is unsure.
    """

    ids: pa.Array
    values: Floats

    @property
    def hits(self) -> int:
        """The number of confirmed nodes."""
        return int(np.count_nonzero(self.values == 1))

    @property
    def harmless(self) -> int:
        """The number of cleared nodes."""
        return int(np.count_nonzero(self.values == 0))


def as_answers(answers: Any) -> Answers:
    """Return answers from a mapping, pairs, or a table with the columns id and answer.

    Parameters
    ----------
    answers : a mapping of id to 1, 0 or None (unsure); a pyarrow table, a pandas or Polars frame, or a mapping of
        columns, with the columns ``id`` and ``answer``; another answer about the same node is refused.

    Examples
    --------
    >>> from oddhop.feedback.answers import as_answers
    >>> found = as_answers({"bo": 1, "al": None, "cy": 0})
    >>> found.ids.to_pylist(), found.values.tolist()
    (['al', 'bo', 'cy'], [nan, 1.0, 0.0])
    >>> import pyarrow as pa
    >>> as_answers(pa.table({"id": [7, 3], "answer": [True, False]})).ids.to_pylist()
    [3, 7]
    """
    pairs = [(name, _value(name, told)) for name, told in _pairs(answers)]
    try:
        ids = pa.array([name for name, _ in pairs])
        order = np.array(sorted(range(len(pairs)), key=lambda k: pairs[k][0]), dtype=np.int64)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        kinds = sorted({type(name).__name__ for name, _ in pairs})
        raise AnswersError(
            f"the ids of answers are of several types: {', '.join(kinds)}", "give all ids the same type"
        ) from None
    for one, other in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if pairs[one][0] == pairs[other][0]:
            raise AnswersError(f"there are two answers about {pairs[one][0]!r}", "keep one of them")
    if ids.null_count:
        raise AnswersError("an answer has no id", "remove it, or give the id of its node")
    return Answers(ids.take(pa.array(order)), np.array([pairs[k][1] for k in order.tolist()], dtype=np.float64))


def _pairs(answers: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(answers, Answers):
        return zip(answers.ids.to_pylist(), answers.values.tolist(), strict=True)
    if hasattr(answers, "to_arrow"):  # Polars
        answers = answers.to_arrow()
    elif hasattr(answers, "to_dict") and hasattr(answers, "columns"):  # pandas
        answers = pa.Table.from_pandas(answers, preserve_index=False)
    if isinstance(answers, pa.Table):
        return _of_table(answers)
    if isinstance(answers, Mapping):
        return ((_plain(name), _plain(told)) for name, told in answers.items())
    raise AnswersError(
        f"answers must be a mapping of id to 1, 0 or None, or a table, got {type(answers).__name__}",
        'give a mapping such as {"A17": 1}, or a table with the columns id and answer',
    )


def _of_table(table: pa.Table) -> Iterable[tuple[Any, Any]]:
    found = [
        next((name for name in names if name in table.column_names), None) for names in (ID_COLUMNS, ANSWER_COLUMNS)
    ]
    if None in found:
        raise AnswersError(
            f"a table of answers needs the columns id and answer, got {', '.join(table.column_names) or 'none'}",
            "rename its columns",
        )
    return zip(*(table[name].to_pylist() for name in found), strict=True)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _value(name: Any, told: Any) -> float:
    if told is None or (isinstance(told, float) and math.isnan(told)):
        return math.nan
    if isinstance(told, bool | int | float) and told in (0, 1):
        return float(told)
    raise AnswersError(
        f"the answer about {name!r} is not valid, got {told!r}",
        "give 1 (worth your time), 0 (harmless) or None (unsure)",
    )
