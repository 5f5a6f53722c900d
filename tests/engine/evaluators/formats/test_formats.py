"""The model formats against test vectors of the reference programs, and against cshogi on random games."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from boards import played
from goryu.evaluators.formats.aobazero import AobaZeroFormat
from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat, dlshogi_label
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.formats.python_dlshogi import PythonDlshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_logit, from_probability, from_tanh
from goryu.evaluators.network.model_files import ModelError
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.runners import PlanesRunner
from goryu.evaluators.shogi_state import ShogiState
from goryu.games.shogi import STANDARD_RULES, Board, Rules, move_from_usi
from goryu.implementation import Puct
from goryu.search.graph.config import PuctConfig

T1 = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
T2 = "lnsgk1snl/1r4g2/p1ppppb1p/6pP1/7R1/2P6/P2PPPP1P/1SG6/LN2KGSNL w B2P2p 24"
T3 = "lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95"
T4 = "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180"


BOOK = PythonDlshogi2Format("planes", "policy", "value", from_logit)
FIRST_BOOK = PythonDlshogiFormat("planes", "policy", "value", from_logit)
NSHOGI = NshogiFormat()
AOBAZERO = AobaZeroFormat("planes", "policy", "value", from_tanh)


@dataclass(frozen=True, slots=True)
class Position:
    """Pieces and hands of an SFEN as cshogi reads it: the vectors need not be legal (T2 has 19 pawns)."""

    pieces: list[int]
    hands: tuple[list[int], list[int]]
    turn: int
    checked: bool
    ply: int = 0
    rules: Rules = STANDARD_RULES

    def is_check(self) -> bool:
        return self.checked


def position(sfen: str) -> Any:
    cshogi = pytest.importorskip("cshogi")
    board = cshogi.Board(sfen)
    black, white = board.pieces_in_hand
    return Position(board.pieces, (black, white), board.turn, board.is_check())


def planes(state: ShogiState, *, sees_nyugyoku: bool = False) -> list[npt.NDArray[np.uint8]]:
    model_format = DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku)
    rows = [np.zeros(spec.shape, np.uint8) for spec in model_format.inputs]
    model_format.fill(state, rows)
    return rows


def random_boards(games: int, seed: int) -> Iterator[Board]:
    """Yields every position of random games; such games wander through all kinds of positions."""
    rng = Random(seed)
    for _ in range(games):
        board = Board()
        while board.outcome() is None and board.ply < 300:
            yield board
            board.push(rng.choice(board.legal_moves()))


@pytest.mark.parametrize(
    ("sfen", "sees_nyugyoku", "sums", "crcs"),
    [
        (T1, False, (234, 0), (0x902DAF0D, 0x477DA44B)),
        (T2, False, (259, 405), (0x04F60C63, 0x41727108)),
        (T3, False, (209, 1053), (0x4D74AB41, 0x76F3EA64)),
        (T4, False, (215, 1782), (0x13B1A349, 0xB31A9686)),
        (T1, True, (234, 0), (0x902DAF0D, 0xB3BD85F1)),
        (T2, True, (259, 405), (0x04F60C63, 0x04064751)),
        (T3, True, (209, 1134), (0x4D74AB41, 0xE47FA838)),
        (T4, True, (215, 2187), (0x13B1A349, 0x8577B124)),
    ],
)
def test_planes_of_the_test_vectors(
    sfen: str, sees_nyugyoku: bool, sums: tuple[int, int], crcs: tuple[int, int]
) -> None:
    rows = planes(position(sfen), sees_nyugyoku=sees_nyugyoku)
    assert tuple(int(row.sum()) for row in rows) == sums
    assert tuple(zlib.crc32(row.tobytes()) for row in rows) == crcs


@pytest.mark.parametrize(
    ("sfen", "expected"),
    [(T1, []), (T2, []), (T3, [117]), (T4, [57, 61, 71, 88, 90])],
    ids=["T1", "T2", "T3", "T4"],
)
def test_nyugyoku_planes_of_the_test_vectors(sfen: str, expected: list[int]) -> None:
    _, hands = planes(position(sfen), sees_nyugyoku=True)
    assert [plane for plane in range(57, 119) if hands[plane].all()] == expected


def test_the_same_position_with_colours_exchanged_has_the_same_planes() -> None:
    for board in random_boards(games=1, seed=5):
        for ours, theirs in zip(planes(board), planes(Board(exchanged(board.sfen()))), strict=True):
            assert np.array_equal(ours, theirs)


def planes_of(model_format: ModelFormat, state: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    row = np.zeros(model_format.inputs[0].shape, np.float32)
    model_format.fill(state, [row])
    return row


@pytest.mark.parametrize(
    ("sfen", "book", "first_book", "nshogi"),
    [
        (T1, (40, 0x6649AF91), (40, 0x45961BB4), (121, 0x709C1B2A)),
        (T2, (441, 0x6430A89E), (441, 0xA2C8D3DA), (522, 0x2378F00C)),
        (T3, (1080, 0xAE0A84A3), (1080, 0xCC71B98F), (1161, 0x3D3A8869)),
        (T4, (1800, 0x5A587F18), (1800, 0x53CE3A85), (1800, 0x0B694E5D)),
    ],
    ids=["T1", "T2", "T3", "T4"],
)
def test_planes_of_the_test_vectors_of_other_formats(
    sfen: str, book: tuple[int, int], first_book: tuple[int, int], nshogi: tuple[int, int]
) -> None:
    state = position(sfen)
    for model_format, seen, expected in (
        (BOOK, 104, book),
        (FIRST_BOOK, 104, first_book),
        (NSHOGI, 82, nshogi),
        (NshogiFormat(93), 82, nshogi),
    ):
        ones = planes_of(model_format, state)[:seen].astype(np.uint8)
        assert (int(ones.sum()), zlib.crc32(ones.tobytes())) == expected


def test_labels_of_the_test_vectors() -> None:
    for turn, usi, book, first_book, nshogi in [
        (0, "7g7f", 59, 47, 57), (0, "2g2f", 14, 52, 12), (0, "6i7h", 142, 146, 622),
        (1, "8b8h", 10, 16, 16), (1, "P*2g", 1685, 1639, 1689), (1, "3c7g+", 992, 996, 915),
        (1, "5a4b", 133, 147, 613), (0, "3d3c+", 830, 834, 834), (0, "5d4c+", 1001, 995, 924),
        (0, "G*4c", 1973, 1967, 2139), (1, "N*5e", 1822, 1822, 1822), (1, "P*5f", 1659, 1651, 1661),
        (1, "L*1a", 1781, 1773, 1773), (1, "1i2h+", 1441, 1387, 1123),
    ]:  # fmt: skip
        move = move_from_usi(usi)
        assert [each.label(move, turn) for each in (BOOK, FIRST_BOOK, NSHOGI)] == [book, first_book, nshogi]
        assert dlshogi_label(move, turn) == (2135 if usi == "G*4c" else book), (
            "gold is the last piece in hand"
        )


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
    board = Board()
    for _ in range(4):
        played(board, "2h3h 8b7b 3h2h 7b8b")
    planes = planes_of(AOBAZERO, board)
    occurrences = [int(planes[45 * step + 42 : 45 * step + 45, 0, 0].sum()) for step in range(8)]
    assert occurrences == [
        min(3, ply // 4) for ply in range(16, 8, -1)
    ]  # A position recurs every four plies.


@pytest.mark.parametrize("turn", ["b", "w"])
def test_planes_of_aobazero_without_a_past_are_those_of_one_position(turn: str) -> None:
    sfen = T3.replace(" b ", f" {turn} ").replace(" 95", " 1")
    planes = planes_of(AOBAZERO, Board(sfen))
    assert planes[45:360].sum() == 0
    assert np.array_equal(planes[:360], planes_of(AOBAZERO, Board(exchanged(sfen)))[:360])
    assert np.array_equal(planes[:14], planes_of(FIRST_BOOK, Board(sfen))[:14])
    assert np.array_equal(planes[14:28], planes_of(FIRST_BOOK, Board(sfen))[52:66])


@pytest.mark.parametrize("model_format", [BOOK, FIRST_BOOK, NSHOGI, AOBAZERO])
def test_legal_moves_have_different_labels_in_other_formats(model_format: ModelFormat) -> None:
    for board in random_boards(games=2, seed=3):
        labels = [model_format.label(move, board.turn) for move in board.legal_moves()]
        assert len(set(labels)) == len(labels)
        assert all(0 <= label < model_format.labels for label in labels)


def test_planes_of_nshogi_contain_turn_and_ply() -> None:
    board = Board()
    board.push_usi("7g7f")
    constants = planes_of(NSHOGI, board)[80:]
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
    planes = [
        np.stack([planes_of(NshogiFormat(draw_value=-0.2), board) for board in (Board(), pushed("7g7f"))])
    ]
    outputs = [np.zeros((2, DLSHOGI_LABELS)), np.array([[0.9], [0.9]]), np.array([[0.5], [1.0]])]
    _, values = NshogiFormat(draw_value=-0.2).interpret(outputs, planes)
    assert values.tolist() == pytest.approx([0.5 * -0.2 + 0.5 * 0.8, 0.2])


def test_the_options_of_draws_reach_a_network_of_nshogi(tmp_path: Path) -> None:
    def value(max_ply: int = 0, draw_value: float = 0.0) -> float:
        network.set_draw_value(draw_value)
        return network.evaluate([Board(rules=Rules(max_ply=max_ply))])[0].value

    network = NetworkEvaluator(nshogi_model(tmp_path / "n.onnx"), backend="cpu")
    assert len({value(), value(max_ply=100), value(draw_value=-0.5)}) == 3


def pushed(usi: str) -> Board:
    board = Board()
    board.push_usi(usi)
    return board


def write_model(path: Path, planes: int, heads: dict[str, str], names: tuple[str, str]) -> Path:
    """Writes a network whose policy and heads are weighted sums of the planes.

    heads: by output, the operator that computes it from its sum. names: of the input and of the policy.
    """
    onnx: Any = pytest.importorskip("onnx")
    rng, node, tensor = np.random.default_rng(1), onnx.helper.make_node, onnx.helper.make_tensor_value_info
    weights = {"filters": rng.normal(0, 0.3, (27, planes, 1, 1)).astype(np.float32)}
    nodes = [
        node("Conv", [names[0], "filters"], ["filtered"]),
        node("Flatten", ["filtered"], [names[1]]),
        node("Flatten", [names[0]], ["all"]),
    ]
    outputs = [tensor(names[1], onnx.TensorProto.FLOAT, ["batch", 2187])]
    for name, head in heads.items():
        weights[f"{name} weights"] = rng.normal(0, 0.05, (81 * planes, 1)).astype(np.float32)
        nodes += [
            node("MatMul", ["all", f"{name} weights"], [f"{name} sum"]),
            node(head, [f"{name} sum"], [name]),
        ]
        outputs.append(tensor(name, onnx.TensorProto.FLOAT, ["batch", 1]))
    graph = onnx.helper.make_graph(
        nodes, "test", [tensor(names[0], onnx.TensorProto.FLOAT, ["batch", planes, 9, 9])], outputs,
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )  # fmt: skip
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return path


def book_model(path: Path) -> Path:
    return write_model(path, 104, {"value": "Identity"}, ("x", "moves"))


def nshogi_model(path: Path) -> Path:
    return write_model(path, 86, {"value": "Sigmoid", "draw": "Sigmoid"}, ("input", "policy"))


def test_models_are_recognised_and_play(tmp_path: Path) -> None:
    for model, name in (
        (book_model(tmp_path / "b.onnx"), "python-dlshogi2 104"),
        (nshogi_model(tmp_path / "n.onnx"), "nshogi 86"),
    ):
        network = NetworkEvaluator(model, backend="cpu")
        assert network.format.name == name
        boards = [board.copy() for board in random_boards(games=1, seed=4)][::9]
        evaluations = network.evaluate(boards)
        assert len({evaluation.value for evaluation in evaluations}) == len(boards)
        result = Puct(network, PuctConfig()).search(boards[0], lambda stats: False, max_playouts=50)
        assert result.moves[0].move in boards[0].legal_moves()
        assert max(evaluations[-1].policy) > 1.5 / len(evaluations[-1].policy)


def test_values_are_computed_from_logits_and_from_win_and_draw_rates(tmp_path: Path) -> None:
    board = Board()
    book = NetworkEvaluator(book_model(tmp_path / "b.onnx"), backend="cpu")
    assert isinstance(book.runner, PlanesRunner)
    _, (logit,) = book.runner.answer([planes_of(BOOK, board)[None]])
    assert book.evaluate([board])[0].value == pytest.approx(np.tanh(logit[0] / 2), abs=1e-6)
    nshogi = NetworkEvaluator(nshogi_model(tmp_path / "n.onnx"), backend="cpu")
    assert isinstance(nshogi.runner, PlanesRunner)
    _, (value,), (draw,) = nshogi.runner.answer([planes_of(NSHOGI, board)[None]])
    assert nshogi.evaluate([board])[0].value == pytest.approx((1 - draw[0]) * (2 * value[0] - 1), abs=1e-6)


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


def squares_of(rank: str) -> list[str]:
    """Returns an SFEN rank as nine entries, "" for an empty square."""
    squares: list[str] = []
    promoted = ""
    for letter in rank:
        if letter == "+":
            promoted = "+"
        elif letter.isdigit():
            squares += [""] * int(letter)
        else:
            squares.append(promoted + letter)
            promoted = ""
    return squares


def exchanged(sfen: str) -> str:
    """Returns the position turned by 180 degrees, black and white exchanged, hands and side to move too."""
    board, turn, hands, number = sfen.split()
    ranks = [
        "".join(square.swapcase() or "1" for square in reversed(squares_of(rank)))
        for rank in board.split("/")
    ]
    return f"{'/'.join(reversed(ranks))} {'bw'[turn == 'b']} {hands.swapcase()} {number}"


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
