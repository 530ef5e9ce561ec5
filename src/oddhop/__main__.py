"""``python -m oddhop`` is the command ``oddhop``."""

from oddhop.cli import command_line

if __name__ == "__main__":
    command_line()
