"""`goryu web`: serves the page and opens it in the browser."""

import argparse
import asyncio
import errno
import logging
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from goryu.base.arguments import ArgumentParser, whole_number
from goryu.base.errors import GoryuError, InputError, explained, fault
from goryu.base.installation import how_to_install
from goryu.base.language import tr
from goryu.commands.common import add_model
from goryu.usi.start_config import start_config

if TYPE_CHECKING:
    from goryu_page.server.server import Server

MOST_RECORD_BYTES = 1 << 20
"""Of the record to review: the longest ones have some 100 kB."""


def main(arguments: Sequence[str]) -> int:
    """Serves until Ctrl-C; returns the exit status."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    if given.address and not given.lan:
        parser.error(tr("--address needs --lan"))
    try:
        # Packages of the extra are imported here, so that the message can say what is missing.
        from goryu_page.dojo.dojo import Dojo
        from goryu_page.lan.addresses import lan_address, own_address
        from goryu_page.lan.lan import Lan
        from goryu_page.server.server import Server
        from goryu_page.views.views import VIEWS
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("goryu"):
            raise
        _report(_advice(str(error.name)))
        return 1
    logging.basicConfig(level=logging.WARNING, format="goryu web: %(message)s")
    logging.getLogger("aiohttp.server").addFilter(is_fault_of_server)
    try:
        config = start_config(given.model, _report)
        record = read_record_file(given.record) if given.record else None
        check_folders((*given.games, *given.records))
        lan = Lan(own_address(given.address) if given.address else lan_address()) if given.lan else None
    except (GoryuError, OSError) as error:
        _report(explained(error))
        return 2
    dojo = Dojo(given.dojo, config)
    try:
        if given.model:
            dojo.check_network()
    except InputError as error:
        _report(str(error))
        return 2
    try:
        if not given.model:
            dojo.restore_network()
        dojo.start(given.games, given.records)
    except InputError as error:
        _report(str(error))  # Who only plays needs no database.
    try:
        asyncio.run(serve(Server(VIEWS, dojo, record, lan), given.port, given.browser))
    except KeyboardInterrupt:
        return 0
    except InputError as error:
        _report(str(error))
        return 1
    finally:
        dojo.close()
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu web",
        description=tr("Opens a page to play, to review games and to watch searches. Ctrl-C ends it."),
    )
    add = parser.add_argument
    add("record", nargs="?", type=Path, metavar="FILE", help=tr("a game record to review"))
    port = tr("of the server on 127.0.0.1; default: a free one")
    add("--port", type=whole_number(0, 65535), default=0, metavar="N", help=port)
    lan = tr("also for devices of your local network that you pair; the traffic is not encrypted")
    add("--lan", action="store_true", help=lan)
    address = tr("with --lan: this machine's IPv4 address in that network (default: the system's choice)")
    add("--address", metavar="ADDRESS", help=address)
    browser = tr("print the address, and do not open it")
    add("--no-browser", dest="browser", action="store_false", help=browser)
    add_model(parser)
    dojo = tr("database of your games and problems (default: in your data folder)")
    add("--dojo", type=Path, metavar="FILE.sqlite3", help=dojo)
    games = tr("import the games of this folder, also later ones; may be given several times")
    records = tr("the same for games of others, which only the explorer shows")
    for name, told in (("--games", games), ("--records", records)):
        add(name, type=Path, action="append", default=[], metavar="FOLDER", help=told)
    return parser


def check_folders(folders: Sequence[Path]) -> None:
    """Raises InputError if one of the folders does not exist."""
    for folder in folders:
        if not folder.is_dir():
            raise InputError(tr("{path}: no such folder", path=folder))


def is_fault_of_server(record: logging.LogRecord) -> bool:
    """Is a message of aiohttp about more than a request that is no HTTP? It answers those with status 400."""
    from aiohttp.http_exceptions import HttpProcessingError

    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


class Reporter:
    """Reports what goes wrong in the loop; too many open files in one line a minute, not in thousands."""

    def __init__(self) -> None:
        self._quiet_until_s = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """See `asyncio.loop.set_exception_handler`."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
            loop.default_exception_handler(context)
        elif monotonic() >= self._quiet_until_s:
            self._quiet_until_s = monotonic() + 60.0
            _report(tr("too many connections or open files; the page answers again when some are closed"))


def _advice(package: str) -> str:
    """Returns what to do about a package of the extra that is missing."""
    problem = tr('{package} is not installed; the page needs the extra "web":', package=package)
    return f"{problem}\n  {how_to_install('web')}"


def _report(message: str) -> None:
    sys.stderr.write(f"goryu web: {message}\n")


async def serve(server: "Server", number: int, opens_browser: bool) -> None:
    """Serves until the task is cancelled; raises InputError if another program uses the port."""
    asyncio.get_running_loop().set_exception_handler(Reporter())
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server.running(number))
        except OSError as error:
            problem = tr("cannot listen on port {port}: {error}", port=number, error=fault(error))
            raise InputError(problem) from error
        address = server.url + ("#review/file" if server.has_record else "")
        sys.stdout.write(f"goryu web: {address} {tr('(Ctrl-C ends it)')}\n")
        if server.lan:
            from goryu_page.lan.invitation import invitation

            sys.stdout.write(invitation(server.lan, sys.stdout))
        sys.stdout.flush()
        if opens_browser and not await asyncio.to_thread(webbrowser.open, address):
            sys.stdout.write(f"goryu web: {tr('no browser was found; open the address above in one')}\n")
        await asyncio.Event().wait()


def read_record_file(path: Path) -> tuple[str, bytes]:
    """Returns name and content of a record; raises InputError if it is too large for one."""
    with path.open("rb") as file:
        content = file.read(MOST_RECORD_BYTES + 1)
    if len(content) > MOST_RECORD_BYTES:
        raise InputError(
            tr("{path}: more than {size} bytes, expected a game record", path=path, size=MOST_RECORD_BYTES)
        )
    return path.name, content
