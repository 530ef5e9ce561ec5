"""``warm``: the kernels that a first run needs are compiled before it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from oddhop.datasets import load_payments, load_reviews
from oddhop.feedback import compile_learner
from oddhop.runs.detect import detect
from oddhop.runs.log import LOGGED, Log
from oddhop.runs.score import score

KINDS = {"source": "reader", "target": "book", "source_kind": "reader", "target_kind": "book", "judge": "reader"}


def warm(log: Log = LOGGED) -> None:
    """Compile the kernels of Odd and of the learner, and keep them, by short runs on the examples that ship.

    Where numba keeps them is up to ``NUMBA_CACHE_DIR``.
    """
    payments, reviews = load_payments(), load_reviews()
    few: dict[str, Any] = {"odd": {"n_resamples": 2}}
    with TemporaryDirectory() as home:

        def payments_ranked() -> None:
            run = detect(payments.edges, payments.nodes, out=Path(home, "one"), top=3, explain=5, settings=few)
            model = run.folder / "model.oddhop"
            score(model, payments.next_edges, payments.next_nodes, out=Path(home, "two"), top=3, explain=5)

        def kinds_ranked() -> None:
            detect(reviews.edges, reviews.nodes, out=Path(home, "three"), explain=5, settings={**few, "read": KINDS})

        steps = (compile_learner, payments_ranked, kinds_ranked)
        for number, step in enumerate(steps):
            log.progress("compile", number, len(steps))
            step()
        log.progress("compile", len(steps), len(steps))
