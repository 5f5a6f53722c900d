"""What every test run shares: the choice of twins, and a header that says which goryu is under test."""

import pytest

import goryu


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--native",
        choices=("auto", "require", "off"),
        default="auto",
        help="tests of native twins that are not built: skip (auto) or fail (require); off: skip all",
    )


def pytest_report_header() -> str:
    try:
        from goryu.implementation import IMPLEMENTATION, WHY
    except ImportError as error:
        return f"goryu: {error}"
    return f"goryu {goryu.__version__} from {goryu.__path__[0]}: {IMPLEMENTATION} ({WHY})"
