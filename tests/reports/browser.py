"""Headless Chromium for tests, driven over its own pipe: no package needed, and no port is opened."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, "")}
KEYS |= {f"Arrow{where}": (37 + k, "") for k, where in enumerate(("Left", "Up", "Right", "Down"))}


class Page:
    """One open page; ``events`` has all that the browser told about it."""

    def __init__(self, path: Path | str, profile: Path, *, width: int = 1200, height: int = 900) -> None:
        theirs_in, self._to = _pipe()
        self._from, theirs_out = _pipe()
        command = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        arguments = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", str(CHROMIUM), *arguments],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer, self._number, self.events = b"", 0, list[dict[str, Any]]()
        self._session: str | None = None
        self._size = {"width": width, "height": height}
        self.windows = list[str]()
        self.open(path)

    def open(self, path: Path | str) -> None:
        """Open a page in another window of the same browser; all else is about that one then."""
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.windows.append(self._session)
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")
        self.call("Emulation.setDeviceMetricsOverride", **self._size, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=path.as_uri() if isinstance(path, Path) else path)
        self.wait("document.readyState === 'complete'")

    def turn_to(self, window: int) -> None:
        """Go on in another window, by its number."""
        self._session = self.windows[window]
        self.call("Page.bringToFront")

    def turn_to_frame(self) -> None:
        """Go on in the sandboxed frame of the page, which has a process of its own."""
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        found = [one["params"] for one in self.events if one.get("method") == "Target.attachedToTarget"]
        self._session = next(one["sessionId"] for one in found if one["targetInfo"]["type"] == "iframe")
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command and give its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + 20
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Click in the middle of an element, as a mouse does."""
        spot = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{spot}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        # Chromium drops a click that comes before the scrolled page was painted; after two frames it has been.
        painted = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=painted, awaitPromise=True)
        x, y = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({spot}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key that has a name, or type a character."""
        code, text = KEYS.get(key, (ord(key.upper()[0]), key))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def faults(self) -> list[str]:
        """Return console errors, exceptions, and requests for anything but the page itself."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown" or (
                method == "Log.entryAdded" and params["entry"]["level"] == "error"
            ):
                found.append(json.dumps(params)[:500])
            if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(params)[:500])
            if method == "Network.requestWillBeSent" and params["type"] != "Document":
                found.append(params["request"]["url"])
        return found

    def close(self) -> None:
        """End the browser."""
        self._session = None
        self.call("Browser.close")
        self._process.wait(20)
        os.close(self._to)
        os.close(self._from)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._from, 1 << 20)
            assert more, "the browser is gone"
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


def _pipe() -> tuple[int, int]:
    # Out of the way of 3 and 4, which the browser takes for its own.
    low = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    for end in low:
        os.close(end)
    return high[0], high[1]
