"""The rules, clocks and records of a game, without a browser."""

from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from goryu.base.errors import InputError
from goryu.games.shogi import EnteringKingRule, Rules
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.reading import parse_record
from goryu.kifu.record import Ending
from goryu.kifu.writing import to_csa, to_kif
from goryu.players.config import EngineConfig
from goryu.web.game import PASS, ClockConfig, Clocks, Game
from goryu.web.play import PlayView, _limits

BOTH = (True, True)

ENTERED = "K7+R/+R+B+B6/GGGGSSSS1/9/9/9/9/9/4k4 b 4N4L18P 1"
"""Black's king has entered, with ten pieces in the promotion zone and more than 28 points."""


def play(game: Game, moves: str) -> None:
    for move in moves.split():
        game.push(move)


class TestEnd:
    def test_the_fourth_occurrence_is_a_draw(self) -> None:
        game = Game("shogi", people=BOTH)
        play(game, "2h3h 8b7b 3h2h 7b8b " * 2 + "2h3h 8b7b 3h2h")
        assert game.legal_moves()
        play(game, "7b8b")
        assert game.over is not None
        assert (game.over.ending, game.over.winner) == (Ending.REPETITION, None)
        assert game.legal_moves() == {}

    def test_a_search_would_end_it_sooner(self) -> None:
        """Boards count the first recurrence as the result by default."""
        game = Game("shogi", people=BOTH)
        play(game, "2h3h 8b7b 3h2h 7b8b")
        assert game.over is None

    def test_perpetual_check_loses(self) -> None:
        game = Game("shogi", "4k4/9/9/9/9/9/9/4R4/K8 w - 1", people=BOTH)
        play(game, "5a4a 5h4h 4a5a 4h5h " * 3)
        assert game.over is not None
        assert (game.over.ending, game.over.winner) == (Ending.PERPETUAL_CHECK, 1)

    def test_no_legal_move_is_checkmate(self) -> None:
        game = Game("shogi", "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", people=BOTH)
        game.push("G*5b")
        assert game.over is not None
        assert (game.over.ending, game.over.winner) == (Ending.CHECKMATE, 0)

    def test_an_entering_king_wins_only_when_it_is_declared(self) -> None:
        game = Game("shogi", ENTERED, people=BOTH)
        assert game.over is None
        assert game.may_declare()

    def test_in_handicap_games_the_missing_pieces_count_for_white(self) -> None:
        state: Any = Game("shogi", HANDICAPS[5].sfen).state
        assert state.rules.entering_king is EnteringKingRule.CSARule27H
        even: Any = Game("shogi", HANDICAPS[0].sfen).state
        assert even.rules.entering_king is EnteringKingRule.CSARule27

    def test_the_option_for_the_longest_game_ends_it(self) -> None:
        game = Game("shogi", people=BOTH, rules=Rules(max_ply=2))
        play(game, "7g7f 3c3d")
        assert game.over is not None
        assert game.over.ending is Ending.MAX_PLIES

    def test_tic_tac_toe_marks_the_line_that_won(self) -> None:
        game = Game("tictactoe", people=BOTH)
        play(game, "0 3 1 4 2")
        assert game.over is not None
        assert game.over.winner == 0
        assert game.winning_line() == [0, 1, 2]


class TestMoves:
    def test_an_illegal_move_is_refused(self) -> None:
        game = Game("shogi")
        with pytest.raises(InputError, match="7g7e"):
            game.push("7g7e")
        assert game.played == []

    def test_moves_that_do_not_promote_are_legal_too(self) -> None:
        game = Game("shogi", people=BOTH)
        play(game, "7g7f 3c3d")
        assert {"8h2b", "8h2b+"} <= set(game.legal_moves())

    def test_a_move_that_is_taken_back_can_be_played_again(self) -> None:
        game = Game("reversi", people=BOTH)
        first = next(iter(game.legal_moves()))
        game.push(first)
        after = game.position()
        game.pop()
        game.push(first)
        assert game.position() == after


class TestClocks:
    def clocks(self, **config: float) -> tuple[Clocks, list[float]]:
        now = [100.0]
        return Clocks(ClockConfig(**config), lambda: now[0]), now

    def test_main_time_comes_before_byoyomi(self) -> None:
        clocks, now = self.clocks(main=60, byoyomi=30)
        clocks.start(0)
        now[0] += 50
        assert clocks.budget(0) == 40
        clocks.press()
        assert clocks.left == [10, 60]

    def test_byoyomi_begins_anew_with_each_move(self) -> None:
        clocks, now = self.clocks(main=10, byoyomi=30)
        for seconds in (35, 25, 29):
            clocks.start(0)
            now[0] += seconds
            assert clocks.budget(0) > 0
            clocks.press()
            assert clocks.left[0] == 0
            assert clocks.budget(0) == 30

    def test_fischer_adds_after_the_move(self) -> None:
        clocks, now = self.clocks(main=60, increment=5)
        clocks.start(1)
        now[0] += 10
        assert clocks.budget(1) == 50
        clocks.press()
        assert clocks.left == [60, 55]

    def test_the_time_stands_still_while_the_page_is_away(self) -> None:
        clocks, now = self.clocks(main=60, byoyomi=30)
        clocks.start(0)
        now[0] += 20
        clocks.stop()
        now[0] += 3600
        clocks.start(0)
        now[0] += 20
        assert clocks.budget(0) == 50

    def test_byoyomi_that_was_used_stays_used_over_a_pause(self) -> None:
        clocks, now = self.clocks(main=0, byoyomi=30)
        clocks.start(0)
        now[0] += 20
        clocks.stop()
        clocks.start(0)
        assert clocks.budget(0) == 10

    def test_taking_back_restores_the_clocks(self) -> None:
        game = Game("shogi", people=BOTH, clock=ClockConfig(main=60))
        assert game.clocks is not None
        game.clocks.start(0)
        game.clocks.left[0] = 42.0
        game.push("7g7f")
        game.clocks.left = [1.0, 1.0]
        game.pop()
        assert game.clocks.left == [42.0, 60.0]


class TestOpponent:
    def test_after_a_pause_its_search_gets_what_is_left_of_the_byoyomi(self) -> None:
        game = Game("shogi", people=(True, False), clock=ClockConfig(main=0, byoyomi=30))
        assert game.clocks is not None
        assert _limits(game, "10").byoyomi_ms == 30_000
        game.push("7g7f")
        game.clocks.left = [0.0, -20.0]
        limits = _limits(game, "10")
        assert (limits.time_ms, limits.byoyomi_ms) == ((0.0, 0.0), 10_000)
        game.clocks.left = [-20.0, 5.0]
        limits = _limits(game, "10")
        assert (limits.time_ms, limits.byoyomi_ms) == ((0.0, 5000.0), 30_000)


class TestTakingBack:
    def test_a_forced_pass_is_taken_back_with_the_move_before_it(self) -> None:
        view = PlayView(cast(Any, SimpleNamespace(config=EngineConfig(), stop=lambda job: None)))
        view.on_new({"game": "reversi", "side": "both"})
        rng = Random(3)
        while (game := view._game) and (not game.played or game.played[-1].move != PASS):
            assert game.over is None, "no pass in this game: take another seed"
            view._play(game, rng.choice(list(game.legal_moves())))
        assert view._game is not None
        before = len(view._game.played)
        assert len(view.on_undo({"number": view._number})["moves"]) == before - 2


class TestRecord:
    @pytest.mark.parametrize("handicap", HANDICAPS[:2], ids=lambda one: one.english)
    @pytest.mark.parametrize("write", [to_kif, to_csa])
    def test_what_is_saved_can_be_read_again(self, handicap: Any, write: Any) -> None:
        game = Game("shogi", handicap.sfen, BOTH, ("", "Goryu Fox"), ClockConfig(600, 30))
        play(game, "7g7f 3c3d" if game.turn == 0 else "5a4b 7g7f")
        winner = 1 - game.turn
        game.end(Ending.RESIGNATION, winner)
        record = parse_record(write(game.record()))
        assert record.start.split()[:3] == handicap.sfen.split()[:3]
        assert record.moves == tuple(one.name for one in game.played)
        assert (record.ending, record.winner) == (Ending.RESIGNATION, winner)
        assert record.names[1] == "Goryu Fox"

    def test_reversi_is_saved_as_the_usual_line(self) -> None:
        game = Game("reversi", people=BOTH)
        play(game, "19 18")
        assert game.transcript() == "d3c3\n"
