"""Turns game records as people exchange them into training games."""

import re
from collections.abc import Sequence

from goryu.games.shogi import move_from_usi
from goryu.kifu.record import GameRecord as KifuRecord
from goryu.kifu.record import Ply
from goryu_lab.records.game_records import GameRecord
from goryu_lab.records.hcpe import MAX_SCORE, RESULTS

SCORE = re.compile(r"^(?:\*\s*|\*?\s*評価値\s*[=:：]\s*)([+-]?[0-9]{1,7})(?![0-9.])", re.MULTILINE)
"""The score in a comment: floodgate's "* 30 -3334FU", or "*評価値=30"; in centipawns from black's side."""


def training_game(game: KifuRecord, *, scores: bool = False, skip: int = 0) -> GameRecord:
    """Returns a game for training.

    scores: take the scores from the comments; a position without one is then not for training. Otherwise
        every score is 0, and the value target should be the result alone: weight 1 in `--source`.
    skip: this many moves at the start are not for training.
    """
    evals: Sequence[int | None] = [0] * len(game.plies)
    if scores:
        evals = [score_of(ply, (game.turn + i) % 2) for i, ply in enumerate(game.plies)]
    return GameRecord(
        moves=tuple(move_from_usi(move) for move in game.moves),
        evals=tuple(None if i < skip else score for i, score in enumerate(evals)),
        result=RESULTS[game.winner],
        start_sfen=game.start,
        teacher=" - ".join(name or "?" for name in game.names) if any(game.names) else "",
        ending=str(game.ending),
    )


def score_of(ply: Ply, turn: int) -> int | None:
    """Returns the score in the comment on a move, in centipawns for the side that moves, or None.

    turn: that side, 0 black or 1 white; the comment is from black's side.
    """
    match = SCORE.search(ply.comment)
    if match is None:
        return None
    score = max(-MAX_SCORE, min(MAX_SCORE, int(match[1])))
    return -score if turn else score
