"""One game of a network against itself, written down as training wants it.

Every move is found by a Gumbel search, whose improved policy is worth learning after a handful of playouts
(Danihelka et al., ICLR 2022). Most moves get a cheap search that is only played, some a full one that is also
recorded: playout-cap randomisation (Wu, "Accelerating Self-Play Learning in Go", 2019), which makes many
games and so many results, and still good policies. The full searches go where the cheap one was surprised,
where its policy left the network's prior most: KataGo weights such positions up once they are searched, here
they are searched more often in the first place, so that no playout is spent on a position of little weight.

A game is a generator that asks for evaluations; `pool.py` plays many of them on one network.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from goryu.games.shogi import Rules
from goryu.games.state import Move, State
from goryu.implementation import Board, solve
from goryu.learning.records.game_records import GameRecord, Policy
from goryu.learning.records.hcpe import BLACK_WON, DRAW, WHITE_WON
from goryu.learning.self_play.evaluation_cache import Memory
from goryu.match.openings import Opening
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelConfig, GumbelResult, improved_policy, logits_of, search_steps
from goryu.search.mate import MateVerdict

__all__ = [
    "GameSteps",
    "SelfPlaySettings",
    "centipawns",
    "improved_target",
    "play_game",
    "policy_target",
    "surprise",
]

GameSteps = Generator[list[State], list[Evaluation], GameRecord]
"""A game that yields positions, is sent one evaluation for each, and returns its record."""

MATE_SCORE = 10_000
"""Centipawns recorded for a position with a proven mate, and the greatest score of any other."""

USUAL_SURPRISE = 0.04
"""Nats at which a position gets exactly the share `full_share` of full searches; about the mean of a network
that has learned something. It need not be exact: it only turns a share into a probability."""


@dataclass(frozen=True, slots=True)
class SelfPlaySettings:
    """How the games are played and which of their positions are recorded.

    cheap_playouts, full_playouts: of the two kinds of search; with 0 the moves are drawn from the network's
        policy, and its own value is recorded. full_share: about the share of full ones.
    random_plies: least and greatest number of random moves after the opening.
    sampled_plies: so many moves after them are drawn from the improved policy; from then on the search's move
        is played, in which the root's Gumbel noise still has its part.
    mate_nodes: of the mate search before every move, which ends the game if it proves a mate; 0 for none.
    resign_value, resign_moves: a side resigns that has seen no better value so many times in a row.
    control_share: share of the games that are played to the end, to see whether resigning was right.
    max_plies: a draw after so many moves. scale: centipawns at which the win odds are e : 1, for the record.
    target_scale: `c_scale` of the policies that are recorded. Those by which a search finds its moves are too
        sure to be learned: they take every error of the network's values for knowledge. Tuned with goryu-5x64
        on 245 held-out positions of Fairy-Stockfish's games. Its moves cost the prior 2.14 nats, and a policy
        of 64 playouts 2.72 at 1, 2.18 at 0.5, 2.04 at 0.2, 2.06 at 0.1; 0.2 was best for 128 playouts, too
        (a throw-away script, run 7; not yet tried in play).
    """

    cheap_playouts: int = 12
    full_playouts: int = 64
    full_share: float = 0.3
    considered: int = 16
    random_plies: tuple[int, int] = (0, 6)
    sampled_plies: int = 12
    mate_nodes: int = 300
    resign_value: float = -0.94
    resign_moves: int = 3
    control_share: float = 0.1
    max_plies: int = 320
    scale: float = 600.0
    target_scale: float = 0.2

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that make no game."""
        least, most = self.random_plies
        if not 0 <= least <= most:
            raise ValueError(f"random_plies {least} {most}: expected 0 <= MIN <= MAX")
        for name in ("cheap_playouts", "full_playouts"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: expected 0 or more, received {getattr(self, name)}")
        for name in ("considered", "scale", "target_scale"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: expected more than 0, received {getattr(self, name)}")


def play_game(
    settings: SelfPlaySettings, opening: Opening, rng: Random, number: int, teacher: str
) -> GameSteps:
    """Plays one game from an opening; number, teacher: for its record."""
    game = _Game(settings, opening, rng)
    config = GumbelConfig(considered=settings.considered)
    memory = Memory()
    while (end := game.finish()) is None:
        noise = rng.getrandbits(64)  # A full search draws the cheap one's moves, which are judged already.
        result = yield from memory.steps(
            search_steps(game.board, settings.cheap_playouts, config, Random(noise))
        )
        surprised = surprise(result.prior, improved_target(result, settings))
        probability = settings.full_share * (0.5 + 0.5 * min(surprised / USUAL_SURPRISE, 4.0))
        if is_full := rng.random() < probability:
            result = yield from memory.steps(
                search_steps(game.board, settings.full_playouts, config, Random(noise))
            )
        game.play(result, is_recorded=is_full)
        memory.next_move()
    winner, ending = end
    return GameRecord(
        moves=tuple(int(move) for move in game.board.move_stack),
        evals=tuple(game.evals),
        result=DRAW if winner is None else (BLACK_WON, WHITE_WON)[winner],
        policies=tuple(game.policies),
        start_sfen=game.start_sfen,
        teacher=teacher,
        ending=ending,
        number=number,
        scale=settings.scale,
    )


def improved_target(result: GumbelResult, settings: SelfPlaySettings) -> list[float]:
    """Returns the improved policy that is worth learning, in the order of the result's moves."""
    config = GumbelConfig(c_scale=settings.target_scale)
    return improved_policy(logits_of(result.prior), result.values, result.visits, config)


def surprise(prior: Sequence[float], target: Sequence[float]) -> float:
    """Returns KL(target || prior) in nats: how far the search left what the network expected."""
    divergence = 0.0
    for improved, expected in zip(target, prior, strict=True):
        if improved > 0.0:
            divergence += improved * log(improved / max(expected, 1e-12))
    return max(0.0, divergence)


def policy_target(moves: Sequence[Move], policy: Sequence[float], least: float = 0.002) -> Policy:
    """Returns a policy without its tail: the moves of at least `least`, or else the best one."""
    pairs = sorted(zip(moves, policy, strict=True), key=lambda pair: -pair[1])
    kept = [(int(move), p) for move, p in pairs if p >= least] or [(int(pairs[0][0]), 1.0)]
    total = 0.0
    for _, p in kept:
        total += p
    return tuple((move, p / total) for move, p in kept)


def centipawns(value: float, scale: float) -> int:
    """Returns a value in [-1, +1] as centipawns within ±`MATE_SCORE`.

    >>> centipawns(0.0, 600.0), centipawns(0.5, 600.0), centipawns(-1.0, 600.0)
    (0, 659, -10000)
    """
    least = 1.0 / (1.0 + exp(MATE_SCORE / scale))
    rate = min(1.0 - least, max(least, (value + 1.0) / 2.0))
    return round(scale * log(rate / (1.0 - rate)))


class _Game:
    """A game in progress; evals and policies have one entry a move, None where nothing is recorded."""

    def __init__(self, settings: SelfPlaySettings, opening: Opening, rng: Random) -> None:
        self.settings = settings
        self.rng = rng
        self.start_sfen = opening.sfen
        self.board = Board(self.start_sfen, Rules(max_ply=settings.max_plies, all_moves=False))
        self.evals: list[int | None] = []
        self.policies: list[Policy | None] = []
        self.hopeless = [0, 0]
        self.would_resign: int | None = None
        self.is_control = rng.random() < settings.control_share
        for text in opening.moves:
            self.board.push_usi(text)
            self._note(None, None)
        for _ in range(rng.randint(*settings.random_plies)):
            if self.board.outcome() is None:
                self._record(rng.choice(self.board.legal_moves()), None, None)
        self.sampled_end = len(self.evals) + settings.sampled_plies

    def finish(self) -> tuple[int | None, str] | None:
        """Ends the game if it is over, given up, or a mate is found, which is played and recorded.

        Returns who won (0 black, 1 white, None nobody) and why, or None while the game goes on. A control
        game says in its ending that it is one, and whether resigning would have been wrong in it.
        """
        winner, reason = self._finish()
        if reason is None:
            return None
        if self.would_resign is not None and winner != 1 - self.would_resign:
            reason += ", resigning was wrong"
        return winner, reason if not self.is_control else f"{reason} (control)"

    def _finish(self) -> tuple[int | None, str | None]:
        turn = self.board.turn
        outcome = self.board.outcome()
        if outcome is not None:
            winner = None if outcome.value == 0.0 else (turn if outcome.value > 0.0 else 1 - turn)
            return winner, outcome.reason
        if self.settings.resign_moves and max(self.hopeless) >= self.settings.resign_moves:
            resigning = self.hopeless.index(max(self.hopeless))
            if not self.is_control:
                return 1 - resigning, "resignation"
            self.would_resign = resigning if self.would_resign is None else self.would_resign
        if self.settings.mate_nodes:
            mate = solve(self.board, self.settings.mate_nodes)
            if mate.verdict is MateVerdict.MATE:
                self._record(mate.moves[0], MATE_SCORE, ((int(mate.moves[0]), 1.0),))
                return turn, "mate found"
        return None, None

    def play(self, result: GumbelResult, *, is_recorded: bool) -> None:
        """Plays the move that the search found, or one drawn from its policy while the opening lasts."""
        turn = self.board.turn
        is_hopeless = result.value <= self.settings.resign_value
        self.hopeless[turn] = self.hopeless[turn] + 1 if is_hopeless else 0
        move = result.move
        if len(self.evals) < self.sampled_end:
            move = self.rng.choices(result.moves, result.policy)[0]
        if is_recorded:
            target = policy_target(result.moves, improved_target(result, self.settings))
            self._record(move, centipawns(result.value, self.settings.scale), target)
        else:
            self._record(move, None, None)

    def _record(self, move: Move, score: int | None, policy: Policy | None) -> None:
        self.board.push(move)
        self._note(score, policy)

    def _note(self, score: int | None, policy: Policy | None) -> None:
        self.evals.append(score)
        self.policies.append(policy)
