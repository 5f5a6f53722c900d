"""New labels for old games: the cheapest training data, since no game has to be played.

A network searches the positions of a finished game again, and the improved policy of that search replaces the
move that was played as the target (reanalysis: Schrittwieser et al., "Online and offline reinforcement
learning by planning with a learned model", 2021). The results of the games stay; the teacher's scores may
stay, and the labels of proven mates always do.

Without playouts the network's own policy and value become the targets. A small network learns from a large
one in this way (distillation: Hinton, Vinyals, Dean, 2015).
"""

from collections.abc import Generator
from dataclasses import replace
from random import Random

from goryu.games.shogi import Rules
from goryu.games.shogi.pieces import danger
from goryu.games.state import Move, State
from goryu.implementation import Board
from goryu.players.score import centipawns
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelConfig, search_steps
from goryu_lab.records.game_records import GameRecord, Policy
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.self_play.evaluation_cache import EvaluationCache
from goryu_lab.self_play.game import (
    MATE_SCORE,
    improved_target,
    policy_target,
)


def reanalyse(
    game: GameRecord,
    config: SelfPlayConfig,
    share: float,
    rng: Random,
    *,
    keeps_scores: bool,
    teacher: str,
    number: int,
    least_danger: int = 0,
) -> Generator[list[State], list[Evaluation], GameRecord]:
    """Returns the game with new targets at a share of the positions with a score; the others lose theirs.

    A position whose mate self-play has proven keeps its score and its policy: no search knows more.

    keeps_scores: keep the scores of the game's teacher instead of recording the values of the search. The
        policy is then the mean of the search's policy and of the move that was played.
    teacher, number: for the record.
    least_danger: of the king of the side to move; only such positions get targets.
    """
    board = Board(game.start_sfen, Rules(all_moves=False))
    gumbel = GumbelConfig(max_considered=config.considered)
    cache = EvaluationCache()
    evals: list[int | None] = []
    policies: list[Policy | None] = []
    recorded = game.policies or (None,) * len(game.moves)
    for move, score, target in zip(game.moves, game.evals, recorded, strict=True):
        chosen = score is not None and rng.random() < share and board.outcome() is None
        chosen = chosen and (not least_danger or danger(board.pieces, board.turn) >= least_danger)
        if chosen and _is_proven_mate(score, target):
            policies.append(target)
        elif chosen:
            if config.full_playouts:
                result = yield from cache.wrap(search_steps(board, config.full_playouts, gumbel))
                value, policy = result.value, policy_target(result.moves, improved_target(result, config))
            else:
                (evaluation,) = yield [board.copy()]
                value, policy = evaluation.value, policy_target(board.legal_moves(), evaluation.policy)
            if not keeps_scores:
                score = centipawns(value, config.scale, MATE_SCORE)
            policies.append(_mean(policy, move) if keeps_scores else policy)
        else:
            score = None
            policies.append(None)
        evals.append(score)
        board.push(Move(move))
        cache.next_move()
    scale = game.scale if keeps_scores else config.scale
    return replace(
        game, evals=tuple(evals), policies=tuple(policies), teacher=teacher, number=number, scale=scale
    )


def _is_proven_mate(score: int | None, policy: Policy | None) -> bool:
    """Is this how self-play records a mate that its mate search has proven?"""
    return score == MATE_SCORE and policy is not None and len(policy) == 1


def _mean(policy: Policy, played: int) -> Policy:
    """Returns the mean of the policy and of the move that was played."""
    mixed = {move: p / 2.0 for move, p in policy}
    mixed[played] = mixed.get(played, 0.0) + 0.5
    return tuple(mixed.items())
