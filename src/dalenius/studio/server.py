"""`dalenius studio`: the server behind the page. It listens on this computer alone and ends when nobody uses it."""

import asyncio
import contextlib
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dalenius.errors import DaleniusError, InputError
from dalenius.studio.choices import Choices
from dalenius.studio.door import Door
from dalenius.studio.session import Session

__all__ = ["Studio", "open_studio"]

IDLE = 30 * 60  # seconds without a request after which the studio ends
TICK = 0.05
TEXTS = ("promise", "level", "keep_rows", "times", "person", "title", "owner", "ledger")
PAGES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/static/studio.css": ("studio.css", "text/css; charset=utf-8"),
    "/static/studio.mjs": ("studio.mjs", "text/javascript; charset=utf-8"),
    "/static/steps.mjs": ("steps.mjs", "text/javascript; charset=utf-8"),
    "/static/curve.mjs": ("curve.mjs", "text/javascript; charset=utf-8"),
    "/static/directions.mjs": ("directions.mjs", "text/javascript; charset=utf-8"),
}

STATEMENT_POLICY = (
    "sandbox allow-scripts allow-modals; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
"""A statement is a page of its own: it has no part in the studio's cookie, and it loads nothing. The policy that it
carries holds beside this one, and lets only the scripts run whose digests it names."""


def _page(name: str, kind: str) -> Callable[[Request], Any]:
    text = files("dalenius.studio").joinpath("pages", name).read_text("utf-8")

    async def page(_: Request) -> Response:
        return Response(text, media_type=kind)

    return page


def application(session: Session, ended: Callable[[], bool]) -> Starlette:
    """The routes of the studio, without its door; `ended` says when nobody should wait for news any more."""

    async def state(_: Request) -> Response:
        return JSONResponse(session.state())

    async def statement(_: Request) -> Response:
        text = await run_in_threadpool(session.statement)
        if text is None:
            return PlainTextResponse("There is no release yet.", 404)
        return HTMLResponse(text, headers={"Content-Security-Policy": STATEMENT_POLICY})

    def doing(act: Callable[[Mapping[str, Any]], None]) -> Callable[[Request], Any]:
        """A route that changes something and answers with the new state, or with one sentence."""

        async def route(request: Request) -> Response:
            try:
                given = await request.json() if await request.body() else {}
                if not isinstance(given, dict):
                    raise InputError("This is not an object.", do="Open the page again.")
                await run_in_threadpool(act, given)
            except DaleniusError as e:  # an answer like any other: what was asked for cannot be done, and why
                return JSONResponse({"error": str(e)})
            except (ValueError, KeyError, TypeError) as e:
                return JSONResponse({"error": f"This request makes no sense ({e})."}, 400)
            return JSONResponse(session.state())

        return route

    def choose(given: Mapping[str, Any]) -> None:
        names = {str(name): str(role) for name, role in dict(given["roles"]).items()}
        if set(names) != set(session.choices.roles):
            raise InputError("These are not the columns of the table.", do="Open the page again.")
        texts = {key: str(given.get(key, "")) for key in TEXTS}
        cuts = {str(name): str(text) for name, text in dict(given.get("cuts") or {}).items()}
        named = {
            str(name): {str(label): [str(value) for value in values] for label, values in dict(groups).items()}
            for name, groups in dict(given.get("named") or {}).items()
        }
        session.choose(Choices(roles=names, cuts=cuts, named=named, **texts))

    async def events(request: Request) -> Response:
        async def stream() -> AsyncIterator[str]:
            seen = -1
            while not ended() and not await request.is_disconnected():
                if session.version != seen:
                    seen = session.version
                    yield f"data: {json.dumps({'version': seen})}\n\n"
                await asyncio.sleep(TICK)

        return StreamingResponse(stream(), media_type="text/event-stream")

    changing = {
        "/api/choices": choose,
        "/api/merge": lambda given: session.merge(str(given["column"]), int(given["one"]), int(given["other"])),
        "/api/suggested": lambda given: session.choose(session.choices.as_suggested(str(given["column"]))),
        "/api/curve": lambda _: session.solve(),
        "/api/point": lambda given: session.pick(int(given["index"])),
        "/api/cancel": lambda _: session.cancel(),
        "/api/release": lambda given: session.release(str(given["name"]), given.get("accepted") is True),
    }
    return Starlette(
        routes=[
            *(Route(address, _page(*page)) for address, page in PAGES.items()),
            Route("/statement", statement),
            Route("/api/state", state),
            Route("/api/events", events),
            *(Route(address, doing(act), methods=["POST"]) for address, act in changing.items()),
        ]
    )


class Studio:
    """A studio that listens; `address` is the link that opens it, once.

    Parameters
    ----------
    path : Path
        The table.
    folder : Path
        Where releases are written.
    port : int
        0 lets the system choose one.
    idle : float
        Seconds without a request after which it ends.
    """

    def __init__(self, path: Path, folder: Path, *, port: int = 0, idle: float = IDLE) -> None:
        self.session = Session(path, folder)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", port))  # this computer alone; there is no other choice
        self.port = int(self._socket.getsockname()[1])
        token = secrets.token_urlsafe(32)
        self._door = Door(application(self.session, lambda: self.server.should_exit), self.port, token)
        self._idle = idle
        self.address = f"http://127.0.0.1:{self.port}/enter?t={token}"
        # No log: addresses could hold the token, and nobody reads it.
        config = uvicorn.Config(
            self._door, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1
        )
        self.server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until the terminal ends it, or nobody uses it."""
        try:
            with contextlib.suppress(KeyboardInterrupt):  # the usual end
                asyncio.run(self._serve())
        finally:
            self.session.cancel()

    async def _serve(self) -> None:
        ending = asyncio.create_task(self._end_when_idle())
        try:
            await self.server.serve(sockets=[self._socket])
        finally:
            ending.cancel()

    async def _end_when_idle(self) -> None:
        while not self.server.should_exit:
            await asyncio.sleep(1)
            if time.monotonic() - self._door.last > self._idle and not self.session.jobs.busy:
                self.server.should_exit = True


def open_studio(path: str | Path, *, folder: str | Path | None = None, port: int = 0) -> Studio:
    """Make a studio for a table; nothing listens before `run`.

    Parameters
    ----------
    path : str or Path
        The table.
    folder : str or Path, optional
        Where releases are written; the current folder unless said.
    port : int
        0 lets the system choose one.

    Returns
    -------
    Studio

    Raises
    ------
    InputError
        If there is no such table, or it cannot be read.
    """
    place = Path.cwd() if folder is None else Path(folder)
    return Studio(Path(path), place, port=port)
