from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from oddhop import __version__
from oddhop.base.settings import options_of
from oddhop.casebook import Entry, Fingerprint, open_book
from oddhop.cases.case import Case, Cases
from oddhop.cases.store import write_cases
from oddhop.cli import app
from oddhop.cli.failures import CODES
from oddhop.cli.settings import gathered
from oddhop.errors import SettingsError
from oddhop.odd.settings import OddSettings
from oddhop.runs.options import Cluster, Output
from oddhop.tables.settings import ReadSettings
from tests.cli.conftest import DETECT, FAST, FEW

ALL = typer.main.get_command(app).commands  # type: ignore[attr-defined]
COMMANDS = sorted(name for name, command in ALL.items() if not hasattr(command, "commands"))


def test_the_command_tells_its_version_and_its_purpose() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"oddhop {__version__}"
    told = CliRunner().invoke(app, ["--help"])
    assert told.exit_code == 0
    assert "Find the anomalous nodes of an attributed network" in " ".join(told.output.split())
    for _, code, kind in CODES:
        assert re.search(rf"^ +{code} .*{kind}", told.output, re.MULTILINE)


def test_what_measures_and_checks_detectors_is_no_part_of_the_package() -> None:
    assert not {"bench", "inject"} & set(ALL)
    assert not [name for name in ("bench", "evaluate", "testing") if find_spec(f"oddhop.{name}")]


def test_every_example_of_the_help_runs(folder: Path) -> None:
    runner = CliRunner()
    examples = {}
    for command in COMMANDS:
        told = runner.invoke(app, [command, "--help"], terminal_width=200)
        found = re.search(r"Example:\s+oddhop (.+)", told.output)
        assert found, f"{command} --help has no example"
        examples[command] = shlex.split(found[1])
    first = (folder / "nodes.csv").read_text().splitlines()[1].split(",")[0]
    (folder / "answers.csv").write_text(f"id,answer\n{first},0\n")
    # A model is needed before it can score or be verified, a run before its audit, and two before they are compared.
    # A review is served until it is ended; tests/review does that.
    late = ("audit", "compare")
    for command in sorted(set(COMMANDS) - {"review"}, key=lambda name: (name in late, name != "fit", name)):
        quick = {"detect": FEW, "fit": FAST}.get(command, [])
        done = runner.invoke(app, [*examples[command], *quick])
        assert done.exit_code == 0, f"{command}: {done.output}"


IMPORTED = """
import sys
from oddhop.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *(name for name in {names} if name in sys.modules))
"""


def imported(arguments: list[str], names: tuple[str, ...], folder: Path) -> list[str]:
    """Return which of these modules a command imports."""
    code = [sys.executable, "-c", IMPORTED.format(names=names)]
    done = subprocess.run([*code, *arguments], check=True, capture_output=True, text=True, cwd=folder)
    return done.stdout.splitlines()[-1].split()[1:]


def test_help_does_not_wait_for_imports(tmp_path: Path) -> None:
    slow = ("numba", "numpy", "pydantic", "scipy", "scipy.stats", "sklearn", "torch", "pyarrow", "duckdb", "rich")
    assert imported(["--help"], slow, tmp_path) == []
    # The options of a command come from its settings, which pydantic checks.
    for command in (["detect"], ["explain"], ["compare"], ["learn"], ["cases", "list"]):
        assert imported([*command, "--help"], tuple(set(slow) - {"pydantic", "rich"}), tmp_path) == []


def test_help_shows_what_everybody_needs_and_on_request_everything() -> None:
    shown = {}
    for flag in ("--help", "--help-all"):
        told = CliRunner().invoke(app, ["detect", flag])
        assert told.exit_code == 0
        shown[flag] = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", told.output, re.MULTILINE))
    assert len(shown["--help"] - {"--help", "--help-all"}) == 10
    assert shown["--help"] < shown["--help-all"]
    assert {"--max-chance", "--workers", "--keep-columns", "--log-format"} <= shown["--help-all"]


def test_an_option_of_a_run_is_a_field_of_its_settings() -> None:
    told = " ".join(CliRunner().invoke(app, ["detect", "--help-all"], terminal_width=10_000).output.split())
    for one in (one for model in (ReadSettings, Output, Cluster, OddSettings) for one in options_of(model) if one.flag):
        assert told.count(f" {one.flag.replace('/', ' / ')} ") >= 1
        assert one.sentence.split(maxsplit=1)[1].rstrip(".") in told


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "oddhop", "--version"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == f"oddhop {__version__}"


def test_commands_of_a_process_of_their_own_do_without_pandas(folder: Path) -> None:
    for arguments in (
        [*DETECT, "--out", "one"],
        [*DETECT, "--out", "two", "--since", "one"],
        ["compare", "one", "two"],
    ):
        command = [sys.executable, "-X", "importtime", "-m", "oddhop", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "pandas.core" not in done.stderr


@pytest.mark.slow
def test_torch_may_ask_for_pandas_in_a_command(folder: Path) -> None:
    pytest.importorskip("torch")
    few = ["--detector", "hcm", "--set", "hcm.burn_in=5", "--set", "hcm.samples=2", "--out", "run"]
    command = [sys.executable, "-m", "oddhop", *DETECT[:4], *few]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_comparison_does_not_wait_for_what_fits_a_detector(folder: Path) -> None:
    for name in ("one", "two"):
        assert CliRunner().invoke(app, [*DETECT, "--out", name]).exit_code == 0
    assert imported(["compare", "one", "two"], ("numba", "scipy", "duckdb", "jinja2"), folder) == []


def test_a_list_of_cases_does_not_wait_for_tables(folder: Path) -> None:
    slow = ("numba", "scipy", "pyarrow", "duckdb", "jinja2", "oddhop.detector.base")
    with open_book(folder / "cases.db") as book:
        book.append([Entry("c1", "open", ("a",), Fingerprint())])
    assert imported(["cases", "list", "cases.db"], (*slow, "numpy", "rich"), folder) == []
    write_cases(Cases((Case("a", 1, "single", "It stands out", "It stands out", ()),)), folder)
    assert imported(["cases", "list", "."], slow, folder) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_the_command(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Else the shell is looked for among the parents of this process, and there need be none.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    told = CliRunner().invoke(app, ["--show-completion", shell], prog_name="oddhop")
    assert told.exit_code == 0
    assert "oddhop" in told.output


@pytest.mark.parametrize("text", ["a = " + "[" * 10_000, "[odd]\nrepeats = " + "9" * 5_000, "a = \x00", "\xff"])
def test_a_settings_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.toml").write_text(text, encoding="latin-1")
    with pytest.raises(SettingsError, match="is not TOML"):
        gathered(tmp_path / "settings.toml", [])


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 10_000])
def test_a_setting_that_is_no_value_is_a_text(value: str) -> None:
    with pytest.raises(SettingsError, match="n_resamples"):
        gathered(None, [f"odd.n_resamples={value}"])
