"""Requests to an ASGI application without a server between: what is asked, and the answer."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp

__all__ = ["Answer", "ask"]


@dataclass(frozen=True)
class Answer:
    """What an application answered."""

    status: int
    head: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    app: ASGIApp, method: str, path: str, head: Mapping[str, str] | None = None, body: bytes = b"", kind: str = "http"
) -> Answer:
    """One request with exactly these headers; status 0 if the application says nothing at all."""
    address, _, query = path.partition("?")
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "method": method,
        "path": address,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (head or {}).items()],
    }
    asyncio.run(app(scope, receive, send))
    begun = next((message for message in sent if message["type"] == "http.response.start"), None)
    if begun is None:
        return Answer(0, {}, b"")
    return Answer(
        begun["status"],
        {name.decode(): value.decode() for name, value in begun["headers"]},
        b"".join(message.get("body", b"") for message in sent),
    )
