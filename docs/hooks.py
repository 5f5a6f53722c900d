"""Hooks of MkDocs: both languages of every guide, links to the source, code beside its explanation, the API,
notebooks.

Guides are plain Markdown that GitHub shows too. On the site

- the line that links to the other language goes, because the page has a switch;
- a picture with a width, <img src="..." alt="..." width="...">, becomes one of Markdown, whose address MkDocs
  follows and checks;
- a link that leaves docs/ leads to the repository. `REPOSITORY_URL` is its address, for instance
  https://github.com/NAME/goryu; without it the links lead to the files of this checkout;
- `<!-- source: engine/goryu/search/minimax.py value best_move -->` becomes the code of these functions or
  classes, without names the whole file;
- `<!-- reference: goryu.search -->` becomes the reference of the modules of a package, made from the
  docstrings; on a Japanese page it becomes links to them;
- `<!-- commands -->` becomes what the commands print with --help;
- code of a chapter of the textbook gets a link that runs it (tools/textbook.py), and `<!-- textbook -->`
  becomes a paragraph about that; without npm both are left out;
- a notebook becomes a page with the outputs that it has, and links to notebooks lead to these pages.

A missing language, file or function is a warning, and the build is strict.
"""

from __future__ import annotations

import ast
import json
import logging
import os
import re
import shutil
import sys
from base64 import b64encode
from importlib import import_module
from pathlib import Path, PurePosixPath
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

GUIDES = Path(__file__).resolve().parent
ROOT = GUIDES.parent
PACKAGE = ROOT / "engine" / "goryu"
OTHER_LANGUAGE = re.compile(r"^\[(?:日本語|English)\]\([\w.-]+\)\n+", re.MULTILINE)
PICTURE = re.compile(r'<img src="([^":]+)" alt="([^"]*)" width="(\d+)">')
OUTSIDE = re.compile(r"(\]\()(\.\./[^)#\s]*)((?:#[^)\s]*)?\))")
SOURCE = re.compile(r"^<!-- source: (\S+)((?: [\w.]+)*) -->$", re.MULTILINE)
TEXTBOOK = ROOT / "build" / "textbook" / "site"
COMMANDS = re.compile(r"^<!-- commands -->$", re.MULTILINE)
ABOUT = re.compile(r"^<!-- textbook -->$", re.MULTILINE)
NOTEBOOK = re.compile(r"(\]\([\w.-]+)\.ipynb\)(?! *\{)")
REFERENCE = re.compile(r"^<!-- reference: goryu\.(\S+) -->$", re.MULTILINE)

ABOUT_TEXTBOOK = {
    "en": "Code with the link *Run and edit* runs in this page: change it, and look at its steps. "
    "The <a href='{address}'>microscope</a> of all searches runs here, too. "
    "Python comes into the browser once, {megabytes} MB, and works offline afterwards; nothing is sent.",
    "ja": "「実行・編集」のリンクがあるコードは、このページの中で動きます。"
    "書き換えて実行し、探索を 1 ステップずつ観察できます。"
    "すべての探索の<a href='{address}'>顕微鏡</a>もここで動きます。"
    "初回だけ Python（{megabytes} MB）を読み込み、"
    "そのあとはオフラインでも使えます。どこにも何も送信しません。",
}
RUN = {"en": "Run and edit", "ja": "実行・編集"}

log = logging.getLogger("mkdocs.hooks")


def untranslated(folder: Path = GUIDES) -> list[str]:
    """Returns the names of the pages that one of the two languages lacks."""
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    japanese = {page.removesuffix(".ja.md") for page in pages if page.endswith(".ja.md")}
    english = {page.removesuffix(".md") for page in pages if not page.endswith(".ja.md")}
    missing = [f"{page}.ja.md" for page in english - japanese]
    return sorted(missing + [f"{page}.md" for page in japanese - english])


def code(path: str, names: list[str]) -> str:
    """Returns the source of these functions or classes of a module, without names that of the whole module.

    Raises:
        KeyError: the module has none of this name.
        OSError: there is no such file.
    """
    text = (ROOT / path).read_text(encoding="utf-8")
    if not names:
        return text
    lines = text.splitlines()
    return "\n\n\n".join(lines_of(ast.parse(text), name, lines) for name in names)


def lines_of(scope: ast.Module | ast.ClassDef, name: str, lines: list[str]) -> str:
    """Returns the lines of a function, a class or, by a dotted name, a method; or raises KeyError."""
    name, _, rest = name.partition(".")
    kinds = ast.FunctionDef | ast.ClassDef
    node = {node.name: node for node in scope.body if isinstance(node, kinds)}[name]
    if rest and isinstance(node, ast.ClassDef):
        return lines_of(node, rest, lines)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return dedent("\n".join(lines[first - 1 : node.end_lineno]))


def reference(package: str, page: str) -> str:
    """Returns the reference of the modules directly in a package of goryu; on a Japanese page links to it.

    Raises:
        OSError: there is no such package.
    """
    folder = PACKAGE.joinpath(*package.split("."))
    (folder / "__init__.py").stat()
    names = sorted(path.stem for path in folder.glob("[!_]*.py"))
    parts = [f"goryu.{package}", *(f"goryu.{package}.{name}" for name in names)]
    if page.endswith(".ja.md"):  # The docstrings are English, and a name has one address.
        return "\n".join(f"- [`{part}`][{part}]" for part in parts)
    return "\n\n".join(f"::: {part}" for part in parts)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Makes the address of the repository known, and builds the textbook and the page without a server."""
    repository = os.environ.get("REPOSITORY_URL", "")
    config.repo_url = repository or None
    try:
        tool("textbook").begin_site(TEXTBOOK)
        tool("tab_page").build(TEXTBOOK, repository)
        config.extra["textbook"] = tool("textbook").build(TEXTBOOK, chapters())
    except tool("textbook").UsageError as error:
        config.extra["textbook"] = ""
        log.info("The textbook that runs and the page are left out of the site: %s", error)
    config.extra["source"] = f"{repository}/blob/main" if repository else ROOT.as_uri()
    return config


def chapters() -> dict[str, Any]:
    """Returns what the textbook shows and runs, by the names of its chapters."""
    found = {}
    for match in SOURCE.finditer((GUIDES / "search.md").read_text(encoding="utf-8")):
        if name := tool("textbook").chapter_of(match[1]):
            names = match[2].split()
            found[name] = tool("textbook").chapter(match[1], names, code(match[1], names))
    return found


def tool(name: str) -> Any:
    """Returns a module of tools/."""
    if str(ROOT / "tools") not in sys.path:
        sys.path.append(str(ROOT / "tools"))
    return import_module(name)


def on_post_build(config: MkDocsConfig) -> None:
    """Puts the textbook and the page into the site."""
    if config.extra["textbook"]:
        shutil.copytree(TEXTBOOK, config.site_dir, dirs_exist_ok=True)
        tool("textbook").write_service_worker(Path(config.site_dir))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Checks that every guide has both languages; makes pages of the notebooks."""
    from mkdocs.structure.files import File

    for name in untranslated():
        log.warning("docs/%s is missing: every guide has both languages", name)
    for file in [file for file in files if file.src_uri.endswith(".ipynb") and file.inclusion.is_included()]:
        page = str(PurePosixPath(file.src_uri).with_suffix(".md"))
        files.append(File(page, config.docs_dir, config.site_dir, config.use_directory_urls))
    return files


def on_page_read_source(page: Page, config: MkDocsConfig) -> str | None:
    """Returns the Markdown of a page that is a notebook."""
    path = Path(config.docs_dir, page.file.src_uri).with_suffix(".ipynb")
    return notebook_page(path) if path.exists() else None


def notebook_page(path: Path) -> str:
    """Returns the Markdown of a notebook: its texts, its code, and the outputs in boxes."""
    title, *parts = map(_cell, json.loads(path.read_text(encoding="utf-8"))["cells"])
    words = "ノートブックをダウンロード" if path.name.endswith(".ja.ipynb") else "Download the notebook"
    return "\n\n".join([title, f"[{words}]({path.name}){{ .md-button download }}", *parts, ""])


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    shown = "\n\n".join(_output(output) for output in cell["outputs"])
    box = f'<div class="output" markdown>\n\n{shown}\n\n</div>' if shown else ""
    return f"```python\n{source}\n```\n\n{box}"


def _output(output: dict[str, Any]) -> str:
    """Returns text as a block of code, a picture as an image, which no style of the page reaches."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if picture := "".join(data.get("image/svg+xml", "")):
        title = re.search("<title>(.*?)</title>", picture)
        encoded = b64encode(picture.encode()).decode()
        return f'<img alt="{title[1] if title else ""}" src="data:image/svg+xml;base64,{encoded}">'
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Turns the Markdown of a guide into that of the site."""
    here = page.file.src_uri
    markdown = OTHER_LANGUAGE.sub("", markdown, count=1)
    markdown = NOTEBOOK.sub(r"\1.md)", markdown)
    markdown = PICTURE.sub(r"![\2](\1){ width=\3 }", markdown)
    markdown = SOURCE.sub(lambda match: source_block(match[1], match[2].split(), page, config), markdown)
    markdown = ABOUT.sub(lambda _: about_textbook(page, config), markdown)
    markdown = COMMANDS.sub(lambda _: tool("guides").reference(language_of(page)), markdown)
    markdown = REFERENCE.sub(lambda match: reference(match[1], here), markdown)
    return OUTSIDE.sub(lambda match: match[1] + address(match[2], here, config) + match[3], markdown)


def about_textbook(page: Page, config: MkDocsConfig) -> str:
    """Returns the paragraph about the code that runs, in the language of the page."""
    address = textbook_address(page, "")
    size = config.extra["textbook"]
    return ABOUT_TEXTBOOK[language_of(page)].format(address=address, megabytes=size) if size else ""


def textbook_address(page: Page, chapter: str) -> str:
    """Returns the address of a chapter of the textbook, or of the microscope, as seen from a page."""
    up = "../" * page.url.rstrip("/").count("/") + "../"
    asked = f"&chapter={chapter}" if chapter else ""
    return f"{up}textbook/?language={language_of(page)}{asked}"


def language_of(page: Page) -> str:
    """Returns "ja" or "en"."""
    return "ja" if page.file.src_uri.endswith(".ja.md") else "en"


def source_block(path: str, names: list[str], page: Page, config: MkDocsConfig) -> str:
    """Returns a code block with a part of a file of the repository, and the link that runs it."""
    here = page.file.src_uri
    try:
        text = code(path, names)
    except (OSError, KeyError) as error:
        log.warning("docs/%s: no source %s %s (%r)", here, path, " ".join(names), error)
        return ""
    chapter = tool("textbook").chapter_of(path) if config.extra.get("textbook") else ""
    address = textbook_address(page, chapter)
    link = f'<p><a class="md-button run" href="{address}">{RUN[language_of(page)]}</a></p>\n'
    return f'```python title="{path}"\n{text.rstrip()}\n```\n' + (f"\n{link}" if chapter else "")


def address(link: str, here: str, config: MkDocsConfig) -> str:
    """Returns the address of a file of the repository that a guide links to; of a guide the link itself."""
    path = os.path.normpath(PurePosixPath("docs", here).parent / link)
    if Path(path).parts[0] == "docs":
        return link
    if not (ROOT / path).exists():
        log.warning("docs/%s links to %s, which does not exist", here, path)
    return f"{config.extra['source']}/{PurePosixPath(path)}"
