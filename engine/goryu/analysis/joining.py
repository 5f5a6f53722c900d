"""Joins the modules and styles of the browser page, so that a browser asks once and not in a long chain.

A module becomes a function that takes the exports of others with `take(PATH)` and returns its own. That is
all that the modules of the page need: none of them imports in a circle or changes what it has exported.
Comments that stand in lines of their own are left out.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

STATIC = Path(__file__).resolve().parents[2] / "goryu_page" / "static"

_PART = r"(?:^|(?<=[;}]))"  # Of a minified line, too.
_IMPORT = re.compile(_PART + r"""import\s*(?:([^'"();]+?)\s*from\s*)?(['"])(\.[^'"]+)\2;?""", re.MULTILINE)
_LATER = re.compile(r"""\bimport\(['"](\.[^'"]+\.js)['"]\)""")
_DECLARED = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)
_LISTED = re.compile(_PART + r"export\s*\{([^}]*)\};?", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*?(?!.*@license)(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
_URL = re.compile(r"""url\((['"]?)([^'")]+)\1\)""")

_START = """const { define, take, load } = (globalThis.goryu ??= (() => {
  const [made, modules] = [new Map(), new Map()];
  const take = (path) => modules.get(path) ?? modules.set(path, made.get(path)()).get(path);
  const load = (path) => import(new URL(`joined/${path}`, document.baseURI).href).then(() => take(path));
  return { define: (path, make) => made.has(path) || made.set(path, make), take, load };
})());
"""


@cache
def module(path: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text of a module as a call of `define`, and the paths of what it imports at once."""
    imported: list[str] = []

    def take(match: re.Match[str]) -> str:
        names, target = match[1], normpath(join(dirname(path), match[3]))
        imported.append(target)
        return f'const {_binding(names)} = take("{target}");' if names else f'take("{target}");'

    def load(match: re.Match[str]) -> str:
        return f'load("{normpath(join(dirname(path), match[1]))}")'

    text = _COMMENT.sub("", (STATIC / path).read_text(encoding="utf-8"))
    text = _LATER.sub(load, _IMPORT.sub(take, text))
    exported = _DECLARED.findall(text)
    for names in _LISTED.findall(text):
        pairs = (name.split(" as ") for name in names.split(",") if name.strip())
        exported += [": ".join(reversed([part.strip() for part in pair])) for pair in pairs]
    text = _LISTED.sub("", _DECLARED.sub("", text))
    return f'define("{path}", () => {{\n{text}\nreturn {{ {", ".join(exported)} }};\n}});\n', tuple(imported)


def _binding(names: str) -> str:
    """Returns what takes the place of the names of an import: "{ a as b }" becomes "{ a: b }"."""
    if names.startswith("*"):
        return names.split()[-1]
    return names.replace(" as ", ": ") if names.startswith("{") else f"{{ default: {names} }}"


def modules(entry: str) -> dict[str, str]:
    """Returns the texts of a module and of each that it needs at once, by their paths in `STATIC`."""
    found: dict[str, str] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path], imported = module(path)
            waiting += imported
    return found


def script(entry: str, known: Collection[str] = ()) -> str:
    """Returns a script that runs a module. known: modules that the page has already."""
    texts = (text for path, text in modules(entry).items() if path not in known)
    return f'{_START}{"".join(texts)}take("{entry}");\n'


@cache
def pieces() -> str:
    """Returns a style sheet with the pictures of the pieces; the variable `--piece-NAME` holds one."""
    paths = sorted((STATIC / "pieces").glob("*.svg"))
    urls = (f"--piece-{path.stem}: url({data_url(f'pieces/{path.name}')});" for path in paths)
    return ":root {\n" + "\n".join(urls) + "\n}\n"


def styles(paths: Iterable[str]) -> str:
    """Returns style sheets with the files that they name inside; those of pieces are in `pieces`."""
    return "\n".join(map(_style, paths))


@cache
def _style(path: str) -> str:
    def inside(match: re.Match[str]) -> str:
        if match[2].startswith("data:"):
            return match[0]
        target = match[2].removeprefix("/static/")
        if target.startswith("pieces/"):
            return f"var(--piece-{Path(target).stem})"
        return f"url({data_url(target)})"

    return _COMMENT.sub("", _URL.sub(inside, (STATIC / path).read_text(encoding="utf-8")))


def data_url(path: str) -> str:
    """Returns a picture (SVG) as a URL in quotation marks."""
    text = (STATIC / path).read_text(encoding="utf-8").replace("\n", " ").replace("%", "%25")
    text = text.replace('"', "'").replace("#", "%23").replace("<", "%3C").replace(">", "%3E")
    return f'"data:image/svg+xml,{text}"'
