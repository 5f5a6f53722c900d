"""A client of `goryu web` that is no browser, so that it can send what a browser refuses to send."""

import json
import re
import socket
from typing import Any

import aiohttp
from yarl import URL

ADDRESS = "127.0.0.2"
"""It plays the address in the network, so no packet leaves this machine."""


def can_listen() -> bool:
    """Has this system the address?"""
    with socket.socket() as probe:
        try:
            probe.bind((ADDRESS, 0))
        except OSError:
            return False
    return True


class Client:
    """An HTTP client that sends what a browser would to one of the two addresses, with cookies."""

    def __init__(self, url: str) -> None:
        self.url, self.origin = url, url.rstrip("/")
        self.http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        address = URL(self.url + path, encoded=True)
        async with self.http.get(address, headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, str]:
        headers = {"Origin": self.origin, **headers}
        if not headers["Origin"]:
            del headers["Origin"]
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
        async with self.http.post(self.url + path, data=data, headers=headers) as answer:
            return answer.status, await answer.text()

    async def pair(self, code: str, name: str = "phone", **headers: str) -> int:
        message = {"type": "pair", "code": code, "name": name, "language": "en"}
        return (await self.post("pair", message, **headers))[0]

    async def token(self) -> str:
        """Returns the token that stands in the page."""
        status, text = await self.get("")
        assert status == 200
        (found,) = re.findall(r'name="goryu-token" content="([^"]+)"', text)
        return str(found)

    async def hello(self, *, token: str | None = None, session: str = "", **options: Any) -> "Socket":
        """Opens a socket and greets."""
        given = await self.token() if token is None else token
        options = {"origin": self.origin, **options}
        opened = await self.http.ws_connect(self.url + "socket", **options)
        await opened.send_json({"type": "hello", "token": given, "session": session, "language": "en"})
        return Socket(opened)


class Socket:
    """A WebSocket of the page."""

    def __init__(self, opened: aiohttp.ClientWebSocketResponse) -> None:
        self.opened = opened

    async def welcome(self) -> Any:
        return await self.opened.receive_json()

    async def ask(self, kind: str, **content: Any) -> Any:
        """Returns the reply to a message; other messages may come before it."""
        await self.opened.send_json({"type": kind, "id": 1, **content})
        while (message := await self.opened.receive_json())["type"] != "reply":
            pass
        return message

    async def end(self) -> int | None:
        """Returns the code with which the server closes the connection."""
        while not self.opened.closed:
            await self.opened.receive()
        return self.opened.close_code
