"""``python -m oddhop`` is the command ``oddhop``."""

from oddhop.cli import app

app(prog_name="oddhop")
