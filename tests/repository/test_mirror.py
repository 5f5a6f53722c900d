"""The test of a module lies in the folder of tests/ that mirrors its package, under the module's name."""

from paths import ROOT

PACKAGES = ROOT / "engine" / "goryu"
TESTS = ROOT / "tests"
OF_NO_MODULE = {"acceptance", "fuzz", "native", "repository"}
"""Folders whose tests belong to no module of the package: whole sessions, bad files, C++, this repository."""


def test_a_test_has_the_name_of_its_module() -> None:
    """`test_puct.py` and `test_puct_TOPIC.py` test puct.py; `test_search.py` in tests/search/ the package."""
    homeless = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.parent.relative_to(TESTS)
        if folder.parts[:1] and folder.parts[0] in OF_NO_MODULE:
            continue
        package = PACKAGES / folder
        words = path.stem.removeprefix("test_").split("_")
        names = {"_".join(words[:count]) for count in range(1, len(words) + 1)}
        if not names & {package.name, *(module.stem for module in package.glob("*.py"))}:
            homeless.append(str(path.relative_to(TESTS)))
    assert homeless == []
