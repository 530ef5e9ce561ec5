"""Answer cases at random from two clients while their servers are killed; the book must have every answer once.

    python -m benchmarks.review_soak --minutes 10

Every client has a server of its own, and both share one book. A client that gets no acknowledgement sends the same
answer again, or now and then gives it up. At the end the book is compared with what the clients were told.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4, uuid5

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from oddhop.runs import checked_run_settings, detect
from tests.review.serving import Client, Server

VERDICTS = ("confirmed", "cleared", "cleared", "watch")


def make_run(folder: Path, nodes: int) -> Path:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, 4 * nodes))
    pq.write_table(pa.table({"from": ends[0], "to": ends[1]}), folder / "edges.parquet")
    x = rng.normal(size=(3, nodes))
    x[0, : nodes // 10] += 5
    pq.write_table(pa.table({"id": np.arange(nodes), "a": x[0], "b": x[1], "c": x[2]}), folder / "nodes.parquet")
    settings = checked_run_settings({"odd": {"simulate": False, "n_resamples": 2, "random_state": 0}})
    tables = folder / "edges.parquet", folder / "nodes.parquet"
    detect(tables[0], tables[1], out=folder / "run", settings=settings, explain=20)
    return folder / "run"


class Soaked(threading.Thread):
    """A client: it remembers what was acknowledged, and what it gave up without knowing."""

    def __init__(self, servers: list[Server], mine: int, end: float) -> None:
        super().__init__()
        self.servers, self.mine, self.end, self.chance = servers, mine, end, random.Random(mine)  # noqa: S311
        self.acknowledged: dict[str, tuple[str, str]] = {}
        self.unknown: dict[str, tuple[str, str]] = {}
        self.count: Counter[str] = Counter()
        self.fault: BaseException | None = None

    def run(self) -> None:
        """Answer until the time is over."""
        try:
            while time.monotonic() < self.end:
                self.one()
        except BaseException as error:  # told at the end
            self.fault = error

    def one(self) -> None:
        """Ask for the next cases, and answer some of them or undo something."""
        state = self.patiently(lambda client: client.told("/api/question"))
        if state is None or not state["queue"]:
            return
        # Several a question, for else most kills would hit the learning between answers.
        for k in range(self.chance.randrange(1, 12)):
            self.say(state, undo=state["last"] if k == 0 and self.chance.random() < 0.3 else None)

    def say(self, state: dict[str, Any], undo: str | None) -> None:
        """Send an answer or an undo, until it is acknowledged or given up."""
        body: dict[str, Any] = {"entry": str(uuid4())}
        if undo is not None:
            path, body["answer"] = "/api/undo", undo
        else:
            some = self.chance.sample(state["queue"], self.chance.choice((1, 1, 1, 3)))
            path, body["cases"] = "/api/answer", [one["case"] for one in some]
            body |= {"verdict": self.chance.choice(VERDICTS), "note": "\u202e<b>" * self.chance.randrange(3)}
        refused = False

        def send(client: Client) -> Any:
            nonlocal refused
            status, _, content = client.ask("POST", path, body)
            if status == 422 and path == "/api/undo":
                refused = True  # another has answered the case since
                return {}
            assert status == 200, (status, content)
            return json.loads(content)

        taken = self.patiently(send, give_up=0.1)
        if refused:
            self.count["refused"] += 1
        elif taken is None:
            self.count["given up"] += 1
            if path == "/api/answer":
                self.unknown |= expected(str(body["entry"]), body["cases"], str(body["verdict"]))
            else:
                self.unknown[str(body["entry"])] = ("", "open")
        else:
            self.count["answers" if path == "/api/answer" else "undone"] += 1
            self.acknowledged |= expected(str(body["entry"]), taken["cases"], str(taken["verdict"]))

    def patiently(self, work: Callable[[Client], Any], give_up: float = 0.0) -> Any:
        """Do something with a server that may be away; None where it was given up."""
        client = None
        while True:
            try:
                client = client or Client(self.servers[self.mine])
                return work(client)
            except (OSError, HTTPException) as error:
                self.again(error)
            except AssertionError as error:  # a server that was started again has another key
                told = error.args[0] if error.args else None
                if (told[0] if isinstance(told, tuple) else told) not in (403, 503):
                    raise
                self.again(error)
            client = None
            if time.monotonic() > self.end + 120 or self.chance.random() < give_up:
                return None
            time.sleep(0.5)

    def again(self, error: BaseException) -> None:
        """Count what was not acknowledged."""
        self.count["sent again"] += 1
        self.count[type(error).__name__] += 1


def expected(entry: str, cases: list[str], verdict: str) -> dict[str, tuple[str, str]]:
    first, *rest = cases
    return {entry: (first, verdict)} | {str(uuid5(UUID(entry), name)): (name, verdict) for name in rest}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--minutes", type=float, default=10.0)
    given.add_argument("--nodes", type=int, default=2_000)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, book = make_run(folder, asked.nodes), folder / "cases.db"
        servers = [Server(run, book, who=f"client {k}") for k in range(2)]
        end = time.monotonic() + 60 * asked.minutes
        clients = [Soaked(servers, k, end) for k in range(2)]
        for one in clients:
            one.start()
        kills, chance = 0, random.Random(9)  # noqa: S311
        while time.monotonic() < end:
            time.sleep(min(chance.uniform(1, 15), max(end - time.monotonic(), 0.1)))
            hit = chance.randrange(2)
            servers[hit].kill()
            servers[hit] = Server(run, book, who=f"client {hit}", port=servers[hit].port)
            kills += 1
        for one in clients:
            one.join()
        for server in servers:
            server.stop()
        told = sum((one.count for one in clients), Counter())
        with sqlite3.connect(book) as opened:
            found = opened.execute("SELECT entry, case_id, verdict FROM entries").fetchall()
            whole = opened.execute("PRAGMA integrity_check").fetchone()[0]
    for one in clients:
        if one.fault is not None:
            raise one.fault
    sure = clients[0].acknowledged | clients[1].acknowledged
    perhaps = clients[0].unknown | clients[1].unknown
    written = {entry: (case, verdict) for entry, case, verdict in found}
    lost = [entry for entry, what in sure.items() if written.get(entry) != what]
    strange = [entry for entry in written if entry not in sure and entry not in perhaps and written[entry][1] != "open"]
    print(f"{asked.minutes:g} minutes, {kills} kills, {dict(told)}")
    print(f"acknowledged entries {len(sure)}, in the book {len(found)}, different ids {len(written)}")
    print(f"lost or changed {len(lost)}, written without a client {len(strange)}, the file is {whole}")
    sys.exit(bool(lost or strange or len(found) != len(written) or whole != "ok"))


if __name__ == "__main__":
    main()
