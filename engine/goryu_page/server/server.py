"""The server: the page, its files, and the WebSocket of each tab."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from time import monotonic

from aiohttp import WSCloseCode, WSMsgType, web

from goryu.base.errors import GoryuError
from goryu.base.language import speaking, tr
from goryu_page.dojo.dojo import Dojo
from goryu_page.lan.lan import Lan
from goryu_page.lan.pairing import Device
from goryu_page.server.backup import Backup
from goryu_page.server.files import Files, packed, page
from goryu_page.server.security import HEADERS, Guard
from goryu_page.session.messages import MessageError, Request, language_of, parse, read
from goryu_page.session.session import Session, View

_log = logging.getLogger("goryu_page.server")

MOST_MESSAGE_BYTES = 2 << 20
"""Of one message from the page: the longest game records have some 100 kB."""

STALE = 4002
"""The close code for a page of an earlier start of the server; it reloads itself."""

MOST_REASON_BYTES = 123
"""Of the reason in a close frame (RFC 6455, 5.5)."""


@dataclass(frozen=True, slots=True)
class TabLimits:
    """How long tabs are waited for, in seconds, and how many there may be.

    idle_s: a connection without a request, or with half of one, is closed after this time.
    hello_s: a new connection must send the token in this time.
    alive_s: a tab must answer in this time when another one comes with its session.
    grace_s: a lost connection may come back in this time without its searches being stopped.
    keep_s: a session without a connection is forgotten after this time.
    sweep_s: between two looks for such sessions.
    most: a new tab replaces the oldest session without a connection; if there is none it is refused.
    most_of_device: likewise, of each device of the local network.
    """

    idle_s: float = 30.0
    hello_s: float = 10.0
    alive_s: float = 1.0
    grace_s: float = 10.0
    keep_s: float = 3600.0
    sweep_s: float = 1.0
    most: int = 50
    most_of_device: int = 5


class Hello(Request):
    """The first message of a connection. token: of the page. session: that the tab had, or ""."""

    token: str = ""
    session: str = ""


class StaleError(MessageError):
    """The token is not that of this start of the server."""


class Server:
    """The server and the sessions of its tabs.

    views: by name. dojo, record: see `Session`. lan: for devices of the local network, if any.
    limits: may be replaced while the server runs.
    """

    def __init__(
        self,
        views: Mapping[str, type[View]],
        dojo: Dojo,
        record: tuple[str, bytes] | None = None,
        lan: Lan | None = None,
        limits: TabLimits = TabLimits(),
    ) -> None:
        self._views = views
        self._dojo = dojo
        self._record = record
        self.lan, self.limits = lan, limits
        if lan:
            lan.on_revoke = self._expel
            lan.pairing.on_change = self._tell_devices
        self.guard = Guard(lan)
        self._files = Files()
        self.sessions: dict[str, Session] = {}
        self._sockets: dict[str, web.WebSocketResponse] = {}
        self.port = 0

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def has_record(self) -> bool:
        """Did the user name a record on the command line?"""
        return self._record is not None

    @contextlib.asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[None]:
        """Listens on 127.0.0.1 at the port, or a free one for 0, until the block ends.

        With `lan` it listens on that address, too. Raises OSError or InputError if a port is in use.
        """
        runner = web.AppRunner(
            self._app(),
            access_log=None,
            shutdown_timeout=1.0,
            keepalive_timeout=self.limits.idle_s,
            auto_decompress=False,  # No page sends such bodies, and wrong ones end in tracebacks of aiohttp.
        )
        await runner.setup()
        sweeper: asyncio.Task[None] | None = None
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            self.port = runner.addresses[0][1]
            self.guard.listen(self.port)
            if self.lan:
                await self.lan.listen(runner, self.port)
            sweeper = asyncio.create_task(self._sweep())
            yield
        finally:
            if sweeper:
                sweeper.cancel()
            if self.lan:
                self.lan.close()
            for socket in list(self._sockets.values()):
                await socket.close(code=WSCloseCode.GOING_AWAY)
            for session in self.sessions.values():
                session.close()
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self.guard.middleware], client_max_size=MOST_MESSAGE_BYTES)
        app.router.add_get("/", self._page)
        app.router.add_get("/socket", self._socket)
        backup = Backup(self._dojo, self.guard, self.lan)
        app.router.add_get("/backup", backup.send)
        app.router.add_post("/backup", backup.receive)
        app.router.add_get("/static/{path:.+}", self._files.send)
        app.router.add_get("/joined/{path:.+}", self._files.send_joined)
        if self.lan:
            self.lan.add_routes(app)
        return app

    async def _page(self, request: web.Request) -> web.Response:
        return packed(request, page(request, self.guard.token_for(request)).encode(), "text/html")

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=MOST_MESSAGE_BYTES, heartbeat=20.0, compress=False)
        socket.headers.update(HEADERS)
        await socket.prepare(request)
        with contextlib.ExitStack() as stack:
            try:
                device = self.lan.device_of(request) if self.lan else None
                if self.lan and device:
                    stack.enter_context(self.lan.pairing.connected(device, socket))
                session, is_new = await self._greet(socket, request, device)
            except (GoryuError, TimeoutError) as error:
                code = STALE if isinstance(error, StaleError) else WSCloseCode.POLICY_VIOLATION
                await socket.close(code=code, message=close_reason(str(error)))
                return socket
            await self._talk(socket, session, is_new)
        return socket

    async def _talk(self, socket: web.WebSocketResponse, session: Session, is_new: bool) -> None:
        """Passes messages on until the connection ends."""
        sender = asyncio.create_task(self._send(session, socket, is_new))
        try:
            await self._receive(session, socket)
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sender
            if self._sockets.get(session.id) is socket:
                self._left(session, is_closed=socket.close_code in (WSCloseCode.OK, WSCloseCode.GOING_AWAY))

    async def _greet(
        self, socket: web.WebSocketResponse, request: web.Request, device: Device | None
    ) -> tuple[Session, bool]:
        """Reads the first message, which must have the token; returns the session and whether it is new."""
        first = await socket.receive(timeout=self.limits.hello_s)
        if first.type is not WSMsgType.TEXT:
            raise MessageError("expected a hello with the token of the page")
        message = parse(first.data)
        hello, language = read(Hello, message), language_of(message)
        if message["type"] != "hello" or not self.guard.is_token(hello.token, request):
            with speaking(language):
                raise StaleError(tr("the page is of an earlier start of Goryu; reload it"))
        known = hello.session
        session = self.sessions.get(known)
        if session is not None and session.device is not device:
            session = None  # A device cannot take a session of another one.
        elif session is not None and await self._is_in_use(known):
            session = None  # The browser copied the session's name with the tab.
        is_new = session is None
        if session is None:
            with speaking(language):
                session = self._new_session(device)
        session.language = language
        session.left_s = None
        old = self._sockets.get(session.id)
        self._sockets[session.id] = socket  # Before the old one ends, which would else stop the searches.
        if old:
            await old.close(code=WSCloseCode.GOING_AWAY)
        session.outbox.open()
        return session, is_new

    async def _is_in_use(self, name: str) -> bool:
        """Does another tab still answer for this session?"""
        socket = self._sockets.get(name)
        if socket is None or socket.closed:
            return False
        session = self.sessions[name]
        session.answered.clear()
        session.send("session.alive")
        try:
            await asyncio.wait_for(session.answered.wait(), self.limits.alive_s)
        except TimeoutError:
            return False
        return True

    def _new_session(self, device: Device | None) -> Session:
        most = self.limits.most_of_device if device else self.limits.most
        own = [one for one in self.sessions.values() if one.device is device]
        if len(own) >= most:
            idle = [one for one in own if one.left_s is not None]
            if not idle:
                raise MessageError(
                    tr("{count} tabs are open, which is the most; close one of them", count=most)
                )
            self._forget(min(idle, key=lambda one: one.left_s or 0.0))
        session = Session(self._views, self._dojo, self._record)
        session.device, session.lan = device, None if device else self.lan
        self.sessions[session.id] = session
        return session

    async def _send(self, session: Session, socket: web.WebSocketResponse, is_new: bool) -> None:
        """Sends what waits in the outbox; returns when the connection is lost."""
        try:
            await socket.send_json({"type": "session.welcome", "session": session.id, "new": is_new})
            while True:
                for text in await session.outbox.next():
                    await socket.send_str(text)
        except ConnectionError:
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)

    async def _receive(self, session: Session, socket: web.WebSocketResponse) -> None:
        with contextlib.suppress(ConnectionError):  # A ping cannot be answered any more.
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    await socket.close(code=WSCloseCode.UNSUPPORTED_DATA)
                elif session.id in self.sessions:  # Else its device was revoked just now.
                    session.receive(message.data)
                    # Its task begins now, so messages take effect in their order; and a flood of them does
                    # not keep the replies from being sent.
                    await asyncio.sleep(0)

    def _left(self, session: Session, is_closed: bool) -> None:
        """Notes that a tab has lost its connection. is_closed: did it say goodbye?"""
        self._sockets.pop(session.id, None)
        session.outbox.close()
        session.left_s = monotonic()
        if is_closed:
            session.pause()

    async def _sweep(self) -> None:
        """Stops the searches of lost tabs, and forgets old sessions."""
        while True:
            await asyncio.sleep(self.limits.sweep_s)
            now = monotonic()
            for session in list(self.sessions.values()):
                absence = now - session.left_s if session.left_s is not None else 0.0
                if absence > self.limits.keep_s:
                    self._forget(session)
                elif absence > self.limits.grace_s:
                    session.pause()

    def _forget(self, session: Session) -> None:
        session.close()
        del self.sessions[session.id]

    def _expel(self, device: Device) -> None:
        """Forgets the sessions of a device that was revoked."""
        for session in [one for one in self.sessions.values() if one.device is device]:
            self._forget(session)

    def _tell_devices(self) -> None:
        """Tells the pages that show the devices that something there has changed."""
        for session in self.sessions.values():
            if session.lan:
                session.report("devices.changed")


def close_reason(text: str) -> bytes:
    """Returns the text in UTF-8, cut to what a close frame of a WebSocket can hold.

    >>> len(close_reason("再" * 100).decode())
    41
    """
    return text.encode()[:MOST_REASON_BYTES].decode(errors="ignore").encode()
