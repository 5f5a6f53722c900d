#!/usr/bin/env python3
"""Fetches the third-party files of the browser page from npm, and draws the shogi pieces.

The page loads nothing from other hosts, so its libraries are part of the package:
engine/goryu_page/static/vendor/ has their files and `manifest.json` with versions, checksums and licences.
This program writes both. It needs npm, which checks the packages' checksums too, and for the pieces fontTools
with brotli. Users of goryu need neither.

--check downloads nothing: it compares the files in the checkout with the manifest.
"""

import argparse
import base64
import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goryu.commands.common import UsageError, new_parser, program

STATIC = Path(__file__).resolve().parent.parent / "engine" / "goryu_page" / "static"
VENDOR = STATIC / "vendor"
PIECES = STATIC / "pieces"


class Package(NamedTuple):
    """A package of npm. files: path in the package -> name in vendor/; of a folder, all its *.js files."""

    version: str
    licence: str
    files: dict[str, str]


PACKAGES = {
    "shogiground": Package(
        "0.10.3", "GPL-3.0-or-later", {"esm": "shogiground", "LICENSE": "shogiground/LICENSE"}
    ),
    "lit-html": Package(
        "3.3.3",
        "BSD-3-Clause",
        {
            **{name: f"lit-html/{name}" for name in ("lit-html.js", "directive.js", "directive-helpers.js")},
            **{f"directives/{name}.js": f"lit-html/directives/{name}.js" for name in ("live", "repeat")},
            "LICENSE": "lit-html/LICENSE",
        },
    ),
    **{
        f"d3-{name}": Package(
            version,
            licence,
            {f"dist/d3-{name}.min.mjs": f"d3/d3-{name}.js", "LICENSE": f"d3/LICENSE-{name}"},
        )
        for name, version, licence in (
            ("color", "3.1.1", "ISC"),
            ("dispatch", "3.0.2", "ISC"),
            ("drag", "3.0.1", "ISC"),
            ("ease", "3.0.2", "BSD-3-Clause"),
            ("interpolate", "3.0.2", "ISC"),
            ("selection", "3.0.1", "ISC"),
            ("timer", "3.0.2", "ISC"),
            ("transition", "3.0.2", "ISC"),
            ("zoom", "3.0.1", "ISC"),
        )
    },
    "@fontsource/yuji-boku": Package("5.3.0", "OFL-1.1", {"LICENSE": "yuji-boku/LICENSE"}),
}

FONT = "files/yuji-boku-japanese-400-normal.woff2"

LETTERS = {
    "pawn": "歩",
    "lance": "香",
    "knight": "桂",
    "silver": "銀",
    "gold": "金",
    "bishop": "角",
    "rook": "飛",
    "king": "玉",
    "tokin": "と",
    "promotedlance": "杏",
    "promotedknight": "圭",
    "promotedsilver": "全",
    "horse": "馬",
    "dragon": "龍",
}
"""shogiground's names of the pieces, and the letters on them."""

WHITE_KING = "王"

SIZES = {
    "pawn": 0.86,
    "tokin": 0.86,
    "lance": 0.9,
    "promotedlance": 0.9,
    "knight": 0.92,
    "promotedknight": 0.92,
}
"""Widths of the pieces that are smaller than the others, as in a real set."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    return program("vendor.py", make_parser(), run, arguments, extra="test")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="compare the files with the manifest, and stop")
    return parser


def run(args: argparse.Namespace) -> int | None:
    """Fetches everything, or checks what is there."""
    if args.check:
        problems = differences()
        print("\n".join(problems) or "vendor: all files are those of the manifest")
        return 1 if problems else 0
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for name, package in PACKAGES.items():
            archive = download(name, package.version, Path(folder))
            records.append(unpack(name, package, archive))
            if name.startswith("@fontsource"):
                draw_pieces(archive)
    write_manifest(records)
    return None


def download(name: str, version: str, folder: Path) -> Path:
    """Returns the archive of a package, which npm has compared with the registry's checksum."""
    command = ["npm", "pack", "--json", "--pack-destination", str(folder), f"{name}@{version}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise UsageError(f"npm pack {name}@{version} failed: {done.stderr.strip()[-500:]}")
    (packed,) = json.loads(done.stdout)
    return folder / str(packed["filename"]).replace("@", "").replace("/", "-")


def unpack(name: str, package: Package, archive: Path) -> dict[str, Any]:
    """Copies the package's files to vendor/ and returns its entry in the manifest."""
    written = {}
    with tarfile.open(archive) as packed:
        licence = json.loads(read(packed, "package.json"))["license"]
        if licence != package.licence:
            raise UsageError(f"{name}: its licence is {licence!r}, expected {package.licence!r}")
        for source, target in sorted(wanted(packed, package).items()):
            text = with_local_imports(read(packed, source))
            path = VENDOR / target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            written[target] = checksum(path)
    integrity = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    return {
        "name": name,
        "version": package.version,
        "licence": package.licence,
        "integrity": f"sha512-{integrity}",
        "files": written,
    }


def wanted(packed: tarfile.TarFile, package: Package) -> dict[str, str]:
    """Returns the files to take from a package, and their names in vendor/."""
    names = [name.removeprefix("package/") for name in packed.getnames()]
    found = {}
    for source, target in package.files.items():
        if source in names:
            found[source] = target
        inside = [name for name in names if name.startswith(f"{source}/") and name.endswith(".js")]
        found |= {name: f"{target}/{name.removeprefix(source + '/')}" for name in inside}
    return found


def read(packed: tarfile.TarFile, name: str) -> str:
    """Returns a text file of a package."""
    file = packed.extractfile(f"package/{name}")
    assert file is not None, f"{name} is a folder"
    return file.read().decode()


def with_local_imports(text: str) -> str:
    """Returns a module that imports files, which browsers understand, and names no source map.

    >>> with_local_imports('import{a}from"d3-color";')
    'import{a}from"./d3-color.js";'
    """
    text = re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.MULTILINE)
    return re.sub(r'(from\s*)"(d3-\w+)"', r'\1"./\2.js"', text)


def checksum(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_manifest(records: list[dict[str, Any]]) -> None:
    """Writes `manifest.json`."""
    about = (
        "Written by tools/vendor.py. The checksums of the packages are npm's; those of the files are SHA-256."
    )
    manifest: dict[str, Any] = {"about": about, "packages": records}
    manifest["pieces"] = {
        "about": "Drawn by tools/vendor.py; the letters are outlines of the font Yuji Boku.",
        "licence": "GPL-3.0-or-later; the font: OFL-1.1",
        "files": {path.name: checksum(path) for path in sorted(PIECES.glob("*.svg"))},
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    (VENDOR / "manifest.json").write_text(text + "\n", encoding="utf-8", newline="\n")


def differences() -> list[str]:
    """Returns one line for each file that differs from the manifest, is missing or is not in it."""
    manifest = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
    listed = {PIECES / name: digest for name, digest in manifest["pieces"]["files"].items()}
    for package in manifest["packages"]:
        listed |= {VENDOR / name: digest for name, digest in package["files"].items()}
    found = {path for folder in (VENDOR, PIECES) for path in folder.rglob("*") if path.is_file()}
    found.remove(VENDOR / "manifest.json")
    problems = [f"{path}: in the manifest, but missing" for path in sorted(listed.keys() - found)]
    problems += [f"{path}: not in the manifest" for path in sorted(found - listed.keys())]
    both = sorted(found & listed.keys())
    return problems + [
        f"{path}: differs from the manifest" for path in both if checksum(path) != listed[path]
    ]


def draw_pieces(archive: Path) -> None:
    """Writes one SVG file for each piece of each side; White's point downwards."""
    from fontTools.ttLib import TTFont

    PIECES.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed, tempfile.NamedTemporaryFile(suffix=".woff2") as file:
        outlines = packed.extractfile(f"package/{FONT}")
        assert outlines is not None
        file.write(outlines.read())
        file.flush()
        font = TTFont(file.name)
        for role, letter in LETTERS.items():
            for side in ("black", "white"):
                shown = WHITE_KING if (role, side) == ("king", "white") else letter
                svg = piece(
                    letter_path(font, shown), SIZES.get(role, 1.0), is_promoted(role), side == "white"
                )
                (PIECES / f"{side}-{role}.svg").write_text(svg, encoding="utf-8", newline="\n")


def is_promoted(role: str) -> bool:
    """Is this a promoted piece, whose letter is red?"""
    return role in ("tokin", "horse", "dragon") or role.startswith("promoted")


def letter_path(font: Any, letter: str) -> str:
    """Returns the outline of a letter as the data of an SVG path, centred on the piece."""
    from fontTools.pens.boundsPen import BoundsPen
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.pens.transformPen import TransformPen

    glyphs = font.getGlyphSet()
    glyph = glyphs[font.getBestCmap()[ord(letter)]]
    bounds = BoundsPen(glyphs)
    glyph.draw(bounds)
    left, bottom, right, top = bounds.bounds
    across, along = 58 / (right - left), 66 / (top - bottom)
    across, along = (
        min(across, along * 1.18),
        min(along, across * 1.18),
    )  # Flat letters become a little taller.
    pen = SVGPathPen(glyphs, ntos=lambda number: f"{number:.1f}".removesuffix(".0"))
    middle_x, middle_y = (left + right) / 2, (bottom + top) / 2
    glyph.draw(TransformPen(pen, (across, 0, 0, -along, 50 - middle_x * across, 57 + middle_y * along)))
    return str(pen.getCommands())


def piece(letter: str, size: float, promoted: bool, turned: bool) -> str:
    """Returns the SVG of a piece: a wooden pentagon with its letter."""
    ink = "#b3201c" if promoted else "#1d1410"
    place = f"translate({50 - 50 * size:.4g} {60 - 57 * size:.4g}) scale({size})"
    if turned:
        place = f"rotate(180 50 54.5) {place}"
    shape = (
        "M50 6C51 6 74 14.5 76 16.5C77.5 18 88.5 94 88.5 96.5C88.5 98.5 11.5 98.5 11.5 96.5"
        "C11.5 94 22.5 18 24 16.5C26 14.5 49 6 50 6Z"
    )
    light, dark = ("#f0c679", "#fbe3b0") if turned else ("#fbe3b0", "#f0c679")
    stops = f'<stop offset="0" stop-color="{light}"/><stop offset="1" stop-color="{dark}"/>'
    shade = f'transform="translate(0 {-2.2 if turned else 2.2})" fill="#5b3a12" fill-opacity=".45"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 109">
<defs><linearGradient id="w" x1="0" y1="0" x2="0" y2="1">{stops}</linearGradient></defs>
<g transform="{place}"><path d="{shape}" {shade}/>
<path d="{shape}" fill="url(#w)" stroke="#8f6428" stroke-width="1.2"/>
<path d="{letter}" fill="{ink}" stroke="{ink}" stroke-width="1.1"/></g>
</svg>
"""


if __name__ == "__main__":
    raise SystemExit(main())
