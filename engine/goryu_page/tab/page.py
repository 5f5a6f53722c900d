"""The page's session in a browser tab: the worker passes its messages on, as the server does elsewhere."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path

from goryu.base.errors import InputError
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu_page.dojo.dojo import Dojo
from goryu_page.session.session import Session
from goryu_page.tab.backup import BackupView
from goryu_page.views.views import VIEWS

_log = logging.getLogger("goryu_page.tab")

DATABASE = Path("/kept/dojo.sqlite3")
"""The worker lets the browser keep the files of this folder."""


class Page:
    """The session of a tab and its dojo. send(text): takes each message for the page."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._texts = deque[str]()  # That the session has not received yet.
        # A network that is not here yet is an error: a weaker one would review under its name.
        dojo = Dojo(DATABASE, EngineConfig(evaluator=EvaluatorConfig(allows_fallback=False)))
        try:
            dojo.restore_network()
            dojo.start()
        except InputError as error:
            _log.warning("%s", error)  # Who only plays needs no database.
        self._session = Session({**VIEWS, BackupView.name: BackupView}, dojo)
        self._session.outbox.open()
        self._sending = self._loop.create_task(self._send_all())

    def receive(self, text: str) -> None:
        """Handles a message of the page, on a stack of its own: it may have to wait for a thread."""
        self._texts.append(text)
        if len(self._texts) == 1:
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        self._session.receive(self._texts[0])
        self._texts.popleft()
        if self._texts:  # Its task begins first, so messages take effect in their order.
            self._loop.call_soon(self._next)

    async def _send_all(self) -> None:
        while True:
            for text in await self._session.outbox.next():
                self._send(text)
