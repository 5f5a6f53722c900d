"""tools/windows_zip.py: the folder that it packs. That the launcher runs was tried under Wine, not here."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from goryu.base.errors import InputError

windows_zip: Any = pytest.importorskip("windows_zip")
pytest.importorskip("distlib")

PTH = "python313.zip\r\n.\r\n\r\n# Uncomment to run site.main() automatically\r\n#import site\r\n"
"""As in python.org's package."""


def embedded(path: Path, *names: str) -> Path:
    """Writes a package with these files, all with the content of the list of folders."""
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, PTH)
    return path


def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheel: str) -> tuple[int, Path]:
    """Packs with a pip that writes one package and one library; returns the status and the zip."""

    def pip(verb: str, *words: str) -> None:
        folder = Path(words[words.index("--target" if verb == "install" else "--dest") + 1])
        folder.mkdir(parents=True, exist_ok=True)
        if verb == "install":
            (folder / "bin").mkdir()
            (folder / "bin" / "goryu").write_text("#!/home/builder/python")
            (folder / "goryu.txt").write_text(words[-1])
        else:
            with zipfile.ZipFile(folder / "msvc_runtime-14-py3-none-win_amd64.whl", "w") as file:
                for name in ("msvcp140.dll", "Scripts/msvcp140.dll", "vcamp140.dll"):
                    file.writestr(f"msvc_runtime-14.data/data/{name}", "DLL")

    monkeypatch.setattr(windows_zip, "pip", pip)
    python = embedded(tmp_path / "python.zip", "python.exe", "python313._pth")
    (tmp_path / wheel).touch()
    arguments = [
        "--python",
        str(python),
        "--wheel",
        str(tmp_path / wheel),
        "--out",
        str(tmp_path / "out.zip"),
    ]
    return windows_zip.main([*arguments, "--runtime", "directml"]), tmp_path / "out.zip"


def test_the_zip_holds_python_the_packages_and_the_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, path = packed(tmp_path, monkeypatch, "goryu-0.1.0-cp313-cp313-win_amd64.whl")
    assert status == 0
    with zipfile.ZipFile(path) as file:
        assert {*file.namelist()} == {
            *(f"goryu/{name}" for name in ("goryu.exe", "play.bat", "README.txt", "LICENSE.txt")),
            *(f"goryu/python/{name}" for name in ("python.exe", "python313._pth", "msvcp140.dll")),
            "goryu/packages/goryu.txt",
        }
        assert file.read("goryu/python/python313._pth") == b"python313.zip\r\n.\r\n..\\packages\r\n"
        assert file.read("goryu/packages/goryu.txt").startswith(b"goryu[directml,web] @ file://")
        assert b"\r\n" in file.read("goryu/play.bat")


def test_the_launcher_runs_the_script_with_the_python_beside_it() -> None:
    """The format of distlib's launchers: the program, a line that begins with #!, a zip."""
    content = windows_zip.launcher()
    assert content.startswith(b"MZ")
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        script = file.read("__main__.py").decode()
        begin = file.infolist()[0].header_offset
    line = content[:begin].rpartition(b"#!")[2].decode()
    assert line == '"<launcher_dir>\\python\\python.exe" -X utf8 -u\r\n'
    compile(script, "__main__.py", "exec")


@pytest.mark.parametrize(
    "wheel", ["goryu-0.1.0-cp312-cp312-win_amd64.whl", "goryu-0.1.0-cp313-cp313-linux_x86_64.whl"]
)
def test_a_wheel_for_another_python_is_refused(
    wheel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, path = packed(tmp_path, monkeypatch, wheel)
    assert status == 2
    assert "expected a wheel for Python 3.13 on win_amd64" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize("names", [("python.exe",), ("python313._pth",), ()])
def test_another_zip_than_an_embeddable_python_is_refused(names: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"with python\.exe and python3\*\._pth"):
        windows_zip.unpack_python(embedded(tmp_path / "other.zip", *names), tmp_path / "python")
