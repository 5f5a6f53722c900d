"""What the engine tells the GUI about a search: `info` lines, the table of moves, and the answer.

An `info` line holds only words that every known GUI reads (MyShogi drops a line with an unknown
one), whole numbers, and the line of play last. No `info string` stands between the last of them
and the answer: clients attach the score of exactly that line to the move.
"""

from collections.abc import Iterator

from goryu.games.shogi import move_to_usi
from goryu.players.config import EngineConfig
from goryu.players.request import Answer
from goryu.search.mate import Mate, MateVerdict
from goryu.search.result import RootMove, SearchResult
from goryu.usi.scores import score, win_rate

__all__ = ["answer_lines", "info_lines", "mate_line"]


def info_lines(result: SearchResult, elapsed_ms: float, config: EngineConfig) -> list[str]:
    """Returns one line for each of the best moves, the best first; none for a position without moves."""
    shown = result.moves[: config.output.lines]
    return [_info_line(result, move, rank, elapsed_ms, config) for rank, move in enumerate(shown, start=1)]


def answer_lines(answer: Answer, config: EngineConfig) -> list[str]:
    """Returns the last lines of a search, up to `bestmove`."""
    if answer.declares:
        return ["info string declaration by the entering king", "bestmove win"]
    lines: list[str] = []
    if answer.result is not None:
        lines += _move_table(answer.result) if config.output.shows_moves else ()
        last = info_lines(answer.result, answer.elapsed_ms, config)
        # With several lines of play the last word is still about the move that is played.
        lines += last + last[:1] if len(last) > 1 else last
    elif answer.move is not None:
        unsearched = "info depth 1 seldepth 1 time 0 nodes 0 nps 0 hashfull 0 score cp 0"
        lines.append(f"{unsearched} pv {move_to_usi(answer.move)}")
    best = "resign" if answer.move is None else move_to_usi(answer.move)
    ponder = "" if answer.ponder is None else f" ponder {move_to_usi(answer.ponder)}"
    return [*lines, f"bestmove {best}{ponder}"]


def mate_line(mate: Mate) -> str:
    """Returns the answer of a mate search.

    A search that ran out of time or memory says `timeout`: ShogiHome takes an unknown word for a move.
    """
    if mate.verdict is MateVerdict.MATE:
        return f"checkmate {' '.join(map(move_to_usi, mate.moves))}"
    return "checkmate nomate" if mate.verdict is MateVerdict.NO_MATE else "checkmate timeout"


def _move_table(result: SearchResult) -> Iterator[str]:
    """Yields the table of the first book's engine: every move with its visits, prior and win rate."""
    for move in sorted(result.moves, key=lambda move: -move.visits):
        proof = f" mate:{move.mate}" if move.mate is not None else ""
        yield (
            f"info string {move_to_usi(move.move):5} visits:{move.visits:7} "
            f"prior:{move.prior:7.4f} win rate:{win_rate(move.value):7.4f}{proof}"
        )


def _info_line(
    result: SearchResult, move: RootMove, rank: int, elapsed_ms: float, config: EngineConfig
) -> str:
    stats = result.stats
    depth = max(1, stats.depth)
    time_ms = max(0, round(elapsed_ms))
    nps = stats.playouts * 1000 // max(1, time_ms)
    shown_score = score(move.value, move.mate, config.output.eval_coef)
    multipv = f" multipv {rank}" if config.output.lines > 1 else ""
    return (
        f"info{multipv} depth {depth} seldepth {max(depth, stats.max_depth)} time {time_ms} "
        f"nodes {stats.playouts} nps {nps} hashfull {stats.hashfull} "
        f"score {shown_score} pv {' '.join(map(move_to_usi, move.pv))}"
    )
