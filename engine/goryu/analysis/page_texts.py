"""The texts of the browser page, in both languages.

They are data, one file a language, so that a translator needs no code. A table holds the texts of one view or
part: `new` in the table `[play]` has the key `play.new`.
"""

import json
import tomllib
from collections.abc import Container
from functools import cache
from pathlib import Path
from typing import Any

LOCALE = Path(__file__).resolve().parents[2] / "goryu_page" / "locale"

LANGUAGES = ("en", "ja")


@cache
def page_texts(language: str) -> dict[str, str]:
    """Returns the texts of a language by their keys. A name in braces stands for a value."""
    tables = tomllib.loads((LOCALE / f"page.{language}.toml").read_text(encoding="utf-8"))
    return {f"{table}.{key}": text for table, texts in tables.items() for key, text in texts.items()}


def texts_json(tables: Container[str] | None = None) -> str:
    """Returns {language: {key: text}} as it stands in a page.

    tables: only these; None for all.
    """
    texts = {
        language: {
            key: text
            for key, text in page_texts(language).items()
            if tables is None or key.partition(".")[0] in tables
        }
        for language in LANGUAGES
    }
    return json_in_page(texts)


def json_in_page(value: Any) -> str:
    """Returns JSON that may stand in an element <script>."""
    # Only "<" can end a script.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
