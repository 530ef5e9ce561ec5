"""``oddhop warm``: compile what a first run would compile."""

from __future__ import annotations

from oddhop.cli import options as o
from oddhop.cli.console import Console


@o.command()
def warm(*, console: Console) -> None:
    """Compile oddhop's kernels, which the first run would do otherwise. They are kept for all later runs.

    Example:

        oddhop warm
    """
    from oddhop import runs

    with console.working():
        runs.warm(console)
    console.say("done", "all kernels of Odd and of the review are compiled")
