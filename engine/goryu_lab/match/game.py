"""Plays one game between two engines, with a referee and clocks."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from goryu.base.config_fields import option, ranged
from goryu.engines.time_control import Clock, go_command
from goryu.engines.usi_client import EngineError, UsiClient
from goryu_lab.match.openings import Opening
from goryu_lab.match.referee import DeclarationRule, Reason, Referee, Verdict


@dataclass(frozen=True, slots=True)
class GameRules:
    """The rules of every game of a match.

    margin_ms: the pipe and the scheduler also take time.
    resign_plies: moves of both engines.
    """

    declaration: DeclarationRule = option(DeclarationRule.POINTS_27, "rule of the entering king")
    max_plies: int = ranged(320, "after so many moves it is a draw", least=1)
    margin_ms: int = ranged(50, "excess over the time that is forgiven", least=0)
    flag: bool = option(True, "an engine that exceeds its time loses; otherwise this is only reported")
    resign_cp: int = ranged(
        0, "adjudicate when the scores of both engines agree on this lead; 0: never", least=0
    )
    resign_plies: int = ranged(4, "... for so many moves in a row", least=2)


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """One move of an engine. cp: from the mover's side; late_ms: excess over its time."""

    move: str
    elapsed_ms: int
    late_ms: int = 0
    cp: int | None = None
    depth: int | None = None
    nodes: int | None = None


@dataclass(slots=True)
class Game:
    """A finished game: its opening, the moves of the engines, and the verdict.

    too_late: the answer with which the loser exceeded its time; it is not in `moves`.
    errors: the errors that the engines reported during the game or before it, with the side, 0 or 1.
    """

    opening: Opening
    verdict: Verdict
    moves: list[MoveRecord] = field(default_factory=list)
    seconds: float = 0.0
    too_late: MoveRecord | None = None
    errors: Sequence[tuple[int, str]] = ()

    @property
    def plies(self) -> int:
        """Moves on the board, opening included."""
        return len(self.opening.moves) + len(self.moves)


class Adjudicator:
    """Ends games when the scores of both engines agree that they are decided."""

    def __init__(self, resign_cp: int, plies: int) -> None:
        self._resign_cp = resign_cp
        self._scores: deque[int] = deque(maxlen=plies)

    def add_score(self, turn: int, cp: int | None) -> Verdict | None:
        """Takes the score of the side that moved; returns the verdict once the last scores agree."""
        if not self._resign_cp:
            return None
        if cp is None:
            self._scores.clear()
            return None
        self._scores.append(cp if turn == 0 else -cp)
        if len(self._scores) < (self._scores.maxlen or 0):
            return None
        if min(self._scores) >= self._resign_cp:
            return Verdict(0, Reason.ADJUDICATION)
        if max(self._scores) <= -self._resign_cp:
            return Verdict(1, Reason.ADJUDICATION)
        return None


def play_game(players: tuple[UsiClient, UsiClient], opening: Opening, rules: GameRules) -> Game:
    """Plays one game to its end.

    players: black and white, both started. An engine that fails loses; the caller must restart it.
    """
    begin = time.perf_counter()
    referee = Referee(opening.start, declaration=rules.declaration, max_plies=rules.max_plies)
    for move in opening.moves:
        referee.play(move)
    clocks = (Clock(players[0].spec.limits), Clock(players[1].spec.limits))
    adjudicator = Adjudicator(rules.resign_cp, rules.resign_plies)
    moves: list[MoveRecord] = []
    failed: UsiClient | None = None
    turn = 0
    verdict: Verdict | None = None
    try:
        for turn in (0, 1):
            failed = players[turn]
            failed.new_game()
        while verdict is None:
            turn = referee.turn
            failed = players[turn]
            verdict = play_move(failed, referee, clocks, rules, adjudicator, moves)
    except EngineError as error:
        verdict = Verdict(1 - turn, REASON_OF_FAILURE[error.kind], str(error))
    else:
        failed = None
    for side, player in enumerate(players):
        if player is not failed:
            send_result(player, verdict.winner, side)
    too_late = moves.pop() if verdict.reason is Reason.TIME else None
    errors = [(side, text) for side, player in enumerate(players) for text in player.take_errors()]
    return Game(opening, verdict, moves, time.perf_counter() - begin, too_late, errors)


REASON_OF_FAILURE = {"crash": Reason.CRASH, "hang": Reason.HANG, "protocol": Reason.PROTOCOL}


def play_move(
    player: UsiClient,
    referee: Referee,
    clocks: tuple[Clock, Clock],
    rules: GameRules,
    adjudicator: Adjudicator,
    moves: list[MoveRecord],
) -> Verdict | None:
    """Lets the side to move search and play, and returns the verdict if that ended the game.

    Adds the move to `moves`, even one that came too late.
    """
    turn = referee.turn
    clock = clocks[turn]
    reply = player.go(referee.position_command, go_command(turn, clocks), clock.budget_ms)
    late_ms = clock.spend(reply.elapsed_ms)
    info = reply.info
    record = MoveRecord(reply.move, reply.elapsed_ms, late_ms, info.cp, info.depth, info.nodes)
    if late_ms > rules.margin_ms and rules.flag:
        moves.append(record)
        return Verdict(1 - turn, Reason.TIME, f"{reply.move} came {late_ms} ms too late")
    verdict = referee.play(reply.move)
    if reply.move in ("resign", "win") or (verdict and verdict.reason is Reason.ILLEGAL_MOVE):
        return verdict
    moves.append(record)
    return verdict or adjudicator.add_score(turn, info.cp)


def send_result(player: UsiClient, winner: int | None, side: int) -> None:
    """Sends `gameover`; kills an engine that cannot be reached, which the next game then restarts."""
    try:
        player.game_over("draw" if winner is None else "win" if winner == side else "lose")
    except EngineError:
        player.kill()
