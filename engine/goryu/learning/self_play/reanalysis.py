"""New labels for old games: the cheapest training data, since no game has to be played.

A network that has learned from a game looks at its positions again with a search, and the improved policy of
that search becomes the target in place of the one move that was played (reanalysis: Schrittwieser et al.,
"Online and offline reinforcement learning by planning with a learned model", 2021). The results of the games
stay, and so may the teacher's scores, which know what the network does not.

With no playouts at all the network's own policy and value become the targets: so a small network learns from
a large one (distillation: Hinton, Vinyals, Dean, 2015).
"""

from collections.abc import Generator
from dataclasses import replace
from random import Random

from goryu.games.shogi import Rules
from goryu.games.state import Move, State
from goryu.implementation import Board
from goryu.learning.records.game_records import GameRecord, Policy
from goryu.learning.self_play.evaluation_cache import Memory
from goryu.learning.self_play.game import (
    SelfPlaySettings,
    centipawns,
    improved_target,
    policy_target,
)
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelConfig, search_steps

__all__ = ["reanalyse"]


def reanalyse(
    game: GameRecord,
    settings: SelfPlaySettings,
    share: float,
    rng: Random,
    *,
    keeps_scores: bool,
    teacher: str,
    number: int,
) -> Generator[list[State], list[Evaluation], GameRecord]:
    """Returns the game with new targets at a share of the positions with a score; the others lose theirs.

    keeps_scores: whether the scores stay those of the game's teacher or become the search's values. If they
        stay, the policy is the mean of the search's and of the move that was played: a teacher worth its
        scores is worth its moves.
    teacher, number: for the record.
    """
    board = Board(game.start_sfen, Rules(all_moves=False))
    config = GumbelConfig(considered=settings.considered)
    memory = Memory()
    evals: list[int | None] = []
    policies: list[Policy | None] = []
    for move, score in zip(game.moves, game.evals, strict=True):
        chosen = score is not None and rng.random() < share and board.outcome() is None
        if chosen:
            if settings.full_playouts:
                result = yield from memory.steps(search_steps(board, settings.full_playouts, config))
                value, policy = result.value, policy_target(result.moves, improved_target(result, settings))
            else:
                (evaluation,) = yield [board.copy()]
                value, policy = evaluation.value, policy_target(board.legal_moves(), evaluation.policy)
            if not keeps_scores:
                score = centipawns(value, settings.scale)
            policies.append(_mean(policy, move) if keeps_scores else policy)
        else:
            score = None
            policies.append(None)
        evals.append(score)
        board.push(Move(move))
        memory.next_move()
    scale = game.scale if keeps_scores else settings.scale
    return replace(
        game, evals=tuple(evals), policies=tuple(policies), teacher=teacher, number=number, scale=scale
    )


def _mean(policy: Policy, played: int) -> Policy:
    """Returns the policy mixed by equal parts with the move that was played."""
    mixed = {move: p / 2.0 for move, p in policy}
    mixed[played] = mixed.get(played, 0.0) + 0.5
    return tuple(mixed.items())
