"""Hooks of MkDocs: both languages of every guide, links to the source, code beside its explanation, the API,
notebooks.

Guides are plain Markdown that GitHub shows too. On the site

- the line that links to the other language goes, because the page has a switch;
- a link that leaves docs/ leads to the repository. `REPOSITORY_URL` is its address, for instance
  https://github.com/NAME/goryu; without it the links lead to the files of this checkout;
- `<!-- source: engine/goryu/search/minimax.py value best_move -->` becomes the code of these functions or
  classes, without names the whole file;
- `<!-- reference: goryu.search -->` becomes the reference of the modules of a package, made from the
  docstrings; on a Japanese page it becomes links to them;
- a notebook becomes a page with the outputs that it has, and links to notebooks lead to these pages.

A missing language, file or function is a warning, and the build is strict.
"""

from __future__ import annotations

import ast
import json
import logging
import os
import re
from base64 import b64encode
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
OUTSIDE = re.compile(r"(\]\()(\.\./[^)#\s]*)((?:#[^)\s]*)?\))")
SOURCE = re.compile(r"^<!-- source: (\S+)((?: [\w.]+)*) -->$", re.MULTILINE)
NOTEBOOK = re.compile(r"(\]\([\w.-]+)\.ipynb\)(?! *\{)")
REFERENCE = re.compile(r"^<!-- reference: goryu\.(\S+) -->$", re.MULTILINE)

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
    """Makes the address of the repository known."""
    repository = os.environ.get("REPOSITORY_URL", "")
    config.repo_url = repository or None
    config.extra["source"] = f"{repository}/blob/main" if repository else ROOT.as_uri()
    return config


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
    markdown = SOURCE.sub(lambda match: source_block(match[1], match[2].split(), here), markdown)
    markdown = REFERENCE.sub(lambda match: reference(match[1], here), markdown)
    return OUTSIDE.sub(lambda match: match[1] + address(match[2], here, config) + match[3], markdown)


def source_block(path: str, names: list[str], here: str) -> str:
    """Returns a code block with a part of a file of the repository."""
    try:
        text = code(path, names)
    except (OSError, KeyError) as error:
        log.warning("docs/%s: no source %s %s (%r)", here, path, " ".join(names), error)
        return ""
    return f'```python title="{path}"\n{text.rstrip()}\n```\n'


def address(link: str, here: str, config: MkDocsConfig) -> str:
    """Returns the address of a file of the repository that a guide links to; of a guide the link itself."""
    path = os.path.normpath(PurePosixPath("docs", here).parent / link)
    if Path(path).parts[0] == "docs":
        return link
    if not (ROOT / path).exists():
        log.warning("docs/%s links to %s, which does not exist", here, path)
    return f"{config.extra['source']}/{PurePosixPath(path)}"
