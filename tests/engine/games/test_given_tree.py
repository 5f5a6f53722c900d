"""Trees of given numbers: what their text means, and what is wrong with it."""

import pytest

from goryu.games.given_tree import GivenTree, TreeError, read_tree
from goryu.games.state import Move
from present import present


def test_values_are_those_of_the_player_who_moves_first() -> None:
    game = GivenTree(read_tree("A: B C = -2.5  # the root\n\nB: D; D: E=0.1 F=-40\n"))
    assert (str(game), game.turn, game.outcome(), game.legal_moves()) == ("A", 0, None, [0, 1])
    assert [game.move_name(move) for move in game.legal_moves()] == ["B", "C"]
    game.push(Move(1))
    outcome = present(game.outcome())
    assert outcome.value * game.tree.scale == 2.5, "the side to move is the second player"
    assert game.tree.scale > 40
    game.pop()
    keys = {game.key}
    copy = game.copy()
    for _ in range(2):
        copy.push(Move(0))
        keys.add(copy.key)
    assert (str(game), str(copy), len(keys)) == ("A", "D", 3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the tree is empty"),
        ("A: B=1\nC: D=1", "line 2: C is after no position"),
        ("A: B\n\nA: C=1", "line 3: A has positions after it already"),
        ("A: B=1; B: C=1", "line 1: B has a value already"),
        ("A: B=1\nB C", "line 2: expected a position and those after it"),
        ("A:", "line 1: expected a position"),
        ("A: =3", "line 1: expected a position"),
        ("A: B C=1\nB: A", "line 2: A is in the tree already"),
        ("A: B=1 B=2", "line 1: B is in the tree already"),
        ("A: B=five", "line 1: B: expected a number"),
        ("A: B=nan", "line 1: B: expected a number"),
        ("A: B=1\n# C\nA2: C", "line 3: A2 is after no position"),
        ("A: B C\nB: D=1", "line 1: C has neither a value nor positions"),
        ("; ".join(f"{i}: {i + 1}" for i in range(200)) + "; 200: x=1", "expected at most 100 plies"),
    ],
)
def test_a_wrong_line_is_named(text: str, problem: str) -> None:
    with pytest.raises(TreeError, match=problem):
        read_tree(text)
