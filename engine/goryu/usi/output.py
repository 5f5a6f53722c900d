"""The output for the GUI about a search: `info` lines, a table of moves, the answer.

An `info` line holds only words that every known GUI reads (MyShogi drops a line with an unknown one), whole
numbers, and the variation last. No `info string` comes between the last `info` line and the answer: clients
attach the score of exactly that line to the move.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move
from goryu.players.agents.mcts_player import in_order
from goryu.players.agents.usi_traits import USI_TRAITS, UsiTraits
from goryu.players.config import OutputConfig
from goryu.players.request import Answer
from goryu.players.score import MAX_CP, centipawns, win_rate
from goryu.search.mates.mate import Mate, MateVerdict
from goryu.search.result import RootMove, SearchResult

if TYPE_CHECKING:
    from goryu.implementation import Board

PUCT = USI_TRAITS["puct"]

MATED_LINE = f"info depth 0 seldepth 0 time 0 nodes 0 nps 0 hashfull 0 score cp -{MAX_CP}"
"""Shown before `bestmove resign` if the side to move is mated. Not `mate 0` or `mate -0`: rsshogi reads the
latter as a win, and lishogi ignores both."""


def score(value: float, mate: int | None, coefficient: float) -> str:
    """Returns the score as the protocol writes it, for the side to move.

    mate: plies to the proven end, positive if the side to move wins; never 0.

    >>> score(0.0, None, 600), score(1.0, 3, 600), score(-1.0, -2, 600)
    ('cp 0', 'mate 3', 'mate -2')
    """
    return f"mate {mate}" if mate else f"cp {centipawns(value, coefficient)}"


def info_lines(
    result: SearchResult, elapsed_ms: float, config: OutputConfig, traits: UsiTraits = PUCT
) -> list[str]:
    """Returns one line for each of the moves to show, the best first; none for a position without moves."""
    shown = enumerate(_shown_moves(result, config.lines), start=1)
    return [_info_line(result, move, rank, elapsed_ms, config, traits) for rank, move in shown]


def _shown_moves(result: SearchResult, lines: int) -> list[RootMove]:
    """Returns the moves to show: the move to play, then the others by falling score.

    The search ranks moves by visits, and by a confidence bound for the first, so the first may have a lower
    score than a move that it trusts less. A move without visits has no score yet and is left out.
    """
    known = [move for move in result.moves[:lines] if move.visits or move.mate is not None]
    return [*result.moves[:1], *sorted((move for move in known if move is not result.moves[0]), key=_order)]


def _order(move: RootMove) -> tuple[int, float]:
    """Returns a sort key: wins, the shortest first; open moves by value; losses, the longest first."""
    if move.mate is None:
        return 1, -move.value
    return (0 if move.mate > 0 else 2), move.mate


def _info_line(
    result: SearchResult,
    move: RootMove,
    rank: int,
    elapsed_ms: float,
    config: OutputConfig,
    traits: UsiTraits,
) -> str:
    """Returns the line of one move, with the numbers that the algorithm knows.

    Its depth is the length of its variation, as in dlshogi, or the depth of the last full search. Nodes are
    evaluated positions: a playout that ends at a mate or a repetition needs no evaluation, and a search can
    make a million of them in a second. `UsiTraits.counts_playouts` makes them visits of the root.
    """
    stats = result.stats
    nodes = stats.evaluations
    if traits.counts_playouts:
        nodes = sum(move.visits for move in result.moves)
    depth = stats.depth if traits.deepens else max(1, len(move.pv))
    time_ms = max(0, round(elapsed_ms))
    nps = nodes * 1000 // max(1, time_ms)
    numbers = {
        "depth": f"depth {depth}",
        "seldepth": f"seldepth {max(depth, stats.max_depth)}",
        "time": f"time {time_ms}",
        "nodes": f"nodes {nodes} nps {nps}",
        "hashfull": f"hashfull {stats.hashfull}",
        "score": f"score {score(move.value, move.mate, config.eval_coef)}",
    }
    known = " ".join(text for name, text in numbers.items() if name == "time" or name in traits.info)
    multipv = f"multipv {rank} " if config.lines > 1 else ""
    return f"info {multipv}{known} pv {_line_of(move.pv)}"


def answer_lines(
    answer: Answer, config: OutputConfig, traits: UsiTraits = PUCT, board: "Board | None" = None
) -> list[str]:
    """Returns the last lines of a search, up to `bestmove`. board: the searched position, for the table."""
    if answer.declares:
        return ["info string declaration by the entering king", "bestmove win"]
    lines: list[str] = []
    if answer.result is not None:
        if config.shows_moves and board is not None:
            lines += move_table(answer.result, board, config, traits)
        last = info_lines(answer.result, answer.elapsed_ms, config, traits)
        # The last line is always about the move that is played.
        lines += last + last[:1] if len(last) > 1 else last
    elif answer.move is not None:
        unsearched = "info depth 1 seldepth 1 time 0 nodes 0 nps 0 hashfull 0 score cp 0"
        lines.append(f"{unsearched} pv {move_to_usi(answer.move)}")
    best = "resign" if answer.move is None else move_to_usi(answer.move)
    ponder = "" if answer.ponder is None else f" ponder {move_to_usi(answer.ponder)}"
    return [*lines, f"bestmove {best}{ponder}"]


def mate_line(mate: Mate) -> str:
    """Returns the answer of a mate search.

    A search that ran out of time or memory answers `timeout`: ShogiHome takes an unknown word for a move.
    """
    if mate.verdict is MateVerdict.MATE:
        return f"checkmate {_line_of(mate.moves)}"
    return "checkmate nomate" if mate.verdict is MateVerdict.NO_MATE else "checkmate timeout"


def move_table(
    result: SearchResult, board: "Board", config: OutputConfig, traits: UsiTraits = PUCT
) -> Iterator[str]:
    """Yields the table of moves of python-dlshogi (山岡忠夫『将棋AIで学ぶディープラーニング』, 2018).

    A row begins with the number of the move among the searched ones, in the order in which python-shogi
    generates the legal moves, as there. The most visited move comes first, or the rows are in this order
    (`DebugMessage_Order`).
    """
    places = {move: place for place, move in enumerate(in_order(board))}
    rows_in_order = sorted(result.moves, key=lambda move: places[move.move])
    numbers = {move.move: number for number, move in enumerate(rows_in_order)}
    rows = list(result.moves)
    if config.table_order == "moves":
        rows = rows_in_order
    elif "visits" in traits.columns:
        rows.sort(key=lambda move: -move.visits)
    for move in rows if traits.columns else ():
        columns = move_columns(move, traits)
        yield f"info string {numbers[move.move]:3}:{move_to_usi(move.move):5} {columns}"


def move_columns(move: RootMove, traits: UsiTraits) -> str:
    """Returns what the algorithm knows of a move, in the words of python-dlshogi."""
    is_untried = "visits" in traits.columns and move.visits == 0 and move.mate is None
    columns = {
        "visits": f"move_count:{move.visits:4}",
        "prior": f"nn_rate:{move.prior:.5f}",
        "win_rate": "win_rate:untried" if is_untried else f"win_rate:{win_rate(move.value):.5f}",
    }
    proof = f" mate:{move.mate}" if move.mate is not None else ""
    return " ".join(text for name, text in columns.items() if name in traits.columns) + proof


def _line_of(moves: tuple[Move, ...]) -> str:
    return " ".join(map(move_to_usi, moves))
