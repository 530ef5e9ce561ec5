"""Ctrl-C and SIGTERM end a command in good order, whatever library has the turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from oddhop.cli.stopping import Stopped, stoppable
from oddhop.tables.read.database import database
from oddhop.tables.read.sqlite import connected

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@contextmanager
def sent(number: int, after: float = 0.2) -> Iterator[None]:
    sender = threading.Timer(after, os.kill, (os.getpid(), number))
    sender.start()
    yield
    sender.join()


def of_duckdb(_: Path) -> None:
    with database([]) as connection:
        connection.sql("SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 7").fetchall()


def of_sqlite(folder: Path) -> None:
    connected(folder / "shop.db", "rwc").execute(ENDLESS)


def of_python(_: Path) -> None:
    time.sleep(60)


@pytest.mark.parametrize("work", [of_duckdb, of_sqlite, of_python])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_what_would_not_end(work: Callable[[Path], None], number: int, code: int, tmp_path: Path) -> None:
    before = signal.getsignal(number)
    with sent(number), pytest.raises(Stopped) as stopped, stoppable():
        work(tmp_path)
    assert stopped.value.code == code
    assert signal.getsignal(number) is before


def test_what_ends_well_on_an_interrupt_alone(tmp_path: Path) -> None:
    def served() -> None:
        with suppress(KeyboardInterrupt):  # as a server does
            of_python(tmp_path)

    with sent(signal.SIGINT), stoppable():
        served()
    with sent(signal.SIGTERM), pytest.raises(Stopped), stoppable():
        served()


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ValueError, match="mine"), stoppable():
        raise ValueError("mine")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_nothing_of_the_input_stays(number: int, code: int, tmp_path: Path) -> None:
    run = [sys.executable, "-c", "from oddhop.cli import app; app()"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    source, sink = os.pipe()
    with os.fdopen(sink, "wb") as table:  # which is open until the process has ended
        process = subprocess.Popen([*run, "plan", "-"], stdin=source, stderr=subprocess.PIPE, env=environment)
        os.close(source)
        table.write(b"from,to\n" + b"a,b\n" * 500_000)
        table.flush()
        while not any(file.stat().st_size for file in tmp_path.glob("*/standard-input")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        said = process.communicate(timeout=30)[1].decode()
    assert process.returncode == code
    if number == signal.SIGTERM:
        assert "exit code 143" in said
    else:  # the next start takes it away
        assert list(tmp_path.glob("*/standard-input"))
        subprocess.run(
            [*run, "cases", "list", "none.db"], env=environment, cwd=tmp_path, check=False, capture_output=True
        )
    assert not list(tmp_path.iterdir())
