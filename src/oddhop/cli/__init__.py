"""The command ``oddhop``."""

from __future__ import annotations

import gc
import sys
from typing import Annotated, Any

import typer

from oddhop.cli.audit import audit
from oddhop.cli.cases import app as cases
from oddhop.cli.compare import NEW_ANOMALIES, compare
from oddhop.cli.detect import detect
from oddhop.cli.example import example
from oddhop.cli.explain import explain
from oddhop.cli.fit import fit, score
from oddhop.cli.helping import Commands
from oddhop.cli.ingest import ingest
from oddhop.cli.learn import learn
from oddhop.cli.plan import plan
from oddhop.cli.report import report
from oddhop.cli.review import review
from oddhop.cli.verify import verify
from oddhop.cli.warm import warm
from oddhop.version import __version__


class WithExitCodes(Commands):
    """The commands of oddhop, with their exit codes."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the method of the parent
        """Write the exit codes, for scripts."""
        from oddhop.cli.failures import CODES

        kinds: dict[int, list[str]] = {0: ["success"]}
        for _, code, kind in CODES:
            if kind not in kinds.setdefault(code, []):
                kinds[code].append(kind)
        kinds[NEW_ANOMALIES] = ["newly flagged nodes (only oddhop compare --exit-code)"]
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), ", ".join(kinds[code])) for code in sorted(kinds)])


app = typer.Typer(
    cls=WithExitCodes,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (example, detect, explain, report, review, audit, compare, learn, fit, score, plan, ingest, verify, warm)
for command in COMMANDS:
    app.command()(command)
app.add_typer(cases, name="cases")


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Find the anomalous nodes of an attributed network."""
    # Imports and the compiler make a million objects that stay: to search them for cycles takes a twentieth of a run.
    gc.set_threshold(200_000, 20, 20)
    if version:
        typer.echo(f"oddhop {__version__}")


class WithoutPandas:
    """Finds no pandas: pyarrow imports it where it is installed, for longer than small tables take; no command does."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        """Say that pandas is not installed, and nothing of other modules."""
        if name in ("torch", "ray"):  # they ask whether there is pandas, and do not expect an error
            sys.meta_path.remove(WithoutPandas)
        if name == "pandas":
            raise ModuleNotFoundError("commands do without pandas", name=name)


def command_line() -> None:
    """Run the command that was typed."""
    sys.meta_path.insert(0, WithoutPandas)
    app(prog_name="oddhop")
