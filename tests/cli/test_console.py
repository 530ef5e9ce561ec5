from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from oddhop.base.compiling import compiling
from oddhop.cli import console as module
from oddhop.cli.console import Console, LogFormat, echo, fitting
from tests.cli.conftest import FEW


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_come_every_ten_seconds_with_the_time_left(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(LogFormat.plain)
    for done in range(31):
        clock[0] = float(done)
        console.progress("training", done, 40)
    clock[0] = 40.0
    console.progress("training", 40, 40)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "training: 10 of 40 after 10 s, about 30 s left",
        "training: 20 of 40 after 20 s, about 20 s left",
        "training: 30 of 40 after 30 s, about 10 s left",
        "training: 40 of 40 after 40 s",
    ]


def test_what_is_quick_is_not_told(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(LogFormat.plain)
    for done in range(3):
        console.progress("reading", done, 2)
    assert capsys.readouterr().err == ""


def test_a_resumed_stage_does_not_count_what_was_done_before(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(LogFormat.json)
    console.progress("training", 900, 1000)
    clock[0] = 10.0
    console.progress("training", 950, 1000)
    line = json.loads(capsys.readouterr().err)
    assert line["left"] == 10.0
    assert (line["event"], line["level"], line["run"]) == ("progress", "info", console.run)
    assert datetime.fromisoformat(line["time"]).tzinfo is not None
    console.say("audit", "a finding", check="degree")
    assert json.loads(capsys.readouterr().err)["level"] == "warning"


def test_a_stage_that_begins_again_counts_its_time_anew(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(LogFormat.plain)
    console.progress("explain", 1, 100)
    clock[0] = 60.0
    console.progress("explain", 100, 100)
    console.progress("explain", 1, 50)
    clock[0] = 80.0
    console.progress("explain", 11, 50)
    assert capsys.readouterr().err.splitlines()[-1] == "explain: 11 of 50 after 20 s, about 1 min 18 s left"


def test_compiling_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(LogFormat.json)
    with console.working():
        compiling()
        compiling()
    compiling()
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["level"], line["run"]) == ("compiling", "info", console.run)
    with Console(LogFormat.plain).working():
        pass
    assert capsys.readouterr().err == ""


def test_compiling_is_told_where_kernels_were_not_kept(tmp_path: Path) -> None:
    code = """
import numpy as np
from oddhop.cli.console import Console, LogFormat
from oddhop.graph.adjacency import first_not_below
with Console(LogFormat.plain).working():
    first_not_below(np.arange(4), 0, 4, 2)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    told = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment).stderr
        for _ in range(2)
    ]
    assert "compiling kernels" in told[0]
    assert told[1] == ""


def test_a_terminal_gets_bars(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from oddhop.cli import app; app()", "detect", "edges.csv", "--nodes", "nodes.csv"]
    environment = {**os.environ, "TERM": "xterm"}
    seen = b""
    with subprocess.Popen(
        [*command, "--out", "run", *FEW], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        while chunk := _read(ours):
            seen += chunk
        results = process.stdout.read() if process.stdout else b""
    os.close(ours)
    assert process.returncode == 0
    shown = seen.decode()
    for word in ("numbering", "encoding", "views", "100%", "left"):
        assert word in shown
    assert b"cases, the most unusual first" in results


def test_a_terminal_gets_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "24")
    told = "read a table of four columns\n  column 'trade': seven levels\n/a/path/that/is/longer/than/a/line"
    assert fitting(told, Terminal()).splitlines() == [
        "read a table of four",
        "  columns",
        "  column 'trade': seven",
        "    levels",
        "/a/path/that/is/longer/than/a/line",
    ]
    assert fitting(told, io.StringIO()) == told


@pytest.mark.parametrize("columns", [None, "many"])
def test_a_terminal_that_does_not_know_its_size_is_written_to(
    monkeypatch: pytest.MonkeyPatch, columns: str | None
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False) if columns is None else monkeypatch.setenv("COLUMNS", columns)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        assert fitting("a few words", terminal) == "a few words"
    os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


def test_what_a_file_calls_itself_does_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b]0;owned\x07\r\u202e b\nnext"
    echo(name)
    Console(LogFormat.plain).say("other", name)
    said = capsys.readouterr()
    assert said.out == said.err == "a\\x1b]0;owned\\x07\\r\\u202e b\nnext\n"
