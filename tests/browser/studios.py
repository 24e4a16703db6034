"""A studio that runs as its command runs it, in a process of its own, and requests that no browser would send."""

import contextlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["Answer", "Running", "running"]


@dataclass(frozen=True)
class Answer:
    """What a studio answered."""

    status: int
    head: Mapping[str, str]
    body: bytes


@dataclass
class Running:
    """A studio, the link that opens it once, and the folder that it writes into."""

    address: str
    folder: Path
    process: "subprocess.Popen[str]"

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, head: Mapping[str, str] | None = None, body: bytes | None = None) -> Answer:
        """One request with exactly these headers, and a host unless one is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **(head or {})}.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        with contextlib.closing(connection):
            connection.endheaders(body)
            found = connection.getresponse()
            return Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read())


@contextlib.contextmanager
def running(table: Path, folder: Path) -> Iterator[Running]:
    """Start a studio and wait for its link."""
    command = [sys.executable, "-m", "dalenius", "studio", str(table), "--folder", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = ""
            while not said.rstrip().endswith("}"):
                line = process.stdout.readline()
                assert line, "the studio ended before it began"
                said += line
            found = Running(json.loads(said)["address"], folder, process)
            while True:  # the link is printed before the server answers
                with contextlib.suppress(OSError):
                    found.ask("GET", "/")
                    break
                assert process.poll() is None, "the studio ended before it answered"
                time.sleep(0.05)
            yield found
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
