"""Plays one game of a network against itself and records it for training.

A Gumbel search finds every move; its improved policy is worth learning after a handful of playouts (Danihelka
et al., ICLR 2022). Most moves get a cheap search, which only chooses the move; some get a full search, which
is also recorded. This is playout-cap randomisation (Wu, "Accelerating Self-Play Learning in Go", 2019): it
makes many games, and therefore many results, and still good policies. Full searches are more frequent where
the policy of the cheap search differs most from the network's. (KataGo searches such positions as often as
others and gives them more weight in training.)

A game is a generator that requests evaluations; `batching.py` plays many games on one network.
"""

from collections.abc import Generator, Sequence
from math import log
from random import Random

from goryu.games.shogi import Rules
from goryu.games.state import Move, State
from goryu.implementation import Board, solve
from goryu.players.score import centipawns
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelConfig, GumbelResult, improved_policy, logits_of, search_steps
from goryu.search.mates.mate import MateVerdict
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_records import GameRecord, Policy
from goryu_lab.records.hcpe import RESULTS
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.self_play.evaluation_cache import EvaluationCache

GameSteps = Generator[list[State], list[Evaluation], GameRecord]
"""A game that yields positions, is sent one evaluation for each, and returns its record."""

MATE_SCORE = 10_000
"""Centipawns recorded for a position with a proven mate; the greatest score of any other position."""

USUAL_SURPRISE = 0.04
"""Surprise in nats at which a position gets a full search with the probability `full_share`.

The mean of goryu-5x64 in 13 of its games at 16 playouts, `target_scale` 0.2 (2026-11-22). It need not be
exact: it only turns a share into a probability."""


def self_play_game(
    config: SelfPlayConfig, opening: Opening, rng: Random, number: int, teacher: str
) -> GameSteps:
    """Plays one game from an opening; `number` and `teacher` go into its record."""
    game = SelfPlayGame(config, opening, rng)
    gumbel = GumbelConfig(max_considered=config.considered)
    cache = EvaluationCache()
    while (end := game.finish()) is None:
        noise = rng.getrandbits(64)  # Of both searches, so that the full one finds its moves in the cache.
        result = yield from cache.wrap(search_steps(game.board, config.cheap_playouts, gumbel, Random(noise)))
        if is_full := rng.random() < full_search_probability(result, config):
            result = yield from cache.wrap(
                search_steps(game.board, config.full_playouts, gumbel, Random(noise))
            )
        game.play(result, is_recorded=is_full)
        cache.next_move()
    return game.finished(end, number, teacher)


def full_search_probability(result: GumbelResult, config: SelfPlayConfig) -> float:
    """Returns how likely a position gets a full search after the `result` of its cheap search.

    Without a cheap search nothing is known about the position: every one is equally likely.
    """
    if not config.cheap_playouts:
        return config.full_share
    surprised = surprise(result.prior, improved_target(result, config))
    return config.full_share * (0.5 + 0.5 * min(surprised / USUAL_SURPRISE, 4.0))


def improved_target(result: GumbelResult, config: SelfPlayConfig) -> list[float]:
    """Returns the improved policy to learn, in the order of the result's moves."""
    gumbel = GumbelConfig(c_scale=config.target_scale)
    return improved_policy(logits_of(result.prior), result.values, result.visits, gumbel)


def surprise(prior: Sequence[float], target: Sequence[float]) -> float:
    """Returns KL(target || prior) in nats: how far the search's policy differs from the network's."""
    divergence = 0.0
    for improved, expected in zip(target, prior, strict=True):
        if improved > 0.0:
            divergence += improved * log(improved / max(expected, 1e-12))
    return max(0.0, divergence)


def policy_target(moves: Sequence[Move], policy: Sequence[float], least: float = 0.002) -> Policy:
    """Returns a policy without its tail: the moves of at least `least`, or the best one if there is none."""
    pairs = sorted(zip(moves, policy, strict=True), key=lambda pair: -pair[1])
    kept = [(int(move), p) for move, p in pairs if p >= least] or [(int(pairs[0][0]), 1.0)]
    total = 0.0
    for _, p in kept:
        total += p
    return tuple((move, p / total) for move, p in kept)


class SelfPlayGame:
    """A game in progress; evals and policies have one entry per move, None where nothing is recorded."""

    def __init__(self, config: SelfPlayConfig, opening: Opening, rng: Random) -> None:
        self.config = config
        self.rng = rng
        self.start_sfen = opening.sfen
        self.board = Board(self.start_sfen, Rules(max_ply=config.max_plies, all_moves=False))
        self.evals: list[int | None] = []
        self.policies: list[Policy | None] = []
        self.hopeless = [0, 0]
        self.would_resign: int | None = None
        self.is_control = rng.random() < config.control_share
        for text in opening.moves:
            self.board.push_usi(text)
            self._note(None, None)
        for _ in range(rng.randint(*config.random_plies)):
            if self.board.outcome() is None:
                self._record(rng.choice(self.board.legal_moves()), None, None)
        self.sampled_end = len(self.evals) + config.sampled_plies

    def finish(self) -> tuple[int | None, str] | None:
        """Returns who won (0 Black, 1 White, None: a draw) and why, or None if the game goes on.

        Ends the game if it is over, resigned, or if the side to move has a mate, whose first move is played
        and recorded. The reason of a control game ends in `(control)` and tells whether resigning was wrong.
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
        if self.config.resign_moves and max(self.hopeless) >= self.config.resign_moves:
            resigning = self.hopeless.index(max(self.hopeless))
            if not self.is_control:
                return 1 - resigning, "resignation"
            self.would_resign = resigning if self.would_resign is None else self.would_resign
        if self.config.mate_nodes:
            mate = solve(self.board, self.config.mate_nodes)
            if mate.verdict is MateVerdict.MATE:
                self._record(mate.moves[0], MATE_SCORE, ((int(mate.moves[0]), 1.0),))
                return turn, "mate found"
        return None, None

    def play(self, result: GumbelResult, *, is_recorded: bool) -> None:
        """Plays the search's move, or one drawn from its policy in the first `sampled_plies` moves."""
        self._judge(result.value)
        move = result.move
        if len(self.evals) < self.sampled_end:
            move = self.rng.choices(result.moves, result.policy)[0]
        if is_recorded:
            target = policy_target(result.moves, improved_target(result, self.config))
            self._record(move, centipawns(result.value, self.config.scale, MATE_SCORE), target)
        else:
            self._record(move, None, None)

    def draw(self, move: Move, value: float) -> None:
        """Plays a move that was drawn from a network's policy; `value` is the network's, in [-1, +1]."""
        self._judge(value)
        self._record(move, centipawns(value, self.config.scale, MATE_SCORE), None)

    def finished(self, end: tuple[int | None, str], number: int, teacher: str) -> GameRecord:
        """Returns the record of the game. end: what `finish` returned."""
        winner, ending = end
        return GameRecord(
            moves=tuple(int(move) for move in self.board.move_stack),
            evals=tuple(self.evals),
            result=RESULTS[winner],
            policies=tuple(self.policies) if any(self.policies) else None,
            start_sfen=self.start_sfen,
            teacher=teacher,
            ending=ending,
            number=number,
            scale=self.config.scale,
        )

    def _judge(self, value: float) -> None:
        """Counts the moves in a row at which the side to move is without hope."""
        turn = self.board.turn
        self.hopeless[turn] = self.hopeless[turn] + 1 if value <= self.config.resign_value else 0

    def _record(self, move: Move, score: int | None, policy: Policy | None) -> None:
        self.board.push(move)
        self._note(score, policy)

    def _note(self, score: int | None, policy: Policy | None) -> None:
        self.evals.append(score)
        self.policies.append(policy)
