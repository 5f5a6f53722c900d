"""A checkpoint in parts: whole or refused."""

from pathlib import Path

import pytest

from goryu.base.errors import InputError
from goryu_lab.training.checkpoint_parts import joined_parts, write_parts

CONTENT = bytes(range(256)) * 5


def parts_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.part"))


def test_the_parts_make_the_content_again_and_replace_older_ones(tmp_path: Path) -> None:
    assert joined_parts(tmp_path) is None
    write_parts(b"older" * 500, tmp_path, step=9, size=500)
    write_parts(CONTENT, tmp_path, step=10, size=500)
    assert len(parts_in(tmp_path)) == 3
    assert all(path.stat().st_size < 700 for path in parts_in(tmp_path))
    assert joined_parts(tmp_path) == CONTENT


def test_the_newest_whole_checkpoint_counts(tmp_path: Path) -> None:
    """As after a kill while the newer parts were written."""
    write_parts(CONTENT, tmp_path / "new", step=10, size=500)
    write_parts(b"older" * 200, tmp_path, step=9, size=500)
    for path in parts_in(tmp_path / "new")[1:]:
        path.rename(tmp_path / path.name)
    assert joined_parts(tmp_path) == b"older" * 200
    (first,) = parts_in(tmp_path / "new")
    first.rename(tmp_path / first.name)
    assert joined_parts(tmp_path) == CONTENT


def test_another_checkpoint_of_the_same_step_leaves_the_parts_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill or on a full disk."""
    write_parts(CONTENT, tmp_path, step=10, size=500)

    def full(path: Path, content: bytes) -> None:
        if "-2-of-" in path.name:
            raise OSError("no space left")
        path.write_bytes(content)

    monkeypatch.setattr("goryu_lab.training.checkpoint_parts.atomic_write", full)
    with pytest.raises(OSError, match="no space"):
        write_parts(CONTENT[::-1], tmp_path, step=10, size=500)
    assert joined_parts(tmp_path) == CONTENT


@pytest.mark.parametrize("damage", ["missing", "changed", "foreign"])
def test_damaged_parts_are_refused(damage: str, tmp_path: Path) -> None:
    write_parts(CONTENT, tmp_path, step=10, size=500)
    first = parts_in(tmp_path)[0]
    if damage == "missing":
        first.unlink()
    elif damage == "changed":
        first.write_bytes(first.read_bytes()[:-1] + b"x")
    else:
        first.write_bytes(b"something else")
    with pytest.raises(InputError, match=r"parts of the checkpoint|expected a part of a checkpoint"):
        joined_parts(tmp_path)
