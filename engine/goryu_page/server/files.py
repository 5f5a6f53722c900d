"""The files of the page: joined, so that it needs few requests, and compressed once."""

import gzip
from collections.abc import Callable
from hashlib import sha256
from pathlib import PurePosixPath

from aiohttp import web

from goryu.analysis.joining import STATIC
from goryu.analysis.page_texts import LANGUAGES
from goryu_page.server.index import STYLES, index, joined

KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
"""By the end of a name; others are plain text. The system's own table may differ."""

_LEAST_BYTES = 500
"""Of what is worth compressing."""


def page(request: web.BaseRequest, token: str) -> str:
    """Returns the page, with the texts of its frame in the language that the browser asks for."""
    wanted = request.headers.get("Accept-Language", "")[:2].lower()
    return index(wanted if wanted in LANGUAGES else "en", f'<meta name="goryu-token" content="{token}">')


class Files:
    """Sends the files below `STATIC`, and what is joined from them; each is read and compressed once."""

    def __init__(self) -> None:
        self._names = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()}
        self._kept: dict[str, tuple[bytes, bytes, str]] = {}

    async def send(self, request: web.Request) -> web.Response:
        """Sends a file."""
        return self._send(request, lambda path: (STATIC / path).read_bytes())

    async def send_joined(self, request: web.Request) -> web.Response:
        """Sends one of `STYLES`, or a module with what it needs and `START` has not."""
        return self._send(request, lambda path: joined(path).encode(), frozenset(STYLES))

    def _send(
        self, request: web.Request, read: Callable[[str], bytes], more: frozenset[str] = frozenset()
    ) -> web.Response:
        path = request.match_info["path"]
        if path not in self._names | more:
            raise web.HTTPNotFound
        if request.path not in self._kept:
            self._kept[request.path] = _compressed(read(path))
        kept = self._kept[request.path]
        return _answer(request, *kept, KINDS.get(PurePosixPath(path).suffix, "text/plain"))


def packed(request: web.Request, content: bytes, kind: str) -> web.Response:
    """Returns the response with a content that is not kept."""
    return _answer(request, *_compressed(content), kind)


def _compressed(content: bytes) -> tuple[bytes, bytes, str]:
    """Returns a content, the same compressed (empty if that is not worth it), and its name for caches."""
    short = gzip.compress(content, mtime=0) if len(content) >= _LEAST_BYTES else b""
    return content, short, sha256(content).hexdigest()[:16]


def _answer(request: web.Request, content: bytes, short: bytes, name: str, kind: str) -> web.Response:
    headers = {"ETag": f'"{name}"', "Vary": "Accept-Encoding, Accept-Language"}
    if any(known.value == name for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    is_short = bool(short) and "gzip" in request.headers.get("Accept-Encoding", "")
    encoding = {"Content-Encoding": "gzip"} if is_short else {}
    body = short if is_short else content
    charset = "utf-8" if kind.startswith("text/") else None
    return web.Response(body=body, headers=headers | encoding, content_type=kind, charset=charset)
