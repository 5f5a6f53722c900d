"""The model formats that no library has, by test vectors and by hand; for others see formats_of_others."""

import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from boards import played, random_games, turned
from goryu.evaluators.formats.aobazero import AobaZeroFormat
from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.formats.python_dlshogi import PythonDlshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_logit, from_probability, from_tanh
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.runners import PlanesRunner
from goryu.games.shogi import Board, Rules, move_from_usi
from kernel_networks import Model

T1 = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
T3 = "lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95"
T4 = "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180"


BOOK = PythonDlshogi2Format("planes", "policy", "value", from_logit)
FIRST_BOOK = PythonDlshogiFormat("planes", "policy", "value", from_logit)
NSHOGI = NshogiFormat()
AOBAZERO = AobaZeroFormat("planes", "policy", "value", from_tanh)


def planes_of(model_format: ModelFormat, state: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    row = np.zeros(model_format.inputs[0].shape, np.float32)
    model_format.fill(state, [row])
    return row


@pytest.mark.parametrize(
    ("sfen", "count", "crc"),
    [(T1, 40, 0x45961BB4), (T3, 1080, 0xCC71B98F), (T4, 1800, 0x53CE3A85)],
    ids=["T1", "T3", "T4"],
)
def test_planes_of_the_test_vectors_of_python_dlshogi(sfen: str, count: int, crc: int) -> None:
    ones = planes_of(FIRST_BOOK, Board(sfen)).astype(np.uint8)
    assert (int(ones.sum()), zlib.crc32(ones.tobytes())) == (count, crc)


def test_labels_of_the_test_vectors_of_python_dlshogi() -> None:
    for turn, usi, label in [
        (0, "7g7f", 47), (0, "2g2f", 52), (0, "6i7h", 146), (1, "8b8h", 16), (1, "P*2g", 1639),
        (1, "3c7g+", 996), (1, "5a4b", 147), (0, "3d3c+", 834), (0, "5d4c+", 995), (0, "G*4c", 1967),
        (1, "N*5e", 1822), (1, "P*5f", 1651), (1, "L*1a", 1773), (1, "1i2h+", 1387),
    ]:  # fmt: skip
        assert FIRST_BOOK.label(move_from_usi(usi), turn) == label


def test_labels_of_aobazero_are_direction_and_distance_from_the_origin() -> None:
    for turn, usi, channel, square in [
        (0, "7g7f", 0, "7g"),  # up, one square
        (0, "2h2c+", 66 + 4, "2h"),  # up, five squares, promoting
        (0, "8h3c", 56 + 4, "8h"),  # up right
        (0, "2h7h", 16 + 4, "2h"),  # left
        (0, "5e1i", 40 + 3, "5e"),  # down right
        (0, "8i7g", 65, "8i"),
        (0, "8i9g", 64, "8i"),
        (0, "P*5e", 132, "5e"),
        (0, "G*1a", 136, "1a"),
        (0, "R*9i", 138, "9i"),
        (1, "3c3d", 0, "7g"),
        (1, "2a3c", 65, "8i"),
    ]:
        column, row = 9 - int(square[0]), "abcdefghi".index(square[1])
        assert AOBAZERO.label(move_from_usi(usi), turn) == 81 * channel + 9 * row + column


def test_planes_of_aobazero_show_the_past_as_the_side_to_move_sees_it() -> None:
    board = played(Board(), "7g7f 3c3d 8h2b+")
    planes = planes_of(AOBAZERO, board)
    earlier = planes[45 : 2 * 45]
    # White sees 2b as 8h: one ply ago its bishop is there, now the opponent's horse.
    assert planes[5].sum() == 0
    assert earlier[5].sum() == earlier[5, 7, 1] == 1
    assert planes[35 + 5, 0, 0] == planes[35 + 5].max() == 0.5
    assert planes[14 + 12, 7, 1] == 1
    assert earlier[35 + 5].sum() == 0
    assert planes[4 * 45 : 8 * 45].sum() == 0  # Nothing is before the start position.
    assert planes[3 * 45 : 3 * 45 + 28].sum() == 40
    assert (planes[360] == 1).all()
    assert (planes[361] == np.float32(3 / 512)).all()


def test_planes_of_aobazero_count_earlier_occurrences() -> None:
    planes = planes_of(AOBAZERO, played(Board(), "2h3h 8b7b 3h2h 7b8b " * 4))
    occurrences = [int(planes[45 * step + 42 : 45 * step + 45, 0, 0].sum()) for step in range(8)]
    # A position recurs every four plies.
    assert occurrences == [min(3, ply // 4) for ply in range(16, 8, -1)]


@pytest.mark.parametrize("turn", ["b", "w"])
def test_planes_of_aobazero_without_a_past_are_those_of_one_position(turn: str) -> None:
    sfen = T3.replace(" b ", f" {turn} ").replace(" 95", " 1")
    planes = planes_of(AOBAZERO, Board(sfen))
    assert planes[45:360].sum() == 0
    assert np.array_equal(planes[:360], planes_of(AOBAZERO, Board(turned(sfen)))[:360])
    assert np.array_equal(planes[:14], planes_of(FIRST_BOOK, Board(sfen))[:14])
    assert np.array_equal(planes[14:28], planes_of(FIRST_BOOK, Board(sfen))[52:66])


@pytest.mark.parametrize("model_format", [BOOK, FIRST_BOOK, NSHOGI, AOBAZERO])
def test_legal_moves_have_different_labels_in_other_formats(model_format: ModelFormat) -> None:
    for board in random_games(Random(3), 2, 300):
        labels = [model_format.label(move, board.turn) for move in board.legal_moves()]
        assert len(set(labels)) == len(labels)
        assert all(0 <= label < model_format.labels for label in labels)


def test_planes_of_nshogi_contain_turn_and_ply() -> None:
    constants = planes_of(NSHOGI, played(Board(), "7g7f"))[80:]
    assert all((plane == plane[0, 0]).all() for plane in constants)
    assert constants[:, 0, 0].tolist() == pytest.approx([0, 1, 1 / 320, 1 / 320, 0.5, 0.5])


def test_planes_of_nshogi_contain_the_length_of_the_game_and_the_value_of_a_draw() -> None:
    board = Board(rules=Rules(max_ply=256))
    for usi, black_value, expected in (
        ("7g7f", -0.2, [1 / 256, 1 / 256, 0.6, 0.4]),
        ("3c3d", -0.2, [2 / 256, 1 / 256, 0.4, 0.6]),
        ("2g2f", 1.0, [3 / 256, 1 / 256, 0.0, 1.0]),
    ):
        board.push_usi(usi)
        constants = planes_of(NshogiFormat(draw_value=black_value), board)[82:]
        assert constants[:, 0, 0].tolist() == pytest.approx(expected)


def test_expected_draws_of_nshogi_count_the_value_of_a_draw() -> None:
    model_format = NshogiFormat(draw_value=-0.2)
    boards = (Board(), played(Board(), "7g7f"))
    outputs = [np.zeros((2, DLSHOGI_LABELS)), np.array([[0.9], [0.9]]), np.array([[0.5], [1.0]])]
    _, values = model_format.interpret(outputs, [np.stack([planes_of(model_format, one) for one in boards])])
    assert values.tolist() == pytest.approx([0.5 * -0.2 + 0.5 * 0.8, 0.2])


def test_the_options_of_draws_reach_a_network_of_nshogi(tmp_path: Path) -> None:
    def value(max_ply: int = 0, draw_value: float = 0.0) -> float:
        network.set_draw_value(draw_value)
        return network.evaluate([Board(rules=Rules(max_ply=max_ply))])[0].value

    network = NetworkEvaluator(write_model(tmp_path / "n.onnx", *NSHOGI_TENSORS), backend="cpu")
    assert len({value(), value(max_ply=100), value(draw_value=-0.5)}) == 3


BOOK_TENSORS = (104, {"value": "Identity"}, ("x", "moves"))
NSHOGI_TENSORS = (86, {"value": "Sigmoid", "draw": "Sigmoid"}, ("input", "policy"))


def write_model(path: Path, planes: int, heads: dict[str, str], names: tuple[str, str]) -> Path:
    """Writes a network whose policy and heads are weighted sums of the planes.

    heads: by output, the operator that computes it from its sum. names: of the input and of the policy.
    """
    m, (board, policy) = Model(1), names
    m.add("Flatten", m.add("Conv", board, m.normal(27, planes, 1, 1, scale=0.3)), to=policy)
    every = m.add("Flatten", board)
    for name, head in heads.items():
        m.add(head, m.add("MatMul", every, m.normal(81 * planes, 1, scale=0.05)), to=name)
    return m.save_as(path, {board: [planes, 9, 9]}, {policy: [2187], **{name: [1] for name in heads}})


@pytest.mark.parametrize("tensors", [BOOK_TENSORS, NSHOGI_TENSORS], ids=["logit", "win and draw rates"])
def test_values_are_computed_from_logits_and_from_win_and_draw_rates(tmp_path: Path, tensors: Any) -> None:
    network, board = NetworkEvaluator(write_model(tmp_path / "m.onnx", *tensors), backend="cpu"), Board()
    assert isinstance(network.runner, PlanesRunner)
    _, (value,), *draws = network.runner.answer([planes_of(network.format, board)[None]])
    rate = (1 - draws[0][0, 0]) * (2 * value[0] - 1) if draws else np.tanh(value[0] / 2)
    assert network.evaluate([board])[0].value == pytest.approx(rate, abs=1e-6)


@pytest.mark.parametrize(
    ("planes", "heads", "names", "words"),
    [
        (104, {"value": "Tanh", "ownership": "Tanh"}, ("x", "moves"), "found x"),
        (86, {"value": "Sigmoid"}, ("input", "policy"), "draw \\[N, 1\\]"),
        (361, {"value": "Tanh"}, ("input", "policy"), "found input \\[N, 361, 9, 9\\]"),
    ],
)
def test_other_models_are_refused(
    tmp_path: Path, planes: int, heads: dict[str, str], names: tuple[str, str], words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        NetworkEvaluator(write_model(tmp_path / "x.onnx", planes, heads, names), backend="cpu")


def test_more_than_ten_pieces_in_the_camp_have_the_planes_of_the_trainer() -> None:
    """FukauraOu's 119 planes differ from dlshogi's trainer there, and where there are points to spare."""
    cshogi = pytest.importorskip("cshogi")
    dlshogi = pytest.importorskip("cshogi.dlshogi")
    sfen = "1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 b 2G2S4N4L 100"
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=True)
    rows = [np.zeros(spec.shape, np.uint8) for spec in model_format.inputs]
    model_format.fill(Board(sfen), rows)
    expected = [np.zeros((62, 9, 9), np.float32), np.zeros((119, 9, 9), np.float32)]
    dlshogi.use_nyugyoku_features(True)
    try:
        dlshogi.make_input_features(cshogi.Board(sfen), *expected)
    finally:
        dlshogi.use_nyugyoku_features(False)
    assert np.array_equal(rows[1], expected[1])
    assert [plane for plane in range(57, 88) if rows[1][plane].any()] == [57], "the king's plane, no other"
