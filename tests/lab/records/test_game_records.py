"""Files of games: writing and reading, also after a kill; damaged files."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goryu.games.shogi import START_SFEN
from goryu_lab.records.game_records import (
    BLOCK,
    CRC,
    HEADER,
    GameFileError,
    GameRecord,
    GameWriter,
    Policy,
    TornTailWarning,
    pack_games,
    read_games,
    write_games,
)

MOVES = st.integers(1, 65535)
SCORES = st.none() | st.integers(-32767, 32767)
POLICIES = st.none() | st.lists(
    st.tuples(MOVES, st.integers(1, 65535).map(lambda units: units / 65535)), min_size=1, max_size=5
).map(tuple)


@st.composite
def games(draw: st.DrawFn) -> GameRecord:
    plies = draw(st.integers(0, 12))
    policies: tuple[Policy | None, ...] | None = None
    if draw(st.booleans()):
        policies = tuple(draw(POLICIES) for _ in range(plies))
    return GameRecord(
        moves=tuple(draw(MOVES) for _ in range(plies)),
        evals=tuple(draw(SCORES) for _ in range(plies)),
        result=draw(st.integers(0, 2)),
        policies=policies,
        start_sfen=draw(st.sampled_from([START_SFEN, "4k4/9/9/9/9/9/9/9/4K4 w 2P 7"])),
        teacher=draw(st.text(max_size=8)),
        ending=draw(st.sampled_from(["", "resignation", "千日手"])),
        number=draw(st.none() | st.integers(0, 2**40)),
        scale=draw(st.none() | st.floats(100.0, 2000.0)),
    )


GAME = GameRecord((7354, 1), (5, -20), 1, teacher="Fairy-Stockfish 11.1, nodes 5000", number=4)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(games(), max_size=4), max_size=3))
def test_written_games_are_read_back(tmp_path: Path, blocks: list[list[GameRecord]]) -> None:
    path = tmp_path / "round_trip.games"
    path.unlink(missing_ok=True)
    for block in blocks:
        write_games(path, block)
    written = [game for block in blocks for game in block]
    assert (list(read_games(path)) if blocks else []) == written
    if blocks:
        pack_games(path)
        assert list(read_games(path)) == written


def test_a_probability_that_rounds_to_nothing_is_left_out(tmp_path: Path) -> None:
    game = GameRecord((5,), (0,), 0, ((((5, 0.75), (6, 0.249999), (7, 0.000001))),))
    write_games(tmp_path / "a.games", [game])
    (read,) = read_games(tmp_path / "a.games")
    assert read.policies is not None
    assert read.policies[0] is not None
    assert [move for move, _ in read.policies[0]] == [5, 6]
    assert [p for _, p in read.policies[0]] == pytest.approx([0.75, 0.25], abs=1e-5)


def test_a_file_torn_anywhere_keeps_its_whole_blocks_and_can_grow_again(tmp_path: Path) -> None:
    path = tmp_path / "torn.games"
    write_games(path, [GAME])
    first_end = path.stat().st_size
    write_games(path, [GAME, GAME])
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        if size in (0, *range(1, HEADER.size), HEADER.size, first_end):
            kept = list(read_games(path))
        else:
            with pytest.warns(TornTailWarning, match=r"torn\.games: skipped \d+ bytes"):
                kept = list(read_games(path))
        assert len(kept) == (1 if size >= first_end else 0)
    with pytest.warns(TornTailWarning):
        write_games(path, [GAME])
    assert list(read_games(path)) == [GAME, GAME]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of this kind")
def test_a_file_that_cannot_grow_is_named_and_keeps_what_it_has(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "a.games"
    write_games(path, [GAME])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as error, GameWriter(path) as writer:
            writer.write([GAME])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert error.value.filename == str(path)
    with pytest.warns(TornTailWarning):
        assert list(read_games(path)) == [GAME]


def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "damaged.games"
    write_games(path, [GAME])
    write_games(path, [GAME])
    whole = path.read_bytes()
    for at in range(HEADER.size, len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 16
        path.write_bytes(damaged)
        with pytest.raises(GameFileError, match=r"damaged\.games"):
            list(read_games(path))
        with pytest.raises(GameFileError, match=r"damaged\.games"):
            GameWriter(path)
        assert path.read_bytes() == damaged


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "new" / "first.games"
    write_games(path, [GAME])
    assert list(read_games(path)) == [GAME]


def test_a_file_has_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "busy.games"
    with GameWriter(path) as writer:
        writer.write([GAME])
        with pytest.raises(GameFileError, match="another program is writing"):
            pack_games(path)
        writer.write([GAME])
    pack_games(path)
    assert list(read_games(path)) == [GAME, GAME]


def test_other_files_and_other_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.games"
    path.write_bytes(b"7g7f 3c3d")
    with pytest.raises(GameFileError, match="begins with"):
        list(read_games(path))
    path.write_bytes(HEADER.pack(b"GORYUG", 2))
    with pytest.raises(GameFileError, match="expected version 1, found 2"):
        list(read_games(path))


@pytest.mark.parametrize(
    "moves, evals, result, policies",
    [
        ((1,), (), 0, None),
        ((1,), (0,), 0, ()),
        ((1,), (0,), 3, None),
        ((0,), (0,), 0, None),
        ((65536,), (0,), 0, None),
        ((1,), (-32768,), 0, None),
        ((1,), (0,), 0, (((1, 1.5),),)),
    ],
)
def test_a_game_that_no_file_can_keep_is_refused(
    moves: tuple[int, ...], evals: tuple[int, ...], result: int, policies: tuple[Policy | None, ...] | None
) -> None:
    with pytest.raises(GameFileError):
        GameRecord(moves, evals, result, policies)


def test_the_layout_is_the_one_in_the_docstring(tmp_path: Path) -> None:
    assert HEADER.size == 8
    assert BLOCK.size + CRC.size == 20
    write_games(tmp_path / "a.games", [])
    assert (tmp_path / "a.games").read_bytes() == b"GORYUG\x01\x00"
