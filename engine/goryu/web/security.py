"""Refuses requests that do not come from our own page.

The server listens on 127.0.0.1 only, but every page that the user visits can make the browser send requests
there. Three checks keep such pages out. `Host` must name this server: a page whose own name was made to
resolve to 127.0.0.1 (DNS rebinding) sends its own name. `Origin`, where the browser sends it, must be our
page. Whatever changes state needs the token that is written into our page, which other sites cannot read.
"""

import secrets
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

TOKEN_HEADER = "X-Goryu-Token"

HEADERS = {
    # Scripts, styles and connections of this server only, no inline code, no frames, no forms.
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # A page of another version would not fit this server; the browser asks again and mostly gets "unchanged".
    "Cache-Control": "no-cache",
}


class Guard:
    """Decides which requests the server accepts.

    token: a random text, new with each start of the server.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self._hosts: frozenset[str] = frozenset()

    def listen(self, port: int) -> None:
        """Tells the guard the port on which the server listens; before that it refuses everything."""
        names = ("127.0.0.1", "localhost")
        self._hosts = frozenset([f"{name}:{port}" for name in names] + (list(names) if port == 80 else []))

    def is_token(self, text: object) -> bool:
        """Is this the token of our page?"""
        return isinstance(text, str) and compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    def problem(self, request: web.Request) -> str | None:
        """Returns why the request must be refused, or None."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        if host not in self._hosts:
            return f"Host {host!r}: expected {' or '.join(sorted(self._hosts))}"
        if origin is not None and origin not in {f"http://{name}" for name in self._hosts}:
            return f"Origin {origin!r}: expected the page of this server"
        if request.headers.get("Upgrade", "").lower() == "websocket" and origin is None:
            return "a WebSocket without Origin: expected the page of this server"
        if request.method not in ("GET", "HEAD") and not self.is_token(request.headers.get(TOKEN_HEADER)):
            return f"{request.method} without the token of the page in {TOKEN_HEADER}"
        return None

    @property
    def middleware(self) -> Any:
        """The guard as a middleware of aiohttp; it also adds the headers that restrict the page."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if problem := self.problem(request):
                return web.Response(status=403, text=f"refused: {problem}\n", headers=HEADERS)
            try:
                response = await handler(request)
            except web.HTTPException as error:
                error.headers.update(HEADERS)
                raise
            except OSError:
                if not request.path.startswith("/static/"):
                    raise
                return web.Response(status=404, headers=HEADERS)  # No file can have this name.
            if not response.prepared:
                response.headers.update(HEADERS)
            return response

        return guard
