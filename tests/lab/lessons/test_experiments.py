"""The measurements of players: openings from both sides."""

from random import Random

from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.players.agents.agents import make_agent
from goryu_lab.lessons.experiments import match_of_openings


def test_each_opening_of_a_match_is_played_from_both_sides() -> None:
    seen: list[tuple[int, tuple[Move, ...]]] = []

    def agent(state: State) -> Move:
        assert isinstance(state, TicTacToe)
        if state.ply < 4:  # Its first move of the game.
            seen.append((state.turn, tuple(state.move_stack[:2])))
        return state.legal_moves()[0]

    score = match_of_openings(agent, make_agent("alpha-beta"), TicTacToe, 6, 2, Random(1))
    assert score.games == 6
    assert [turn for turn, _ in seen] == [0, 1] * 3
    openings = [opening for _, opening in seen]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) > 1
