"""The page for devices of the local network (`goryu web --lan`).

A second socket listens on one address of this machine. The socket that has accepted a connection decides who
is asking, not what the request says: whoever comes by 127.0.0.1 is a program of this machine, everybody else
is a device of the network, even if it names 127.0.0.1 as `Host`. A device gets the page for pairing until it
has a token, and then the same page as 127.0.0.1 without the list of the devices.
"""

import asyncio
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import segno
from aiohttp import web

from goryu.analysis.page_texts import texts_json
from goryu.base.errors import GoryuError, InputError, fault
from goryu.base.language import speaking, tr
from goryu_page.lan.addresses import LOOPBACK
from goryu_page.lan.pairing import Device, Pairing, spaced
from goryu_page.session.messages import MessageError, Request, language_of, parse, read

PAGE = Path(__file__).parent.parent / "static" / "pair" / "pair.html"

OF_PAIRING = frozenset(["/pair", "/static/css/colors.css", "/static/pair/pair.css", "/static/pair/pair.js"])
"""What a device gets that is not paired."""

MOST_BODY_BYTES = 1000
"""Of the message that pairs a device."""

BODY_S = 10.0
"""It must arrive in this time."""

MOST_CONNECTIONS = 256
"""Of all devices together, so that files are left for this machine; a usual limit is 1,024 open files."""

MOST_OF_ADDRESS = 32
"""Of one device: a browser opens six, and one for each tab."""

COOKIE_S = 7 * 24 * 3600
"""The browser of a device forgets its token after this time."""

REVOKED = 4001
"""The code of the close frame that a revoked device gets (4000 to 4999 are for applications)."""


class NotPairedError(GoryuError):
    """A device of the network without a token that is valid."""


class Bounded(asyncio.Protocol):
    """A new connection of the network: it gets the server's protocol, or is closed if there are too many."""

    def __init__(self, server: web.Server) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Counts the connections that came to the same address, and those of the same device."""
        here, there = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        others = [one.transport for one in self._server.connections if one.transport]
        others = [one for one in others if one.get_extra_info("sockname") == here]
        same = sum(one.get_extra_info("peername")[0] == there[0] for one in others)
        assert isinstance(transport, asyncio.Transport)
        if len(others) >= MOST_CONNECTIONS or same >= MOST_OF_ADDRESS:
            transport.abort()
            return
        protocol = self._server()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)


class PairRequest(Request):
    """The message of a device that wants to be paired. name: that its user has given it."""

    code: str
    name: str


class Lan:
    """The address in the local network, and the devices that are paired.

    address: IPv4, one of this machine. on_revoke: is called with a device that has just lost its token.
    """

    def __init__(self, address: str, pairing: Pairing | None = None) -> None:
        self.address = address
        self.pairing = pairing or Pairing()
        self.port = 0
        self.hosts: frozenset[str] = frozenset()
        self.on_revoke: Callable[[Device], None] = lambda device: None
        self._closing: set[asyncio.Task[bool]] = set()
        self._listener: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The address of the page for devices."""
        return f"http://{self.address}:{self.port}/"

    @property
    def link(self) -> str:
        """The address that pairs a device, or an empty text without a code.

        Browsers do not send what follows `#`, so the code gets into no server's log.
        """
        code = self.pairing.code
        return f"{self.url}pair#{spaced(code)}" if code else ""

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token; cookies are shared by all ports of an address."""
        return f"goryu-device-{self.port}"

    async def listen(self, runner: web.AppRunner, port: int) -> None:
        """Listens on the address, too; raises InputError if that is impossible."""
        server = runner.server
        assert server is not None
        loop = asyncio.get_running_loop()
        try:
            self._listener = await loop.create_server(lambda: Bounded(server), self.address, port)
        except OSError as error:
            place = f"{self.address}:{port}"
            raise InputError(
                tr("cannot listen on {place}: {error}", place=place, error=fault(error))
            ) from error
        self.port = port
        self.hosts = frozenset([f"{self.address}:{port}"] + ([self.address] if port == 80 else []))

    def close(self) -> None:
        """Accepts no more connections."""
        if self._listener:
            self._listener.close()

    def add_routes(self, app: web.Application) -> None:
        """Adds the page that pairs a device."""
        app.router.add_get("/pair", self._page)
        app.router.add_post("/pair", self._pair)

    def is_foreign(self, request: web.BaseRequest) -> bool:
        """Did the request come by the network's address?"""
        name = request.get_extra_info("sockname")
        return not name or name[0] != LOOPBACK

    def token_of(self, request: web.BaseRequest) -> str:
        """Returns the token that a request brings."""
        return request.cookies.get(self.cookie, "")

    def device_of(self, request: web.BaseRequest) -> Device | None:
        """Returns the device that is asking, or None for this machine.

        Raises:
            NotPairedError: it is a device without a valid token.
        """
        if not self.is_foreign(request):
            return None
        device = self.pairing.device_of(self.token_of(request))
        if device is None:
            raise NotPairedError("this device is not paired")
        return device

    def refusal(self, request: web.BaseRequest) -> web.Response | None:
        """Returns the answer to a device that must pair first, or None if the request may go on."""
        try:
            self.device_of(request)
        except NotPairedError as error:
            if request.path in OF_PAIRING:
                return None
            if request.path == "/" and request.method == "GET":
                return web.Response(status=303, headers={"Location": "/pair"})
            return web.Response(status=403, text=f"refused: {error}\n")
        return None

    def revoke(self, identity: str) -> None:
        """Takes the token of a device and closes its connections; raises PairingError if there is none."""
        device = self.pairing.revoke(identity)
        self.on_revoke(device)
        for socket in device.sockets:
            task = asyncio.get_running_loop().create_task(socket.close(code=REVOKED))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def picture(self) -> str:
        """Returns the QR code of the link as the address of a picture (SVG)."""
        return segno.make_qr(self.link).svg_data_uri(scale=6, dark="#000", light="#fff")

    def qr_lines(self) -> list[str]:
        """Returns the QR code of the link in half blocks; a letter is light and a space is dark."""
        out = StringIO()
        segno.make_qr(self.link).terminal(out, border=4, compact=True)
        return out.getvalue().splitlines()

    async def _page(self, request: web.Request) -> web.StreamResponse:
        self._require_foreign(request)
        text = PAGE.read_text(encoding="utf-8").replace("{{texts}}", texts_json(["pair"]))
        return web.Response(text=text, content_type="text/html")

    async def _pair(self, request: web.Request) -> web.Response:
        """Answers a device that sends {"type": "pair", "code": ..., "name": ..., "language": ...}."""
        self._require_foreign(request)
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType
        if not 0 < (request.content_length or 0) <= MOST_BODY_BYTES:
            raise web.HTTPRequestEntityTooLarge(MOST_BODY_BYTES, request.content_length or 0)
        try:
            async with asyncio.timeout(BODY_S):
                message = parse((await request.read()).decode("utf-8", "replace"))
        except TimeoutError:
            raise web.HTTPRequestTimeout from None
        except MessageError as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        with speaking(language_of(message)):
            try:
                wanted = read(PairRequest, message)
                old = self.pairing.device_of(self.token_of(request))
                token = self.pairing.pair(wanted.code, wanted.name, request.remote or "")
            except InputError as error:
                return web.json_response({"error": error.translated()}, status=403)
        if old is not None:  # The same device, paired again.
            self.revoke(old.id)
        answer = web.json_response({})
        answer.set_cookie(self.cookie, token, max_age=COOKIE_S, httponly=True, samesite="Strict")
        return answer

    def _require_foreign(self, request: web.Request) -> None:
        if not self.is_foreign(request):
            raise web.HTTPNotFound
