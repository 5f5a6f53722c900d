"""Plays one game of a teacher against itself and records it for training.

The opening is a few random moves, kept if the teacher's score is balanced. Then every move is the teacher's:
a random move in the middle of a game makes its earlier scores and its result disagree. Decided positions
teach little, so only a few are recorded before the score ends the game. Goryu's own rules decide repetitions,
declarations and the length.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from random import Random

from goryu.base.config_fields import MOST_SEED, option, ranged
from goryu.engines.usi_client import EngineError, SearchReply, UsiClient
from goryu.games.shogi import IllegalMoveError, MoveError, Rules, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_records import GameRecord, Policy
from goryu_lab.records.hcpe import MAX_SCORE, RESULTS
from goryu_lab.self_play.teacher.targets import iteration_target

MAX_OPENINGS = 1000
"""Openings tried for one game before it fails."""

MAX_ATTEMPTS = 8
"""Attempts to get a searched move: Fairy-Stockfish sometimes answers at once without a search."""


@dataclass(frozen=True, slots=True)
class TeacherConfig:
    """How the games are played. Equal configs give equal games if the engine is deterministic.

    seed: together with the number of the game. openings: one of them, at random, precedes the random moves.
    balance_cp: otherwise another opening is drawn.
    max_decided: positions of a game with a score above `decided_cp` that are recorded.
    """

    go: str = option("nodes 5000", "text after `go`, such as depth 12 or movetime 100")
    seed: int = ranged(0, "seed of the openings; use another for every run", least=0, most=MOST_SEED)
    random_plies: tuple[int, int] = option((2, 10), "random moves at the start or after the opening")
    openings: Sequence[Opening] = (Opening(),)
    balance_cp: int = ranged(250, "keep an opening if the teacher's score is within this", least=0)
    decided_cp: int = 1500
    max_decided: int = 6
    resign_cp: int = ranged(3000, "end a game at this score", least=1)
    max_plies: int = ranged(320, "a game is a draw after so many moves", least=1)


def teacher_game(
    client: UsiClient,
    number: int,
    config: TeacherConfig,
    teacher: str = "",
    barred: Container[int] = (),
) -> GameRecord:
    """Plays and returns the game of a number.

    client: a started engine. teacher: goes into the record. barred: the numbers of openings that begin
    other games.

    Raises EngineError if the engine dies, hangs, or breaks the rules of shogi or of USI.
    """
    rng = Random(f"{config.seed} {number}")
    game, reply, score = _balanced_opening(client, config, rng, barred)
    end = None
    while end is None:
        try:
            end = game.play_on(reply, score) or game.end()
        except (MoveError, IllegalMoveError) as error:
            raise EngineError("protocol", f"{client.name}: {error}") from error
        if end is None:
            reply, score = game.search()
    winner, ending = end
    return GameRecord(
        moves=tuple(int(move) for move in game.board.move_stack),
        evals=tuple(game.evals),
        result=RESULTS[winner],
        policies=tuple(game.policies) if any(game.policies) else None,
        start_sfen=game.start_sfen,
        teacher=teacher,
        ending=ending,
        number=number,
    )


@dataclass(frozen=True, slots=True)
class DrawnOpening:
    """An opening with its random moves. key: the `position_key` after it. is_over: does it end the game?"""

    opening: Opening
    key: int
    is_over: bool


def draw_opening(config: TeacherConfig, rng: Random) -> DrawnOpening:
    """Draws an opening and its random moves."""
    drawn = rng.choice(config.openings)
    board = Board(drawn.sfen, Rules(max_ply=config.max_plies))
    for move in drawn.moves:
        board.push_usi(move)
    moves = list(drawn.moves)
    for _ in range(rng.randint(*config.random_plies)):
        if board.outcome() is None:
            moves.append(move_to_usi(rng.choice(board.legal_moves())))
            board.push_usi(moves[-1])
    return DrawnOpening(replace(drawn, moves=tuple(moves)), board.position_key, board.outcome() is not None)


def _balanced_opening(
    client: UsiClient, config: TeacherConfig, rng: Random, barred: Container[int]
) -> tuple["_TeacherGame", SearchReply, int | None]:
    """Returns a game after an opening with a balanced score, and the teacher's reply to the position."""
    for number in range(MAX_OPENINGS):
        drawn = draw_opening(config, rng)
        if number not in barred and not drawn.is_over:
            game = _TeacherGame(client, config, drawn.opening)
            client.new_game()
            reply, score = game.search()
            if score is not None and abs(score) <= config.balance_cp:
                return game, reply, score
    raise EngineError("protocol", f"{client.name}: no new opening with a balanced score among {MAX_OPENINGS}")


class _TeacherGame:
    """A game in progress; evals and policies have one entry per move, None where nothing is recorded."""

    def __init__(self, client: UsiClient, config: TeacherConfig, opening: Opening) -> None:
        self.start_sfen = opening.sfen
        self.board = Board(self.start_sfen, Rules(max_ply=config.max_plies))
        self.evals: list[int | None] = []
        self.policies: list[Policy | None] = []
        self._client = client
        self._config = config
        self._command = ["position", opening.start, "moves"]
        self._decided = 0
        for move in opening.moves:
            self.push(move)

    def end(self) -> tuple[int | None, str] | None:
        """Returns the winner (0 Black, 1 White, None: a draw) and the reason, or None if the game goes on."""
        outcome = self.board.outcome()
        if outcome is None:
            return None
        if outcome.value == 0.0:
            return None, outcome.reason
        return (self.board.turn if outcome.value > 0.0 else 1 - self.board.turn), outcome.reason

    def push(self, move: str, score: int | None = None, policy: Policy | None = None) -> None:
        """Plays a move; raises MoveError or IllegalMoveError if it or a move of its policy is illegal."""
        for choice, _ in policy or ():
            if not self.board.is_legal(Move(choice)):  # The lines are of another position.
                text = move_to_usi(Move(choice))
                raise IllegalMoveError(f"expected lines of {self.board.sfen()}, received {text}")
        self.board.push_usi(move)
        self._command.append(move)
        self.evals.append(score)
        self.policies.append(policy)

    def search(self) -> tuple[SearchReply, int | None]:
        """Returns the teacher's reply and its score in centipawns; None if it resigns."""
        position = " ".join(self._command if self.evals else self._command[:-1])
        move = ""
        for _ in range(MAX_ATTEMPTS):
            reply = self._client.go(position, f"go {self._config.go}", None)
            if reply.move == "resign":
                return reply, None
            info = reply.info
            if info.cp is not None and info.nodes != 0:
                return reply, max(-MAX_SCORE, min(MAX_SCORE, info.cp))
            move = reply.move
            self._client.new_game()
        raise EngineError("protocol", f"{self._client.name} answered {move} without a score to {position}")

    def play_on(self, reply: SearchReply, score: int | None) -> tuple[int | None, str] | None:
        """Plays and records the teacher's move; returns winner and reason if the score ends the game."""
        turn, config = self.board.turn, self._config
        if score is None:
            return 1 - turn, "resignation"
        self._decided += abs(score) > config.decided_cp
        if abs(score) <= config.decided_cp or self._decided <= config.max_decided:
            self.push(reply.move, score, iteration_target(reply.lines, reply.move))
        else:
            self.push(reply.move)
        if abs(score) < config.resign_cp:
            return None
        return (turn if score > 0 else 1 - turn), "decided score"
