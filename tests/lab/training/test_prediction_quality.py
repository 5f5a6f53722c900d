"""Predictions of games, compared with numbers computed by hand and with a known evaluator."""

from collections.abc import Sequence
from math import atanh, exp, log, tanh
from pathlib import Path
from random import Random

import pytest

from goryu.evaluators.material import MaterialEvaluator
from goryu.games.shogi import START_SFEN, IllegalMoveError
from goryu.games.state import State
from goryu.implementation import Board
from goryu.search.evaluator import Evaluation
from goryu_lab.benchmark.random_network import write_random_network
from goryu_lab.match.game_log import GameEntry, GameLog, GameLogError, read_game_log
from goryu_lab.records.game_records import GameRecord, write_games
from goryu_lab.records.hcpe import BLACK_WON, DRAW
from goryu_lab.training.prediction_quality import (
    PlayedGame,
    Prediction,
    predict,
    read_played_games,
    summarize,
)
from paths import ROOT

NETWORK = ROOT / "models" / "goryu-5x64.onnx"
OPENING = ("7g7f", "3c3d")
MOVES = ("2g2f", "4c4d", "2f2e", "2b3c", "3i4h", "8b4b")


class Ranked:
    """The first legal move is twice as likely as the others together; Black is always better."""

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        return [
            Evaluation([2.0 / 3.0, *([1.0 / 3.0 / (len(moves) - 1)] * (len(moves) - 1))], 0.5 - state.turn)
            for state in states
            for moves in [state.legal_moves()]
        ]


def played(black_score: float = 1.0, moves: tuple[str, ...] = MOVES) -> PlayedGame:
    return PlayedGame(START_SFEN, OPENING, moves, ("A", "B"), black_score)


def prediction(value: float, result: float, probability: float = 0.5, is_first: bool = True) -> Prediction:
    return Prediction(0, "A", result, value, probability, is_first)


def test_chance_is_the_mean_of_one_in_the_number_of_legal_moves() -> None:
    game, chances = played(), []
    board = Board()
    for text in OPENING:
        board.push_usi(text)
    for text in MOVES:
        chances.append(1 / len(board.legal_moves()))
        board.push_usi(text)
    assert summarize(predict([game], Ranked())).chance == pytest.approx(sum(chances) / len(MOVES))


def test_a_prediction_is_from_the_side_to_move() -> None:
    seen = predict([played()], Ranked())
    assert [one.ply for one in seen] == [2, 3, 4, 5, 6, 7]
    assert [one.player for one in seen] == ["A", "B"] * 3
    assert [one.result for one in seen] == [1.0, 0.0] * 3
    assert [one.value for one in seen] == [0.5, -0.5] * 3
    assert {one.result for one in predict([played(0.5)], Ranked())} == {0.5}


def test_the_probability_is_that_of_the_move_played() -> None:
    board = Board()
    first = board.legal_moves()[0]
    board.push(first)
    (text,) = (name for name in ("1g1f", "9g9f") if Board().push_usi(name) == first)
    (one,) = predict([PlayedGame(START_SFEN, (), (text,), ("A", "B"), 1.0)], Ranked())
    assert one.probability == pytest.approx(2.0 / 3.0)
    assert one.is_first
    (other,) = predict([PlayedGame(START_SFEN, (), ("2g2f",), ("A", "B"), 1.0)], Ranked())
    assert other.probability == pytest.approx(1.0 / 3.0 / 29.0)
    assert not other.is_first


def test_a_part_of_the_positions_has_both_sides() -> None:
    seen = predict([played(), played()], MaterialEvaluator(), every=2, batch=1)
    assert [(one.ply, one.player) for one in seen] == [(2, "A"), (3, "B"), (6, "A"), (7, "B")] * 2


def test_a_game_that_cannot_be_played_is_an_error() -> None:
    with pytest.raises(IllegalMoveError):
        predict([played(moves=("2g2f", "2g2f"))], Ranked())


def test_the_losses_are_those_computed_by_hand() -> None:
    seen = [
        prediction(0.6, 1.0, 0.25), prediction(0.6, 1.0, 0.0, is_first=False),
        prediction(-0.2, 0.5, 1.0), prediction(0.2, 0.0, 0.5, is_first=False),
    ]  # fmt: skip
    one = summarize(seen)
    # Win rates 0.8, 0.8, 0.4 and 0.6.
    entropies = -log(0.8) * 2 - (log(0.4) + log(0.6)) / 2 - log(0.4)
    assert one.positions == 4
    assert one.result_loss == pytest.approx(entropies / 4)
    assert one.fitted_loss <= one.result_loss
    assert one.right_side == pytest.approx(2 / 3)
    assert one.move_loss == pytest.approx((log(4) + log(10_000) + 0 + log(2)) / 4)
    assert one.first_choice == 0.5


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_the_factor_is_found(factor: float) -> None:
    rng = Random(1)
    values = [rng.uniform(-0.8, 0.8) for _ in range(20_000)]
    seen = [prediction(v, float(rng.random() < 1.0 / (1.0 + exp(-factor * 2.0 * atanh(v))))) for v in values]
    one = summarize(seen)
    assert one.factor == pytest.approx(factor, rel=0.1)
    again = summarize([prediction(tanh(one.factor * atanh(g.value)), g.result) for g in seen])
    assert again.result_loss == pytest.approx(one.fitted_loss)


def test_no_positions_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least one position"):
        summarize([])


def entry(number: int, black: int, score: float) -> GameEntry:
    n = len(MOVES)
    return GameEntry(
        number, black, f"startpos moves {' '.join(OPENING)}", MOVES, score, "adjudication", "", n + 2,
        (1,) * n, (0,) * n, (1,) * n, (1,) * n, (0,) * n, 0, 1.0, "2026-11-22T00:00:00+00:00",
    )  # fmt: skip


def test_games_of_a_match(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    game_log = GameLog(path, {"made": "here"})
    game_log.write_names(("A", "B"))
    for one in (entry(0, 1, 1.0), entry(1, 2, 1.0), entry(2, 1, 0.5)):
        game_log.append(one)
    game_log.close()
    with path.open("a") as file:
        file.write('{"type": "game", "num')  # An unfinished line.
    games = list(read_played_games(path))
    assert [(game.players, game.black_score) for game in games] == [
        (("A", "B"), 1.0), (("B", "A"), 0.0), (("A", "B"), 0.5)
    ]  # fmt: skip
    assert all((game.start_sfen, game.opening, game.moves) == (START_SFEN, OPENING, MOVES) for game in games)
    assert read_game_log(path)[0] == ("A", "B")
    winner = [one.player for one in predict(games[:2], Ranked()) if one.result == 1.0]
    assert set(winner) == {"A"}


def test_a_log_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"type": "other"}\n')
    with pytest.raises(GameLogError, match="expected the log of a match"):
        list(read_played_games(tmp_path / "a.jsonl"))


def test_games_of_a_teacher(tmp_path: Path) -> None:
    board = Board()
    moves = tuple(int(board.push_usi(move)) for move in OPENING)
    path = tmp_path / "a.games"
    write_games(path, [GameRecord(moves, (0, 0), result, teacher="T") for result in (BLACK_WON, DRAW)])
    won, drawn = read_played_games(path)
    assert won == PlayedGame(START_SFEN, (), OPENING, ("T", "T"), 1.0)
    assert drawn.black_score == 0.5


def test_a_teacher_s_random_moves_are_not_taken_for_its_own(tmp_path: Path) -> None:
    board = Board()
    moves = tuple(int(board.push_usi(move)) for move in (*OPENING, *MOVES))
    path = tmp_path / "a.games"
    for scores in (None,) * len(OPENING), (0, None):  # A later move without a score is the teacher's.
        write_games(path, [GameRecord(moves, (*scores, *range(len(MOVES))), BLACK_WON)])
    random, chosen = read_played_games(path)
    assert (random.opening, random.moves) == (OPENING, MOVES)
    assert (chosen.opening, chosen.moves) == ((), (*OPENING, *MOVES))


def test_the_tool_has_a_column_for_each_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    from goryu_lab.commands.training.evaluate import main

    board = Board()
    moves = tuple(int(board.push_usi(move)) for move in (*OPENING, *MOVES))
    write_games(tmp_path / "a.games", [GameRecord(moves, (0,) * 8, BLACK_WON, teacher="T")])
    other = tmp_path / "other.onnx"
    write_random_network(1, 8, other)
    networks = [str(NETWORK), str(other)]
    assert main([*networks, "--games", str(tmp_path / "a.games"), "--phases", "8"]) == 0
    text = capsys.readouterr().out
    for expected in (NETWORK.name, other.name, "plies 0 to 7", "from ply 8 on", "moves of T"):
        assert expected in text
    (empty,) = (line for line in text.splitlines() if "from ply 8 on" in line)
    assert [cell.strip() for cell in empty.strip("│").split("│")[1:]] == ["-", "-"]
