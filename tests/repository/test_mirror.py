"""The test of a module lies in the folder of tests/ that mirrors its package, under the module's name."""

from paths import ROOT

TESTS = ROOT / "tests"
HOUSES = {"engine": "goryu", "page": "goryu_page", "lab": "goryu_lab"}
"""Folder of tests/ -> the package that it mirrors."""

OF_NO_MODULE = {"acceptance", "fuzz", "repository"}
"""Folders whose tests belong to no module: whole sessions, bad files, this repository."""


def test_a_test_has_the_name_of_its_module() -> None:
    """`test_puct.py` and `test_puct_TOPIC.py` test puct.py; `test_search.py` in search/ tests the package."""
    homeless = []
    for path in sorted(TESTS.rglob("test_*.py")):
        house, *rooms = path.parent.relative_to(TESTS).parts
        if house in OF_NO_MODULE or rooms == ["native"]:
            continue
        package = (ROOT / "engine" / HOUSES[house]).joinpath(*rooms)
        words = path.stem.removeprefix("test_").split("_")
        names = {"_".join(words[:count]) for count in range(1, len(words) + 1)}
        if not names & {
            package.name,
            rooms[-1] if rooms else house,
            *(file.stem for file in package.glob("*.py")),
        }:
            homeless.append(str(path.relative_to(TESTS)))
    assert homeless == []
