"""The short form: a part of the soak in a process of its own, as pytest's has threads that would not survive a fork."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def soaked(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """Run a part and give its outcomes; whatever it found wrong fails the test."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.soak", *arguments, "--lines", str(folder / "lines")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    outcomes = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert ended.returncode == 0, [outcome["errors"] for outcome in outcomes] + [ended.stderr[-2000:]]
    return outcomes
