"""Writes games as KIF, CSA or USI position lines, by the library rsshogi."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from goryu.match.game_log import GameEntry
from goryu.match.openings import parse_opening
from goryu.match.referee import Reason
from goryu.match.referee_board import open_board

RECORD_FORMATS = ("kif", "csa", "usi")

RESULTS: dict[str, str] = {
    Reason.CHECKMATE: "WIN",
    Reason.RESIGNATION: "WIN",
    Reason.ADJUDICATION: "WIN",
    Reason.PERPETUAL_CHECK: "WIN_BY_ILLEGAL_MOVE",
    Reason.DECLARATION: "WIN_BY_DECLARATION",
    Reason.TIME: "WIN_BY_TIMEOUT",
    Reason.ILLEGAL_MOVE: "WIN_BY_ILLEGAL_MOVE",
    Reason.FALSE_DECLARATION: "WIN_BY_ILLEGAL_MOVE",
    Reason.REPETITION: "DRAW_BY_REPETITION",
    Reason.MAX_PLIES: "DRAW_BY_MAX_PLIES",
}
"""The results that KIF and CSA can express. Other games end as PAUSED, and a comment names the winner."""


def write_records(entry: GameEntry, names: Sequence[str], directory: Path, formats: Sequence[str]) -> None:
    """Writes one game in each of the formats; in USI it appends a line to `games.usi`.

    Scores become comments (in CSA in the form of floodgate), in centipawns from black's side.
    """
    stem = directory / f"game{entry.number + 1:05}"
    if "kif" in formats:
        # rsshogi itself turns the scores to black's side for KIF, but not for CSA.
        make_record(entry, names, entry.cps).write_kif(str(stem.with_suffix(".kifu")), "utf-8")
    if "csa" in formats:
        signs = [1 if (entry.first_turn + i) % 2 == 0 else -1 for i in range(len(entry.moves))]
        cps = [None if cp is None else sign * cp for sign, cp in zip(signs, entry.cps, strict=True)]
        make_record(entry, names, cps).write_csa(str(stem.with_suffix(".csa")), "utf-8")
    if "usi" in formats:
        with (directory / "games.usi").open("a", encoding="utf-8") as file:
            file.write(" ".join([entry.opening, *usi_moves(entry)]) + "\n")


def usi_moves(entry: GameEntry) -> list[str]:
    """Returns the words after the opening in a USI position line."""
    return [*([] if " moves " in entry.opening else ["moves"]), *entry.moves] if entry.moves else []


def make_record(entry: GameEntry, names: Sequence[str], cps: Sequence[int | None]) -> Any:
    """Returns the game as an rsshogi `Record`; cps: a score for each move, from the side the format needs."""
    rsshogi = import_module("rsshogi.record")
    opening = parse_opening(entry.opening)
    before: list[None] = [None] * len(opening.moves)
    result, winner = result_of(entry)
    return rsshogi.Record.from_usi_main_line(
        open_board("rsshogi", opening.start).sfen(),
        [*opening.moves, *entry.moves],
        result=getattr(rsshogi.GameResult, result),
        move_times_ms=[*before, *entry.times_ms],
        evals=[*before, *cps],
        depths=[*before, *entry.depths],
        nodes=[*before, *entry.nodes],
        metadata=rsshogi.RecordMetadata(
            black_player=names[entry.black - 1],
            white_player=names[2 - entry.black],
            start_date=entry.date[:10].replace("-", "/"),
            comment=" ".join(filter(None, [entry.reason, entry.detail, winner])),
        ),
    )


def result_of(entry: GameEntry) -> tuple[str, str]:
    """Returns the name of the result in rsshogi, and `black won` or `white won`, empty for a draw."""
    if entry.score == 0.5:
        return RESULTS[entry.reason], ""
    winner = 0 if (entry.score == 1.0) == (entry.black == 1) else 1
    side = ("BLACK", "WHITE")[winner]
    result = RESULTS.get(entry.reason)
    # An adjudication is written as a resignation, and only the side to move can resign.
    is_to_move = (entry.first_turn + len(entry.moves)) % 2 == winner
    can_be_written = result is not None and not (entry.reason == Reason.ADJUDICATION and is_to_move)
    return (f"{side}_{result}" if can_be_written else "PAUSED"), f"{side.lower()} won"
