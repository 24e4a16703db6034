"""The routes of the studio, and the server that listens on this computer until nobody uses it."""

import contextlib
import http.client
import json
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from dalenius.cli import studio as command
from dalenius.errors import InputError
from dalenius.studio import open_studio, server
from dalenius.studio.server import PAGES, STATEMENT_POLICY, Studio, application
from dalenius.studio.session import Session
from tests.studio.asked import ask
from tests.studio.conftest import Beginning


@pytest.fixture
def session(begin: Beginning) -> Session:
    return begin()


@pytest.fixture
def app(session: Session) -> Starlette:
    return application(session, lambda: False)


def send(app: Starlette, path: str, **given: Any) -> Any:
    """What the page sends, and what it gets."""
    answer = ask(app, "POST", path, body=json.dumps(given).encode())
    assert answer.status == 200
    return answer.json


def test_the_pages_and_the_state_are_there(app: Starlette) -> None:
    for address, (_, kind) in PAGES.items():
        answer = ask(app, "GET", address)
        assert (answer.status, answer.head["content-type"]) == (200, kind)
    state = ask(app, "GET", "/api/state").json
    assert state["table"]["rows"] == "400 rows"
    assert [column["role"] for column in state["table"]["columns"]] == ["protect", "release", "out"]
    assert ask(app, "GET", "/statement").status == 404
    assert ask(app, "GET", "/api/curve").status == 405


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/choices", b"[]", "This is not an object"),
        ("/api/choices", b"{}", "makes no sense"),
        ("/api/choices", b"nonsense", "makes no sense"),
        ("/api/choices", b'{"roles": {"no such column": "release"}}', "not the columns of the table"),
        ("/api/point", b'{"index": 5}', "There is no such point"),
        ("/api/point", b'{"index": "x"}', "makes no sense"),
        ("/api/merge", b'{"column": "age", "one": 0, "other": 1}', "Only released and protected columns"),
        ("/api/release", b'{"name": "../outside", "accepted": true}', "A name has a to z"),
        ("/api/release", b'{"name": "release", "accepted": "true"}', "Accept what is lost first"),
    ],
)
def test_a_request_that_makes_no_sense_is_answered_in_one_sentence(
    app: Starlette, tmp_path: Path, path: str, body: bytes, said: str
) -> None:
    answer = ask(app, "POST", path, body=body)
    assert answer.status in (200, 400)
    assert said in answer.json["error"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_the_walk_through_the_routes(app: Starlette, session: Session, tmp_path: Path) -> None:
    roles = dict(session.choices.roles) | {"age": "release"}
    chosen = {"roles": roles, "promise": "nothing", "cuts": {"age": "40"}, "named": {"way": {"any": ["car"]}}}
    assert send(app, "/api/choices", **chosen)["choices"]["cuts"] == {"age": "40"}
    assert send(app, "/api/suggested", column="age")["choices"]["cuts"] == {}
    roles["age"] = "out"
    send(app, "/api/choices", roles=roles, promise="nothing", keep_rows="0", title="Votes")
    assert send(app, "/api/curve")["trade"]["state"] == "done"
    assert send(app, "/api/point", index=0)["trade"]["chosen"] == 0
    assert send(app, "/api/cancel")["trade"]["state"] == "done"
    done = send(app, "/api/release", name="one", accepted=True)["release"]
    assert (done["state"], done["error"]) == ("done", "")
    assert "staging" not in done
    statement = ask(app, "GET", "/statement")
    assert statement.head["content-security-policy"] == STATEMENT_POLICY
    assert statement.body == (tmp_path / "one" / "statement.html").read_bytes()


def test_news_are_told_until_the_page_is_left(session: Session) -> None:
    told = ask(application(session, lambda: False), "GET", "/api/events")
    assert told.head["content-type"].startswith("text/event-stream")
    assert told.body in (b"", f'data: {{"version": {session.version}}}\n\n'.encode())
    assert ask(application(session, lambda: True), "GET", "/api/events").body == b""


@contextlib.contextmanager
def serving(studio: Studio) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=studio.run, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        studio.server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def got(studio: Studio, path: str, cookie: str = "") -> tuple[int, str]:
    """Status and cookie of an answer, once the server listens."""
    for _ in range(200):
        with (
            contextlib.suppress(ConnectionError),
            contextlib.closing(http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)) as connection,
        ):
            connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
            answer = connection.getresponse()
            return answer.status, (answer.getheader("set-cookie") or "").split(";")[0]
        time.sleep(0.05)
    raise AssertionError("the studio does not answer")


@pytest.mark.long
def test_a_studio_listens_lets_in_by_its_link_and_ends(begin: Beginning, table: Path, tmp_path: Path) -> None:
    studio = open_studio(table, folder=tmp_path)
    with serving(studio):
        assert got(studio, "/")[0] == 403
        status, cookie = got(studio, studio.address.removeprefix(f"http://127.0.0.1:{studio.port}"))
        assert status == 303
        assert got(studio, "/", cookie)[0] == 200
    idle = Studio(table, tmp_path, idle=-1.0)
    with serving(idle) as thread:
        thread.join(30)
        assert idle.server.should_exit  # nobody ended it


def test_the_command_prints_the_link_and_serves(
    begin: Beginning, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Studio] = []
    monkeypatch.setattr(server.Studio, "run", lambda studio: served.append(studio))
    monkeypatch.chdir(table.parent)
    command.run(Namespace(table=table.name, folder=None, port=0, json=False, quiet=False))
    (studio,) = served
    studio._socket.close()
    assert studio.address in capsys.readouterr().out
    assert studio.session.folder == table.parent
    with pytest.raises(InputError):
        open_studio(table.parent / "none.csv")
