"""Record a command in a real terminal as a picture: ``python docs/pictures/terminal.py OUT.svg FOLDER COMMAND``.

tmux is the terminal; what is on its screen when the command has ended is drawn by rich. ``docs/tutorial.md`` has
the commands that its pictures were made with.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH, HEIGHT = 100, 60


def tmux(*words: str) -> str:
    return subprocess.run(["tmux", "-L", "picture", *words], check=True, capture_output=True, text=True).stdout


def record(out: Path, folder: str, command: str) -> None:
    tmux("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-c", folder, "env", "PS1=$ ", "bash", "--norc")
    try:
        time.sleep(1)
        tmux("send-keys", f"clear; {command}; echo; echo ended", "Enter")
        while "\nended" not in tmux("capture-pane", "-p"):
            time.sleep(0.5)
        screen = tmux("capture-pane", "-e", "-p").split("\nended")[0]
    finally:
        tmux("kill-server")
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(f"$ {command}\n{screen.rstrip()}"))
    drawn = console.export_svg(title="oddhop", clear=True)
    # The picture names a font on the web; any fixed one will do, and nothing is fetched.
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    out.write_text(drawn)


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
