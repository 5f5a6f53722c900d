"""The planes and labels of miniosl against its own library, and mates in one against all legal moves."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from goryu.evaluators.formats.base import planes_of
from goryu.evaluators.formats.contact_mates import ContactMove, contact_mate
from goryu.evaluators.formats.dlshogi_planes import Oriented
from goryu.evaluators.formats.miniosl import FIRST_MOVE, THREAT, MinioslFormat
from goryu.evaluators.formats.value_scale import from_tanh
from goryu.evaluators.kernel.reading import read_network
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import open_session
from goryu.evaluators.softmax import softmax
from goryu.games.shogi import move_to_usi
from goryu.games.shogi.move import is_drop, move_from, move_to
from goryu.implementation import Board
from goryu.search.evaluator import Evaluation
from kernel_reference import Reference
from miniosl_package import network_path

FORMAT = MinioslFormat("input", "move", "value", from_tanh)

THREATS = frozenset(
    {THREAT, THREAT + 1}
    | {FIRST_MOVE + 16 * move + plane for move in range(7) for plane in (5, 6, 9, 10, 11)}
)
"""The planes that show a mate: if there are several, the library may choose another one."""


class Library:
    """The library's own planes, labels and evaluations. policy: over the moves that the library generates."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library
        self._session = open_session(network_path(), "cpu", threads=1, device=0).handle

    def show(self, board: Board) -> tuple[npt.NDArray[Any], Any]:
        """Returns the planes, [176, 9, 9], and the library's state of a position."""
        before = board.copy()
        plies = min(self._library.history_length, len(board.move_stack))
        moves = [before.pop() for _ in range(plies)][::-1]
        text = f"position sfen {before.sfen()}"
        start, state = self._library.usi_state(text), self._library.usi_state(text)
        history = self._library.MoveVector()
        for move in moves:
            played = state.to_move(move_to_usi(move))
            history.append(played)
            state.make_move(played)
        return start.export_features(history).reshape(-1, 9, 9), state

    def evaluate(self, board: Board) -> Evaluation:
        planes, state = self.show(board)
        logits, values = self._session.run(["move", "value"], {"input": planes[None]})
        labels = {move.to_usi(): move.policy_move_label for move in state.genmove()}
        shown = [labels.get(move_to_usi(move)) for move in board.legal_moves()]
        known = iter(softmax([float(logits[0][label]) for label in shown if label is not None], 1.0))
        return Evaluation([0.0 if label is None else next(known) for label in shown], float(values[0][0]))


@pytest.fixture(scope="module")
def teacher(miniosl: ModuleType) -> Library:
    return Library(miniosl)


def games(count: int, seed: int) -> Iterator[Any]:
    """Boards of games in which mates occur: a move is random, or the best of a look at all captures."""
    random = Random(seed)
    for _ in range(count):
        board = Board()
        while board.ply < 200 and (moves := board.legal_moves()):
            yield board
            pieces = board.pieces
            captures = [move for move in moves if not is_drop(move) and pieces[move_to(move)]]
            checks = board.checks()
            board.push(random.choice(random.choice([moves, captures or moves, checks or moves])))


def planes(board: Any) -> npt.NDArray[Any]:
    (rows,) = planes_of(FORMAT, [board])
    found: npt.NDArray[Any] = rows[0]
    return found


def test_the_planes_are_those_of_the_library(teacher: Library) -> None:
    """But for the choice of a mate: in 3 of 1,000 of these positions or fewer."""
    different, mates, count = 0, 0, 0
    for board in islice(games(6, seed=1), 0, None, 6):
        expected, _ = teacher.show(board)
        found = planes(board)
        wrong = {*np.flatnonzero((found != expected).any((1, 2))).tolist()}
        assert wrong <= THREATS, board.sfen()
        different += bool(wrong)
        mates += bool(expected[sorted(THREATS)].any())
        count += 1
    assert count > 120
    assert mates > count / 20
    assert different <= count / 100


def test_the_labels_are_those_of_the_library(teacher: Library) -> None:
    for board in islice(games(3, seed=2), 0, None, 4):
        _, state = teacher.show(board)
        expected = {move.to_usi(): move.policy_move_label for move in state.genmove()}
        found = {move_to_usi(move): FORMAT.label(move, board.turn) for move in board.legal_moves()}
        assert {usi: found[usi] for usi in expected if usi in found} == {
            usi: label for usi, label in expected.items() if usi in found
        }
        assert len(set(found.values())) == len(found)


def test_the_evaluations_are_those_of_the_library(teacher: Library) -> None:
    boards = [board.copy() for board in islice(games(1, seed=3), 0, None, 10)]
    expected = [teacher.evaluate(board) for board in boards]
    for backend, tolerance in (("onnxruntime", 1e-5), ("cpu", 2e-2)):
        network = NetworkEvaluator(network_path(), backend=backend)
        if network.kernel is not None and "int8" in network.kernel.arithmetic:
            tolerance = 5e-2
        for board, ours, theirs in zip(boards, network.evaluate(boards), expected, strict=True):
            if 0.0 in theirs.policy:
                continue  # It has no label for a pointless non-promotion.
            if planes(board)[sorted(THREATS)].any():
                continue
            assert ours.value == pytest.approx(theirs.value, abs=tolerance)
            assert np.abs(np.subtract(ours.policy, theirs.policy)).max() < tolerance


def test_our_kernel_runs_the_network_as_its_reference_does(miniosl: ModuleType, native: ModuleType) -> None:
    boards = [board.copy() for board in islice(games(1, seed=4), 60, 61)]
    network = NetworkEvaluator(network_path(), backend="winograd")
    inputs = planes_of(FORMAT, boards)
    assert network.kernel is not None
    logits, values = Reference(read_network(network_path()), network.kernel.arithmetic).run(inputs)
    found = network.run(inputs)
    assert np.array_equal(found[0], logits)
    assert np.array_equal(found[1], values)


# Mates.


def found_mate(board: Any) -> ContactMove | None:
    position = Oriented(board)
    return contact_mate(position.pieces, position.hands, 0)


def all_mates(board: Any) -> set[tuple[int | None, int]]:
    """The moves that mate, as black sees them: all that are legal."""
    found: set[tuple[int | None, int]] = set()
    for move in board.checks():
        board.push(move)
        is_mate = not board.all_legal_moves()
        board.pop()
        if is_mate:
            squares = [
                square if board.turn == 0 else 80 - square for square in (move_from(move), move_to(move))
            ]
            found.add((None if is_drop(move) else squares[0], squares[1]))
    return found


def is_contact(board: Any, to: int) -> bool:
    """Is this square next to the opponent's king, or a knight's step away?"""
    pieces = Oriented(board).pieces
    king = pieces.index(16 + 8)
    files, ranks = abs(king // 9 - to // 9), abs(king % 9 - to % 9)
    return max(files, ranks) == 1 or (files, ranks) == (1, 2)


def test_a_contact_mate_is_a_legal_mate_and_is_found_if_there_is_one() -> None:
    found, missed = 0, 0
    for board in games(20, seed=5):
        if board.is_check():
            continue
        mates = all_mates(board)
        mate = found_mate(board)
        if mate:
            found += 1
            assert (mate.origin, mate.to) in mates, board.sfen()
        else:
            # All others come from afar, or a piece between opens a line.
            missed += sum(is_contact(board, to) for _, to in mates)
    assert found > 20
    assert missed <= found / 10


@pytest.mark.parametrize(
    ("sfen", "mate"),
    [
        ("k8/9/G8/9/9/9/9/9/4K4 b G 1", (None, 64)),  # At 9b it mates, too, but up left counts first.
        ("k8/9/GG7/9/9/9/9/9/4K4 b - 1", (65, 64)),  # Of two golds, that on 8c.
        ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", (None, 37)),
        ("7nk/7nl/9/9/9/9/9/9/4K4 b N 1", (None, 11)),  # Smothered.
        ("8k/9/8G/9/9/9/9/9/4K4 b P 1", None),  # A pawn may not mate when it is dropped.
        ("4k4/9/9/9/9/9/9/9/4K4 b 2G 1", None),
    ],
)
def test_known_mates(sfen: str, mate: tuple[int | None, int] | None) -> None:
    position = Oriented(Board(sfen))
    found = contact_mate(position.pieces, position.hands, 0)
    assert (found and (found.origin, found.to)) == mate


def test_without_a_king_there_is_no_mate() -> None:
    assert contact_mate([0] * 81, ((0, 0, 0, 0, 4, 0, 0), (0,) * 7), 0) is None


def test_a_threat_is_shown_to_the_side_that_would_be_mated() -> None:
    board = Board("4k4/9/4P4/9/9/9/9/9/4K4 w G 1")
    shown = planes(board)
    # White sees 5b, where the gold would be dropped, as 5h, and 5a as 5i.
    assert shown[THREAT].sum() == 1
    assert shown[THREAT, 7, 4] == 1
    assert shown[THREAT + 1].sum() == 6
    assert shown[THREAT + 1, 8, 4] == 1
    assert planes(Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1"))[THREAT].sum() == 0


def test_planes_without_a_past_are_zero() -> None:
    shown = planes(Board())
    assert not shown[FIRST_MOVE:].any()
    board = Board()
    board.push_usi("7g7f")
    shown = planes(board)
    assert shown[FIRST_MOVE + 16 :].sum() == 0
    assert shown[FIRST_MOVE, 3, 2] == 1  # White sees 7f as 3d, in the rank d and the file 3.
