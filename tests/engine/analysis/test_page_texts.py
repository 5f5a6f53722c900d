"""The texts of the browser page: what a translator can get wrong, and what the JavaScript asks for."""

import json
import re

from goryu.analysis.joining import STATIC
from goryu.analysis.page_texts import LANGUAGES, page_texts, texts_json

ENGINE = STATIC.parent.parent

_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_TEMPLATE = re.compile(r"`((?:\w+|\$\{\w+\})\.(?:[^`$\n]|\$\{[^`}]*\})*)`")
_NAME = re.compile(r"(?:^|[{(,\s])([\w-]+)(?=[:,\s}])")
_HOLE = re.compile(r"\$\{[^}]*\}")
_WORD = re.compile(r'word\("([^"]+)"')
_ASKED = re.compile(
    r"""(?:\bt|i18n\.t|labelled)\(\s*"([^"]+)"|\bi18n(?:-\w+)?="([^"]+)"|\bi18n\w*: "([^"]+)\""""
)


def own_files() -> dict[str, str]:
    """Returns our own JavaScript and HTML."""
    paths = [
        path for kind in ("js", "html") for path in STATIC.rglob(f"*.{kind}") if "vendor" not in path.parts
    ]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def test_every_text_has_both_languages_and_the_same_values() -> None:
    english, japanese = page_texts("en"), page_texts("ja")
    assert english.keys() == japanese.keys()
    for key, text in english.items():
        values = [sorted(set(re.findall(r"\{\w*\}", one))) for one in (text, japanese[key])]
        assert values[0] == values[1], key
        assert set(re.findall(r"\{(\w*):[^{}|]*\|[^{}|]*\}", text)) <= {one[1:-1] for one in values[0]}, key
        assert text.count("{") == len(re.findall(r"\{\w+(?::[^{}|]*\|[^{}|]*)?\}", text)), key


def test_the_page_has_no_key_without_a_text() -> None:
    texts = page_texts("en")
    asked = {key for text in own_files().values() for found in _ASKED.findall(text) for key in found if key}
    assert len(asked) > 200
    assert asked - texts.keys() == set()


def test_every_text_is_used() -> None:
    """A key stands in the JavaScript, or is made of a template and words of the page or of the server."""
    files = own_files()
    words = {word for text in files.values() for word in _LITERAL.findall(text) + _NAME.findall(text)}
    words |= {str(number) for number in range(10)}
    for path in ENGINE.rglob("*.py"):
        words |= set(_LITERAL.findall(path.read_text(encoding="utf-8")))
    files.pop("i18n.js")  # Its templates are made of variables only.
    templates = {found for text in files.values() for found in _TEMPLATE.findall(text)}
    templates |= {f"{table}.${{word}}" for text in files.values() for table in _WORD.findall(text)}
    patterns = [re.compile("(.+)".join(re.escape(part) for part in _HOLE.split(one))) for one in templates]
    marked = {f"pair.{key}" for key in re.findall(r'data-text="(\w+)"', files["pair.html"])}
    marked |= {
        key for key in page_texts("en") if key.startswith("header.")
    }  # The words are those of KIF files.

    def is_made(key: str) -> bool:
        found = [pattern.fullmatch(key) for pattern in patterns]
        return any(match is not None and words.issuperset(match.groups()) for match in found)

    unused = [key for key in page_texts("en") if key not in words | marked and not is_made(key)]
    assert unused == []


def test_a_page_gets_only_the_tables_that_it_names_and_no_text_ends_its_script() -> None:
    few = json.loads(texts_json(["pair"]))
    assert few.keys() == set(LANGUAGES)
    assert {key.partition(".")[0] for key in few["ja"]} == {"pair"}
    assert "<" not in texts_json()
