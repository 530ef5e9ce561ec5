"""Draw the page of a review after some answers, in light, in the dark and on a narrow screen, with headless Chromium.

    python docs/pictures/review.py

It makes a small bank and a run on it. Three PNG files go beside this script.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

HERE = Path(__file__).absolute().parent
sys.path.insert(0, str(HERE.parents[1]))

from oddhop.runs import checked_run_settings, detect  # noqa: E402
from tests.reports.browser import Page  # noqa: E402 - of this checkout
from tests.review.serving import Server  # noqa: E402

LOOKS = {"light": (1280, 1150), "dark": (1280, 1150), "narrow": (420, 1150)}
COLOURS, NODES = 200, 400
TOWNS = np.array(["Bonn", "Cork", "Graz"])


def made(folder: Path) -> Path:
    """Make customers of three towns; some live elsewhere than their contacts, some are very old or very rich."""
    rng = np.random.default_rng(1)
    town = rng.integers(0, 3, NODES)
    pairs = [(a, b) for a in range(NODES) for b in rng.integers(0, NODES, 12) if town[a] == town[b] and a != b]
    shown = town.copy()
    shown[:12] = (town[:12] + 1) % 3
    age, income = rng.normal(45, 12, NODES).round(), rng.normal(3000, 500, NODES).round()
    age[12:30] += 50
    names = np.array([f"customer {k:03}" for k in rng.permutation(NODES)])
    left, right = np.array(pairs).T
    pq.write_table(pa.table({"from": names[left], "to": names[right]}), folder / "edges.parquet")
    columns = {"name": names, "town": TOWNS[shown], "age": age, "income": income}
    pq.write_table(pa.table(columns), folder / "nodes.parquet")
    settings = checked_run_settings({"odd": {"random_state": 0}})
    tables = folder / "edges.parquet", folder / "nodes.parquet"
    detect(tables[0], tables[1], out=folder / "november", settings=settings, explain=20)
    strangers = folder / "strangers"
    strangers.write_text("\n".join(names[:12]))
    return folder / "november"


def take(page: Page, name: str, looks: dict[str, tuple[int, int]]) -> None:
    """Write NAME-LOOK.png of the page as it is, for every look, which is of some width and height."""
    for look, (width, height) in looks.items():
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if look == "dark" else "light"}
        page.call("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        page.run("scrollTo(0, 0)")
        time.sleep(0.5)
        taken = Image.open(io.BytesIO(base64.b64decode(page.call("Page.captureScreenshot")["data"])))
        taken.convert("RGB").quantize(COLOURS).save(HERE / f"{name}-{look}.png", optimize=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = made(folder)
        wanted = set((folder / "strangers").read_text().split("\n"))
        server = Server(run, folder / "cases.db")
        page = Page(server.address, folder / "profile")
        try:
            page.wait("document.body.dataset.shown !== undefined")
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            for _ in range(16):
                shown = page.run("document.body.dataset.shown")
                page.press("y" if shown in wanted else "n")
                page.wait(f"!document.body.classList.contains('busy') && document.body.dataset.shown !== '{shown}'")
            take(page, "review", LOOKS)
        finally:
            page.close()
            server.stop()


if __name__ == "__main__":
    main()
