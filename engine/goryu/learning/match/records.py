"""Game records for people and other programs: KIF, CSA and USI position lines, written by rsshogi."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from goryu.learning.match.journal import GameEntry
from goryu.learning.match.openings import parse_opening
from goryu.learning.match.rules import open_rules

__all__ = ["RECORD_FORMATS", "write_records"]

RECORD_FORMATS = ("kif", "csa", "usi")

RESULTS = {
    "checkmate": "WIN",
    "resignation": "WIN",
    "adjudication": "WIN",
    "perpetual check": "WIN_BY_ILLEGAL_MOVE",
    "declaration": "WIN_BY_DECLARATION",
    "try": "WIN_BY_TRY_RULE",
    "time": "WIN_BY_TIMEOUT",
    "illegal move": "WIN_BY_ILLEGAL_MOVE",
    "false declaration": "WIN_BY_ILLEGAL_MOVE",
    "repetition": "DRAW_BY_REPETITION",
    "max plies": "DRAW_BY_MAX_PLIES",
}


def write_records(entry: GameEntry, names: Sequence[str], directory: Path, formats: Sequence[str]) -> None:
    """Writes one game in each of the formats; a USI record is a line appended to `games.usi`.

    Evaluations become comments (floodgate's form in CSA), in centipawns from black's side.
    """
    record = make_record(entry, names)
    stem = directory / f"game{entry.number + 1:05}"
    if "kif" in formats:
        record.write_kif(str(stem.with_suffix(".kifu")), "utf-8")
    if "csa" in formats:
        record.write_csa(str(stem.with_suffix(".csa")), "utf-8")
    if "usi" in formats:
        with (directory / "games.usi").open("a", encoding="utf-8") as file:
            file.write(" ".join([entry.opening, *usi_moves(entry)]) + "\n")


def usi_moves(entry: GameEntry) -> list[str]:
    """Returns what follows the opening in a USI position line."""
    return [*([] if " moves " in entry.opening else ["moves"]), *entry.moves] if entry.moves else []


def make_record(entry: GameEntry, names: Sequence[str]) -> Any:
    """Returns the game as an rsshogi `Record`."""
    rsshogi = import_module("rsshogi.record")
    opening = parse_opening(entry.opening)
    before: list[None] = [None] * len(opening.moves)
    winner_is_black = (entry.score == 1.0) == (entry.black == 1)
    result = RESULTS.get(entry.reason, "WIN_BY_FORFEIT")
    if not result.startswith("DRAW"):
        result = ("BLACK_" if winner_is_black else "WHITE_") + result
    signs = [1 if (entry.first_turn + i) % 2 == 0 else -1 for i in range(len(entry.moves))]
    return rsshogi.Record.from_usi_main_line(
        open_rules("rsshogi", opening.start).sfen(),
        [*opening.moves, *entry.moves],
        result=getattr(rsshogi.GameResult, result),
        move_times_ms=[*before, *entry.times_ms],
        evals=[*before, *(None if cp is None else s * cp for s, cp in zip(signs, entry.cps, strict=True))],
        depths=[*before, *entry.depths],
        nodes=[*before, *entry.nodes],
        metadata=rsshogi.RecordMetadata(
            black_player=names[entry.black - 1],
            white_player=names[2 - entry.black],
            start_date=entry.date[:10].replace("-", "/"),
            comment=" ".join(filter(None, [entry.reason, entry.detail])),
        ),
    )
