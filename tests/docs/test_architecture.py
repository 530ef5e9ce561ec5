"""The page on the architecture names files that exist, and every folder of the package."""

from __future__ import annotations

import re
from pathlib import Path

HOME = Path(__file__).parents[2]
PAGE = (HOME / "ARCHITECTURE.md").read_text()
NAMED = re.compile(r"`((?:src|tests|benchmarks)/[\w/.]+)`")


def test_every_file_that_it_names_exists() -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 40
    assert [name for name in named if not (HOME / name).exists()] == []


def test_every_folder_is_in_the_table_with_files_to_start_at() -> None:
    rows = dict.fromkeys(re.findall(r"`(\w+)/`", PAGE.split("## Where would I add")[0]))
    folders = {one.parent.name for one in (HOME / "src/oddhop").glob("*/__init__.py")}
    assert folders - {"datasets"} == set(rows)
    for line in PAGE.splitlines():
        where = re.match(r"\| ((?:`\w+/`(?:, )?)+) \|", line)
        if where:
            places = [HOME / "src/oddhop" / name for name in re.findall(r"`(\w+)/`", where[1])]
            for file in re.findall(r"`(\w+\.py)`", line.split("|")[3]):
                assert any((place / file).exists() for place in places), file
