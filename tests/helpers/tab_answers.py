"""What players and reviews answer: in a program of its own with the engine of the tab, or in any other."""

import json
import sys
from dataclasses import replace
from time import perf_counter


def answers(model: str) -> list[str]:
    """Returns the moves of every level, a review of a game, the judgement of a move, and a mate.

    model: the path of a network in ONNX; in the tab of the packed one beside it.
    """
    from goryu.analysis.review import GameReview
    from goryu.analysis.reviewer import Reviewer
    from goryu.games.shogi import START_SFEN, move_to_usi
    from goryu.implementation import Board
    from goryu.players.clock.limits import Limits
    from goryu.players.config import EngineConfig, EvaluatorConfig
    from goryu.players.player import Player
    from goryu.players.request import Request, SearchControl
    from goryu.players.set_up.evaluator_slot import EvaluatorSlot
    from goryu_page.dojo.move_judge import MoveJudge

    evaluator = EvaluatorConfig(model=model, threads=1, batch_size=1, device="-1", backend="winograd")
    config = EngineConfig(evaluator=evaluator, seed=1)
    slot = EvaluatorSlot()
    slot.load(evaluator, lambda message: None, uses_measured=False)
    told = []
    for level in range(1, 11):
        player, board, moves = Player(slot=slot), Board(), []
        for _ in range(4):
            limits = Limits(nodes=30 if level == 10 else None)
            request = Request(board.copy(), limits, replace(config, level=level), perf_counter())
            move = player.search(request, SearchControl(), lambda *_: None).move
            assert move is not None
            moves.append(move_to_usi(move))
            board.push(move)
        told.append(f"{level}: {' '.join(moves)}")
    review = GameReview(START_SFEN, ("7g7f", "3c3d", "8h5e"), 20)
    Reviewer(slot.require(), config).review(review)
    told += [repr(analysis) for analysis in review.analyses]
    judge = MoveJudge(slot.require(), config)
    told.append(repr(judge.judge(START_SFEN, ["7g7f"], "9a9b", 20)))
    mate = Request(Board("8k/9/9/8P/9/9/9/9/4K4 b 2GS 1"), Limits(), config, perf_counter())
    told.append(repr(Player(slot=slot).solve_mate(mate, SearchControl(), None)))
    return told


if __name__ == "__main__":
    from goryu_page.tab import native
    from wasm_instance import WasmtimeInstance

    native.install(WasmtimeInstance)
    print(json.dumps(answers(sys.argv[1])))
    assert "numpy" not in sys.modules, "the browser has no NumPy"
