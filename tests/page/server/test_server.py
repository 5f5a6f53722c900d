"""The command line of `goryu web`, and the third-party files of the page."""

import importlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from goryu.analysis.joining import STATIC
from goryu_page.commands import web as command
from goryu_page.views.views import VIEWS
from paths import ROOT


@contextmanager
def running(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs `goryu web`; yields the process and the first line that it prints."""
    program = [sys.executable, "-m", "goryu", "web", *arguments]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()


def test_it_serves_a_record_on_a_free_port_and_opens_the_browser_until_ctrl_c(tmp_path: Path) -> None:
    record, browser, opened = tmp_path / "game.kif", tmp_path / "browser", tmp_path / "opened"
    record.write_text("手合割：平手\n", encoding="utf-8")
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    words = ["--no-browser"] if os.name == "nt" else []  # BROWSER is a variable of POSIX.
    with running(*words, str(record), BROWSER=f"{browser} %s") as (process, line):
        address = line.split()[2]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#review/file", address)
        with urllib.request.urlopen(address, timeout=30) as page:
            assert b"goryu-token" in page.read()
        if os.name != "nt":
            for _ in range(300):
                if opened.exists():
                    break
                time.sleep(0.1)
            assert opened.read_text() == address
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux")
def test_a_full_disk_is_not_taken_for_a_port_in_use() -> None:
    program = [sys.executable, "-m", "goryu", "web", "--no-browser"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "port" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.kif"], "goryu web: missing.kif: No such file or directory\n"),
        (["--model", "missing.onnx"], "missing.onnx"),
    ],
)
def test_a_missing_file_is_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("port", ["x", "-1", "65536"])
def test_a_port_is_a_number(port: str) -> None:
    with pytest.raises(SystemExit):
        command.main(["--port", port])


def test_a_port_in_use_is_reported(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(1) as pool:  # In this thread Playwright's event loop may run.
        status = pool.submit(command.main, ["--no-browser", "--port", str(server.server.port)])
    assert status.result() == 1
    assert str(server.server.port) in capsys.readouterr().err


def test_a_file_that_is_too_large_for_a_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.kif"
    path.write_bytes(b" " * (3 << 20))
    assert command.main([str(path)]) == 2


def test_a_request_that_is_no_http_leaves_no_traceback() -> None:
    from aiohttp.http_exceptions import BadHttpMessage

    for error, is_shown in ((BadHttpMessage("two Hosts"), False), (ValueError("a defect"), True)):
        info = (type(error), error, None)
        record = logging.LogRecord("aiohttp.server", logging.ERROR, "", 0, "Error handling request", (), info)
        assert command.is_fault_of_server(record) == is_shown


# Third-party files.


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("vendor")


def test_the_third_party_files_are_those_of_the_manifest(vendor: Any) -> None:
    assert vendor.differences() == []


def test_the_manifest_names_versions_and_licences(vendor: Any) -> None:
    manifest = json.loads((STATIC / "vendor" / "manifest.json").read_text(encoding="utf-8"))
    assert {one["name"] for one in manifest["packages"]} == vendor.PACKAGES.keys()
    for package in manifest["packages"]:
        assert package["integrity"].startswith("sha512-")
        assert package["version"] == vendor.PACKAGES[package["name"]].version
        assert package["licence"] in {"GPL-3.0-or-later", "MIT", "ISC", "BSD-3-Clause", "OFL-1.1"}
        assert any("LICENSE" in name for name in package["files"])


def test_the_page_names_no_other_host() -> None:
    """Comments of libraries name their homepages; our own files have no address but the name of SVG."""
    own = [*STATIC.glob("js/*.js"), *STATIC.glob("css/*.css"), STATIC / "index.html"]
    for path in own:
        found = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", path.read_text(encoding="utf-8"))
        assert [one for one in found if one != "http://www.w3.org"] == [], path.name


def test_each_view_of_the_page_has_its_module_and_its_handlers() -> None:
    text = (STATIC / "js" / "views.js").read_text(encoding="utf-8")
    names = re.findall(r'name: "(\w+)"', text)
    assert set(names) <= VIEWS.keys()
    for module in re.findall(r'import\("\./([\w-]+\.js)"\)', text):
        assert (STATIC / "js" / module).is_file()
