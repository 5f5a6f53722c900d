"""The page in the local network: a test for each line of the threat model in SECURITY.md."""

import asyncio
import io
import json
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from goryu.base.errors import InputError
from goryu.base.language import speaking
from goryu_page.lan.invitation import invitation
from goryu_page.lan.lan import MOST_BODY_BYTES, REVOKED, Lan
from goryu_page.lan.pairing import MOST_TRIES
from goryu_page.server.security import TOKEN_HEADER
from goryu_page.server.server import STALE, Server, TabLimits
from web_client import ADDRESS, Client, can_listen

FILES = ["", "static/js/main.js", "static/css/base.css", "static/icon.svg", "static/index.html",
         "static/", "static/pair/pair.html", "static/pair/../js/main.js", "static/pair/%2e%2e/js/main.js",
         "pair/", "PAIR", "no-such-file"]  # fmt: skip


pytestmark = pytest.mark.skipif(not can_listen(), reason=f"this system has no {ADDRESS}")


@pytest.fixture
def lan(tmp_path: Path, running_server: Any) -> Iterator[Any]:
    """A running server with `--lan`."""
    running = running_server(tmp_path / "dojo.sqlite3", lan=Lan(ADDRESS)).start()
    yield running
    running.stop()


Do = Callable[..., Awaitable[Any]]


@pytest.fixture
def ask(lan: Any, in_loop: Any) -> Callable[[Do], Any]:
    """Runs `do(phone, computer)`, clients of the two addresses, and returns its result."""

    @asynccontextmanager
    async def clients() -> AsyncIterator[tuple[Client, Client]]:
        phone, computer = Client(lan.server.lan.url), Client(lan.url)
        try:
            yield phone, computer
        finally:
            await phone.http.close()
            await computer.http.close()

    def run(do: Do) -> Any:
        async def work() -> Any:
            async with clients() as both:
                return await asyncio.wait_for(do(*both), 30)

        return in_loop(work())

    return run


@pytest.fixture
def code(lan: Any) -> Callable[[], str]:
    """Makes a code."""
    return lambda: str(lan.call(lan.server.lan.pairing.new_code))


def is_open(address: str, port: int) -> bool:
    """Does somebody listen at this address and port?"""
    try:
        socket.create_connection((address, port), timeout=5).close()
    except OSError:
        return False
    return True


def devices(lan: Any) -> list[Any]:
    return list(lan.server.lan.pairing.devices)


def test_without_lan_only_this_machine_is_served(server: Any) -> None:
    assert server.server.lan is None
    assert is_open("127.0.0.1", server.server.port)
    assert not is_open(ADDRESS, server.server.port)


def test_with_lan_the_two_addresses_and_no_other_are_listened_on(lan: Any) -> None:
    port = lan.server.port
    found = [address for address in ("127.0.0.1", ADDRESS, "127.0.0.3", "::1") if is_open(address, port)]
    assert found == ["127.0.0.1", ADDRESS]


def test_an_address_in_use_ends_in_a_clear_error(lan: Any, in_loop: Any) -> None:
    async def do() -> None:
        other = Server({}, lan.dojo, lan=Lan(ADDRESS))
        with socket.socket() as taken:
            taken.bind((ADDRESS, 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(InputError, match=f"{ADDRESS}:{port}"):
                async with other.running(port):
                    pass

    in_loop(do())


def test_a_stranger_gets_the_page_for_pairing_and_nothing_else(ask: Any, lan: Any) -> None:
    async def do(phone: Client, _: Client) -> None:
        lan.call(lan.server.lan.pairing.new_code)
        status, text = await phone.get("pair")
        assert status == 200
        assert lan.token not in text
        wanted = re.findall(r'(?:src|href)="/(\S+)"', text)
        assert [(await phone.get(path))[0] for path in wanted] == [200, 200, 200]
        assert {path: (await phone.get(path))[0] for path in FILES} == {
            path: 403 if path else 303 for path in FILES
        }
        for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
            async with phone.http.request(method, phone.url, allow_redirects=False) as answer:
                assert answer.status == 403, method
        for token in (lan.token, ""):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await phone.hello(token=token)
            assert refused.value.status == 403
        assert lan.server.sessions == {}

    ask(do)


def test_guessing_the_code_is_bounded(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, _: Client) -> None:
        right = code()
        for _try in range(MOST_TRIES):
            assert await phone.pair("0" * 12) == 403
        assert await phone.pair(right) == 403
        assert devices(lan) == []
        # The next code is another one, and pairs.
        assert await phone.pair(code()) == 200

    ask(do)


def test_a_code_that_was_seen_pairs_nobody_else(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, stranger: Client) -> None:
        seen = code()
        assert await phone.pair(seen) == 200
        late = Client(phone.url)
        assert await late.pair(seen) == 403
        await late.http.close()
        assert len(devices(lan)) == 1

    ask(do)


def test_the_code_gets_into_no_request_and_no_file(lan: Any, code: Any) -> None:
    assert lan.server.lan.link == ""
    file = io.StringIO()
    shown = invitation(lan.server.lan, file)
    assert lan.server.lan.pairing.code == ""  # None was made for a file.
    assert "#" not in shown

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    shown = invitation(lan.server.lan, Terminal())
    assert lan.server.lan.link in shown.splitlines()
    before, _, secret = lan.server.lan.link.partition("#")
    assert secret.replace("-", "") == lan.server.lan.pairing.code
    assert before == lan.server.lan.url + "pair"


def test_a_token_is_long_kept_hashed_and_ends_with_the_server(
    ask: Any, lan: Any, code: Any, tmp_path: Path, running_server: Any
) -> None:
    async def do(phone: Client, _: Client) -> str:
        assert await phone.pair(code()) == 200
        (cookie,) = phone.http.cookie_jar
        assert len(cookie.value) > 40
        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"
        assert not cookie["domain"] or cookie["domain"] == ADDRESS
        (device,) = devices(lan)
        assert cookie.value not in repr(device)
        assert cookie.value not in repr(vars(lan.server.lan.pairing))
        for wrong in (
            cookie.value[:-1],
            cookie.value.swapcase(),
            "",
            device.digest.hex(),
            device.id,
            "\u3042",
        ):
            headers = {"Cookie": f"{cookie.key}={wrong}"}
            address = phone.url + "static/js/main.js"
            async with aiohttp.ClientSession() as bare, bare.get(address, headers=headers) as answer:
                assert answer.status == 403
        return str(cookie.value)

    token = ask(do)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()
    assert Lan(ADDRESS).pairing.device_of(token) is None


def test_a_paired_device_gets_no_backup_and_sends_none(ask: Any, code: Any) -> None:
    async def do(phone: Client, computer: Client) -> None:
        assert await phone.pair(code()) == 200
        for client, status in ((phone, 403), (computer, 400)):
            headers = {TOKEN_HEADER: await client.token()}
            assert (await client.post("backup", b"no backup", **headers))[0] == status
        assert (await phone.get("backup", **{TOKEN_HEADER: await phone.token()}))[0] == 403
        on_phone = await phone.hello()
        await on_phone.welcome()
        state = (await on_phone.ask("games.state"))["value"]
        assert (state["file"], state["folders"]) == (None, [])

    ask(do)


def test_a_paired_device_cannot_pair_revoke_or_see_the_code(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, computer: Client) -> None:
        assert await phone.pair(code()) == 200
        on_phone, on_computer = await phone.hello(), await computer.hello()
        await on_phone.welcome()
        await on_computer.welcome()
        open_code = code()
        assert (await on_phone.ask("devices.state"))["value"] is None
        for kind in ("code", "revoke"):
            reply = await on_phone.ask(f"devices.{kind}", device=devices(lan)[0].id)
            assert not reply["ok"]
            assert open_code not in json.dumps(reply)
        assert lan.server.lan.pairing.code == open_code
        assert len(devices(lan)) == 1
        state = (await on_computer.ask("devices.state"))["value"]
        assert state["code"]["text"].replace("-", "") == open_code
        assert state["code"]["picture"].startswith("data:image/svg+xml")
        assert [one["connected"] for one in state["devices"]] == [True]
        fresh = (await on_computer.ask("devices.code"))["value"]["code"]["text"]
        assert fresh != state["code"]["text"]

    ask(do)


def test_the_computer_gets_no_page_for_pairing(ask: Any, code: Any, lan: Any) -> None:
    async def do(_: Client, computer: Client) -> None:
        assert (await computer.get("pair"))[0] == 404
        assert await computer.pair(code()) == 403
        assert await computer.pair(code(), **{TOKEN_HEADER: lan.token}) == 404

    ask(do)


def test_no_header_makes_a_device_the_computer(ask: Any, lan: Any, code: Any) -> None:
    """The socket that has accepted the connection decides who is asking."""

    async def do(phone: Client, computer: Client) -> None:
        own = computer.origin.removeprefix("http://")
        for headers in ({"Host": own}, {"Host": own, "Origin": computer.origin}):
            assert (await phone.get("", **headers))[0] == 403
            assert (await phone.get("pair", **headers))[0] == 403
        for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Forwarded-Host"):
            assert (await phone.get("static/js/main.js", **{name: "127.0.0.1"}))[0] == 403
        # The computer's page token is of no use to a device, nor a device's to the computer.
        assert await phone.pair(code()) == 200
        token = await phone.token()
        assert token != lan.token
        assert await (await phone.hello(token=lan.token)).end() == STALE
        assert await (await computer.hello(token=token)).end() == STALE
        # And the other way round: the computer's address is not served under the network's name.
        assert (await computer.get("", Host=phone.origin.removeprefix("http://")))[0] == 403

    ask(do)


def test_dns_rebinding_is_refused(ask: Any, lan: Any, code: Any) -> None:
    port = lan.server.port

    async def do(phone: Client, _: Client) -> None:
        assert await phone.pair(code()) == 200
        for name in ("evil.example", f"evil.example:{port}", ADDRESS, f"{ADDRESS}.evil:{port}",
                     f"localhost:{port}", f"127.0.0.3:{port}", ""):  # fmt: skip
            for path in ("", "pair", "socket", "static/js/main.js"):
                assert (await phone.get(path, Host=name))[0] == 403, name
            assert await phone.pair(code(), Host=name) == 403

    ask(do)


def test_other_sites_in_the_browser_of_a_device_are_refused(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, computer: Client) -> None:
        assert await phone.pair(code()) == 200
        token = await phone.token()
        for foreign in ("https://evil.example", "null", f"http://{ADDRESS}", f"http://{ADDRESS}:1",
                        computer.origin, phone.origin.replace("http", "https"), None):  # fmt: skip
            options = {"origin": foreign} if foreign else {"origin": None}
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await phone.hello(token=token, **options)
            assert refused.value.status == 403
            if foreign:
                assert (await phone.get("", Origin=foreign))[0] == 403
            assert await phone.pair(code(), Origin=foreign or "") == 403
        # A form of another site cannot send JSON, and a browser asks before it does.
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            assert await phone.pair(code(), **{"Content-Type": kind}) == 415
        async with phone.http.get(phone.url) as answer:
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert "Access-Control-Allow-Origin" not in answer.headers

    ask(do)


def test_a_revoked_device_is_out_at_once(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, computer: Client) -> None:
        assert await phone.pair(code()) == 200
        sockets = [await phone.hello() for _ in range(2)]
        names = [(await one.welcome())["session"] for one in sockets]
        on_computer = await computer.hello()
        own = (await on_computer.welcome())["session"]
        assert {*lan.server.sessions} == {*names, own}
        token = await phone.token()
        (device,) = devices(lan)
        assert (await on_computer.ask("devices.revoke", device=device.id))["ok"]
        assert {*lan.server.sessions} == {own}  # At once, whether the device answers or not.
        # A reset, where the server has not read all that the device sent, may overtake the code.
        assert {await one.end() for one in sockets} <= {REVOKED, aiohttp.WSCloseCode.ABNORMAL_CLOSURE}
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await phone.hello(token=token, session=names[0])
        assert (await phone.get(""))[0] == 303
        assert (await phone.get("static/js/main.js"))[0] == 403
        assert not (await on_computer.ask("devices.revoke", device=device.id))["ok"]

    ask(do)


def test_a_device_cannot_take_the_session_of_another_one(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, computer: Client) -> None:
        assert await phone.pair(code()) == 200
        tablet = Client(phone.url)
        assert await tablet.pair(code()) == 200
        on_computer, on_tablet = await computer.hello(), await tablet.hello()
        taken = [(await one.welcome())["session"] for one in (on_computer, on_tablet)]
        for name in taken:
            on_phone = await phone.hello(session=name)
            welcome = await on_phone.welcome()
            assert welcome["new"]
            assert welcome["session"] not in taken
        await tablet.http.close()

    ask(do)


def test_a_device_paired_again_is_listed_once(ask: Any, lan: Any, code: Any) -> None:
    async def do(phone: Client, _: Client) -> None:
        assert await phone.pair(code(), "old") == 200
        assert await phone.pair(code(), "new") == 200
        assert [one.name for one in devices(lan)] == ["new"]

    ask(do)


def test_what_a_device_can_use_up_is_bounded(ask: Any, lan: Any, code: Any) -> None:
    lan.server.limits = TabLimits(most=1, most_of_device=2)

    async def do(phone: Client, computer: Client) -> None:
        for size in (0, MOST_BODY_BYTES + 1):
            assert (await phone.post("pair", b"x" * size))[0] == 413
        for body in (b"{", b"[]", b"\xff\xfe", b"[" * 900, b'{"code": 1}', b'{"type": 1}'):
            assert (await phone.post("pair", body))[0] == 400
        for fields in ({}, {"code": None, "name": "x"}, {"code": 1, "name": "x"}, {"code": "x", "name": []}):
            assert (await phone.post("pair", {"type": "pair", **fields}))[0] == 403
        assert await phone.pair(code()) == 200
        sockets = [await phone.hello() for _ in range(2)]
        for one in sockets:
            await one.welcome()
        assert await (await phone.hello()).end() == 1008
        # The tabs of devices take no place from those of the computer.
        assert (await (await computer.hello()).welcome())["type"] == "session.welcome"

    ask(do)


def test_connections_that_say_nothing_end_and_leave_room(
    ask: Any, lan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goryu_page.lan.lan.MOST_OF_ADDRESS", 5)

    async def do(_: Client, computer: Client) -> None:
        silent = [await asyncio.open_connection(ADDRESS, lan.server.port) for _ in range(7)]
        for reader, _writer in silent[5:]:
            with suppress(ConnectionError):
                assert await reader.read() == b""
        assert not any(reader.at_eof() for reader, _writer in silent[:5])
        assert (await computer.get(""))[0] == 200
        other = Server({}, lan.dojo, limits=TabLimits(idle_s=0.1))
        async with other.running():
            for half in (b"", b"GET / HTTP/1.1\r\nHost: x"):
                reader, writer = await asyncio.open_connection("127.0.0.1", other.port)
                writer.write(half)
                assert await reader.read() == b""
        for _reader, writer in silent:
            writer.close()

    ask(do)


def test_the_traffic_is_not_encrypted_and_the_terminal_says_so(lan: Any) -> None:
    assert lan.server.lan.url.startswith("http://")
    for language, word in (("en", "not encrypted"), ("ja", "暗号化されません")):
        with speaking(language):
            assert word in invitation(lan.server.lan, io.StringIO())
