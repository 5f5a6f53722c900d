r"""Packs Goryu and its packages for a machine that reaches no registry, in parts that fit into small trips.

    python3 tools/parcel.py pack --python python3.12 --network models/downloads/miniosl.onnx
                                        makes .parcel/01, 02, ... and prints a command for each trip
    python3 .parcel/01/parcel.py receive .parcel/01 --to /tmp/parcel              there, in each trip
    python3 .parcel/07/parcel.py install --from /tmp/parcel --site /tmp/site      there, after the last one
    python3 .parcel/07/parcel.py split contact --to "$OUT"                        there: few files
    python3 tools/parcel.py join results --to contact                             here

A parcel holds a wheel of this checkout with its native code for the Python of the other machine, the wheels
that are missing there, networks and other files. Every piece and every file is checked by its SHA-256 where
it arrives; a part may arrive twice. Each part holds this program, which needs nothing but Python.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

MIB = 1 << 20
TRIP = 64 * MIB
"""What one trip carries, the files of the checkout that git does not ignore included."""
SPARE, LARGEST_PART = 2 * MIB, 60 * MIB

WHEELS = ("onnxruntime-gpu==1.31.1", "python-shogi", "rsshogi")
"""What Goryu needs there besides NumPy, rich, flatbuffers, packaging and protobuf.

onnxruntime-gpu 1.31 is built for CUDA 13 and cuDNN 9, as PyTorch 2.11 is, whose copies of them it can use.
"""

PLATFORMS = "manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux1"

MANIFEST, RESULTS = "parcel.json", "results.json"


class ParcelError(Exception):
    """A parcel that is incomplete, damaged or too large."""


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cut(files: Sequence[tuple[str, Path]], size: int) -> Iterator[tuple[int, str, Path, int, int]]:
    """Yields (part, file, path, offset, length) of the pieces that fill parts of `size` bytes."""
    part, left = 1, size
    for name, path in files:
        offset, total = 0, path.stat().st_size
        while True:
            length = min(left, total - offset)
            yield part, name, path, offset, length
            offset, left = offset + length, left - length
            if left == 0:
                part, left = part + 1, size
            if offset == total:
                break


def write_piece(path: Path, offset: int, length: int, to: Path) -> str:
    """Writes a part of a file to another; returns its checksum."""
    with path.open("rb") as file:
        file.seek(offset)
        to.write_bytes(file.read(length))
    return sha256(to)


def write_parts(files: Sequence[tuple[str, Path]], out: Path, size: int) -> int:
    """Writes the parts of files into the folders 01, 02, ... of `out`; returns their number."""
    manifest: dict[str, Any] = {"files": {name: sha256(path) for name, path in files}, "pieces": []}
    parts = 0
    for number, (part, name, path, offset, length) in enumerate(cut(files, size), 1):
        folder = out / f"{part:02}"
        folder.mkdir(parents=True, exist_ok=True)
        digest = write_piece(path, offset, length, folder / f"{number:04}")
        manifest["pieces"].append({"piece": f"{number:04}", "part": part, "file": name, "sha256": digest})
        parts = part
    for part in range(1, parts + 1):
        (out / f"{part:02}" / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
        shutil.copyfile(__file__, out / f"{part:02}" / "parcel.py")
    return parts


def read_manifest(folder: Path) -> dict[str, Any]:
    """Raises ParcelError if it is damaged, or names a file outside the parcel."""
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
    try:
        names = [*manifest["files"], *(each["piece"] for each in manifest["pieces"])]
        if any(Path(name).is_absolute() or ".." in Path(name).parts for name in names):
            raise ValueError("a file outside the parcel")
    except (KeyError, TypeError, ValueError) as error:
        raise ParcelError(f"{folder / MANIFEST}: no manifest of a parcel ({error})") from error
    return manifest


def keep(source: Path, target: Path) -> None:
    """Copies a file so that a kill or a full disk leaves no half of it."""
    arriving = target.with_name("arriving")
    shutil.copyfile(source, arriving)
    arriving.replace(target)


def receive(args: argparse.Namespace) -> None:
    """Checks the pieces of a part, keeps them, and prints the numbers of the parts that are still missing."""
    part, to = args.part, args.to
    manifest = read_manifest(part)
    (to / "pieces").mkdir(parents=True, exist_ok=True)
    if (to / MANIFEST).is_file() and read_manifest(to) != manifest:
        raise ParcelError(f"{part}: of another parcel than that in {to}")
    for each in manifest["pieces"]:
        source = part / each["piece"]
        if source.is_file():
            if sha256(source) != each["sha256"]:
                raise ParcelError(f"{source}: damaged on its way")
            keep(source, to / "pieces" / each["piece"])
    keep(part / MANIFEST, to / MANIFEST)
    print(f"parts still missing: {', '.join(map(str, missing_parts(to, manifest))) or 'none'}")


def missing_parts(folder: Path, manifest: dict[str, Any]) -> list[int]:
    """Returns the parts of which a piece is missing."""
    pieces = folder / "pieces"
    return sorted({each["part"] for each in manifest["pieces"] if not (pieces / each["piece"]).is_file()})


def unpack(folder: Path) -> list[Path]:
    """Puts the files together from their pieces and checks them; returns their paths."""
    manifest = read_manifest(folder)
    if missing := missing_parts(folder, manifest):
        raise ParcelError(f"parts are missing: {', '.join(map(str, missing))}")
    found = []
    for name, expected in manifest["files"].items():
        target = folder / "content" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            for each in manifest["pieces"]:
                if each["file"] == name:
                    file.write((folder / "pieces" / each["piece"]).read_bytes())
        if sha256(target) != expected:
            raise ParcelError(f"{name}: its pieces do not fit together")
        found.append(target)
    return found


def install(args: argparse.Namespace) -> None:
    """Installs the wheels of a parcel into a folder, puts its networks there, and writes env.sh."""
    folder, site = args.folder, args.site.resolve()
    files = unpack(folder)
    wheels = [str(path) for path in files if path.suffix == ".whl"]
    if wheels:
        options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--no-cache-dir", "--upgrade"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, "--target", str(site), *wheels], check=True
        )
    networks = site / "goryu" / "models" / "downloads"
    for path in sorted((folder / "content" / "networks").glob("*")):
        networks.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, networks / path.name)
    lines = f'export PYTHONPATH="{site}${{PYTHONPATH:+:$PYTHONPATH}}"', f'export PATH="{site}/bin:$PATH"'
    (folder / "env.sh").write_text("\n".join((*lines, "")), "utf-8")


def travelling_bytes() -> int:
    """Returns the size of the files that travel with the checkout anyway."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=True)
    paths = [Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name]
    return sum(path.lstat().st_size for path in paths if path.is_symlink() or path.is_file())


def collect_wheels(args: argparse.Namespace, folder: Path) -> None:
    """Downloads the wheels and builds that of this checkout, by a Python of the other machine's version."""
    if not args.python:
        return
    pip = [args.python, "-m", "pip"]
    if args.wheel:
        platforms = [word for name in PLATFORMS.split() for word in ("--platform", f"{name}_x86_64")]
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--implementation", "cp", *platforms]
        subprocess.run([*pip, "download", *options, "--dest", str(folder), *args.wheel], check=True)
    environment = {**os.environ, "GORYU_REQUIRE_NATIVE": "1"}
    command = [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), "."]
    subprocess.run(command, check=True, env=environment)


def pack(args: argparse.Namespace) -> None:
    """Makes a parcel and prints the trips."""
    if args.out.exists():
        raise ParcelError(f"{args.out}: exists; remove it first")
    room = args.part_mib * MIB if args.part_mib else min(LARGEST_PART, TRIP - SPARE - travelling_bytes())
    size = round(room)
    if size <= 0:
        raise ParcelError("the checkout alone is too large for a trip")
    with tempfile.TemporaryDirectory() as name:
        wheels = Path(name)
        collect_wheels(args, wheels)
        files = [(f"wheels/{path.name}", path) for path in sorted(wheels.iterdir())]
        for kind, paths in (("networks", args.network), ("files", args.file)):
            files += [(f"{kind}/{path.name}", path) for path in paths]
        if not files or len(dict(files)) < len(files):
            raise ParcelError("two files have the same name" if files else "there is nothing to pack")
        for name, path in files:
            print(f"{path.stat().st_size / MIB:8.1f} MiB  {name}")
        parts = write_parts(files, args.out, size)
    print(f"{parts} parts of at most {size / MIB:.1f} MiB")
    for part in range(1, parts + 1):
        folder = args.out / f"{part:02}"
        print(f"trip {part}, carry {folder}: python3 {folder}/parcel.py receive {folder} --to /tmp/parcel")
    print(
        "after the last one, in the same command:\n"
        f"  python3 {folder}/parcel.py install --from /tmp/parcel --site /tmp/site && . /tmp/parcel/env.sh"
    )


def split(args: argparse.Namespace) -> None:
    """Packs a folder, without the networks in it, into at most so many files of at most so many bytes."""
    folder, to, most, piece = args.folder, args.to, args.most, max(1, round(args.piece_mib * MIB))
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        packed = Path(name) / "results.tar.xz"
        with tarfile.open(packed, "w:xz") as archive:
            archive.add(folder, ".", filter=lambda info: None if info.name == "./networks" else info)
        pieces = list(cut([("", packed)], piece))
        if len(pieces) + 1 > most:
            mib = f"{packed.stat().st_size / MIB:.1f} MiB"
            raise ParcelError(f"{folder}: {mib} packed, more than {most - 1} files of {piece / MIB:.1f} MiB")
        sums = {
            f"results-{part}": write_piece(path, offset, length, to / f"results-{part}")
            for part, _, path, offset, length in pieces
        }
    (to / RESULTS).write_text(json.dumps(sums), "utf-8")


def join(args: argparse.Namespace) -> None:
    """Puts the results of `split` together again and unpacks them into a folder."""
    folder = args.folder
    sums = json.loads((folder / RESULTS).read_text("utf-8"))
    with tempfile.TemporaryFile() as whole:
        for name, expected in sums.items():
            if not (folder / name).is_file() or sha256(folder / name) != expected:
                raise ParcelError(f"{folder / name}: missing or damaged")
            whole.write((folder / name).read_bytes())
        whole.seek(0)
        with tarfile.open(fileobj=whole, mode="r:xz") as archive:
            archive.extractall(args.to, filter="data")


def make_parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    verbs = parser.add_subparsers(required=True)

    def verb(name: str, run: Callable[[argparse.Namespace], None], text: str) -> Callable[..., Any]:
        found = verbs.add_parser(name, help=text)
        found.set_defaults(run=run)
        return found.add_argument

    add = verb("pack", pack, "make a parcel")
    add("--out", type=Path, default=Path(".parcel"), help="folder (default .parcel)")
    add("--python", help="of the other machine's version: pack the wheels for it; without it, no wheels")
    add("--wheel", nargs="*", default=list(WHEELS), help=f"besides Goryu's; default: {', '.join(WHEELS)}")
    add("--network", type=Path, nargs="*", default=[], metavar="FILE", help="networks and their .ini files")
    add("--file", type=Path, nargs="*", default=[], metavar="FILE", help="such as training games")
    add("--part-mib", type=float, help="of a part (default: what a trip has left, at most 60)")
    add = verb("receive", receive, "check a part and keep it")
    add("part", type=Path)
    add("--to", type=Path, required=True)
    add = verb("install", install, "join the files and install the wheels")
    add("--from", dest="folder", type=Path, required=True)
    add("--site", type=Path, required=True)
    add = verb("split", split, "pack results into a few small files")
    add("folder", type=Path)
    add("--to", type=Path, required=True)
    add("--piece-mib", type=float, default=15.0, help="of a file (default 15)")
    add("--most", type=int, default=6, help="files (default 6)")
    add = verb("join", join, "put results together again")
    add("folder", type=Path)
    add("--to", type=Path, required=True)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = make_parser().parse_args(arguments)
    try:
        args.run(args)
    except (ParcelError, OSError, ValueError, tarfile.TarError, subprocess.CalledProcessError) as error:
        print(f"parcel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
