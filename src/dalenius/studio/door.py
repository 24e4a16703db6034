"""The door of the studio. Loopback alone is no access control: any page in the browser can reach 127.0.0.1.

A request passes if it names this computer as its host, does not come from another page, and carries the cookie that the
link of the terminal set once. Everything that leaves carries headers that let the page load nothing from elsewhere.
"""

import hmac
import secrets
import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Door"]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
COOKIE = "dalenius-studio"
READING = ("GET", "HEAD")
MOST_BYTES = 1_000_000
ANOTHER_PAGE = "This request comes from another page."


class Door:
    """Every request passes here or is refused.

    Parameters
    ----------
    app : ASGI application
        What stands behind the door.
    port : int
        The port that the studio listens at.
    token : str
        The secret of the link that the terminal shows; it works once.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self.app = app
        self.token = token
        self.used = False
        self.session = secrets.token_urlsafe(32)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.last = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        head = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = {name for name, _ in message["headers"]}
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(one for one in more if one[0] not in said)]
            await send(message)

        refusal = self.refusal(scope["method"], head)
        if refusal is not None:
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, guarded)
        elif scope["path"] == "/enter":
            await self._enter(scope, receive, guarded)
        elif not self._known(head):
            words = "Open the studio by the link that the terminal shows."
            await PlainTextResponse(words, 403)(scope, receive, guarded)
        else:
            self.last = time.monotonic()
            await self.app(scope, receive, guarded)

    def refusal(self, method: str, head: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is refused whoever sends it, as a status and a sentence; None if it is not."""
        if head.get("host") not in self.hosts:
            return 421, "This is the studio of another name."  # a name that was bound to this address
        # A page of another origin can send forms; without an origin, or with "null", nobody knows who sends.
        if method not in READING and head.get("origin") not in self.origins:
            return 403, ANOTHER_PAGE
        if head.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, ANOTHER_PAGE
        length = head.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES or "transfer-encoding" in head:
            return 413, "This request is too long."
        return None

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The link on the terminal works once, and leaves the address bar at once."""
        given = parse_qs(scope["query_string"].decode("latin1")).get("t", [""])[0]
        fits = hmac.compare_digest(given.encode(), self.token.encode())
        if self.used or not fits or scope["method"] != "GET":
            words = "This link was used already, or is not complete. Start the studio again for a new one."
            await PlainTextResponse(words, 403)(scope, receive, send)
            return
        self.used = True
        reply = RedirectResponse("/", 303)
        reply.set_cookie(COOKIE, self.session, httponly=True, samesite="strict", path="/")
        await reply(scope, receive, send)

    def _known(self, head: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(head.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self.session.encode())
