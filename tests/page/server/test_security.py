"""Requests that other sites, and broken pages, can send to the server."""

import ast
import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from goryu.analysis.joining import STATIC
from goryu_page.server.security import TOKEN_HEADER, Guard
from goryu_page.server.server import MOST_MESSAGE_BYTES, STALE, TabLimits
from goryu_page.session.outbox import MOST_WAITING

Do = Callable[[aiohttp.ClientSession], Awaitable[Any]]


def ask(do: Do) -> Any:
    """Runs `do` with an HTTP client and returns its result."""

    async def run() -> Any:
        async with aiohttp.ClientSession() as client:
            return await asyncio.wait_for(do(client), 30)

    with ThreadPoolExecutor(1) as pool:  # In this thread, Playwright's event loop may run.
        return pool.submit(asyncio.run, run()).result(60)


def status(url: str, method: str = "GET", **headers: str) -> int:
    async def do(client: aiohttp.ClientSession) -> int:
        async with client.request(method, url, headers=headers) as response:
            return response.status

    found: int = ask(do)
    return found


def origin(server: Any) -> str:
    return str(server.url.rstrip("/"))


async def hello(client: aiohttp.ClientSession, server: Any, **content: Any) -> Any:
    """Opens a socket and sends the first message; returns the socket."""
    socket = await client.ws_connect(server.url + "socket", origin=origin(server))
    await socket.send_json(
        {"type": "hello", "token": server.token, "session": "", "language": "en", **content}
    )
    return socket


class TestHost:
    def test_the_servers_own_names_are_accepted(self, server: Any) -> None:
        assert status(server.url) == 200
        assert status(server.url.replace("127.0.0.1", "localhost")) == 200

    def test_other_names_are_refused(self, server: Any) -> None:
        """DNS rebinding: a name of the attacker's that resolves to 127.0.0.1."""
        port = server.server.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil:{port}", ""):
            for path in ("", "static/js/main.js", "socket"):
                assert status(server.url + path, Host=host) == 403, (host, path)


class TestOrigin:
    def test_other_sites_get_no_socket_and_no_page(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> None:
            for foreign in ("https://evil.example", "null", "http://127.0.0.1", "http://localhost:1", None):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await client.ws_connect(server.url + "socket", origin=foreign)
                assert refused.value.status == 403, foreign

        ask(do)
        assert status(server.url, Origin="https://evil.example") == 403
        assert status(server.url, Origin=origin(server)) == 200


class TestToken:
    def test_a_socket_without_the_token_or_with_another_first_message_is_closed(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> None:
            wrong: list[dict[str, Any]] = [{"token": token} for token in ("", "x", None, 3, ["a"], "\ud800")]
            for content in (*wrong, {"type": "play.new"}):
                socket = await hello(client, server, **content)
                await socket.receive()
                assert socket.close_code in (1008, STALE), content

        ask(do)
        assert server.server.sessions == {}

    def test_requests_that_could_change_something_need_it(self, server: Any) -> None:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert status(server.url, method) == 403
            assert status(server.url, method, **{TOKEN_HEADER: "x"}) == 403
            assert status(server.url, method, **{TOKEN_HEADER: server.token}) == 405

    def test_a_body_with_an_encoding_that_it_has_not_leaves_no_traceback(
        self, server: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def post(client: aiohttp.ClientSession) -> int:
            headers = {"Content-Encoding": "gzip"}
            async with client.post(server.url, data=b"no gzip", headers=headers) as response:
                return response.status

        assert ask(post) == 403  # The body is read only after the answer, to free the connection.
        assert status(server.url) == 200
        assert "Traceback" not in caplog.text

    def test_each_server_has_its_own(self, server: Any) -> None:
        assert Guard().token != server.token
        assert len(server.token) > 40


class TestPaths:
    def test_only_the_pages_files_are_served(self, server: Any) -> None:
        paths = [
            "static/../server.py", "static/%2e%2e/server.py", "static/..%2fserver.py",
            "static/%2e%2e%2f%2e%2e%2f%2e%2e%2fpyproject.toml", "static//etc/passwd",
            "static/%2fetc/passwd", "static/js/../../../command.py", "server.py", "static/", "static/js",
            "static/" + 300 * "a", "static/a%00b",
        ]  # fmt: skip

        async def do(_client: aiohttp.ClientSession) -> None:
            for path in paths:
                # The client would tidy the path.
                reader, writer = await asyncio.open_connection("127.0.0.1", server.server.port)
                host = f"127.0.0.1:{server.server.port}"
                writer.write(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                answer = await reader.read()
                writer.close()
                assert answer.split()[1] in (b"403", b"404"), (path, answer[:200])

        ask(do)

    def test_no_message_names_a_path(self) -> None:
        """Views get the content of files; only the command line opens one."""
        house = STATIC.parent
        own = {"files.py", "index.py", "backup.py"}  # Their files have names of our own.
        for room in ("server", "views", "session", "lan"):
            for path in (house / room).glob("*.py"):
                assert path.name in own or list(file_accesses(path)) == [], path.name


def file_accesses(path: Path) -> Iterator[str]:
    """Yields the calls in a module that open a file, except a constant of the package."""
    methods = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "glob"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id in {"open", "read_record"}:
            yield ast.unparse(node)
        if isinstance(function, ast.Attribute) and function.attr in methods:
            owner = ast.unparse(function.value)
            if not (owner.isupper() or owner.endswith("outbox")):
                yield ast.unparse(node)


class TestHeaders:
    def test_the_page_is_restricted_to_this_server(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> Any:
            found = []
            for path in ("", "static/js/main.js", "static/missing.js"):
                async with client.get(server.url + path) as response:
                    found.append(response.headers)
            return found

        for headers in ask(do):
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self';" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "Access-Control-Allow-Origin" not in headers


BAD_MESSAGES = [
    "{",
    "[]",
    "3",
    '"hello"',
    "{}",
    '{"type": 3}',
    '{"type": "no.such.message", "id": 1}',
    '{"type": "play.new", "id": {"a": 1}}',
    '{"type": "play.new", "id": 1, "game": "chess"}',
    '{"type": "play.new", "id": 1, "game": "shogi", "opponent": "../../etc/passwd"}',
    '{"type": "play.new", "id": 1, "game": "shogi", "sfen": "9/9 b"}',
    '{"type": "play.new", "id": 1, "game": "shogi", "clock": {"main": -1}}',
    '{"type": "play.new", "id": 1, "game": "shogi", "clock": {"main": 1e999}}',
    '{"type": "play.new", "id": 1, "game": "shogi", "clock": {"main": 1' + 400 * "0" + "}}",
    '{"type": "microscope.new", "id": 1, "game": "tictactoe", "position": "", "algorithm": "puct", '
    '"network": "uniform", "values": {"c_init": 1' + 400 * "0" + "}}",
    '{"type": "play.new", "id": 1, "game": "shogi", "moves": ["9i9h", "x"]}',
    '{"type": "play.new", "id": 1, "game": "shogi", "moves": [1]}',
    '{"type": "play.new", "id": 1, "game": "shogi", "moves": ["7g7f"], "seconds": []}',
    '{"type": "play.new", "id": 1, "game": "shogi", "moves": [], "clocks": [[1, "x"]]}',
    '{"type": "play.new", "id": 1, "game": "shogi", "moves": [], "clocks": [[1e999, 1]]}',
    '{"type": "play.new", "id": 1, "game": "shogi", "clock": {"main": 9}, "clocks": [[1, 2], [1]]}',
    '{"type": "play.new", "id": 1, "game": "shogi", "over": {"ending": "boredom", "winner": 0}}',
    '{"type": "play.new", "id": 1, "game": "shogi", "over": {"ending": "time", "winner": [2]}}',
    '{"type": "play.move", "id": 1, "number": 0, "move": "7g7f"}',
    '{"type": "play.save", "id": 1}',
    '{"type": "\\ud800", "id": 1}',
    '{"type": "play.new", "id": 1, "game": "shogi", "opponent": "\\udfff"}',
    "[" * 100_000,
]


class TestMessages:
    def test_a_bad_message_gets_an_error_and_the_session_goes_on(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> None:
            socket = await hello(client, server)
            await socket.receive_json()
            for text in BAD_MESSAGES:
                await socket.send_str(text)
                refused = await socket.receive_json()
                assert refused["ok"] is False, text
                assert refused["error"], text
                assert "defect" not in refused["error"], text
                await socket.send_json({"type": "play.options", "id": 7})
                answered = await socket.receive_json()
                assert (answered["id"], answered["ok"]) == (7, True)
            await socket.close()

        ask(do)

    def test_a_flood_of_messages_is_answered(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> Any:
            socket = await hello(client, server)
            await socket.receive_json()
            count = 3 * MOST_WAITING
            for identity in range(count):
                await socket.send_str(json.dumps({"type": "play.state", "id": identity}))
            answers = [await socket.receive_json() for _ in range(count)]
            await socket.close()
            return [answer["id"] for answer in answers] == list(range(count))

        assert ask(do)

    def test_a_message_that_is_too_large_closes_the_connection(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> Any:
            socket = await hello(client, server)
            await socket.receive_json()
            # The server closes without having read the whole message, so the sender may meet the reset.
            with contextlib.suppress(ConnectionError):
                await socket.send_str(json.dumps({"type": "x", "text": "a" * MOST_MESSAGE_BYTES}))
            await socket.receive()
            again = await hello(client, server)
            return socket.close_code, (await again.receive_json())["type"]

        code, answer = ask(do)
        # The reset may also overtake the close frame with 1009.
        assert code in (1009, 1006)
        assert answer == "session.welcome"

    def test_binary_messages_are_refused(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> Any:
            socket = await hello(client, server)
            await socket.receive_json()
            await socket.send_bytes(b"\x00")
            await socket.receive()
            return socket.close_code

        assert ask(do) == 1003

    def test_too_many_tabs_are_refused(self, server: Any) -> None:
        server.server.limits = TabLimits(most=2)

        async def do(client: aiohttp.ClientSession) -> Any:
            sockets = [await hello(client, server) for _ in range(2)]
            for socket in sockets:
                await socket.receive_json()
            third = await hello(client, server)
            await third.receive()
            return third.close_code

        assert ask(do) == 1008

    def test_another_tab_cannot_take_a_session_that_is_in_use(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> Any:
            first = await hello(client, server)
            name = (await first.receive_json())["session"]

            async def answer() -> None:
                assert (await first.receive_json())["type"] == "session.alive"
                await first.send_json({"type": "session.alive"})

            task = asyncio.create_task(answer())
            second = await hello(client, server, session=name)
            welcome = await second.receive_json()
            await task
            return name, welcome["session"]

        name, other = ask(do)
        assert name != other

    def test_a_session_that_does_not_answer_goes_to_the_page_that_claims_it(self, server: Any) -> None:
        async def do(client: aiohttp.ClientSession) -> Any:
            first = await hello(client, server)
            name = (await first.receive_json())["session"]
            second = await hello(client, server, session=name)
            return name, await second.receive_json()

        name, welcome = ask(do)
        assert welcome == {"type": "session.welcome", "session": name, "new": False}
