"""The page of a match: its result, how the score became what it is, and every game on a board."""

from collections.abc import Iterator, Sequence
from typing import Any

from goryu.analysis.description import board_after, named_line
from goryu.analysis.standalone_page import standalone_page
from goryu.games.shogi import parse_sfen
from goryu_lab.match.export import result_of
from goryu_lab.match.game_log import GameEntry
from goryu_lab.match.match_statistics import MatchStatistics
from goryu_lab.match.openings import parse_opening
from goryu_lab.match.report import elo_text, summary
from goryu_lab.match.tournament import distinct_pairs

Json = dict[str, Any]


def match_page(names: Sequence[str], limits: Sequence[str], entries: Sequence[GameEntry], report: str) -> str:
    """Returns the page as HTML, one file that needs nothing else.

    limits: of each engine, as people read them. report: the match as text, which stands at the page's end.
    """
    pairs = distinct_pairs(entries)
    data = {
        "title": f"{names[0]} – {names[1]}",
        "names": list(names),
        "limits": list(limits),
        "elo": elo_text(MatchStatistics.from_pairs((a.score, b.score) for a, b in pairs)),
        "summary": summary(names, entries),
        "course": list(course(pairs)),
        "games": [game(entry) for entry in sorted(entries, key=lambda entry: entry.number)],
        "report": report,
    }
    return standalone_page("js/match.js", data)


def course(pairs: Sequence[tuple[GameEntry, GameEntry]]) -> Iterator[tuple[int, float, float, float]]:
    """Yields after each pair: games so far, the score of engine 1 and its 95 % interval, in percent."""
    statistics = MatchStatistics()
    for first, second in pairs:
        statistics = statistics.with_pair((first.score, second.score))
        shares = (statistics.score, *statistics.score_interval)
        score, low, high = (round(100 * share, 2) for share in shares)
        yield 2 * statistics.pairs, score, low, high


def game(entry: GameEntry) -> Json:
    """Returns a game: its moves as USI and in both languages, and the engines' scores.

    Moves are joined by blanks. cps: from black's side, of the moves after the opening; None where an engine
    reported none. winner: 0 black, 1 white, None for a draw.
    """
    opening = parse_opening(entry.opening)
    start = str(parse_sfen(opening.sfen))
    line = named_line(board_after(start, []), [*opening.moves, *entry.moves])
    return {
        "number": entry.number + 1,
        "black": entry.black,
        "start": start,
        "opening": len(opening.moves),
        **{notation: " ".join(moves) for notation, moves in line.items()},
        "cps": [
            cp if cp is None or (entry.first_turn + i) % 2 == 0 else -cp for i, cp in enumerate(entry.cps)
        ],
        "ms": entry.times_ms,
        "winner": result_of(entry)[1],
        "score": entry.score,
        "reason": entry.reason,
        "detail": entry.detail,
    }
