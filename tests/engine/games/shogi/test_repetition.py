"""Repetition of every kind: by hand, against cshogi, and against the rule written down a second time."""

from random import Random

import pytest

from goryu.games.shogi import Board, Rules, is_drop, make_move, move_from, move_to, move_to_usi
from goryu.games.state import Move, Outcome

KINGS = "4k4/9/9/9/9/9/9/9/4K4 b - 1"
DRAW, FOURFOLD = Outcome(0.0, "repetition"), Outcome(0.0, "fourfold repetition")
WIN, LOSS = Outcome(1.0, "perpetual check"), Outcome(-1.0, "perpetual check")
SUPERIOR, INFERIOR = Outcome(1.0, "superior position"), Outcome(-1.0, "inferior position")
REAL_RULE = Rules(first_recurrence=False)

# White to move is in check from the rook on file 5; the second cycle has a quiet rook move in it.
CHECKED = "4k4/9/9/9/9/9/9/9/K3R4 w - 1"
CHASE = "5a4a 5i4i 4a5a 4i5i"
DETOUR = "5a4a 5i6i 4a5a 6i5i"


def play(sfen: str, moves: str, rules: Rules = Rules()) -> tuple[Board, list[Outcome | None]]:  # noqa: B008
    """Returns the board after the moves, and the result of `repetition` after each of them."""
    board = Board(sfen, rules)
    results = []
    for text in moves.split():
        board.push_usi(text)
        results.append(board.repetition())
    return board, results


def walk(squares: str, times: int) -> str:
    """Returns king moves round a circle of squares, black's and white's (rotated) in turn."""
    black = squares.split()
    white = ["".join((str(10 - int(name[0])), "abcdefghi"[8 - "abcdefghi".index(name[1])])) for name in black]
    moves = []
    for n in range(times * len(black)):
        here, there = n % len(black), (n + 1) % len(black)
        moves += [black[here] + black[there], white[here] + white[there]]
    return " ".join(moves)


def test_the_first_recurrence_ends_a_playout_and_the_fourth_occurrence_the_game() -> None:
    board, results = play(KINGS, walk("5i 5h", 3))
    assert results == [None] * 3 + [DRAW] * 8 + [FOURFOLD]
    assert board.outcome() == FOURFOLD
    board.pop()
    assert board.outcome() is None


def test_without_first_recurrence_only_the_fourth_occurrence_counts() -> None:
    _, results = play(KINGS, walk("5i 5h", 3), REAL_RULE)
    assert results == [None] * 11 + [FOURFOLD]


def test_perpetual_check_wins_for_the_checked_side_and_loses_for_the_other() -> None:
    board, results = play(CHECKED, f"{CHASE} {CHASE}")
    assert results[:3] == [None] * 3
    assert results[3:] == [WIN, LOSS, WIN, LOSS, WIN]
    assert board.outcome() is None
    board, results = play(CHECKED, f"{CHASE} {CHASE} {CHASE}", REAL_RULE)
    assert results == [None] * 11 + [WIN]
    assert board.outcome() == WIN
    board, results = play(CHECKED, f"{CHASE} {CHASE} {CHASE} 5a4a", REAL_RULE)
    assert board.outcome() == LOSS


def test_the_real_rule_counts_all_moves_since_the_first_occurrence() -> None:
    # The last cycles were all checks, the first was not: a search takes the last for a perpetual
    # check, but the game is drawn when the fourth occurrence comes.
    board, results = play(CHECKED, f"{DETOUR} {CHASE} {CHASE}")
    assert results[7] == WIN
    assert results[11] == FOURFOLD
    assert board.outcome() == FOURFOLD


def test_checks_before_the_first_position_are_not_counted() -> None:
    # The set-up position is in check, but the move that gave it is unknown.
    board, results = play(CHECKED, "5a4a 5i6i 4a5a 6i5i 5a4a 5i4i 4a5a 4i5i", REAL_RULE)
    assert results == [None] * 8
    assert board.repetition() is None


def test_more_in_hand_is_superior_and_less_inferior() -> None:
    _, results = play("4k4/9/9/9/9/9/9/9/4K4 b P 1", "P*5b 5a5b 5i4i 5b4a 4i5i 4a5a")
    assert results == [None] * 5 + [INFERIOR]
    _, results = play("4k4/9/9/9/9/9/9/9/4K4 w P 1", "5a4a P*4b 4a4b 5i4i 4b5a 4i5i")
    assert results == [None] * 5 + [SUPERIOR]


def test_a_position_with_more_in_the_attackers_hand_does_not_recur() -> None:
    board, _ = play("4k4/9/9/9/9/9/9/9/4K4 b P 1", "P*5b 5a5b 5i4i 5b4a 4i5i 4a5a")
    assert (board.recurs(0, 6), board.recurs(1, 6)) == (True, False)
    assert not board.recurs(0, 5)
    board, _ = play(KINGS, walk("5i 5h", 1))
    assert (board.recurs(0, 4), board.recurs(1, 4)) == (True, True)


def test_the_nearest_recurrence_decides() -> None:
    # After giving a pawn away (inferior to the start), going round again is an equal position 4 plies back.
    giving = "P*5b 5a5b 5i4i 5b4a 4i5i 4a5a"
    _, results = play("4k4/9/9/9/9/9/9/9/4K4 b P 1", f"{giving} {walk('5i 5h', 1)}")
    assert results[5] == INFERIOR
    assert results[9] == DRAW


@pytest.mark.parametrize(
    "circle, plies, seen", [("5i 4i 3i 2i 2h 3h 4h 5h", 16, True), ("5i 4i 3i 2i 1i 1h 2h 3h 4h", 18, False)]
)
def test_the_window_reaches_back_exactly_16_plies(circle: str, plies: int, seen: bool) -> None:
    _, results = play(KINGS, walk(circle, 1))
    assert len(results) == plies
    assert results[:-1] == [None] * (plies - 1)
    assert results[-1] == (DRAW if seen else None)


@pytest.mark.parametrize("rules", [Rules(), REAL_RULE])
def test_the_fourth_occurrence_is_seen_however_long_the_cycle(rules: Rules) -> None:
    _, results = play(KINGS, walk("5i 4i 3i 2i 1i 1h 2h 3h 4h", 3), rules)
    assert results == [None] * 53 + [FOURFOLD]


def test_a_copy_remembers_the_game_behind_it() -> None:
    board, _ = play(KINGS, "5i5h 5a5b 5h5i")
    copy = board.copy()
    copy.push_usi("5b5a")
    assert copy.repetition() == DRAW
    assert board.repetition() is None
    board.push_usi("5b6a")
    assert board.repetition() is None


def test_mate_comes_before_repetition_and_repetition_before_the_maximum_ply() -> None:
    rules = Rules(max_ply=12)
    assert play(KINGS, walk("5i 5h", 3), rules)[0].outcome() == FOURFOLD
    assert play(KINGS, walk("5i 4i 4h 5h", 1), Rules(max_ply=8))[0].outcome() == Outcome(0.0, "maximum ply")
    mate = Board("7nk/9/7GP/9/9/9/9/9/4K4 b - 9", Rules(max_ply=9))
    mate.push_usi("1c1b")
    assert mate.outcome() == Outcome(-1.0, "checkmate")


def test_the_maximum_ply_counts_from_the_move_number() -> None:
    board = Board(KINGS.replace(" 1", " 320"), Rules(max_ply=320))
    assert board.outcome() is None
    board.push_usi("5i5h")
    assert board.outcome() == Outcome(0.0, "maximum ply")


def shuffle(board: Board, rng: Random) -> Move:
    """Returns a move that likes to go back to where it came from, and else to give check."""
    moves = board.legal_moves()
    if len(board.move_stack) >= 2 and rng.random() < 0.5:
        last = board.move_stack[-2]
        if not is_drop(last) and (back := make_move(move_to(last), move_from(last))) in moves:
            return back
    checks = board.checks()
    return rng.choice(checks if checks and rng.random() < 0.6 else moves)


ENDGAMES = [
    "4k4/9/9/9/9/9/9/9/K3R4 w - 1",
    "3gkg3/9/9/2R6/9/9/6r2/9/3GKG3 b Pp 1",
    "ln1gk4/9/p1p6/9/4B4/9/9/9/3GKR3 b 2Ps2p 1",
    "4k4/9/4b4/9/9/9/6R2/9/3SKS3 w Ggp 1",
]


def result_by_rule(positions: list[str], checks: list[bool]) -> Outcome | None:
    """The rule of the fourth occurrence over whole SFENs: positions[-1] is the current one."""
    occurrences = [i for i, position in enumerate(positions) if position == positions[-1]][-4:]
    if len(occurrences) < 4:
        return None
    since = checks[occurrences[0] + 1 :]
    # Counted from the end: every second position is reached by a move of the opponent.
    if all(since[-2::-2]):
        return LOSS
    return WIN if all(since[-1::-2]) else FOURFOLD


def test_results_of_shuffling_games_agree_with_cshogi_and_the_rule() -> None:
    cshogi = pytest.importorskip("cshogi")
    meaning = {
        cshogi.NOT_REPETITION: None,
        cshogi.REPETITION_DRAW: DRAW,
        cshogi.REPETITION_WIN: WIN,
        cshogi.REPETITION_LOSE: LOSS,
        cshogi.REPETITION_SUPERIOR: SUPERIOR,
        cshogi.REPETITION_INFERIOR: INFERIOR,
    }
    rng = Random(21)
    seen: dict[str, int] = {}
    for game in range(60):
        sfen = ENDGAMES[game % len(ENDGAMES)]
        board, strict = Board(sfen), Board(sfen, REAL_RULE)
        theirs = cshogi.Board(sfen)
        positions, checks = [board.sfen().rsplit(" ", 1)[0]], [board.is_check()]
        for _ in range(80):
            if not board.legal_moves():
                break
            move = shuffle(board, rng)
            board.push(move)
            strict.push(move)
            theirs.push_usi(move_to_usi(move))
            positions.append(board.sfen().rsplit(" ", 1)[0])
            checks.append(board.is_check())
            fourth = result_by_rule(positions, checks)
            assert strict.repetition() == fourth
            results = board.repetition()
            assert results == (fourth or meaning[theirs.is_draw(16)])
            reason = f"{results.reason} {results.value}" if results else "none"
            seen[reason] = seen.get(reason, 0) + 1
    assert len(seen) == 7, seen
    assert min(seen.values()) >= 2, seen
