"""The position of a session, which `position` sets up and all other commands are about."""

from dataclasses import replace
from typing import TYPE_CHECKING

from goryu.players.config import EngineConfig
from goryu.players.request import Request
from goryu.usi.actions import Action, info_string
from goryu.usi.commands import Command, GoCommand, PositionCommand, parse_position

if TYPE_CHECKING:
    from goryu.players.position import GamePosition


class SessionPosition:
    """The position last set up; the start position before the first."""

    def __init__(self) -> None:
        self._position: GamePosition | None = None
        self._problem = ""  # Of the last `position` command, until a good one.

    def set(self, command: Command, config: EngineConfig) -> list[Action]:
        """Serves `position`. A bad one leaves the old position, which must not be searched any more."""
        described = parse_position(command.arguments)
        try:
            if described is None:
                raise ValueError("expected position startpos|sfen ... [moves ...]")
            self._position = self._set_up(described, config)
        except ValueError as error:
            self._problem = f"position: {error}"
            return [info_string(f"Error! {self._problem}")]
        self._problem = ""
        if config.output.shows_moves:
            return [info_string(self.current(config).board.sfen())]
        return []

    def current(self, config: EngineConfig) -> "GamePosition":
        """Returns the position under the rules that the config describes."""
        from goryu.players.position import rules_of

        if self._position is None:
            self._position = self._set_up(PositionCommand("", ()), config)
        self._position = self._position.under(rules_of(config))
        return self._position

    def problem(self, config: EngineConfig, go: GoCommand) -> str:
        """Returns why the position cannot be searched, or ""."""
        if not self._problem and not go.is_mate and self.current(config).only_for_mate:
            return "position: the side to move has no king"
        return self._problem

    def request(
        self, config: EngineConfig, go: GoCommand, received_s: float, counts_all_moves: bool = False
    ) -> Request:
        """Returns the request to search the position.

        counts_all_moves: pointless non-promotions are moves, too.
        """
        from goryu.players.position import legal_root_moves

        position = self.current(config)
        if counts_all_moves:
            position = position.under(replace(position.board.rules, all_moves=True))
        board, root_moves = legal_root_moves(position, go.searchmoves)
        return Request(board.copy(), replace(go.limits, root_moves=root_moves), config, received_s)

    def _set_up(self, described: PositionCommand, config: EngineConfig) -> "GamePosition":
        from goryu.players.position import GamePosition, rules_of

        return GamePosition(described.sfen, described.moves, rules_of(config), self._position)
