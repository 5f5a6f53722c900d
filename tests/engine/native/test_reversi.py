"""The native Reversi against the Python Reversi after every push and pop."""

from random import Random
from types import ModuleType
from typing import Any

import pytest

from goryu.games.perft import perft
from goryu.games.reversi import Reversi as PythonReversi

PROPERTIES = ("size", "own", "opponent", "move_stack", "turn", "ply", "key")
METHODS = ("legal_moves", "outcome", "repetition", "disc_difference", "__str__")


def assert_same(twin: Any, game: PythonReversi) -> None:
    for name in PROPERTIES:
        assert getattr(twin, name) == getattr(game, name), (name, game.move_stack)
    for name in METHODS:
        assert getattr(twin, name)() == getattr(game, name)(), (name, game.move_stack)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_random_games_are_the_same_after_every_push_and_pop(native: ModuleType, size: int) -> None:
    rng, passes = Random(size), 0
    for _ in range(40):
        twin, game = native.Reversi(size), PythonReversi(size)
        assert_same(twin, game)
        while moves := game.legal_moves():
            move = rng.choice(moves)
            assert twin.move_name(move) == game.move_name(move)
            twin.push(move)
            game.push(move)
            assert_same(twin, game)
            passes += move == 64
            while game.move_stack and rng.random() < 0.1:
                assert twin.pop() == game.pop()
                assert_same(twin, game)
        assert twin.outcome() is not None
        copied, reference = twin.copy(), game.copy()
        while game.move_stack:
            assert twin.pop() == game.pop()
        assert_same(twin, game)
        assert_same(copied, reference)
    assert passes > 0


def test_deep_perft(native: ModuleType) -> None:
    assert perft(native.Reversi(), 9) == 3_005_288


def test_bad_input_is_refused(native: ModuleType) -> None:
    with pytest.raises(ValueError, match="board size 5"):
        native.Reversi(5)
    game = native.Reversi()
    for move in (-1, 0, 64, 65, 1 << 20):
        with pytest.raises(ValueError, match="expected one of the moves"):
            game.push(move)
    with pytest.raises(IndexError):
        game.pop()
    assert_same(game, PythonReversi())
