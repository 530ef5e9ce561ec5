"""Draw a case report as it looks in light, in the dark, on a narrow screen and on paper, with headless Chromium.

    oddhop example tables --case payments
    oddhop detect tables/payments.csv --nodes tables/accounts.csv --out run --top 6 --seed 0
    python docs/pictures/report.py run/report.html report-odd

Four small PNG files, called after the second argument, go beside this script.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.reports.browser import Page  # noqa: E402 - of this checkout

# Its width and height in pixels, the media type, the colours, and what is scrolled to.
LOOKS = {
    "light": (1280, 1600, "screen", "light", "body"),
    "dark": (1280, 1600, "screen", "dark", "body"),
    "narrow": (390, 1600, "screen", "light", "#case-1"),
    "print": (794, 1123, "print", "light", "#case-1"),  # A4 at 96 dots an inch
}
COLOURS = 200


def picture(report: Path, look: str) -> Image.Image:
    width, height, media, scheme, part = LOOKS[look]
    with tempfile.TemporaryDirectory() as profile:
        page = Page(report.resolve(), Path(profile), width=width, height=height)
        try:
            page.call(
                "Emulation.setEmulatedMedia",
                media=media,
                features=[{"name": "prefers-color-scheme", "value": scheme}],
            )
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            if media == "print":  # a screen does not show the margins of the paper
                page.run("document.body.style.padding = '14mm'")
            page.run(f"document.querySelector('{part}').scrollIntoView({{behavior: 'instant'}})")
            time.sleep(0.5)
            taken = base64.b64decode(page.call("Page.captureScreenshot")["data"])
        finally:
            page.close()
    return Image.open(io.BytesIO(taken)).convert("RGB")


def main() -> None:
    report, name = Path(sys.argv[1]), sys.argv[2]
    for look in LOOKS:
        small = picture(report, look).quantize(COLOURS, dither=Image.Dither.NONE)
        path = HERE / f"{name}-{look}.png"
        small.save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
