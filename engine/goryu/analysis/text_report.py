"""A review as text for a terminal, and as lines of JSON."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from goryu.analysis.description import CLASS_NAMES, Describer, mark
from goryu.analysis.judgement import MISTAKES, MoveClass
from goryu.analysis.review import GameReview, PlyReview
from goryu.analysis.strategies import Name
from goryu.base.language import either, language, tr
from goryu.base.printable import columns
from goryu.kifu.endings import written
from goryu.kifu.handicaps import naming_sides
from goryu.kifu.record import GameRecord

BARS, DIGITS = " ▁▂▃▄▅▆▇█", " 12345678"
GRAPH_WIDTH = 60

SIDES = ("▲", "△")


def summary(name: str, describer: Describer) -> Iterator[str]:
    """Yields the lines of the summary of a review. name: of the game."""
    described, record, review = describer.game(), describer.record, describer.review
    yield name
    facts = [_players(record), _name(described["handicap"]) if described["handicap"] else ""]
    count = tr("{moves} {moves:move|moves}", moves=len(review.moves))
    facts += [_name(described["opening"]), count, _result(record)]
    yield "  " + "  ".join(filter(None, facts))
    castles = [
        f"{sign} {_name(castle)}" for sign, castle in zip(SIDES, described["castles"], strict=True) if castle
    ]
    if castles:
        yield "  " + tr("castles: {castles}", castles="  ".join(castles))
    if not review.moves:
        return
    yield ""
    yield from _graph(review)
    yield ""
    yield from _table(review)
    mistakes = sorted(review.mistakes(), key=lambda ply: ply.ply)
    yield ""
    yield "  " + (tr("mistakes:") if mistakes else tr("no mistakes"))
    for ply in mistakes:
        yield from _mistake(ply, describer)
    yield ""


def _players(record: GameRecord) -> str:
    names = [f"{sign}{name}" for sign, name in zip(SIDES, record.names, strict=True) if name]
    return "  ".join(names)


def _result(record: GameRecord) -> str:
    ending = either(str(record.ending), written(record.ending, "kif"))
    if record.winner is None:
        return ending
    winner = tr("Black won") if record.winner == 0 else tr("White won")
    winner = naming_sides(winner, record.start)
    return f"{winner} ({ending})" if ending else winner


def _name(pair: dict[str, str] | None) -> str:
    return "" if pair is None else pair[language()]


def _graph(review: GameReview) -> Iterator[str]:
    """Yields black's win rate as two rows of bars, of `GRAPH_WIDTH` columns at most."""
    rates = [review.black_win_rate(i) for i in range(len(review.analyses))]
    step = max(1, -(-len(rates) // GRAPH_WIDTH))
    shown = [rates[i] or 0.0 for i in range(0, len(rates), step)]
    letters = BARS if _can_print(BARS) else DIGITS
    for least, label in ((0.5, "100 %"), (0.0, "  0 %")):
        bars = "".join(letters[min(8, max(0, round((rate - least) * 16)))] for rate in shown)
        yield f"  {label} {bars}"
    axis = f"{len(rates) - 1:>{len(shown)}}"
    about = naming_sides(tr("win rate of Black (▲) after each move"), review.start)
    yield f"        0{axis[1:]}  {about}"


def _can_print(text: str) -> bool:
    """Has the encoding of the output these letters? That of Japanese Windows lacks bars."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "ignore").decode(encoding) == text


def _table(review: GameReview) -> Iterator[str]:
    heads = [tr("accuracy"), tr("engine's choice"), tr("mean loss")]
    kinds = (MoveClass.GREAT, MoveClass.INACCURACY, *MISTAKES)
    heads += [_name_of(kind) for kind in kinds]
    widths = [max(9, columns(head) + 2) for head in heads]
    yield "    " + "".join(_right(head, width) for head, width in zip(heads, widths, strict=True))
    for turn, sign in enumerate(SIDES):
        player = review.summary(turn)
        cells = ["–" if player.accuracy is None else f"{player.accuracy:.1f} %"]
        shares = [f"{100 * player.agreement:.0f} %", f"{100 * player.mean_loss:.1f} %"]
        cells += shares if player.moves else ["–", "–"]
        cells += [str(player.counts[kind]) for kind in kinds]
        yield f"  {sign} " + "".join(_right(cell, width) for cell, width in zip(cells, widths, strict=True))


def _mistake(ply: PlyReview, describer: Describer) -> Iterator[str]:
    key = "ja" if language() == "ja" else "en"
    index = ply.ply - 1
    played = describer.line(index, [ply.move])[key][0]
    sign = "" if key == "ja" else SIDES[ply.turn]
    change = f"{100 * ply.win_rate:.0f} % → {100 * ply.played_win_rate:.0f} %"
    yield f"  {ply.ply:>4} {sign}{played}{mark(ply)}  {_name_of(ply.kind)}  {change}" + _mates(ply)
    yield "         " + tr("better: {line}", line=_line(describer.line(index, ply.better_line[:8])[key]))
    if ply.refutation:
        line = _line(describer.line(index + 1, ply.refutation[:8])[key])
        yield "         " + tr("refuted by: {line}", line=line)


def _mates(ply: PlyReview) -> str:
    notes = []
    if ply.missed_mate is not None:
        notes.append(tr("missed a mate in {plies}", plies=ply.missed_mate))
    if ply.allows_mate is not None:
        notes.append(tr("allows a mate in {plies}", plies=ply.allows_mate))
    return "".join(f"  {note}" for note in notes)


def _line(names: Sequence[str]) -> str:
    return " ".join(names)


def _name_of(kind: MoveClass) -> str:
    name: Name = CLASS_NAMES[kind]
    return either(name.english, name.japanese)


def _right(text: str, width: int) -> str:
    return " " * (width - columns(text)) + text


def json_lines(name: str, describer: Describer) -> Iterator[dict[str, Any]]:
    """Yields one object for the game, one for each move and one for the players."""
    described = describer.game()
    moves, positions = described.pop("moves"), described.pop("positions")
    yield {"type": "game", "name": name, **described}
    for index, move in enumerate(moves):
        yield {
            "type": "move",
            "name": name,
            "sfen": positions[index]["sfen"],
            "move": move,
            "judgement": describer.ply(index),
            "position": describer.position(index),
        }
    final = {"sfen": positions[-1]["sfen"], "position": describer.position(len(moves))}
    yield {"type": "summary", "name": name, "players": describer.summary(), "final": final}
