"""Refuses requests that do not come from our own page.

The server listens on 127.0.0.1 only, but every page that the user visits can make the browser send requests
there. Three checks keep such pages out. `Host` must name this server: a page whose own name was made to
resolve to 127.0.0.1 (DNS rebinding) sends its own name. `Origin`, where the browser sends it, must be our
page. Whatever changes state needs the token that is written into our page, which other sites cannot read.

With `--lan` the same checks hold for the address in the local network, and `lan.py` asks devices for more.
"""

import secrets
from collections.abc import Awaitable, Callable
from hmac import compare_digest, digest
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from goryu_page.lan.lan import Lan

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
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # A page of another version would not fit this server; the browser asks again and mostly gets "unchanged".
    "Cache-Control": "no-cache",
}

OF_THIS_MACHINE = {"Cross-Origin-Opener-Policy": "same-origin"}
"""Also of the page of this machine: from another one, without HTTPS, browsers refuse it with an error."""


class Guard:
    """Decides which requests the server accepts.

    token: a random text, new with each start of the server. lan: the page for devices of the local network.
    """

    def __init__(self, lan: "Lan | None" = None) -> None:
        self._lan = lan
        self.token = secrets.token_urlsafe(32)
        self._hosts: frozenset[str] = frozenset()

    def listen(self, port: int) -> None:
        """Tells the guard the port on which the server listens; before that it refuses everything."""
        names = ("127.0.0.1", "localhost")
        self._hosts = frozenset([f"{name}:{port}" for name in names] + (list(names) if port == 80 else []))

    def token_for(self, request: web.BaseRequest) -> str:
        """Returns the token of the page that a request asks for: each device has another one."""
        if self._lan is None or not self._lan.is_foreign(request):
            return self.token
        return digest(
            self.token.encode(), self._lan.token_of(request).encode("utf-8", "replace"), "sha256"
        ).hex()

    def is_token(self, text: object, request: web.BaseRequest) -> bool:
        """Is this the token of the page that the request comes from?"""
        expected = self.token_for(request).encode()
        return isinstance(text, str) and compare_digest(text.encode("utf-8", "replace"), expected)

    def problem(self, request: web.Request) -> str | None:
        """Returns why the request must be refused, or None."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        is_foreign = self._lan is not None and self._lan.is_foreign(request)
        hosts = self._lan.hosts if self._lan is not None and is_foreign else self._hosts
        if host not in hosts:
            return f"Host {host!r}: expected {' or '.join(sorted(hosts))}"
        if origin is not None and origin not in {f"http://{name}" for name in hosts}:
            return f"Origin {origin!r}: expected the page of this server"
        if request.headers.get("Upgrade", "").lower() == "websocket" and origin is None:
            return "a WebSocket without Origin: expected the page of this server"
        if is_foreign and request.method == "POST" and request.path == "/pair":
            return None if origin is not None else "a POST without Origin: expected the page of this server"
        if request.method in ("GET", "HEAD"):
            return None
        if not self.is_token(request.headers.get(TOKEN_HEADER), request):
            return f"{request.method} without the token of the page in {TOKEN_HEADER}"
        return None

    @property
    def middleware(self) -> Any:
        """The guard as a middleware of aiohttp; it also adds the headers that restrict the page."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            is_foreign = self._lan is not None and self._lan.is_foreign(request)
            headers = HEADERS if is_foreign else HEADERS | OF_THIS_MACHINE
            if problem := self.problem(request):
                return web.Response(status=403, text=f"refused: {problem}\n", headers=headers)
            if self._lan and (refusal := self._lan.refusal(request)):
                refusal.headers.update(headers)
                return refusal
            try:
                response = await handler(request)
            except web.HTTPException as error:
                error.headers.update(headers)
                raise
            if not response.prepared:
                response.headers.update(headers)
            return response

        return guard
