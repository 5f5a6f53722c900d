"""What the engine tells the GUI about a search: `info` lines and the table of moves.

An `info` line holds only words that every known GUI reads (MyShogi drops a line with an unknown
one), whole numbers, and the line of play last.
"""

from collections.abc import Iterator

from goryu.games.shogi import move_to_usi
from goryu.players.config import EngineConfig
from goryu.protocols.scores import score, win_rate
from goryu.search.result import RootMove, SearchResult

__all__ = ["info_lines", "last_lines", "move_table", "plain_info"]


def info_lines(result: SearchResult, elapsed_ms: float, config: EngineConfig) -> list[str]:
    """Returns one line for each of the best moves, the best first; none for a position without moves."""
    shown = result.moves[: config.multi_pv]
    return [_info_line(result, move, rank, elapsed_ms, config) for rank, move in enumerate(shown, start=1)]


def last_lines(result: SearchResult, elapsed_ms: float, config: EngineConfig) -> list[str]:
    """Returns the lines to send before the answer: the very last one belongs to the move that is played.

    Clients attach the score of exactly that line to the move.
    """
    lines = info_lines(result, elapsed_ms, config)
    return lines + lines[:1] if len(lines) > 1 else lines


def plain_info(move: str) -> str:
    """Returns the line for a move that no search has judged."""
    return f"info depth 1 seldepth 1 time 0 nodes 0 nps 0 hashfull 0 score cp 0 pv {move}"


def move_table(result: SearchResult) -> Iterator[str]:
    """Yields the table of the first book's engine: every move with its visits, prior and win rate."""
    moves = sorted(result.moves, key=lambda move: -move.visits)
    for move in moves:
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
    hashfull = min(1000, stats.nodes * 1000 // max(1, stats.capacity))
    multipv = f" multipv {rank}" if config.multi_pv > 1 else ""
    return (
        f"info{multipv} depth {depth} seldepth {max(depth, stats.max_depth)} time {time_ms} nodes {stats.playouts} "
        f"nps {nps} hashfull {hashfull} score {score(move.value, move.mate, config.eval_coef)} "
        f"pv {' '.join(map(move_to_usi, move.pv))}"
    )
