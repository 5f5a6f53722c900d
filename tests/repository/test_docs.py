"""The site of the guides: both languages, the code that they show, the build where MkDocs is installed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from present import present

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    """docs/hooks.py as a module; it needs no MkDocs until the site is built."""
    spec = present(importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py"))
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_has_both_languages(hooks: ModuleType) -> None:
    assert hooks.untranslated() == []


def test_both_languages_show_the_same_code() -> None:
    for page in PAGES:
        if not page.name.endswith(".ja.md"):
            japanese = page.with_name(f"{page.stem}.ja.md").read_text(encoding="utf-8")
            shown = re.findall("^<!-- .*", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert shown == re.findall("^<!-- .*", japanese, flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_that_a_page_shows_exists(page: Path, hooks: ModuleType) -> None:
    for match in hooks.SOURCE.finditer(page.read_text(encoding="utf-8")):
        assert hooks.code(match[1], match[2].split()), match[0]


def test_links_out_of_the_guides_lead_to_the_repository(hooks: ModuleType) -> None:
    text = "[a](../README.md#start) [b](gui.md) [c](../engine/goryu/py.typed)"
    config = type("Config", (), {"extra": {"source": "https://example.org/blob/main"}})
    page = type("Page", (), {"file": type("File", (), {"src_uri": "web.md"})})
    assert hooks.on_page_markdown(text, page, config) == (
        "[a](https://example.org/blob/main/README.md#start) [b](gui.md) "
        "[c](https://example.org/blob/main/engine/goryu/py.typed)"
    )


def test_a_notebook_becomes_a_page_with_its_outputs(hooks: ModuleType) -> None:
    page = hooks.notebook_page(ROOT / "docs" / "notebooks" / "minimax.ja.ipynb")
    assert page.startswith("# ")
    assert "](minimax.ja.ipynb){" in page
    assert "```python\n%run -m goryu tree --game numbers" in page
    assert "```text\nA 5             max\n" in page
    assert 'src="data:image/svg+xml;base64,' in page


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Broken links, missing anchors and languages, and pages outside the navigation are warnings."""
    for name in ("material", "mkdocs_static_i18n", "mkdocstrings"):
        pytest.importorskip(name, reason="the extra docs is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = ("index.html", "search/index.html", "notebooks/minimax/index.html")
    for page in (*pages, *(f"ja/{page}" for page in pages)):
        assert 'class="md-content"' in (tmp_path / page).read_text(encoding="utf-8")
    for made in tmp_path.rglob("index.html"):
        for picture in re.findall(r'<img [^>]*src="([^":]+)"', made.read_text(encoding="utf-8")):
            assert (made.parent / picture).is_file(), f"{made} shows {picture}"
