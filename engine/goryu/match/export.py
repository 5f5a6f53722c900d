"""Game records for people and other programs: KIF, CSA and USI position lines, written by rsshogi."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from goryu.match.game_log import GameEntry
from goryu.match.openings import parse_opening
from goryu.match.referee import Reason
from goryu.match.referee_board import open_board

__all__ = ["RECORD_FORMATS", "write_records"]

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
"""What KIF and CSA have words for; other games were broken off, and a comment says who won."""


def write_records(entry: GameEntry, names: Sequence[str], directory: Path, formats: Sequence[str]) -> None:
    """Writes one game in each of the formats; a USI record is a line appended to `games.usi`.

    Evaluations become comments (floodgate's form in CSA), in centipawns from black's side.
    """
    stem = directory / f"game{entry.number + 1:05}"
    if "kif" in formats:
        # Into KIF rsshogi writes what the mover reply as black would see it, into CSA as it is.
        make_record(entry, names, entry.cps).write_kif(str(stem.with_suffix(".kifu")), "utf-8")
    if "csa" in formats:
        signs = [1 if (entry.first_turn + i) % 2 == 0 else -1 for i in range(len(entry.moves))]
        cps = [None if cp is None else sign * cp for sign, cp in zip(signs, entry.cps, strict=True)]
        make_record(entry, names, cps).write_csa(str(stem.with_suffix(".csa")), "utf-8")
    if "usi" in formats:
        with (directory / "games.usi").open("a", encoding="utf-8") as file:
            file.write(" ".join([entry.opening, *usi_moves(entry)]) + "\n")


def usi_moves(entry: GameEntry) -> list[str]:
    """Returns what follows the opening in a USI position line."""
    return [*([] if " moves " in entry.opening else ["moves"]), *entry.moves] if entry.moves else []


def make_record(entry: GameEntry, names: Sequence[str], cps: Sequence[int | None]) -> Any:
    """Returns the game as an rsshogi `Record`; cps: the evaluations as the format wants them."""
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
    """Returns the name of the result in rsshogi, and `black won` or the like, empty for a draw."""
    if entry.score == 0.5:
        return RESULTS[entry.reason], ""
    winner = 0 if (entry.score == 1.0) == (entry.black == 1) else 1
    side = ("BLACK", "WHITE")[winner]
    result = RESULTS.get(entry.reason)
    # Whoever is to move cannot win by the other's resignation, which stands for an adjudication.
    is_to_move = (entry.first_turn + len(entry.moves)) % 2 == winner
    has_word = result is not None and not (entry.reason == "adjudication" and is_to_move)
    return (f"{side}_{result}" if has_word else "PAUSED"), f"{side.lower()} won"
