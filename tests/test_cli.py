from __future__ import annotations

from typer.testing import CliRunner

from oddhop import __version__
from oddhop.cli import app


def test_the_command_tells_its_version_and_its_purpose() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"oddhop {__version__}"
    told = CliRunner().invoke(app, ["--help"])
    assert told.exit_code == 0
    assert "do not belong where they are wired" in " ".join(told.output.split())
