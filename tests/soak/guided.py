"""The readers under atheris, which is guided by what a file makes them do: ``python -m tests.soak.guided toml 20``.

atheris is for Linux, and not among the requirements of the tests: ``pip install atheris``. It ends at the first error
that is not one of ours, and says which file led to it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import atheris

# Kernels that numba compiles cannot be watched.
os.environ["NUMBA_DISABLE_JIT"] = "1"

with atheris.instrument_imports(include=["oddhop", "tomllib"]):
    from oddhop.errors import OddhopError
    from tests.soak.targets import target


def main() -> None:
    name, minutes = sys.argv[1], float(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        home = Path(folder)
        (home / "work").mkdir()
        (home / "corpus").mkdir()
        one = target(name, home)
        for number, content in enumerate(one.seeds):
            (home / "corpus" / str(number)).write_bytes(content)

        def read(content: bytes) -> None:
            try:
                one.read(content, home / "work")
            except OddhopError:
                return

        limits = [f"-max_total_time={int(60 * minutes)}", "-rss_limit_mb=4096", "-timeout=60", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *limits, str(home / "corpus")], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
