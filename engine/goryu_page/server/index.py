"""The texts of the page's files: the page itself, and the modules and styles that are joined for it."""

import re
from collections.abc import Callable

from goryu import __version__
from goryu.analysis import joining
from goryu.analysis.joining import STATIC
from goryu.analysis.page_texts import page_texts, texts_json
from goryu.kifu.reading import SUFFIXES

START = "js/main.js"

_STYLE = re.compile(r'<link rel="stylesheet" href="static/([^"]+)">\n')
_LOADED = re.compile(r"""\bload\("([^"]+)"\)""")
_TEXT = re.compile(r"\{\{text ([\w.]+)\}\}")


def index(language: str, meta: str) -> str:
    """Returns the page, with the texts of its frame in a language. meta: more elements of its head."""
    text = _STYLE.sub("", _template()).replace("{{language}}", language).replace("{{meta}}", meta)
    text = text.replace("{{version}}", __version__).replace("{{suffixes}}", " ".join(SUFFIXES))
    text = _TEXT.sub(lambda match: page_texts(language)[match[1]], text)
    return text.replace("{{texts}}", texts_json())


def _template() -> str:
    return (STATIC / "index.html").read_text(encoding="utf-8")


def joined(path: str) -> str:
    """Returns one of `STYLES`, or a module with what it needs and `START` has not."""
    if path in STYLES:
        return STYLES[path]()
    return joining.script(path, () if path == START else joining.modules(START))


def later(entry: str) -> list[str]:
    """Returns the paths of the modules that a module, or one that it needs, may import later."""
    found: list[str] = []
    waiting = [entry]
    while waiting:
        for text in joining.modules(waiting.pop()).values():
            new = [path for path in _LOADED.findall(text) if path not in found]
            found += new
            waiting += new
    return found


STYLES: dict[str, Callable[[], str]] = {
    "page.css": lambda: joining.styles(_STYLE.findall(_template())),
    "pieces.css": joining.pieces,  # Larger than all others, and needed last.
}
"""The joined style sheets, by their names."""
