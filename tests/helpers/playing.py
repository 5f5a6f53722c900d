"""Players that have loaded, searches of theirs, and clocks that tests move."""

from collections.abc import Callable
from itertools import count
from time import perf_counter

from goryu.games.shogi import START_SFEN
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig
from goryu.players.player import Player
from goryu.players.position import GamePosition, rules_of
from goryu.players.request import Answer, Request, SearchControl
from goryu.search.result import SearchResult


def never(_stats: object = None) -> bool:
    """Stops no search."""
    return False


def ticking(step_s: float) -> Callable[[], float]:
    """Returns a clock on which every question takes this long; it begins at 0."""
    moments = count()
    return lambda: next(moments) * step_s


def loaded(config: EngineConfig, clock: Callable[[], float] = perf_counter) -> tuple[Player, list[str]]:
    """Returns a player, and what it said when it loaded and says later."""
    player, messages = Player(clock), list[str]()
    player.load(config, messages.append)
    return player, messages


def request_of(
    config: EngineConfig,
    *moves: str,
    limits: Limits | None = None,
    sfen: str = START_SFEN,
    started_s: float | None = None,
) -> Request:
    """Returns the request for a move after these; by default with 30 nodes and the clock started now."""
    board = GamePosition(sfen, moves, rules_of(config)).board
    started_s = perf_counter() if started_s is None else started_s
    return Request(board, limits or Limits(nodes=30), config, started_s)


def search(
    player: Player,
    config: EngineConfig,
    *moves: str,
    limits: Limits | None = None,
    sfen: str = START_SFEN,
    started_s: float | None = None,
    control: SearchControl | None = None,
    report: Callable[[SearchResult, float], None] = lambda result, ms: None,
) -> Answer:
    """Returns the answer to `request_of` these arguments."""
    request = request_of(config, *moves, limits=limits, sfen=sfen, started_s=started_s)
    return player.search(request, control or SearchControl(), report)


def searched(player: Player, config: EngineConfig, *moves: str, **arguments: object) -> SearchResult:
    """Like `search`, for the result."""
    result = search(player, config, *moves, **arguments).result  # type: ignore[arg-type]
    assert result is not None
    return result
