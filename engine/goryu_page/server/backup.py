"""The backup of the dojo by HTTP: large files do not fit into the messages of the WebSocket.

It is for the page of this machine: a device of the local network gets no copy and cannot fill the disk.
"""

import asyncio
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from goryu.base.errors import GoryuError, InputError, explained
from goryu.base.language import speaking, tr
from goryu_page.dojo.database import copy_name
from goryu_page.dojo.dojo import Dojo
from goryu_page.lan.lan import Lan
from goryu_page.server.security import HEADERS, TOKEN_HEADER, Guard
from goryu_page.session.messages import language_of

MOST_BYTES = 4 << 30
"""Of a backup that is read: 1,000 reviewed games have some 60 MB."""

CHUNK = 1 << 20


class Backup:
    """Sends a copy of the database, and merges one that comes. Both need the token of the page."""

    def __init__(self, dojo: Dojo, guard: Guard, lan: Lan | None) -> None:
        self._dojo = dojo
        self._guard = guard
        self._lan = lan

    async def send(self, request: web.Request) -> web.StreamResponse:
        """Sends a copy of the database as a file."""
        if not self._may(request):
            return _refusal()
        with speaking(language_of(request.query)), TemporaryDirectory(prefix="goryu-") as folder:
            copy = Path(folder) / "dojo.sqlite3"
            try:
                await asyncio.to_thread(lambda: self._dojo.database.copy_to(copy))
            except (GoryuError, OSError) as error:
                return web.Response(status=500, text=explained(error))
            response = web.StreamResponse(headers=HEADERS)
            response.content_type = "application/vnd.sqlite3"
            response.content_length = copy.stat().st_size
            response.headers["Content-Disposition"] = f'attachment; filename="{copy_name()}"'
            await response.prepare(request)
            with copy.open("rb") as file:
                while chunk := await asyncio.to_thread(file.read, CHUNK):
                    await response.write(chunk)
            await response.write_eof()
        return response

    async def receive(self, request: web.Request) -> web.Response:
        """Merges a backup; answers with what was added, or with status 400 and the problem."""
        if not self._may(request):
            return _refusal()
        with (
            speaking(language_of(request.query)),
            TemporaryDirectory(prefix="goryu-") as folder,
        ):
            path = Path(folder) / "dojo.sqlite3"
            try:
                await self._save(request, path)
                merged = await asyncio.to_thread(lambda: self._dojo.merge(path))
            except (GoryuError, OSError) as error:
                return web.Response(status=400, text=explained(error))
            except web.RequestPayloadError as error:  # Such as chunks that are none.
                return web.Response(status=400, text=str(error))
        return web.json_response(asdict(merged))

    def _may(self, request: web.Request) -> bool:
        """Does a request come from the page of this machine?"""
        is_foreign = self._lan is not None and self._lan.is_foreign(request)
        return not is_foreign and self._guard.is_token(request.headers.get(TOKEN_HEADER), request)

    async def _save(self, request: web.Request, path: Path) -> None:
        """Writes the body of a request to a file; raises InputError if it is too large, or OSError."""
        size = 0
        with path.open("wb") as file:
            async for chunk in request.content.iter_chunked(CHUNK):
                size += len(chunk)
                if size > MOST_BYTES:
                    raise InputError(tr("the backup is too large"))
                await asyncio.to_thread(file.write, chunk)


def _refusal() -> web.Response:
    return web.Response(
        status=403, text=f"expected the page of this machine, with its token in {TOKEN_HEADER}\n"
    )
