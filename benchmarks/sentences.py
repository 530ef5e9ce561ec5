"""Draw sentences at random from the pages, the help and a case report, for readers to rate as clear or not.

    python -m benchmarks.sentences --seed 0 > sentences.txt

Ten sentences come from README.md and docs/, five from the help of the commands, and five from a case report on a
generated network. The installed oddhop writes the help and the report.
"""

import argparse
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

import oddhop

ROOT = Path(__file__).resolve().parents[1]
SHARES = {"pages": 10, "help": 5, "report": 5}
COMMANDS = ("", "detect", "fit", "score", "ingest", "plan", "explain", "report", "review", "learn", "verify", "compare")


def sentences(text: str) -> list[str]:
    """Return what looks like a whole sentence of at least six words."""
    found = re.split(r"(?<=[.?!])\s+(?=[A-Z*`\[]|oddhop)", " ".join(text.split()))
    return [one for one in found if one[-1:] in ".?!" and len(one.split()) >= 6]


def of_pages(root: Path) -> list[str]:
    found: list[str] = []
    for page in sorted([root / "README.md", *root.glob("docs/*.md")]):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links as they are read
        for paragraph in re.split(r"\n\s*\n", text):
            lines = [line for line in paragraph.splitlines() if not line.lstrip().startswith(("|", "#", "!["))]
            for item in re.split(r"\n\s*(?:[-*]|\d+\.) ", "\n" + "\n".join(lines)):
                found += sentences(item)
    return found


def of_help() -> list[str]:
    found: list[str] = []
    for command in COMMANDS:
        call = [sys.executable, "-c", "from oddhop.cli import app; app()", *command.split(), "--help"]
        shown = subprocess.run(
            call, capture_output=True, text=True, env={**os.environ, "COLUMNS": "2000", "TERM": "dumb"}
        )
        for line in shown.stdout.splitlines():
            text = re.sub(r"^.*?\s{2,}", "", line.strip("│ \n"))
            types = r"^(--no-\S+|--un\S+|-\w)?\s*<[^>]*>\s*(\[[^\]]*\]\s+)?"
            found += sentences(re.sub(types, "", text))
    return distinct(found)


def distinct(found: list[str]) -> list[str]:
    """Return sentences of different words: those that differ in figures alone are one."""
    return sorted({re.sub(r"[-.,\d]+", "0", one): one for one in reversed(found)}.values())


class Text(HTMLParser):
    """The visible text of a page, a line for each element."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002, D102
        self.hidden += tag in ("script", "style", "svg")
        if tag in ("p", "li", "div", "h1", "h2", "h3", "td", "th", "section", "summary"):
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: D102
        self.hidden -= tag in ("script", "style", "svg")

    def handle_data(self, data: str) -> None:  # noqa: D102
        if not self.hidden:
            self.lines = [*self.lines[:-1], (self.lines[-1] if self.lines else "") + data]


def of_report() -> list[str]:
    rng = np.random.default_rng(0)
    group = np.arange(300) % 3
    left = np.repeat(np.arange(300), 6)
    right = 3 * rng.integers(0, 100, left.size) + group[left]
    looks = np.where(np.arange(300) == 7, 0, group)  # one stranger
    attributes = rng.normal(size=(3, 5))[looks] + 0.3 * rng.normal(size=(300, 5))
    graph = oddhop.Graph.from_arrays([left, right], attributes)
    parser = Text()
    parser.feed(oddhop.report(oddhop.Odd(top_k=5, random_state=0).fit(graph)).html())
    lines = [re.sub(r"^(OK|Note|Warning) ", "", line.strip()) for line in parser.lines]  # a badge is no word
    return distinct([one for line in lines for one in sentences(line)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--root", type=Path, default=ROOT)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    for where, found in {"pages": of_pages(chosen.root), "help": of_help(), "report": of_report()}.items():
        print(f"{where}: {len(found)} sentences", file=sys.stderr)
        for one in rng.choice(np.array(found, dtype=object), SHARES[where], replace=False):
            print(one)


if __name__ == "__main__":
    main()
