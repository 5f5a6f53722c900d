"""The rules of a game at a table: its ends, what a person may take back, its time."""

import pytest

from goryu.base.errors import InputError
from goryu.games.reversi import PASS, Reversi
from goryu.games.shogi import STANDARD_RULES, EnteringKingRule, Rules, move_from_usi
from goryu.games.state import Move
from goryu.games.tictactoe import TicTacToe
from goryu.kifu.handicaps import HANDICAPS
from goryu.kifu.record import Ending
from goryu.table.clock import ClockConfig
from goryu.table.game import Game, Over, new_board

ENTERED = "K7+R/+R+B+B6/GGGGSSSS1/9/9/9/9/9/4k4 b 4N4L18P 1"
"""Black's king has entered, with ten pieces in the promotion zone and more than 28 points."""

BLACK_ONLY = (True, False)


def shogi(sfen: str = "", moves: str = "", rules: Rules = STANDARD_RULES) -> Game:
    game = Game(new_board(sfen, rules))
    for move in moves.split():
        game.push(move_from_usi(move))
    return game


def before_a_pass() -> Reversi:
    """After a1, which takes b1, white must pass: its last disc, on b3, has an edge behind the row."""
    state = Reversi(4)
    state.own, state.opponent = 1 << 2 | 1 << 10 | 1 << 11, 1 << 1 | 1 << 9
    return state


class TestEnd:
    def test_the_fourth_occurrence_is_a_draw(self) -> None:
        game = shogi("", "2h3h 8b7b 3h2h 7b8b " * 2 + "2h3h 8b7b 3h2h")
        assert game.legal_moves()
        assert game.occurrences() == 3
        game.push(move_from_usi("7b8b"))
        assert game.over == Over(Ending.REPETITION, None, "fourfold repetition")
        assert game.legal_moves() == []

    def test_a_search_would_end_it_sooner(self) -> None:
        """Boards count the first recurrence as the result by default."""
        game = shogi("", "2h3h 8b7b 3h2h 7b8b")
        assert game.over is None
        assert game.for_search().repetition() is not None

    def test_perpetual_check_loses(self) -> None:
        game = shogi("4k4/9/9/9/9/9/9/4R4/K8 w - 1", "5a4a 5h4h 4a5a 4h5h " * 3)
        assert game.over == Over(Ending.PERPETUAL_CHECK, 1, "perpetual check")

    def test_no_legal_move_is_checkmate(self) -> None:
        game = shogi("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "G*5b")
        assert game.over == Over(Ending.CHECKMATE, 0, "checkmate")

    def test_an_entering_king_wins_only_when_it_is_declared(self) -> None:
        game = shogi(ENTERED)
        assert not game.over
        assert game.may_declare()
        game.declare()
        assert game.over == Over(Ending.DECLARATION, 0, "declaration")
        with pytest.raises(InputError, match="cannot declare"):
            shogi().declare()

    def test_what_may_be_declared_hides_no_other_end(self) -> None:
        game = shogi(ENTERED, rules=Rules(max_ply=1))
        assert not game.over
        game.push(game.legal_moves()[0])
        assert game.over == Over(Ending.MAX_PLIES, None, "maximum ply")

    def test_a_king_that_has_tried_has_won(self) -> None:
        rules = Rules(entering_king=EnteringKingRule.TryRule)
        game = shogi("k8/4K4/9/9/9/9/9/9/9 b - 1", "5b5a", rules)
        assert game.over == Over(Ending.DECLARATION, 0, "try")

    def test_in_handicap_games_the_missing_pieces_count_for_white(self) -> None:
        assert new_board(HANDICAPS[5].sfen).rules.entering_king is EnteringKingRule.CSARule27H
        assert new_board(HANDICAPS[0].sfen).rules.entering_king is EnteringKingRule.CSARule27

    def test_the_rules_may_limit_the_moves(self) -> None:
        game = shogi("", "7g7f 3c3d", Rules(max_ply=2))
        assert game.over is not None
        assert game.over.ending is Ending.MAX_PLIES

    @pytest.mark.parametrize(("own", "winner"), [(0x0FFF, 0), (0x000F, 1), (0x00FF, None)])
    def test_more_discs_win_whichever_side_is_to_move(self, own: int, winner: int | None) -> None:
        state = Reversi(4)
        state.own, state.opponent = own, 0xFFFF ^ own
        assert Game(state).over == Over(Ending.UNKNOWN, winner, "no move left for either side")

    def test_the_side_to_move_resigns(self) -> None:
        game = shogi("", "7g7f")
        game.resign()
        assert game.over == Over(Ending.RESIGNATION, 0, "resignation")
        assert not game.is_persons_turn


class TestTakingBack:
    def test_the_reply_is_taken_back_too_and_the_game_goes_on(self) -> None:
        game = Game(TicTacToe(), BLACK_ONLY)
        for square in (0, 4, 8):
            game.push(Move(square))
        game.resign()
        game.undo()
        assert game.state.ply == 2
        assert game.is_persons_turn
        game.undo()
        assert game.state.ply == 0

    def test_a_move_of_the_opponent_alone_stays(self) -> None:
        game = Game(TicTacToe(), (False, True))
        game.push(Move(4))
        assert not game.can_undo
        with pytest.raises(InputError, match="no move to take back"):
            game.undo()
        assert game.state.ply == 1

    def test_the_moves_before_the_game_stay(self) -> None:
        game = Game(TicTacToe([4]))
        assert not game.can_undo

    @pytest.mark.parametrize("people", [(True, True), BLACK_ONLY])
    def test_a_forced_pass_is_taken_back_with_the_move_before_it(self, people: tuple[bool, bool]) -> None:
        game = Game(before_a_pass(), people)
        game.push(Move(0))
        assert game.must_pass
        game.push(PASS)
        game.undo()
        assert game.state.ply == 0

    def test_a_move_that_is_taken_back_can_be_played_again(self) -> None:
        game = Game(Reversi())
        first = game.legal_moves()[0]
        game.push(first)
        after = str(game.state)
        game.undo()
        game.push(first)
        assert str(game.state) == after

    def test_the_clocks_show_what_they_showed_before_the_move(self) -> None:
        now = [0.0]
        game = Game(new_board(), BLACK_ONLY, clock=ClockConfig(60), now=lambda: now[0])
        for move in ("7g7f", "3c3d"):
            game.start_clock()
            now[0] += 10
            assert game.play(move_from_usi(move))
        game.start_clock()
        now[0] += 10
        game.undo()
        assert game.clocks is not None
        assert game.clocks.running is None
        assert game.clocks.left_s == (60.0, 60.0)


class TestTime:
    def timed(self, config: ClockConfig) -> tuple[Game, list[float]]:
        now = [0.0]
        game = Game(new_board(), clock=config, now=lambda: now[0])
        game.start_clock()
        return game, now

    def test_a_move_after_the_time_loses(self) -> None:
        game, now = self.timed(ClockConfig(60, byoyomi_s=10))
        now[0] += 69
        assert not game.check_time()
        now[0] += 1
        assert not game.play(move_from_usi("7g7f"))
        assert game.over == Over(Ending.TIME, 1, "time")
        assert game.played == []

    def test_a_move_presses_the_clock_and_the_end_stops_it(self) -> None:
        game, now = self.timed(ClockConfig(60, increment_s=5))
        assert game.clocks is not None
        now[0] += 10
        game.play(move_from_usi("7g7f"))
        assert game.clocks.left_s == (55.0, 60.0)
        game.start_clock()
        now[0] += 10
        game.resign()
        game.start_clock()
        now[0] += 10
        assert game.clocks.main_left_s() == (55, 50)

    def test_time_does_not_run_out_while_it_stands_still(self) -> None:
        game, now = self.timed(ClockConfig(60))
        assert game.clocks is not None
        game.clocks.stop()
        now[0] += 3600
        assert game.play(move_from_usi("7g7f"))

    def test_the_seconds_of_a_move_are_counted_without_clocks_too(self) -> None:
        now = [0.0]
        game = Game(new_board(), now=lambda: now[0])
        for move, seconds in (("7g7f", 3.0), ("3c3d", 5.0)):
            now[0] += seconds
            game.push(move_from_usi(move))
        assert [one.seconds for one in game.played] == [3.0, 5.0]
