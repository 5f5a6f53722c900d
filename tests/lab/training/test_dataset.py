"""Training records and batches, compared with the rules of shogi."""

import lzma
from pathlib import Path
from random import Random

import numpy as np
import pytest

from goryu.evaluators.formats.dlshogi import DlshogiFormat, dlshogi_label
from goryu.evaluators.formats.value_scale import from_probability
from goryu.games.shogi import Board, move_from_usi
from goryu.games.shogi.packed_position import pack
from goryu.games.shogi.sfen import START_SFEN
from goryu_lab.records import game_records
from goryu_lab.records.conversion import hcpe_records
from goryu_lab.records.game_records import GameRecord
from goryu_lab.records.hcpe import (
    BLACK_WON,
    DRAW,
    HCPE,
    WHITE_WON,
    HcpeError,
    game_numbers,
    read_hcpe,
    write_hcpe,
)
from goryu_lab.records.packed_position import APERY
from goryu_lab.training.dataset import Dataset, draws, load_datasets, make_batch, mirror_labels
from goryu_lab.training.game_positions import load_games
from goryu_lab.training.sources import Source, parse_source


def write_games(path: Path, games: int, seed: int) -> list[list[Board]]:
    """Writes random games as a teacher would, all of whose positions are recorded; returns the boards."""
    rng = Random(seed)
    written: list[list[Board]] = []
    records = []
    for number in range(games):
        board = Board()
        positions: list[Board] = []
        for ply in range(60):
            if not board.legal_moves():
                break
            move = rng.choice(board.legal_moves())
            if ply >= 4:  # A teacher does not record its random opening.
                record = np.zeros(1, HCPE)
                record["hcp"] = np.frombuffer(pack(board, APERY), np.uint8)
                record["eval"] = rng.randrange(-2000, 2000)
                record["bestMove16"] = move
                record["gameResult"] = (DRAW, BLACK_WON, WHITE_WON)[number % 3]
                records.append(record)
                positions.append(board.copy())
            board.push(move)
        written.append(positions)
    np.concatenate(records).tofile(path)
    return written


def test_the_record_is_the_one_of_cshogi() -> None:
    theirs = pytest.importorskip("cshogi").HuffmanCodedPosAndEval
    assert HCPE.itemsize == theirs.itemsize == 38
    assert HCPE.names == theirs.names
    record = np.zeros(1, HCPE)
    record["eval"], record["bestMove16"], record["gameResult"] = -7, 7354, WHITE_WON
    assert record.view(theirs)[0].tolist()[1:4] == (-7, 7354, WHITE_WON)


def test_an_unfinished_record_at_the_end_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    write_games(path, 1, seed=1)
    whole = read_hcpe(path)
    path.write_bytes(path.read_bytes()[:-5])
    assert np.array_equal(read_hcpe(path), whole[:-1])


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.hcpe"
    path.write_text("this is certainly not a training record of shogi" * 10)
    with pytest.raises(HcpeError, match=r"text\.hcpe"):
        read_hcpe(path)
    with pytest.raises(HcpeError, match="goryu records convert"):
        read_hcpe(tmp_path / "games.psv")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("hcp", 255, "record 3: expected a packed position, "),
        ("bestMove16", 0, "record 3: expected a move that is"),
    ],
)
def test_a_damaged_record_is_named(field: str, value: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    write_games(path, 1, seed=3)
    records = read_hcpe(path).copy()
    records[field][3] = value
    records.tofile(path)
    with pytest.raises(HcpeError, match=rf"games\.hcpe: {words}"):
        load_datasets([Source(path, 600.0)], held_out=0.0, seed=0)


def test_a_packed_file_holds_the_same_records(tmp_path: Path) -> None:
    write_games(tmp_path / "a.hcpe", 2, seed=1)
    packed = tmp_path / "a.hcpe.xz"
    packed.write_bytes(lzma.compress((tmp_path / "a.hcpe").read_bytes()))
    assert (read_hcpe(packed) == read_hcpe(tmp_path / "a.hcpe")).all()
    assert Source(packed, 600.0).name == Source(tmp_path / "a.hcpe", 600.0).name == "a"
    packed.write_bytes(b"not packed")
    with pytest.raises(HcpeError, match=r"a\.hcpe\.xz: expected a file packed by xz"):
        read_hcpe(packed)


@pytest.mark.parametrize("name", ["games.hcpe", "games.hcpe.xz"])
def test_written_records_are_read_back(name: str, tmp_path: Path) -> None:
    write_games(tmp_path / "plain", 2, seed=3)
    records = read_hcpe(tmp_path / "plain")
    write_hcpe(tmp_path / name, records)
    assert np.array_equal(read_hcpe(tmp_path / name), records)


def test_games_are_separated(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    games = write_games(path, 8, seed=2)
    expected = np.repeat(np.arange(len(games)), [len(positions) for positions in games])
    assert np.array_equal(game_numbers(read_hcpe(path)), expected)


def test_positions_left_out_within_a_game_do_not_split_it(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    write_games(path, 1, seed=3)
    records = read_hcpe(path)
    gap = np.concatenate([records[:20], records[26:]])
    assert not game_numbers(gap).any()


def test_whole_games_are_held_out_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    games = write_games(path, 12, seed=4)
    training, testing = load_datasets([Source(path, 600.0)], held_out=0.3, seed=0)
    held_out = testing["games"]
    assert 0 < len(held_out) < len(training)
    assert len(training) + len(held_out) == sum(map(len, games))
    numbers = game_numbers(read_hcpe(path))
    seen = {record.tobytes() for record in held_out.records}
    is_held_out = np.array([record.tobytes() in seen for record in read_hcpe(path)])
    for game in range(len(games)):
        assert len(set(is_held_out[numbers == game])) == 1


def test_pieces_of_one_game_are_held_out_together(tmp_path: Path) -> None:
    path = tmp_path / "pieces.games"
    starts = [START_SFEN, START_SFEN.replace("lnsgkgsnl", "lnsgkgsn1")]
    moves = [int(move) for move in Board().legal_moves()]
    pieces = [
        GameRecord((move,), (number,), DRAW, start_sfen=start, number=number)
        for start in starts
        for number, move in enumerate(moves)
    ]
    game_records.write_games(path, pieces)
    training, testing = load_datasets([Source(path, 600.0)], held_out=0.5, seed=1)
    learned, held_out = (set(data.records["eval"].tolist()) for data in (training, testing["pieces"]))
    assert learned
    assert held_out
    assert not learned & held_out
    others, same = load_games([Source(path)], held_out=0.5, seed=1)
    assert len(others) == len(training)
    assert len(same["pieces"]) == len(testing["pieces"])
    assert not set(others.moves[others.first].tolist()) & set(same["pieces"].moves.tolist())


def test_a_held_out_game_is_not_used_from_a_copy_in_another_format(tmp_path: Path) -> None:
    write_games(tmp_path / "a.hcpe", 20, seed=3)
    rng, games = Random(5), []
    for number in range(20):
        board, moves = Board(), []
        for _ in range(40):
            moves.append(rng.choice(board.legal_moves()))
            board.push(moves[-1])
        games.append(GameRecord(tuple(map(int, moves)), tuple(range(40)), DRAW, number=number))
    game_records.write_games(tmp_path / "b.games", games)
    write_hcpe(tmp_path / "copy.hcpe", np.concatenate([hcpe_records(game) for game in games]))
    sources = [Source(tmp_path / name, 600.0) for name in ("a.hcpe", "b.games", "copy.hcpe")]
    training, testing = load_datasets(sources, held_out=0.3, seed=1)
    learned = {record.tobytes() for record in training.records["hcp"]}
    for name in ("b", "copy"):
        held_out = [record.tobytes() for record in testing[name].records["hcp"]]
        late = [hcp for at, hcp in enumerate(held_out) if at % 40 > 10]  # Openings are in other games, too.
        assert late
        assert not learned & set(late)


def test_sources_of_one_name_are_held_out_together(tmp_path: Path) -> None:
    sources = []
    for seed in (3, 4):
        path = tmp_path / str(seed) / "self.hcpe"
        path.parent.mkdir()
        write_games(path, 10, seed)
        sources.append(Source(path, 600.0))
    alone = [load_datasets([source], held_out=0.3, seed=1)[1]["self"] for source in sources]
    _, testing = load_datasets(sources, held_out=0.3, seed=1)
    assert len(testing["self"]) == len(alone[0]) + len(alone[1])


def test_the_value_target_mixes_score_and_result_of_the_side_to_move(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    games = write_games(path, 3, seed=5)
    training, _ = load_datasets([Source(path, scale=500.0, result_weight=0.25)], held_out=0.0, seed=0)
    boards = [board for positions in games for board in positions]
    for board, record, value in zip(boards, training.records, training.value, strict=True):
        winner = {DRAW: None, BLACK_WON: 0, WHITE_WON: 1}[int(record["gameResult"])]
        result = 0.5 if winner is None else float(winner == board.turn)
        score = 1.0 / (1.0 + np.exp(-int(record["eval"]) / 500.0))
        assert value == pytest.approx(0.75 * score + 0.25 * result, abs=1e-6)


@pytest.mark.parametrize(
    "numbers",
    ["-540", "0", "nan", "inf", "540,30", "540,-0.1", "540,0.3,0", "540,0.3,-1", "540,0.3,3000000000"],
)
def test_impossible_numbers_of_a_source_are_refused(numbers: str) -> None:
    with pytest.raises(ValueError, match="expected FILE"):
        parse_source(f"a.hcpe,{numbers}")


def test_a_share_to_hold_out_is_no_percentage(tmp_path: Path) -> None:
    write_games(tmp_path / "a.hcpe", 3, seed=1)
    with pytest.raises(ValueError, match="expected a share of 0 to 1, received 4"):
        load_datasets([Source(tmp_path / "a.hcpe", 600.0)], held_out=4.0, seed=0)


def test_a_batch_has_the_planes_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    boards = [board for positions in write_games(path, 2, seed=6) for board in positions]
    dataset, _ = load_datasets([Source(path, 600.0)], held_out=0.0, seed=0)
    batch = make_batch(dataset, np.arange(len(boards)), np.zeros(len(boards), bool))
    model_format = DlshogiFormat(from_probability)
    for i, board in enumerate(boards):
        rows = [np.zeros(spec.shape, np.float32) for spec in model_format.inputs]
        model_format.fill(board, rows)
        assert np.array_equal(batch.input1[i], rows[0])
        assert np.array_equal(batch.input2[i], rows[1])
        labels = sorted(dlshogi_label(move, board.turn) for move in board.legal_moves())
        assert np.flatnonzero(batch.legal[i]).tolist() == labels
        assert batch.legal[i, batch.label[i]]


@pytest.mark.parametrize(
    ("sfen", "played", "learned"),
    [
        ("lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3", "8h2b", "8h2b+"),
        ("4k4/9/6S2/4P4/9/9/9/9/4K4 b - 1", "5d5c", "5d5c+"),
        ("4k4/9/6S2/4P4/9/9/9/9/4K4 b - 1", "3c2b", "3c2b"),  # A silver may prefer not to promote.
        ("4k4/9/L8/9/9/9/9/9/4K4 b - 1", "9c9b", "9c9b+"),
        ("4k4/9/9/L8/9/9/9/9/4K4 b - 1", "9d9c", "9d9c"),  # So may a lance on the third rank.
        ("4k4/9/9/9/9/9/2p6/9/4K4 w - 1", "7g7h", "7g7h+"),
        ("4k4/9/9/9/9/9/9/9/4K4 b B 1", "B*5c", "B*5c"),
    ],
)
def test_promotions_that_are_pointless_to_forgo_are_taught(sfen: str, played: str, learned: str) -> None:
    board, records = Board(sfen), np.zeros(1, HCPE)
    records["hcp"] = np.frombuffer(pack(board, APERY), np.uint8)
    records["bestMove16"] = move_from_usi(played)
    batch = make_batch(Dataset(records, np.zeros(1, np.float32)), np.arange(1), np.zeros(1, bool))
    assert batch.label[0] == dlshogi_label(move_from_usi(learned), board.turn)


@pytest.mark.parametrize(
    ("move", "mirrored"), [("7g7f", "3g3f"), ("8i7g", "2i3g"), ("8h2b+", "2h8b+"), ("P*3e", "P*7e")]
)
def test_mirrored_moves_have_mirrored_labels(move: str, mirrored: str) -> None:
    labels = [dlshogi_label(move_from_usi(usi), turn=0) for usi in (move, mirrored)]
    assert mirror_labels()[labels[0]] == labels[1]


def test_a_mirrored_batch_is_the_mirror_image(tmp_path: Path) -> None:
    path = tmp_path / "games.hcpe"
    write_games(path, 1, seed=7)
    dataset, _ = load_datasets([Source(path, 600.0)], held_out=0.0, seed=0)
    chosen = np.arange(len(dataset))
    plain = make_batch(dataset, chosen, np.zeros(len(chosen), bool))
    mirrored = make_batch(dataset, chosen, np.ones(len(chosen), bool))
    assert np.array_equal(mirrored.input1, plain.input1[:, :, ::-1, :])
    assert np.array_equal(mirrored.input2, plain.input2)
    assert np.array_equal(mirrored.value, plain.value)
    assert all(mirrored.legal[i, mirrored.label[i]] for i in chosen)
    assert np.array_equal(mirrored.legal.sum(axis=1), plain.legal.sum(axis=1))


def test_a_pass_sees_every_position_once() -> None:
    records = np.zeros(40, HCPE)
    records["hcp"] = np.frombuffer(pack(Board(), APERY), np.uint8)
    records["bestMove16"] = move_from_usi("7g7f")
    dataset = Dataset(records, np.linspace(0, 1, 40, dtype=np.float32))
    stream = (make_batch(dataset, *draw) for draw in draws(len(dataset), 8, np.random.default_rng(1)))
    seen = np.concatenate([next(stream).value for _ in range(5)])
    assert np.array_equal(np.sort(seen), dataset.value)
