"""Says a proved reason, in one or two short sentences."""

from collections import Counter
from collections.abc import Sequence

from goryu.analysis.judgement import MISTAKES
from goryu.analysis.review import PlyReview
from goryu.base.language import either, speaking, tr
from goryu.games.shogi import move_from_usi
from goryu.games.shogi.pieces import KING, ROOK
from goryu.implementation import Board
from goryu.kifu.notation import KANJI, japanese_move, western_move
from goryu_page.reasons.reasons import Reason, ReasonKind, Way, after, passed, reason_of

NAMES = (
    "", "pawn", "lance", "knight", "silver", "bishop", "rook", "gold", "king",
    "tokin", "promoted lance", "promoted knight", "promoted silver", "horse", "dragon",
)  # fmt: skip
"""The English name of each kind of piece; see `games/shogi/pieces.py`."""

MOST_NAMED = 2
"""Kinds of pieces that a sentence names for each side; more of them are "material"."""


def told_reason(board: Board, ply: PlyReview) -> dict[str, str] | None:
    """Returns why a move is a mistake as {"en": ..., "ja": ...}; None if nothing is proved, or it is none.

    board: the position before the move; it is left as it was. Takes some tenths of a second.
    """
    reason = reason_of(board, ply) if ply.kind in MISTAKES else None
    return None if reason is None else both_languages(reason, board, ply.move)


def both_languages(reason: Reason, board: Board, played: str) -> dict[str, str]:
    """Returns the sentences as {"en": ..., "ja": ...}. played: the mistake on the board, in USI."""
    told = {}
    for language in ("en", "ja"):
        with speaking(language):
            told[language] = sentence(reason, board, played)
    return told


def sentence(reason: Reason, board: Board, played: str) -> str:
    """Returns the sentences in the user's language; parameters as of `both_languages`."""
    position = board if reason.is_instead else after(board, move_from_usi(played))
    move = _name(position, reason.move)
    if reason.kind in (ReasonKind.LOSES, ReasonKind.MISSES_GAIN):
        clue, outcome = _clue(reason, move), _outcome(reason, move)
        return either(" ", "").join(filter(None, (clue, outcome)))
    mate, better = "", _name(board, reason.better) if reason.better else ""
    if reason.mate and (there := passed(after(position, move_from_usi(reason.move)))) is not None:
        mate = _name(there, reason.mate)
    texts = {
        ReasonKind.ALLOWS_MATE: tr("{move} begins a mate in {plies}."),
        ReasonKind.IGNORES_THREAT: tr("The threat of mate is not parried: {move} begins a mate in {plies}."),
        ReasonKind.ONLY_MOVE: tr("Only {better} avoids a mate; now {move} begins a mate in {plies}."),
        ReasonKind.MISSES_MATE: tr("{move} would have begun a mate in {plies}."),
        ReasonKind.BRINKMATE: tr("{move} is brinkmate: nothing but checks delays {mate}."),
        ReasonKind.THREAT: tr("{move} threatens a mate in {plies}, which begins with {mate}."),
        ReasonKind.MISSES_THREAT: tr(
            "{move} would have threatened a mate in {plies}, which begins with {mate}."
        ),
    }
    return texts[reason.kind].format(move=move, plies=reason.plies, mate=mate, better=better)


def _name(board: Board, move: str) -> str:
    given = move_from_usi(move)
    return either(western_move(board, given), japanese_move(board, given))


def _clue(reason: Reason, move: str) -> str:
    """Returns how the material is won, "" if that cannot be told."""
    if reason.way is Way.PLAIN:
        return ""
    first, second = (*map(_piece, reason.pieces), "")[:2]
    if reason.way is Way.FORK and reason.pieces[0] == KING:
        return tr("{move} gives check and attacks the {piece}.", move=move, piece=second)
    texts = {
        Way.FORK: tr("{move} attacks both the {first} and the {second}."),
        Way.DEFENDER: tr("The {first} no longer defends."),
        Way.OPEN_LINE: tr("The line of the {first} is open."),
        Way.PIN: tr("The {first} that defends is pinned."),
    }
    return texts[reason.way].format(move=move, first=first, second=second)


def _outcome(reason: Reason, move: str) -> str:
    lost, won = _pieces(reason.lost), _pieces(reason.won)
    is_loss = reason.kind is ReasonKind.LOSES
    if not lost or max(len(set(reason.lost)), len(set(reason.won))) > MOST_NAMED:
        text = tr("{move} wins material.") if is_loss else tr("{move} would have won material.")
    elif not won:
        text = tr("{move} wins {lost}.") if is_loss else tr("{move} would have won {lost}.")
    elif is_loss:
        text = tr("{move} wins {lost} for {won}.")
    else:
        text = tr("{move} would have won {lost} for {won}.")
    return text.format(move=move, lost=lost, won=won)


def _piece(kind: int) -> str:
    return either(NAMES[kind], "飛車" if kind == ROOK else KANJI[kind])


def _pieces(kinds: Sequence[int]) -> str:
    def told(name: str, count: int) -> str:
        return either(f"{count} {name}s", f"{name}{count}枚") if count > 1 else either(f"a {name}", name)

    counts = Counter(map(_piece, kinds))
    return either(" and ", "・").join(told(name, count) for name, count in counts.items())
