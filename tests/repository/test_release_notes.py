"""tools/release_notes.py: what the draft of a release and PyPI's page say."""

from typing import Any

import pytest

release_notes: Any = pytest.importorskip("release_notes")

CHANGELOG = """\
# Changelog

## 0.2.0 - 2027-01-01

New.

## 0.1.0 - 2026-12-01

- a [guide](docs/gui.md)
"""


def test_the_notes_are_the_section_of_the_tag() -> None:
    assert release_notes.notes("v0.1.0", "0.1.0", CHANGELOG) == "- a [guide](docs/gui.md)\n"
    assert release_notes.notes("v0.2.0", "0.2.0", CHANGELOG) == "New.\n"


@pytest.mark.parametrize(("tag", "version"), [("v0.2.0", "0.1.0"), ("0.1.0", "0.1.0"), ("v0.3.0", "0.3.0")])
def test_a_tag_without_package_or_section_is_refused(tag: str, version: str) -> None:
    with pytest.raises(ValueError, match=r"expected"):
        release_notes.notes(tag, version, CHANGELOG)


def test_links_to_files_become_absolute() -> None:
    text = '[a](docs/a.md#b) [c](https://c) [d](#d) <img src="e.png">'
    url = "https://github.com/o/goryu/blob/v1"
    expected = f'[a]({url}/docs/a.md#b) [c](https://c) [d](#d) <img src="{url.replace("blob", "raw")}/e.png">'
    assert release_notes.absolute_links(text, url) == expected
