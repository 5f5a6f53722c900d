"""Builds the page without a server: what `goryu web` serves, as a folder of the guides' site.

Python runs by Pyodide in a worker of the tab (textbook.py fetches it), with the engine as a module of
WebAssembly (wasm.py). pip fetches the wheels of three packages that the page's Python needs; their checksums
are here. Node.js compiles Python's sources, where it is installed.
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from html import escape
from pathlib import Path

import wasm
from bootstrap import StepError, log, set_up_lock
from goryu.analysis import joining
from goryu.commands.common import UsageError
from goryu_page.server.index import START, STYLES, index, joined, later
from textbook import (
    ENGINE,
    PACKED,
    POLICY,
    PYODIDE,
    ROOT,
    SOCKET,
    files_of_engine,
    fill_service_worker,
    python_shogi,
    write_archive,
)
from vendor import STATIC

NAME = "page"
"""The folder in the site."""

WHEELS = """\
fsrs==6.3.2 --hash=sha256:bc55066c821164b1cff6d75b17a3ed8e86cfd45789e3d775cfcb895319ce9ba4
msgspec==0.22.0 --hash=sha256:a66b1766311e42371e509c996c3933b161c7ae0eabdf361af5316dec197e1022
typing_extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
"""
PLATFORM = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "3.14")
"""Of Pyodide."""

ROOMS = (
    "goryu/analysis", "goryu/base", "goryu/engines", "goryu/evaluators", "goryu/games", "goryu/kifu",
    "goryu/locale", "goryu/players", "goryu/search", "goryu/table", "goryu/usi",
    "goryu_page/dojo", "goryu_page/lan", "goryu_page/locale", "goryu_page/microscope", "goryu_page/reasons",
    "goryu_page/session", "goryu_page/tab", "goryu_page/tsume", "goryu_page/views",
)  # fmt: skip
"""The folders of the engine that the tab gets."""

META = """\
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="goryu-python" content="page&amp;entry=goryu_page.tab.start.start">
<meta name="goryu-source" content="{source}">
<link rel="manifest" href="manifest.webmanifest">
<link rel="apple-touch-icon" href="static/icon.png">"""

MANIFEST = {
    "name": "Goryu 合流",
    "short_name": "Goryu",
    "start_url": "./",
    "display": "standalone",
    "background_color": "#f8f4ed",
    "theme_color": "#fffdf9",
    "icons": [
        {"src": "static/icon.svg", "sizes": "any", "type": "image/svg+xml"},
        {"src": "static/icon.png", "sizes": "192x192", "type": "image/png"},
    ],
}
"""What an installed page is called and looks like."""

LARGE = "goryu-10x96"
"""The network that is loaded when it is wanted: at full strength, and for reviews."""


IMPORTED = "goryu_page.dojo.dojo"
"""A module that imports most of what the page imports, and runs in Node.js."""

LIBRARY = "python_stdlib.zip"


def build(site: Path, source: str = "") -> None:
    """Writes the page into a site that has Pyodide; raises UsageError if pip cannot fetch the wheels.

    source: the address of the source code.
    """
    folder = site / NAME
    shutil.rmtree(folder, ignore_errors=True)
    found = [path for room in ROOMS for path in (ENGINE / room).rglob("*")]
    found += [path for package in ("goryu", "goryu_page") for path in (ENGINE / package).glob("*.py")]
    wheels = fetch_wheels()
    models = ROOT / "models"
    options = {Path("goryu/models", path.name): path for path in models.glob("*.onnx.ini")}
    libraries = {path.relative_to(wheels): path for path in wheels.rglob("*") if path.is_file()}
    folder.mkdir(parents=True)
    files = {**files_of_engine(found), **python_shogi(), **libraries, **options}
    write_archive(folder / "goryu-python.zip", files)
    compile_python(site / PYODIDE, folder / "goryu-python.zip")
    _write_static(folder)
    _write_engine(folder / "engine")
    (folder / "manifest.webmanifest").write_text(json.dumps(MANIFEST, ensure_ascii=False), encoding="utf-8")
    meta = META.format(policy=POLICY, source=escape(source))
    (folder / "index.html").write_text(index("en", meta), encoding="utf-8")
    kept = [path for path in folder.rglob("*") if path.name != f"{LARGE}.network"]
    fill_service_worker(folder, NAME, [*kept, *(site / PYODIDE).rglob("*")], ["./", f"../{PYODIDE}/"])


def compile_python(pyodide: Path, archive: Path) -> None:
    """Replaces sources by bytecode, which halves the start; without Node.js they stay.

    Raises UsageError if Node.js cannot do it.
    """
    node = shutil.which("node")
    if node is None:
        log("page: Node.js is not installed; the page will compile Python at each start")
        return
    with tempfile.TemporaryDirectory() as temporary:
        unpacked = Path(shutil.copytree(pyodide, Path(temporary, "pyodide")))
        (unpacked / PACKED).write_bytes(gzip.decompress((pyodide / f"{PACKED}.gz").read_bytes()))
        command = [node, str(ROOT / "tools" / "bytecode.mjs"), str(unpacked), str(archive), IMPORTED]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise UsageError(f"Node.js cannot compile the page's Python: {done.stderr.strip()[-500:]}")
        shutil.copyfile(unpacked / LIBRARY, pyodide / LIBRARY)


def fetch_wheels() -> Path:
    """Returns a folder with the unpacked wheels, which pip downloads into build/ once."""
    folder = ROOT / "build" / "textbook" / "wheels"
    with set_up_lock():
        if not folder.exists():
            _fetch_wheels(folder)
    return folder


def _fetch_wheels(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        wanted, unpacked = Path(temporary, "wheels.txt"), Path(temporary, "unpacked")
        wanted.write_text(WHEELS, encoding="utf-8")
        how = ["--only-binary=:all:", "--no-deps", "--require-hashes", *PLATFORM, "--dest", temporary]
        command = [sys.executable, "-m", "pip", "download", "--quiet", *how, "-r", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise UsageError(f"pip cannot fetch the wheels of the page: {done.stderr.strip()[-500:]}")
        for wheel in Path(temporary).glob("*.whl"):
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(unpacked)
        unpacked.rename(folder)


def _write_engine(folder: Path) -> None:
    try:
        wasm.make()
    except StepError as error:
        raise UsageError(str(error)) from error
    folder.mkdir()
    for path in (wasm.MODULE, wasm.SOURCES / "goryu.js"):
        shutil.copyfile(path, folder / path.name)
    sizes = {}
    for name in wasm.NETWORKS:
        packed = folder / f"{name}.network"
        shutil.copyfile(wasm.BUILD / packed.name, packed)
        sizes[name] = packed.stat().st_size
    (folder / "networks.json").write_text(json.dumps(sizes), encoding="utf-8")


def _write_static(folder: Path) -> None:
    """The modules and styles are joined, as the server does it."""
    script = joining.script(START)
    socket = joining.modules(START)["js/socket.js"]
    script = script.replace(socket, joining.module("js/worker-socket.js")[0] + SOCKET)
    texts = {f"joined/{name}": make() for name, make in STYLES.items()}
    texts |= {f"joined/{path}": joined(path) for path in later(START)}
    for name, text in {f"joined/{START}": script, **texts}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    licences = [path.relative_to(STATIC).as_posix() for path in (STATIC / "vendor").glob("*/LICENSE*")]
    for name, target in {
        "js/python-worker.js": "js/python-worker.js",
        "js/page-worker.js": "js/page-worker.js",
        "js/kept-files.js": "js/kept-files.js",
        "js/theme.js": "static/js/theme.js",
        "icon.svg": "static/icon.svg",
        "icon.png": "static/icon.png",
        **{name: name for name in licences},
    }.items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STATIC / name, folder / target)
