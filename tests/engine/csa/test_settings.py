"""The file with the logins: who may read it, and what is wrong with it."""

import sys
from pathlib import Path

import pytest

from goryu.base.errors import InputError
from goryu.csa.settings import Login, Settings, read_settings

GOOD = 'host = "example.org"\ngame = "floodgate-300-10F"\n[[login]]\nname = "bob"\npassword = "secret"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my server.toml"
    path.write_text(GOOD)
    path.chmod(0o600)
    return path


def test_a_file_with_options(file: Path) -> None:
    file.write_text(f'{GOOD}[options]\nThreads = 4\nUSI_Ponder = false\nDNN_Model = "a b.onnx"\n')
    assert read_settings(file) == Settings(
        "example.org",
        (Login("bob", "floodgate-300-10F,secret"),),
        options=(("Threads", "4"), ("USI_Ponder", "false"), ("DNN_Model", "a b.onnx")),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_that_others_may_read_is_refused_with_the_remedy(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(InputError, match=f"chmod 600 '{file}'"):
        read_settings(file)


@pytest.mark.parametrize(
    "old, new, key",
    [
        ('host = "example.org"', "", "host"),
        ('"example.org"', "1", "host"),
        ("game", "port = 0\ngame", "port; expected 4081"),
        ("game", 'port = "4081"\ngame', "port; expected 4081"),
        ("floodgate", "flood gate", "game"),
        ("game", "gmae", "gmae"),
        ("[[login]]", "[login]", "login"),
        ("name", "nmae", "login"),
        ('"bob"', '"bob\\nLOGOUT"', "name"),
        ('"secret"', '"secret secret"', "password"),
        ("[[login]]", '[[login]]\nname = "bob"\npassword = "secret"\n[[login]]', "login"),
        ("[[login]]", '[options]\nThreads = "4\\nquit"\n[[login]]', "options.Threads"),
        ('"secret"', '"secret', "line 5"),
    ],
)
def test_a_mistake_is_named_without_the_password(file: Path, old: str, new: str, key: str) -> None:
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=key) as error:
        read_settings(file)
    assert "secret" not in str(error.value)
    assert "secret" not in repr(Login("bob", "secret"))
