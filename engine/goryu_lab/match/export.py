"""Writes the games of a match as KIF, CSA or USI position lines."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from goryu.games.shogi import parse_sfen
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_csa, to_kif, to_usi
from goryu_lab.match.game_log import GameEntry
from goryu_lab.match.openings import parse_opening
from goryu_lab.match.referee import Reason

RECORD_FORMATS = ("kif", "csa", "usi")

ENDINGS: dict[str, Ending] = {
    **{str(ending): ending for ending in Ending},
    Reason.ADJUDICATION: Ending.RESIGNATION,
    Reason.FALSE_DECLARATION: Ending.ILLEGAL_MOVE,
    Reason.MAX_PLIES: Ending.MAX_PLIES,
}
"""The endings that records can express. Other games are interrupted, and a header names the winner."""


def write_records(entry: GameEntry, names: Sequence[str], directory: Path, formats: Sequence[str]) -> None:
    """Writes one game in each of the formats; in USI it appends a line to `games.usi`.

    Scores become comments, in the form that readers of the format know, in centipawns from black's side.
    """
    stem = directory / f"game{entry.number + 1:05}"
    if "kif" in formats:
        stem.with_suffix(".kifu").write_text(to_kif(make_record(entry, names, "*評価値={cp}")), "utf-8")
    if "csa" in formats:
        stem.with_suffix(".csa").write_text(to_csa(make_record(entry, names, "* {cp} {nodes}")), "utf-8")
    if "usi" in formats:
        with (directory / "games.usi").open("a", encoding="utf-8") as file:
            file.write(to_usi(make_record(entry, names, "")) + "\n")


def make_record(entry: GameEntry, names: Sequence[str], score_format: str) -> GameRecord:
    """Returns the game.

    score_format: the comment on a move; {cp} is its score from black's side, {nodes} its nodes as floodgate
        writes them, such as #1000.
    """
    opening = parse_opening(entry.opening)
    ending, winner = result_of(entry)
    won = f"{('black', 'white')[winner]} won" if winner is not None else ""
    plies = [Ply(move) for move in opening.moves]
    plies += [_ply(entry, i, score_format) for i in range(len(entry.moves))]
    return GameRecord(
        start=str(parse_sfen(opening.sfen)),
        plies=tuple(plies),
        names=(names[entry.black - 1], names[2 - entry.black]),
        ending=ending,
        winner=winner,
        headers={
            "開始日時": entry.date[:10].replace("-", "/"),
            "備考": " ".join(filter(None, [entry.reason, entry.detail, won])),
        },
    )


def _ply(entry: GameEntry, i: int, score_format: str) -> Ply:
    """Returns move `i` of the engines."""
    cp, nodes = entry.cps[i], entry.nodes[i]
    comment = ""
    if cp is not None:
        black_cp = cp if (entry.first_turn + i) % 2 == 0 else -cp
        comment = score_format.format(cp=black_cp, nodes=f"#{nodes}" if nodes else "").rstrip()
    return Ply(entry.moves[i], comment, entry.times_ms[i] / 1000)


def result_of(entry: GameEntry) -> tuple[Ending, int | None]:
    """Returns the ending and the winner, 0 black or 1 white; None for a draw."""
    ending = ENDINGS.get(entry.reason, Ending.INTERRUPTED)
    if entry.score == 0.5:
        return ending, None
    winner = 0 if (entry.score == 1.0) == (entry.black == 1) else 1
    # An adjudication is written as a resignation, and only the side to move can resign.
    is_to_move = (entry.first_turn + len(entry.moves)) % 2 == winner
    can_be_written = not (entry.reason == Reason.ADJUDICATION and is_to_move)
    return (ending if can_be_written else Ending.INTERRUPTED), winner


def rewrite_records(
    entries: Sequence[GameEntry], names: Sequence[str], directory: Path, formats: Sequence[str]
) -> None:
    """Writes the records of logged games; some are missing after a kill, or a run without records."""
    if "usi" in formats:
        (directory / "games.usi").unlink(missing_ok=True)
    if formats:
        for entry in entries:
            write_records(entry, names, directory, formats)


def new_folder() -> Path:
    """Creates a folder for a match; several may begin in the same second."""
    name = f"match-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = Path("runs") / name, 1
    while True:
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1
            folder = folder.with_name(f"{name}-{number}")
