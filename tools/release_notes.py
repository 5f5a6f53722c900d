"""Prints the notes of a release: the section of CHANGELOG.md that has the version of a tag.

    python3 tools/release_notes.py v0.1.0 --url https://github.com/OWNER/goryu/blob/v0.1.0

The tag must be that of `goryu.__version__`. --url makes the links to files absolute. Needs only Python.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the notes; returns the exit status: 1 if there are none for this tag."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tag", help="such as v0.1.0")
    parser.add_argument("--url", metavar="URL", help="of the folder that links are relative to")
    args = parser.parse_args(arguments)
    try:
        text = notes(args.tag, version(), (ROOT / "CHANGELOG.md").read_text("utf-8"))
    except ValueError as error:
        print(f"release_notes.py: {error}", file=sys.stderr)
        return 1
    sys.stdout.write(absolute_links(text, args.url) if args.url else text)
    return 0


def version() -> str:
    """Returns the version that the package says of itself."""
    text = (ROOT / "engine" / "goryu" / "__init__.py").read_text("utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"', text, re.MULTILINE)
    return str(found)


def notes(tag: str, package_version: str, changelog: str) -> str:
    """Returns the section of a changelog, without its heading; raises ValueError."""
    if tag != f"v{package_version}":
        raise ValueError(f"tag {tag}: expected v{package_version}, the version of the package")
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        if heading.split()[0].strip("[]") == package_version:
            return text.strip() + "\n"
    raise ValueError(f'CHANGELOG.md: expected a section "## {package_version} - DATE"')


def absolute_links(markdown: str, url: str) -> str:
    """Returns a text whose links and pictures name files at a URL, not relative to the repository's root."""
    relative = r"(?!#|[a-z]+:)"
    markdown = re.sub(rf"\]\({relative}", f"]({url}/", markdown)
    return re.sub(rf'<img src="{relative}', f'<img src="{url.replace("/blob/", "/raw/")}/', markdown)


if __name__ == "__main__":
    raise SystemExit(main())
