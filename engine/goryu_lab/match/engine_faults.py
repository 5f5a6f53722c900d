"""Signs in the log of a match that an engine failed, or hardly played.

A broken installation can look like a result: an engine whose network is missing resigns every game at once.
"""

from collections.abc import Sequence

from goryu_lab.match.engine_stats import loser
from goryu_lab.match.game_log import GameEntry
from goryu_lab.match.referee import Reason

FAILURES = (Reason.CRASH, Reason.HANG, Reason.PROTOCOL, Reason.ILLEGAL_MOVE)
"""Reasons that show a defect of an engine."""

FEW_MOVES = 5
"""A game that an engine loses with at most this many moves of its own is lost at once."""

LOST_AT_ONCE = 4
"""The report warns if at least this many games, and half of all, were lost at once."""


def is_failure(entry: GameEntry) -> bool:
    """Whether an engine failed: by its last answer, or because it reported an error and resigned unplayed."""
    if entry.reason in FAILURES:
        return True
    engine = loser(entry)
    has_reported = any(number == engine for number, _ in entry.errors)
    return entry.reason == Reason.RESIGNATION and has_reported and not _moves(entry, engine)


def warnings(names: Sequence[str], entries: Sequence[GameEntry]) -> dict[tuple[int, str], str]:
    """Returns the warnings about the engines, by the engine's number, 1 or 2, and the kind of the warning."""
    found: dict[tuple[int, str], str] = {}
    for engine, name in enumerate(names, 1):
        texts = [text for entry in entries for number, text in entry.errors if number == engine]
        if texts:
            games = sum(any(number == engine for number, _ in entry.errors) for entry in entries)
            found[engine, "error"] = (
                f"warning: {name} reported an error in {_games(games, entries)}, first: {texts[0]}"
            )
        lost = [entry for entry in entries if loser(entry) == engine and _moves(entry, engine) <= FEW_MOVES]
        if len(lost) >= LOST_AT_ONCE and 2 * len(lost) >= len(entries):
            found[engine, "lost at once"] = (
                f"warning: {name} lost {_games(len(lost), entries)} within {FEW_MOVES} moves of its own: "
                "does it play as it should?"
            )
    return found


def _moves(entry: GameEntry, engine: int | None) -> int:
    return sum(entry.engine_of_move(index) == engine for index in range(len(entry.moves)))


def _games(count: int, entries: Sequence[GameEntry]) -> str:
    return f"{count} of {len(entries)} games"
