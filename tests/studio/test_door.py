"""The door of the studio, request by request: who is let in, who is not, and what every answer carries."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from dalenius.studio.door import COOKIE, HEADERS, MOST_BYTES, Door
from tests.studio.asked import Answer, ask

HOST = {"Host": "127.0.0.1:5555"}
OWN = {"Origin": "http://127.0.0.1:5555"}


@pytest.fixture
def door() -> Door:
    return Door(PlainTextResponse("inside", headers={"Cache-Control": "private"}), 5555, "the token")


def entered(door: Door) -> dict[str, str]:
    """The headers of somebody who used the link."""
    answer = ask(door, "GET", "/enter?t=the+token", HOST)
    assert answer.status == 303
    assert answer.head["location"] == "/"
    cookie, attributes = answer.head["set-cookie"].split(";", 1)
    assert {part.strip().lower() for part in attributes.split(";")} >= {"httponly", "samesite=strict", "path=/"}
    return HOST | {"Cookie": cookie}


def test_the_link_works_once_and_its_cookie_lets_in(door: Door) -> None:
    known = entered(door)
    assert ask(door, "GET", "/", known).body == b"inside"
    assert ask(door, "POST", "/", known | OWN).body == b"inside"
    assert ask(door, "GET", "/enter?t=the+token", HOST).status == 403


@pytest.mark.parametrize(("method", "path"), [("GET", "/enter"), ("GET", "/enter?t=x"), ("HEAD", "/enter?t=the+token")])
def test_half_a_link_does_not_use_it_up(door: Door, method: str, path: str) -> None:
    assert ask(door, method, path, HOST).status == 403
    entered(door)


@pytest.mark.parametrize("cookie", ["", f"{COOKIE}=x", "another=x", f'{COOKIE}="', "a]b=c; \x01"])
def test_nobody_passes_without_the_cookie(door: Door, cookie: str) -> None:
    answer = ask(door, "GET", "/", HOST | {"Cookie": cookie})
    assert answer.status == 403
    assert b"the link that the terminal shows" in answer.body


def refused(door: Door, method: str, **head: str) -> Answer:
    return ask(door, method, "/", entered(door) | {name.replace("_", "-"): value for name, value in head.items()})


@pytest.mark.parametrize(
    ("method", "head", "status"),
    [
        ("GET", {"Host": "evil.example"}, 421),
        ("GET", {"Host": "127.0.0.1"}, 421),
        ("POST", {}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("POST", {"Origin": "http://evil.example"}, 403),
        ("POST", {"Origin": "http://localhost:55550"}, 403),
        ("GET", {"Sec_Fetch_Site": "cross-site"}, 403),
        ("GET", {"Sec_Fetch_Site": "same-site"}, 403),
        ("POST", OWN | {"Content_Length": str(MOST_BYTES + 1)}, 413),
        ("POST", OWN | {"Content_Length": "-1"}, 413),
        ("POST", OWN | {"Transfer_Encoding": "chunked"}, 413),
        ("POST", OWN | {"Content_Length": str(MOST_BYTES)}, 200),
        ("GET", {"Sec_Fetch_Site": "none"}, 200),
    ],
)
def test_requests_of_other_pages_are_refused_even_with_the_cookie(
    door: Door, method: str, head: dict[str, str], status: int
) -> None:
    assert refused(door, method, **head).status == status


def test_every_answer_forbids_what_comes_from_elsewhere(door: Door) -> None:
    outside = ask(door, "GET", "/", HOST)
    inside = ask(door, "GET", "/", entered(door))
    for name, value in HEADERS.items():
        assert outside.head[name.lower()] == value
        assert inside.head[name.lower()] == ("private" if name == "Cache-Control" else value)


def test_only_requests_and_the_start_of_the_server_reach_what_is_behind() -> None:
    reached: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    door = Door(app, 5555, "the token")
    for kind in ("lifespan", "websocket"):
        ask(door, "GET", "/", kind=kind)
    assert reached == ["lifespan"]
