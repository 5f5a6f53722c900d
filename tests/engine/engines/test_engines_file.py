"""The file that names the user's engines."""

import sys
from pathlib import Path

import pytest

from goryu.base.errors import InputError
from goryu.engines.engines_file import engine_named, read_engines

FILE = """
[[engine]]
name = "One"
command = ["~/engines/one", "--quiet"]

[[engine]]
name = "Two"
command = ["two"]
directory = "/tmp"
seconds = 0.5
options = {USI_Hash = 64, Ponder = false, Style = "calm"}
"""


def test_the_file_is_read_from_the_config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(InputError):
        engine_named("Two")
    (tmp_path / "goryu").mkdir()
    (tmp_path / "goryu" / "engines.toml").write_text(FILE, encoding="utf-8")
    engine = engine_named("Two")
    assert engine.seconds == 0.5
    assert engine.spec.directory == "/tmp"
    assert engine.spec.options == (("USI_Hash", "64"), ("Ponder", "false"), ("Style", "calm"))
    program, *arguments = engine_named("One").spec.command
    assert (Path(program), arguments) == (Path.home() / "engines" / "one", ["--quiet"])


@pytest.mark.skipif(sys.platform == "win32", reason="there every name has a home folder, beside the user's")
def test_a_home_folder_of_nobody_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "engines.toml"
    path.write_text("[[engine]]\nname = 'x'\ncommand = ['~nobody-has-this-name/a', '~']", encoding="utf-8")
    assert read_engines(path)[0].spec.command == ("~nobody-has-this-name/a", "~")


@pytest.mark.parametrize(
    "text",
    [
        "[[engine]",
        "engine = " + "[" * 10_000,
        "engine = 3",
        "[engine]\nname = 'x'",
        "[[engine]]\nname = 'x'\ncommand = 'sh'",
        "[[engine]]\nname = 'x'\ncommand = []",
        "[[engine]]\ncommand = ['sh']",
        "[[engine]]\nname = 'x'\ncommand = ['sh']\nsecond = 3",
        "[[engine]]\nname = 'x'\ncommand = ['sh']\nseconds = 0",
        "[[engine]]\nname = 'x'\ncommand = ['sh']\noptions = {a = [1]}",
        "[[engine]]\nname = 'x'\ncommand = ['a']\n[[engine]]\nname = 'x'\ncommand = ['b']",
    ],
)
def test_a_file_with_a_mistake_is_refused_and_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "engines.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"engines\.toml"):
        read_engines(path)
