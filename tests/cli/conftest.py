"""Commands in this process, and settings that make them quick."""

from __future__ import annotations

import hashlib
from pathlib import Path

from typer.testing import CliRunner

from oddhop.cli import app

FAST = ["--set", "odd.simulate=false", "--set", "odd.n_resamples=2"]
HCM = {"burn_in": 12, "samples": 2, "thin": 2, "chains": 2, "hidden": 8}
FAST_HCM = ["--detector", "hcm", *(word for name, value in HCM.items() for word in ("--set", f"hcm.{name}={value}"))]
FEW = [*FAST, "--explain", "5"]
DETECT = ["detect", "edges.csv", "--nodes", "nodes.csv", "--seed", "0", *FEW]


def digests(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def refused(code: int, *arguments: str) -> list[str]:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == code, done.output
    lines = done.stderr.splitlines()[-3:]
    assert lines[0].startswith("oddhop: "), done.stderr
    assert lines[2].startswith(f"  exit code {code}: ")
    assert "Traceback" not in done.output
    return lines
