"""A server of a review in a process of its own, and a plain client; a benchmark uses them too."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class Server:
    """``oddhop review`` on a port of this machine."""

    def __init__(
        self,
        run: Path,
        book: Path | str,
        *,
        port: int = 0,
        who: str = "ann",
        more: tuple[str, ...] = (),
        largest_file: int | None = None,
    ) -> None:
        def limited() -> None:
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        command = ["from oddhop.cli import app; app()", "review", str(run), "--cases", str(book), "--who", who]
        self.process = subprocess.Popen(
            [sys.executable, "-c", *command, "--port", str(port), "--log-format", "json", *more],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limited if largest_file is not None else None,
        )
        assert self.process.stderr is not None
        said = []
        self.address = ""
        for line in self.process.stderr:
            said.append(line)
            found = re.search(r'"address": "([^"]+)"', line)
            if found:
                self.address = found[1]
                break
        assert self.address, "".join(said)
        self.port = urlsplit(self.address).port or 0
        self.token = self.address.partition("token=")[2]

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self.process.pid, signal.SIGKILL)
        self._over()

    def stop(self) -> int:
        """End it as Ctrl-C does; give the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self._over()

    def _over(self) -> int:
        code = self.process.wait(30)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


class Client:
    """Asks a server; every header can be another one."""

    def __init__(self, server: Server) -> None:
        self.port = server.port
        self.cookie = ""
        status, headers, _ = self.ask("GET", f"/open?token={server.token}")
        assert status == 303, status
        self.cookie = headers["set-cookie"].partition(";")[0]

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Send a request; give status, headers and content."""
        host = f"127.0.0.1:{self.port}"
        sent: dict[str, str | None] = {"host": host, "cookie": self.cookie}
        if method == "POST":
            sent |= {"origin": f"http://{host}", "content-type": "application/json"}
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True)
            content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            for name, value in (sent | {"content-length": str(len(content))}).items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, told, answer.read().decode()
        finally:
            connection.close()

    def told(self, path: str) -> Any:
        """Return what the server tells."""
        status, _, content = self.ask("GET", path)
        assert status == 200, (status, content)
        return json.loads(content)

    def send(self, path: str, body: Any) -> Any:
        """Send an answer; give what was acknowledged."""
        status, _, content = self.ask("POST", path, body)
        assert status == 200, (status, content)
        return json.loads(content)
