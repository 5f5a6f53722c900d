"""Builds the textbook that runs: code of the guides to edit and run, and the microscope, in a browser.

It is a folder of the guides' site that needs only a server of files. Python runs there by Pyodide, which npm
fetches when the site is built; it is never committed, and lies beside the folder, since the page without a
server (tab_page.py) needs it, too. The rest is Goryu's own: the page's JavaScript as it is, with
`worker-socket.js` in place of `socket.js`, and the Python of this checkout.
"""

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import shogi

from bootstrap import set_up_lock
from goryu.analysis import joining
from goryu.analysis.page_texts import json_in_page, texts_json
from goryu.analysis.standalone_page import tables
from goryu.commands.common import UsageError
from goryu_page.microscope.picture import STYLE as PICTURES
from vendor import STATIC, download

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "engine"
NAME, PYODIDE = "textbook", "pyodide"
"""The folders in the site."""

VERSION = "314.0.7"
INTEGRITY = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""Of the package `pyodide` of npm: SHA-512."""

FILES = ("pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip", "pyodide-lock.json", "package.json")
PACKED = "pyodide.asm.wasm"
NOTICE = f"""\
Pyodide {VERSION}, from the package `pyodide` of npm; {PACKED} is compressed with gzip, and in
python_stdlib.zip bytecode takes the place of some sources. All else is unchanged.
Licence: Mozilla Public License 2.0, https://www.mozilla.org/MPL/2.0/
Source: https://github.com/pyodide/pyodide/tree/{VERSION}

It contains CPython (Python Software Foundation License 2.0) and the standard library of Python.
goryu-python.zip contains Goryu and python-shogi (GPL-3.0-or-later).
"""

ENTRY = "js/textbook.js"
SOCKET = 'define("js/socket.js", () => take("js/worker-socket.js"));\n'
STYLES = [f"css/{name}.css" for name in ("colors", "base", "board", "microscope", "textbook")]
ROOMS = ("base", "evaluators", "games", "kifu", "players", "search", "table", "locale")
"""The folders of `goryu` that the reader's browser gets."""

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "manifest-src 'self'"
)
"""What the page and its worker may load: nothing from other hosts."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="goryu-python" content="entry=goryu_page.microscope.tab.Tab">
<title>Goryu</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="textbook.css">
<script id="texts" type="application/json">{texts}</script>
<script id="textbook" type="application/json">{chapters}</script>
<script type="module" src="textbook.js"></script>
</head>
<body>
<main id="main"></main>
<noscript>This page needs JavaScript. / JavaScript を有効にしてください。</noscript>
</body>
</html>
"""


class Chapter(NamedTuple):
    """How a chapter's code is run: on a position, and with which search of the microscope, "" for none.

    calls: code that follows the chapter's, and that the reader can edit, too.
    """

    algorithm: str
    calls: str = ""
    game: str = "tictactoe"
    position: str = "4 0 8 2"
    network: str = "material"
    parameters: Mapping[str, str] = {}


SQUARES = "# A move of tic-tac-toe is a square: 0 to 8, row by row.\n"

CHAPTERS = {
    "random_move": Chapter(
        "",
        "# A game of random moves.\nfrom random import Random\n\nrng = Random(1)\n"
        "while state.outcome() is None:\n    state.push(random_move(state, rng))\n    show(state)\n",
        position="",
    ),
    "minimax": Chapter(
        "minimax", f'{SQUARES}show(state)\nprint("best move:", best_move(state), "value:", negamax(state))\n'
    ),
    "one_bound": Chapter("one-bound", 'show(state)\nprint("value:", one_bound(state))\n'),
    "alpha_beta": Chapter("alpha-beta", 'show(state)\nprint("value:", alpha_beta(state))\n'),
    "depth_limited": Chapter(
        "depth-limited",
        "def heuristic(leaf):\n    return evaluator.evaluate([leaf])[0].value  # The lead in discs.\n\n\n"
        "show(state)\nprint(search(state, 2, heuristic))\n",
        "reversi",
        "d3 c3",
    ),
    "flat_monte_carlo": Chapter(
        "",
        f"{SQUARES}show(state)\n"
        "for move, value in averages(state, 100, Random(1)).items():\n"
        '    print(f"{move}: {value:+.2f}")\n',
        position="4 0",
    ),
    "uct": Chapter(
        "uct",
        f"{SQUARES}show(state)\nfor move, child in search(state, 200, Random(1)).children.items():\n"
        '    print(f"{move}: {child.visits} visits")\n',
        position="4 0",
    ),
    "puct_tree": Chapter("puct-tree", position="4 0"),
    "node_table": Chapter("puct", position="4 0"),
    "node": Chapter("puct", position="4 0"),
    "selection": Chapter("puct", position=""),
    "proof": Chapter("puct"),
    "puct": Chapter("puct", game="reversi", position="d3 c3", parameters={"batch": "4"}),
}
"""By the module in `goryu.search`."""


def fetch_pyodide() -> Path:
    """Returns the folder of Pyodide, which npm downloads into build/ once; raises UsageError if it cannot."""
    folder = ROOT / "build" / NAME / f"pyodide-{VERSION}"
    with set_up_lock():
        if not folder.exists():
            _fetch_pyodide(folder)
    return folder


def _fetch_pyodide(folder: Path) -> None:
    if shutil.which("npm") is None:
        raise UsageError("npm is not installed")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        archive = download("pyodide", VERSION, Path(temporary))
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != INTEGRITY:
            raise UsageError(f"pyodide {VERSION}: its checksum is {found}, expected {INTEGRITY}")
        unpacked = Path(temporary, "unpacked")
        _unpack(archive, unpacked)
        unpacked.rename(folder)


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(archive) as packed:
        for name in (*FILES, PACKED):
            file = packed.extractfile(f"package/{name}")
            assert file is not None
            content = file.read()
            if name == PACKED:  # A server of files may send it as it is.
                (folder / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))
            else:
                (folder / name).write_bytes(content)


def chapter_of(path: str) -> str:
    """Returns the name of the chapter that shows code of a file, "" if none does."""
    name = Path(path).stem
    return name if path.startswith("engine/goryu/search/") and name in CHAPTERS else ""


def begin_site(site: Path) -> None:
    """Empties the folder of a site, and puts Pyodide into it; raises UsageError without npm."""
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(fetch_pyodide(), site / PYODIDE)
    (site / PYODIDE / "NOTICE.txt").write_text(NOTICE, encoding="utf-8")


def build(site: Path, chapters: Mapping[str, Any]) -> str:
    """Writes the textbook into a site with Pyodide; returns the megabytes that a reader loads.

    chapters: what `chapter` returns, by name.
    """
    folder = site / NAME
    folder.mkdir()
    write_python(folder / "goryu-python.zip")
    _write_static(folder)
    loaded = [folder / "goryu-python.zip", *(site / PYODIDE).iterdir()]
    megabytes = f"{sum(path.stat().st_size for path in loaded) / 1e6:.1f}"
    page = PAGE.format(
        policy=POLICY,
        texts=texts_json(tables(ENTRY)),
        chapters=json_in_page({"megabytes": megabytes, "chapters": chapters}),
    )
    (folder / "index.html").write_text(page, encoding="utf-8")
    return megabytes


def chapter(path: str, names: list[str], code: str) -> dict[str, Any]:
    """Returns what the page needs of a chapter: the text, and the messages that run it.

    names: what the guide shows of the file. code: their text.
    """
    how = CHAPTERS[chapter_of(path)]
    start = {"game": how.game, "network": how.network}
    owners = {name.partition(".")[0] for name in names if "." in name}
    module = path.removeprefix("engine/").removesuffix(".py").replace("/", ".")
    run = {**start, "position": how.position, "module": module, "owner": min(owners, default="")}
    search = {**start, "text": how.position, "algorithm": how.algorithm, **how.parameters}
    text = code.rstrip() + (f"\n\n\n{how.calls}" if how.calls else "\n")
    return {"file": path, "text": text, "run": run, "search": search if how.algorithm else None}


def write_python(target: Path) -> None:
    """Writes the archive with the Python of the textbook."""
    found = [*(ENGINE / "goryu").glob("*.py"), *(ENGINE / "goryu_page" / "microscope").glob("*")]
    found += [ENGINE / "goryu_page" / "__init__.py", *(ENGINE / "goryu_page" / "locale").glob("texts.*")]
    found += [path for room in ROOMS for path in (ENGINE / "goryu" / room).rglob("*")]
    write_archive(target, {**files_of_engine(found), **python_shogi()})


def files_of_engine(found: Iterable[Path]) -> dict[Path, Path]:
    """Returns the files of these that Python needs, by their paths in an archive."""
    return {
        path.relative_to(ENGINE): path for path in found if path.suffix in (".py", ".toml", ".css", ".sfen")
    }


def python_shogi() -> dict[Path, Path]:
    """Returns the files of python-shogi by their paths in an archive."""
    library = Path(shogi.__file__).parent
    return {Path("shogi", path.relative_to(library)): path for path in library.rglob("*.py")}


def write_archive(target: Path, files: Mapping[Path, Path]) -> None:
    """Writes an archive; equal files make an equal one, as it has no times."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name.as_posix()), path.read_bytes(), zipfile.ZIP_DEFLATED)


def _write_static(folder: Path) -> None:
    """The modules and styles are joined, as the page's are."""
    script = joining.script(ENTRY).replace(joining.modules(ENTRY)["js/socket.js"], SOCKET)
    styles = [joining.pieces(), joining.styles(STYLES), PICTURES.read_text(encoding="utf-8")]
    (folder / "textbook.js").write_text(script, encoding="utf-8")
    (folder / "textbook.css").write_text("\n".join(styles), encoding="utf-8")
    licences = [path.relative_to(STATIC).as_posix() for path in (STATIC / "vendor").glob("*/LICENSE*")]
    for name in ("js/python-worker.js", "icon.svg", *licences):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STATIC / name, folder / name)


def write_service_worker(site: Path) -> None:
    """Writes what keeps the textbook of a site offline, with the guide that leads to it."""
    patterns = (
        "search/index.html",
        "ja/search/index.html",
        "assets/**/*.css",
        "assets/javascripts/bundle*.js",
    )
    guides = [path for pattern in patterns for path in site.glob(pattern)]
    guides += [*site.glob("*.css"), *site.glob("*.js"), *site.glob("pictures/icon.svg")]
    own = [path for folder in (NAME, PYODIDE) for path in (site / folder).rglob("*")]
    fill_service_worker(site, NAME, [*own, *guides], [f"{NAME}/", f"{PYODIDE}/"])


def fill_service_worker(folder: Path, name: str, found: Iterable[Path], folders: list[str]) -> None:
    """Writes the service worker of a folder. found: what it keeps. folders: of what comes from the cache."""
    target = folder / "service-worker.js"
    files = {relative(path, folder): path for path in found if path.is_file() and path != target}
    contents = b"".join(path.read_bytes() for _, path in sorted(files.items()))
    listed = json.dumps(sorted(re.sub(r"(^|/)index\.html$", r"\1", each) or "./" for each in files))
    text = (STATIC / "js" / "service-worker.js").read_text(encoding="utf-8")
    text = text.replace('["FILES"]', listed).replace('["FOLDERS"]', json.dumps(folders))
    text = text.replace("SITE", name).replace("VERSION", hashlib.sha256(contents).hexdigest()[:16])
    target.write_text(text, encoding="utf-8")


def relative(path: Path, folder: Path) -> str:
    """Returns the address of a file as seen from a folder, which may lie beside it."""
    return Path(os.path.relpath(path, folder)).as_posix()
