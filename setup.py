"""Builds the one extension, `goryu._native`, and puts the networks and the README into the package.

GORYU_REQUIRE_NATIVE=1 makes a failed native build fatal; otherwise goryu installs without it and runs its
pure Python. GORYU_SKIP_NATIVE=1 does not try. README_URL makes the README's links absolute, for PyPI's page.
pyproject.toml has everything else about the package.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

MODULE = "native/_native.pyx"
if sys.platform == "win32":
    COMPILE_ARGS = ["/std:c++20", "/O2", "/fp:precise", "/W3", "/EHsc", "/utf-8"]
else:
    # -ffp-contract=off: a fused multiply-add would round differently from Python. No -march=native: a wheel
    # built here must run on other machines. -fvisibility=hidden: no other module links to these functions,
    # and calls between them are faster.
    COMPILE_ARGS = ["-std=c++20", "-O3", "-ffp-contract=off", "-fvisibility=hidden"]
    COMPILE_ARGS += ["-Wall", "-Wextra", "-Wno-unused-parameter"]
    # No debugging information, for which Python's options ask: it names this folder, so two builds differ.
    COMPILE_ARGS += ["-g0"]


def native_extensions() -> list[Extension]:
    """Returns the extension, or nothing where there is nothing to build it from."""
    if os.environ.get("GORYU_SKIP_NATIVE") == "1" or not Path(MODULE).exists():
        return []
    from Cython.Build import cythonize

    def found(*patterns: str) -> list[str]:
        return sorted(str(path) for pattern in patterns for path in Path("native").glob(pattern))

    extension = Extension(
        "goryu._native",
        [MODULE, *found("core/*.cpp")],
        include_dirs=["native"],
        depends=found("core/*.h", "*.pxi", "*.pxd"),
        language="c++",
        extra_compile_args=COMPILE_ARGS,
    )
    (built,) = cythonize([extension], include_path=["native"], build_dir="build/cython", language_level=3)
    built.optional = os.environ.get("GORYU_REQUIRE_NATIVE") != "1"  # cythonize() drops `optional`.
    return [built]


class BuildInParallel(build_ext):
    """Compiles the sources of the extension side by side; setuptools would take them one after the other."""

    def build_extension(self, ext: Extension) -> None:
        compile_sources = self.compiler.compile

        def compile_in_parallel(sources: list[str], **options: object) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = pool.map(lambda source: compile_sources([source], **options), sources)
                return [name for names in objects for name in names]

        if os.name != "nt":  # setuptools' object for Microsoft's compiler is not made for threads.
            self.compiler.compile = compile_in_parallel
        super().build_extension(ext)


class BuildWithModels(build_py):
    """Copies models/ into the package, so that an installed goryu finds its network.

    An editable install needs no copy: there the networks are found in the checkout.
    """

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "goryu", "models")
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted(Path("models").glob("*")):
            if path.suffix in {".onnx", ".ini", ".toml", ".md", ".db"}:
                shutil.copyfile(path, target / path.name)


class SameSource(sdist):
    """Packs the source so that everybody gets the same bytes: files in order, without owner, of one time.

    From a git checkout it takes only files that git knows: a network of your own in models/ stays yours.
    """

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copies the files to the folder base_dir."""
        if Path(".git").exists():
            command = ["git", "ls-files", "-z"]
            listed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
            known = set(listed.stdout.split("\0"))
            files = [file for file in files if Path(file).as_posix() in known or ".egg-info" in file]
        super().make_release_tree(base_dir, files)

    def make_archive(
        self,
        base_name: str,
        format: str,  # noqa: A002 (setuptools' name)
        root_dir: str | None = None,
        base_dir: str | None = None,
        owner: str | None = None,
        group: str | None = None,
    ) -> str:
        """Writes base_name.tar.gz with the folder base_dir, and returns its path."""
        assert base_dir is not None
        time_s = int(os.environ.get("SOURCE_DATE_EPOCH", "946684800"))  # Else the year 2000.

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.mtime = time_s
            return member

        path = f"{base_name}.tar.gz"
        with (
            open(path, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=time_s) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,  # It sorts the files of each folder.
        ):
            archive.add(base_dir, filter=plain)
        return path


def readme() -> str:
    """Returns the README. PyPI shows it without the files that its links name."""
    text = Path("README.md").read_text("utf-8")
    if not (url := os.environ.get("README_URL")):
        return text
    sys.path.insert(0, "tools")
    from release_notes import absolute_links

    return absolute_links(text, url)


setup(
    ext_modules=native_extensions(),
    cmdclass={"build_ext": BuildInParallel, "build_py": BuildWithModels, "sdist": SameSource},
    long_description=readme(),
    long_description_content_type="text/markdown",
)
