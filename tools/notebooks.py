#!/usr/bin/env python3
"""Makes the notebooks of docs/notebooks/ from tools/notebooks/*.md and runs them; names choose some of them.

A source has the text of both languages and the code once. A fenced block of Python is a cell with code, the
rest is text; `<!-- en -->` and `<!-- ja -->` begin what only one language has. Words after "python" are tags
of the cell:

    torch     needs PyTorch
    varies    another run prints other numbers
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "tools" / "notebooks"
NOTEBOOKS = ROOT / "docs" / "notebooks"
LANGUAGES = ("en", "ja")
ENVIRONMENT = {
    "GORYU_NETWORK": "shipped",
    "GORYU_BOOK": "off",
    "GORYU_MEASURE": "off",
    "NO_COLOR": "1",
    "JUPYTER_COLUMNS": "80",
}
"""For the same output on every machine."""

CODE = re.compile(r"^(```python.*?^```\n)", re.MULTILINE | re.DOTALL)
COLOUR = re.compile("\x1b\\[[\\d;]*m")
LANGUAGE = re.compile(r"^<!-- (en|ja) -->\n", re.MULTILINE)

Notebook = Any
"""A notebook or a cell of nbformat: dictionaries and lists."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes the notebooks; returns the exit status."""
    names = sorted(path.stem for path in SOURCES.glob("*.md"))
    parser = argparse.ArgumentParser("notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)} (default: all)")
    for name in parser.parse_args(arguments).names or names:
        for language in LANGUAGES:
            notebook = made(name, language)
            if find_spec("torch") is None and any(tags(cell) & {"torch"} for cell in notebook.cells):
                print(f"notebooks: {name} needs PyTorch", file=sys.stderr)
                return 1
            execute(notebook, language)
            nbformat.write(notebook, stored_path(name, language), split_lines=False)
    return 0


def stored_path(name: str, language: str) -> Path:
    """Returns the file of a notebook in one language."""
    return NOTEBOOKS / f"{name}{'' if language == 'en' else '.' + language}.ipynb"


def made(name: str, language: str) -> Notebook:
    """Returns a notebook in one language, without outputs."""
    cells: list[Any] = []
    for part in CODE.split((SOURCES / f"{name}.md").read_text(encoding="utf-8")):
        if part.startswith("```python"):
            first, _, code = part.removesuffix("\n```\n").partition("\n")
            words = first.split()[1:]
            cell = nbformat.v4.new_code_cell(code, metadata={"tags": words} if words else {})
        elif text := "\n\n".join(_in_language(part, language)):
            cell = nbformat.v4.new_markdown_cell(text)
        else:
            continue
        cell.id = f"cell-{len(cells)}"
        cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )


def _in_language(text: str, language: str) -> Iterator[str]:
    """Yields the parts of a text that are for all languages or for this one."""
    common, *rest = LANGUAGE.split(text)
    for marker, part in [(language, common), *zip(rest[::2], rest[1::2], strict=True)]:
        if marker == language and part.strip():
            yield part.strip()


def tags(cell: Any) -> set[str]:
    """Returns the tags of a cell."""
    return set(cell.metadata.get("tags", ()))


def execute(notebook: Notebook, language: str) -> None:
    """Runs the cells in an empty folder; keeps their outputs, without messages on stderr."""
    environment = {**os.environ, **ENVIRONMENT, "GORYU_LANGUAGE": language}
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=600, resources={"metadata": {"path": folder}}, record_timing=False
        )
        client.execute(env=environment)
    notebook.metadata.language_info = {"name": "python"}  # Without the version of this machine.
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = list(_tidied(cell))


def _tidied(cell: Any) -> Iterator[Any]:
    """Yields what a cell has printed as one text, then its pictures and values.

    Raises RuntimeError if a command has failed: `%run` does not stop a notebook.
    """
    printed, others = "", []
    for output in cell.outputs:
        data = output.get("data", {})
        if output.output_type == "error":
            raise RuntimeError(f"{cell.source}\n{output.evalue}")
        if output.get("name") == "stdout":
            printed += output.text
        elif "text/html" in data:  # Of rich, which draws in colours here.
            printed += COLOUR.sub("", data["text/plain"])
        elif output.get("name") != "stderr":
            others.append(output)
    if printed:
        yield nbformat.v4.new_output("stream", text=printed)
    yield from others


def shown(cell: Any) -> str:
    """Returns what a cell has put out, as text; of a cell that varies only whether there is any."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        parts.append(output.get("text") or data.get("image/svg+xml") or data.get("text/plain") or "")
    text = "".join(parts)
    return str(bool(text.strip())) if "varies" in tags(cell) else text


if __name__ == "__main__":
    raise SystemExit(main())
