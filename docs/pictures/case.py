"""Draw a case of a run as the README shows it, with headless Chromium: ``python docs/pictures/case.py RUN NODE``.

The run is that of the README: ``oddhop example``, then ``oddhop detect ... --seed 1``; the node is A0017.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from oddhop.cases.drawing.page import page_of  # noqa: E402
from oddhop.cases.store import read_cases  # noqa: E402
from tests.reports.browser import Page  # noqa: E402 - of this checkout

WIDTH, HEIGHT = 1100, 920


def main() -> None:
    """Draw the case that the node belongs to."""
    cases = read_cases(Path(sys.argv[1])).of(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "case.html")
        file.write_text(page_of(replace(cases, cases=cases.cases[:1])))
        page = Page(file, Path(folder, "profile"), width=WIDTH, height=HEIGHT)
        try:
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            time.sleep(0.5)
            taken = base64.b64decode(page.call("Page.captureScreenshot")["data"])
        finally:
            page.close()
    small = Image.open(io.BytesIO(taken)).convert("RGB").quantize(200, dither=Image.Dither.NONE)
    small.save(HERE / "case.png", optimize=True)


if __name__ == "__main__":
    main()
