"""Which players can play a game."""

from collections.abc import Iterable

from goryu.base.language import tr
from goryu.commands.terminal.game_display import GAMES
from goryu.players.agents.agents import AgentError
from goryu.players.agents.catalogue import ALGORITHMS


def check_players(names: Iterable[str], game: str) -> None:
    """Raises AgentError if a player would search for years. Names that are wrong pass."""
    for name in names:
        algorithm = ALGORITHMS.get(name.partition(":")[0])
        if algorithm and algorithm.searches_whole_game and not GAMES[game].is_small:
            text = (
                "{name} searches the whole game, which takes years in {game}; "
                "expected another player, such as depth-limited"
            )
            raise AgentError(tr(text, name=name, game=game))
