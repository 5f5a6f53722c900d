"""The words for the ends of games, read both ways: those of KIF, CSA and JKF, shogi-server, and our rules."""

from typing import NamedTuple

from goryu.kifu.record import Ending


class Words(NamedTuple):
    """The words for an ending, with | between them; the first one is written, all are read.

    kif: in place of a move; the side to move has won with 反則勝ち and 不戦勝. csa: after %, and JKF's.
    summary: shogi-server's, in `'summary:REASON:BLACK win:WHITE lose`. message: what it sends to the players.
    rules: the reasons that the rules of shogi give (`Outcome.reason`).
    """

    kif: str
    csa: str
    summary: str = ""
    message: str = ""
    rules: str = ""


WORDS = {
    Ending.RESIGNATION: Words("投了", "TORYO", "toryo", "#RESIGN"),
    Ending.CHECKMATE: Words("詰み|詰", "TSUMI", rules="checkmate|no legal move"),
    Ending.DECLARATION: Words("入玉勝ち|宣言勝ち|入玉宣言", "KACHI", "kachi|jishogi|try", "#JISHOGI", "try"),
    Ending.TIME: Words("切れ負け|時間切れ|タイムアップ", "TIME_UP", "time up", "#TIME_UP"),
    Ending.ILLEGAL_MOVE: Words(
        "反則負け|反則勝ち|反則手",
        "ILLEGAL_MOVE|+ILLEGAL_ACTION|-ILLEGAL_ACTION",
        "illegal move|uchifuzume|oute_kaihimore|illegal kachi",
        "#ILLEGAL_MOVE|#ILLEGAL_ACTION",
    ),
    Ending.PERPETUAL_CHECK: Words(
        "反則負け", "ILLEGAL_MOVE|OUTE_SENNICHITE", "oute_sennichite", "#OUTE_SENNICHITE", "perpetual check"
    ),
    Ending.REPETITION: Words("千日手", "SENNICHITE", "sennichite", "#SENNICHITE", "fourfold repetition"),
    Ending.IMPASSE: Words("持将棋", "JISHOGI"),
    Ending.MAX_PLIES: Words("最大手数", "MAX_MOVES", "max_moves", "#MAX_MOVES", "maximum ply"),
    Ending.DRAW: Words("引き分け", "HIKIWAKE"),
    Ending.NO_MATE: Words("不詰", "FUZUMI"),
    Ending.INTERRUPTED: Words("中断|封じ手|優勢勝ち", "CHUDAN|MATTA|ERROR", "abnormal|chudan"),
    Ending.FORFEIT: Words("不戦敗|不戦勝", "CHUDAN", "abnormal"),
}
"""All endings but UNKNOWN. A word that two endings write is read as the first of them."""


def written(ending: Ending, kind: str) -> str:
    """Returns the word for an ending, "" if there is none. kind: a field of `Words`."""
    words: str = getattr(WORDS[ending], kind) if ending in WORDS else ""
    return words.partition("|")[0]


def readable(kind: str) -> dict[str, Ending]:
    """Returns the endings by all their words. kind: a field of `Words`."""
    found: dict[str, Ending] = {}
    for ending, words in WORDS.items():
        for word in filter(None, getattr(words, kind).split("|")):
            found.setdefault(word, ending)
    return found
