"""The review of a game: judgements of known moves, mates, endings, the database, names of openings."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from damaged_files import damage_schema
from goryu.analysis.judgement import MoveClass, class_of_loss, game_accuracy, move_accuracy
from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.analysis.review import GameReview
from goryu.analysis.reviewer import Reviewer
from goryu.analysis.store import AnalysisStore
from goryu.analysis.strategies import strategies_of
from goryu.games.shogi import START_SFEN
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up.loading import load_evaluator
from goryu.players.set_up.model_path import read_model_options
from goryu.usi.option_values import OptionValues
from present import present
from sample_games import ROOK_HANGS

REPETITION = " ".join(["2h3h", "8b7b", "3h2h", "7b8b"] * 3)

YAGURA = (
    "7g7f 8c8d 7i6h 3c3d 6h7g 6a5b 5g5f 5c5d 3i4h 3a4b 6i7h 4a3b 4i5h 4b3c 6g6f 2b3a 5i6i 5a4a "
    "8h7i 4c4d 5h6g 5b4c 7i6h 7c7d 6i7i 4a5a 7i8h 5a4a"
)

MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    """A reviewer with goryu-5x64 and its options, and no database."""
    options = OptionValues()
    options.set_model_options(*read_model_options(options.config.evaluator))
    return Reviewer(load_evaluator(options.config.evaluator, print), options.config)


def reviewed(reviewer: Reviewer, start: str, moves: str, playouts: int = 60) -> GameReview:
    review = GameReview(start, moves.split(), playouts)
    assert reviewer.review(review)
    return review


def quick_reviewer(store: AnalysisStore | None = None) -> Reviewer:
    """A reviewer whose evaluations are reproducible noise."""
    config = EngineConfig(EvaluatorConfig("hashed"))
    return Reviewer(load_evaluator(config.evaluator, print), config, store)


# The judgement of moves.


def test_a_rook_left_to_be_taken_is_a_blunder_that_the_capture_refutes(reviewer: Reviewer) -> None:
    review = reviewed(reviewer, START_SFEN, " ".join(ROOK_HANGS))
    worst = review.mistakes()[0]
    assert (worst.move, worst.kind, worst.turn) == ("2d8d", MoveClass.BLUNDER, 0)
    assert worst.refutation[0] == "8b8d"
    assert worst.best == worst.better_line[0]
    assert worst.best is not None
    assert worst.best.startswith("2d2")  # The rook retreats.
    assert worst.loss == pytest.approx(worst.win_rate - worst.played_win_rate)


def test_a_missed_mate_is_a_blunder_and_its_length_is_known(reviewer: Reviewer) -> None:
    both_mate = "4k4/9/4P4/9/9/9/4p4/9/4K4 b Gg 1"  # The side to move.
    missed = next(reviewed(reviewer, both_mate, "G*9i").plies())
    assert (missed.kind, missed.missed_mate, missed.best) == (MoveClass.BLUNDER, 1, "G*5b")
    assert missed.win_rate == 1.0


def test_a_mate_that_is_played_is_no_mistake_and_ends_the_game(reviewer: Reviewer) -> None:
    review = reviewed(reviewer, MATE_IN_ONE, "G*5b")
    mate = next(review.plies())
    assert (mate.loss, mate.played_win_rate, mate.missed_mate) == (0.0, 1.0, None)
    assert mate.kind in (MoveClass.BEST, MoveClass.GREAT)
    assert review.analyses[-1] is not None
    assert review.analyses[-1].ending == "checkmate"


def test_the_first_choice_of_a_search_is_a_mistake_if_it_allows_a_mate() -> None:
    """The search before the move did not see the mate; the second choice is compared instead."""
    review = GameReview("4k4/9/4P4/9/9/9/4p4/9/4K4 w Gg 1", ["5g5h"], 100)
    first = MoveAnalysis("5g5h", 0.5, 90, 0.2, None, ("5g5h",))
    second = MoveAnalysis("G*5h", 0.1, 10, 0.1, None, ("G*5h",))
    review.enter(0, PositionAnalysis(100, False, 0.2, (first, second)))
    mated = PositionAnalysis(100, True, 1.0, (MoveAnalysis("G*5b", 0.5, 1, 1.0, 1, ("G*5b",)),))
    review.enter(1, mated)
    [ply] = review.plies()
    assert (ply.kind, ply.best, ply.allows_mate, ply.rank) == (MoveClass.BLUNDER, "G*5h", 1, 1)
    assert review.better_position(0) == ("G*5h",)
    review.better[0] = mated  # The second choice is no way out.
    [ply] = review.plies()
    assert (ply.kind, ply.loss, ply.allows_mate) == (MoveClass.GOOD, 0.0, None)


def test_the_fourth_repetition_is_a_draw(reviewer: Reviewer) -> None:
    review = reviewed(reviewer, START_SFEN, REPETITION, playouts=10)
    last = present(review.analyses[-1])
    assert (last.value, last.ending, last.moves) == (0.0, "fourfold repetition", ())
    assert review.black_win_rate(12) == 0.5


def test_a_game_that_goes_on_after_its_end_has_an_accuracy() -> None:
    ended = GameReview(START_SFEN, REPETITION.split(), 10)
    longer = GameReview(START_SFEN, [*REPETITION.split(), "2h3h", "3c3d", "7g7f", "4a3b"], 10)
    for review in (ended, longer):
        assert quick_reviewer().review(review)
    for turn in (0, 1):
        assert ended.summary(turn).accuracy is not None
        assert longer.summary(turn).accuracy == ended.summary(turn).accuracy
        assert longer.summary(turn).moves > ended.summary(turn).moves


def test_a_declaration_that_is_possible_is_named(reviewer: Reviewer) -> None:
    # Black's king and ten pieces are in the camp: 28 points with the rooks and bishops.
    review = reviewed(reviewer, "KRRBB4/PPPPPP3/9/9/9/9/9/9/8k b 4G4S4N4L12P 1", "")
    first = present(review.analyses[0])
    assert (first.ending, first.win_rate) == ("declaration", 1.0)


def test_win_rates_are_black_s_in_a_game_that_white_begins(reviewer: Reviewer) -> None:
    white_is_ahead = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/9/LNSGKGSNL w - 1"
    review = reviewed(reviewer, white_is_ahead, "3c3d")
    assert review.turn(0) == 1
    rate = present(review.black_win_rate(0))
    assert rate < 0.2
    assert next(review.plies()).turn == 1


# Formulas.


def test_classes_begin_at_their_thresholds() -> None:
    losses = (0.0, 0.049, 0.0501, 0.1001, 0.2001, 0.3501, 1.0)
    assert [class_of_loss(loss, 10**10).value for loss in losses] == [
        "good", "good", "inaccuracy", "dubious", "mistake", "blunder", "blunder",
    ]  # fmt: skip


def test_fewer_playouts_need_a_greater_loss() -> None:
    assert [class_of_loss(0.11, playouts).value for playouts in (100, 400, 10_000)] == [
        "inaccuracy", "inaccuracy", "dubious",
    ]  # fmt: skip


@pytest.mark.parametrize(("loss", "accuracy"), [(0.0, 100.0), (0.05, 81.0), (0.2, 41.0), (1.0, 0.0)])
def test_the_accuracy_of_a_move_is_lichess_s(loss: float, accuracy: float) -> None:
    # 103.1668 * exp(-0.04354 * 5) - 3.1669 + 1 = 80.8
    assert move_accuracy(loss) == pytest.approx(accuracy, abs=0.3)


def test_the_accuracy_of_a_game_is_100_without_losses_and_falls_with_a_blunder() -> None:
    rates = [0.5] * 21
    assert game_accuracy([0.0] * 20, rates, 0) == pytest.approx(100.0)
    blundered = present(game_accuracy([0.0] * 10 + [0.4] + [0.0] * 9, [0.5] * 11 + [0.1] * 10, 0))
    assert blundered < 80.0
    assert game_accuracy([0.0] * 10 + [0.4] + [0.0] * 9, rates, 1) == pytest.approx(100.0)


def test_a_player_without_a_move_has_no_accuracy() -> None:
    assert game_accuracy([0.1], [0.5, 0.4], 1) is None


# Streaming and stopping.


def test_every_position_is_reported_as_it_is_known() -> None:
    seen: list[int] = []
    review = GameReview(START_SFEN, ROOK_HANGS, 10)
    quick_reviewer().review(review, lambda changed, index: seen.append(index))
    assert set(seen) == set(range(13))


def test_a_stopped_review_keeps_what_it_has() -> None:
    review = GameReview(START_SFEN, ROOK_HANGS, 10)
    known: list[int] = []
    assert not quick_reviewer().review(review, lambda changed, i: known.append(i), lambda: len(known) >= 3)
    assert 3 <= sum(analysis is not None for analysis in review.analyses) < 13
    assert review.summary(0).accuracy is None


def test_a_review_that_was_stopped_is_not_whole_even_if_nobody_wants_that_any_more() -> None:
    answers = iter([False] * 4 + [True])
    review = GameReview(START_SFEN, YAGURA.split(), 20)
    assert not quick_reviewer().review(review, should_stop=lambda: next(answers, False))
    assert review.known() < len(review.analyses)


def test_an_error_in_the_search_ends_the_review() -> None:
    reviewer = quick_reviewer()

    def fail(review: GameReview, index: int) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        reviewer.review(GameReview(START_SFEN, ["2g2f"], 10), fail)


# The database.


def analysis(playouts: int = 100) -> PositionAnalysis:
    return PositionAnalysis(
        playouts, False, 0.25, (MoveAnalysis("7g7f", 0.5, 60, 0.25, None, ("7g7f", "3c3d")),)
    )


def opened(path: Path, messages: list[str]) -> AnalysisStore:
    return AnalysisStore(path, messages.append)


def test_an_analysis_is_kept_for_the_position_with_its_history(tmp_path: Path) -> None:
    store = opened(tmp_path / "folder" / "analyses.sqlite3", [])
    store.put("network", START_SFEN, ("2g2f",), analysis())
    assert store.get("network", START_SFEN, ("2g2f",)) == analysis()
    assert store.get("network", START_SFEN, ()) is None
    store.close()


def test_a_damaged_schema_is_reported_and_nothing_is_kept(tmp_path: Path) -> None:
    path, messages = tmp_path / "analyses.sqlite3", list[str]()
    opened(path, messages).close()
    damage_schema(path)
    assert not opened(path, messages).is_open
    assert str(path) in messages[0]


def test_another_network_has_its_own_analyses(tmp_path: Path) -> None:
    path = tmp_path / "analyses.sqlite3"
    opened(path, []).put("network", START_SFEN, (), analysis())
    assert opened(path, []).get("another", START_SFEN, ()) is None
    assert opened(path, []).get("network", START_SFEN, ()) == analysis()


def test_fewer_playouts_do_not_replace_more(tmp_path: Path) -> None:
    store = opened(tmp_path / "analyses.sqlite3", [])
    for playouts in (100, 300, 200):
        store.put("network", START_SFEN, (), analysis(playouts))
    assert store.get("network", START_SFEN, ()) == analysis(300)


def test_a_damaged_database_is_named_and_the_review_goes_on(tmp_path: Path) -> None:
    path, messages = tmp_path / "analyses.sqlite3", list[str]()
    path.write_bytes(b"This is not a database. " * 100)
    reviewer = quick_reviewer(opened(path, messages))
    review = GameReview(START_SFEN, ["2g2f"], 10)
    assert reviewer.review(review)
    assert len(list(review.plies())) == 1
    assert len(messages) == 1
    assert str(path) in messages[0]
    assert "delete the file" in messages[0]


def test_a_damaged_row_is_named_and_the_review_goes_on(tmp_path: Path) -> None:
    path, messages = tmp_path / "analyses.sqlite3", list[str]()
    store = opened(path, messages)
    store.put("network", START_SFEN, (), analysis())
    database = sqlite3.connect(path)
    database.execute("UPDATE analyses_1 SET analysis = x'00'")
    database.commit()
    database.close()
    assert store.get("network", START_SFEN, ()) is None
    assert not store.is_open
    assert len(messages) == 1


def test_a_full_disk_is_named_once_and_the_review_goes_on(tmp_path: Path) -> None:
    messages: list[str] = []
    store = opened(tmp_path / "analyses.sqlite3", messages)
    assert store._database is not None
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")
    long = analysis()
    for i in range(200):
        store.put("network", START_SFEN, (str(i),), long)
    assert not store.is_open
    assert len(messages) == 1
    assert "full" in messages[0]
    assert "space on the disk" in messages[0]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    messages: list[str] = []
    assert not opened(tmp_path / "file" / "analyses.sqlite3", messages).is_open
    assert len(messages) == 1


def test_processes_may_write_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "analyses.sqlite3"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(path, first)) for first in (0, 1000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    store = opened(path, [])
    numbers = (*range(100), *range(1000, 1100))
    assert all(store.get("network", START_SFEN, (str(number),)) is not None for number in numbers)


def write_many(path: Path, first: int) -> None:
    messages: list[str] = []
    store = opened(path, messages)
    for number in range(first, first + 100):
        store.put("network", START_SFEN, (str(number),), analysis())
    assert not messages


# Openings and castles.


@pytest.mark.parametrize(
    ("moves", "opening", "castles"),
    [
        (
            "7g7f 8c8d 2g2f 8d8e 8h7g 3c3d 7i8h 2b7g+ 8h7g 3a2b 3i3h 7a7b 4g4f 6c6d 3h4g 7b6c 4g5f",
            "角換わり", (None, None),
        ),
        (
            "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d 8e8f 8g8f 8b8f 2d3d 2b3c",
            "横歩取り", (None, None),
        ),
        (
            "2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 3i3h 7a7b 9g9f 9c9d 2e2d 2c2d 2h2d P*2c 2d2h",
            "相掛かり", (None, None),
        ),
        (
            YAGURA,
            "矢倉", ("矢倉", None),
        ),
        (
            "7g7f 3c3d 2g2f 4c4d 3i4h 8b4b 5i6h 5a6b 6h7h 6b7b 5g5f 7b8b 4i5h 7a7b 8h7g 4a5b 7h8h 9c9d",
            "後手四間飛車", ("舟囲い", "美濃囲い"),
        ),
        (
            "7g7f 3c3d 6g6f 3a3b 8h7g 8b4b 2h8h 5a6b 5i4h 6b7b 4h3h 7b8b 3h2h 7a7b 3i3h",
            "相振り飛車", ("片美濃囲い", "片美濃囲い"),
        ),
    ],
)  # fmt: skip
def test_textbook_openings_and_castles_have_their_names(
    moves: str, opening: str, castles: tuple[str | None, str | None]
) -> None:
    names = strategies_of(START_SFEN, moves.split())
    assert names.opening is not None
    assert names.opening.japanese == opening
    assert tuple(castle and castle.japanese for castle in names.castles) == castles


def test_a_handicap_game_and_a_short_one_have_no_opening() -> None:
    assert strategies_of(START_SFEN, ["7g7f"]).opening is None
    lance = "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    assert strategies_of(lance, ["3c3d"] * 1).opening is None
