"""The door of the studio: what it refuses, that its link works once, and that it listens on this computer alone."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.studios import Running, running

pytestmark = pytest.mark.browser


@pytest.fixture
def studio(demo: Path, tmp_path: Path) -> Iterator[Running]:
    with running(demo / "rand.csv", tmp_path) as found:
        yield found


def test_the_door(studio: Running) -> None:
    link = urlsplit(studio.address)
    enter = f"{link.path}?{link.query}"
    own = {"Origin": studio.base}
    assert studio.ask("GET", "/").status == 403  # no cookie
    assert studio.ask("GET", "/enter?t=x").status == 403
    assert studio.ask("GET", "/enter").status == 403
    assert studio.ask("POST", enter, own, b"").status == 403
    assert studio.ask("GET", enter, {"Host": "evil.example"}).status == 421  # a name that was bound to this address
    assert studio.ask("GET", enter, {"Sec-Fetch-Site": "cross-site"}).status == 403
    entered = studio.ask("GET", enter)
    assert entered.status == 303
    cookie, attributes = entered.head["set-cookie"].split(";", 1)
    assert {part.strip().lower() for part in attributes.split(";")} >= {"httponly", "samesite=strict"}
    assert studio.ask("GET", enter).status == 403  # the link works once
    known = {"Cookie": cookie}
    page = studio.ask("GET", "/", known)
    assert page.status == 200
    assert link.query.removeprefix("t=") not in page.body.decode()
    policy = page.head["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.head["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in page.head
    assert "server" not in page.head
    assert studio.ask("GET", "/", {"Cookie": cookie[:-1] + "x"}).status == 403
    assert studio.ask("GET", "/", known | {"Host": "evil.example"}).status == 421
    for site in ("cross-site", "same-site"):
        assert studio.ask("GET", "/api/state", known | {"Sec-Fetch-Site": site}).status == 403
    for head in (
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": f"http://localhost:{link.port}0"},
    ):
        assert studio.ask("POST", "/api/curve", known | head, b"{}").status == 403
    assert studio.ask("POST", "/api/curve", own, b"{}").status == 403  # no cookie
    assert studio.ask("POST", "/api/choices", known | own, b"x" * 1_000_001).status == 413
    assert studio.ask("GET", "/api/curve", known).status == 405
    for path in ("/static/../session.py", "/static/%2e%2e/session.py", "/static/x", "/etc/passwd"):
        assert studio.ask("GET", path, known).status == 404


def test_requests_that_make_no_sense_are_refused_in_one_sentence(studio: Running) -> None:
    link = urlsplit(studio.address)
    cookie = studio.ask("GET", f"{link.path}?{link.query}").head["set-cookie"].split(";")[0]
    head = {"Cookie": cookie, "Origin": studio.base}
    for path, body in [
        ("/api/choices", b"[]"),
        ("/api/choices", b"{}"),
        ("/api/choices", b"nonsense"),
        ("/api/choices", b'{"roles": {"no such column": "release"}}'),
        ("/api/point", b'{"index": 5}'),
        ("/api/point", b'{"index": "x"}'),
        ("/api/release", b'{"name": "../outside", "accepted": true}'),
        ("/api/release", b'{"name": "a/b", "accepted": true}'),
        ("/api/release", b'{"name": "release"}'),
    ]:
        answer = studio.ask("POST", path, head, body)
        assert answer.status in (200, 400), (path, body)
        assert json.loads(answer.body)["error"]
    assert list(studio.folder.iterdir()) == []


def test_it_listens_on_this_computer_alone(studio: Running) -> None:
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in others:
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((address, studio.port), timeout=2)
    assert socket.create_connection(("127.0.0.1", studio.port), timeout=2).close() is None
