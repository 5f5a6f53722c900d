"""The small games in the loop: tic-tac-toe, and reversi on 6x6 and 8x8.

Search, network and training are those of the tutorials (`alphazero_config.py`, `board_learner.py`), where
`alphazero.py` is the same loop in memory, by turns. A game is one line of JSON: every position as two
bitboards, the policy to learn, and the result.

This module needs no PyTorch; the training does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from goryu.evaluators.board_network import BoardGame, load
from goryu.evaluators.cached import CachedEvaluator
from goryu.games.state import State
from goryu.players.agents.arena import result
from goryu.search.evaluator import Evaluator
from goryu.search.gumbel import search_steps
from goryu.search.random_move import random_move
from goryu_lab.lessons.alphazero import Example
from goryu_lab.lessons.alphazero_config import REVERSI, TICTACTOE, AlphaZeroConfig
from goryu_lab.lessons.pseudocode_games import board_game
from goryu_lab.loop.adapter import NETWORK, GameSteps, PairSteps, Report
from goryu_lab.loop.config import LoopConfig
from goryu_lab.loop.gate import GateConfig
from goryu_lab.loop.pairs import pair_of_games
from goryu_lab.loop.window import WindowRule
from goryu_lab.records.json_lines import GamesInLines, read_lines

if TYPE_CHECKING:
    from goryu_lab.lessons.board_learner import BoardLearner

STATE = "state.pt"
"""The weights and the optimizer in the folder of a candidate."""

TAUGHT_EVERY = 50
"""Steps between two reports of the loss."""


@dataclass(frozen=True, slots=True)
class BoardLoopGame(GamesInLines):
    """A small game.

    config: of search and training; its search is Gumbel's. opening: least and most random plies of a pair.
    """

    name: str
    config: AlphaZeroConfig
    blocks: int = 1
    channels: int = 32
    opening: tuple[int, int] = (1, 3)
    seed: int = 0
    suffix: str = ".jsonl"

    @property
    def steps(self) -> int:
        return self.config.steps_per_cycle

    @property
    def samples(self) -> int:
        return self.config.steps_per_cycle * self.config.batch

    @property
    def board(self) -> BoardGame:
        return board_game(self.name)

    def initialise(self, folder: Path) -> None:
        """Writes a network of random weights."""
        folder.mkdir(parents=True, exist_ok=True)
        self._write(self._learner(), folder)

    def open(self, network: Path, batch_size: int, worker: int = 0) -> Evaluator:
        """Loads a network; raises ModelError."""
        return CachedEvaluator(load(network, self.board))

    def play(self, number: int, network: int) -> GameSteps:
        """Plays a game in which every search is noisy, as Gumbel's is without further noise."""
        config, rng = self.config, Random(f"{self.seed} {number}")
        state, seen = self.board.new(), []
        while state.outcome() is None and state.ply < config.max_plies:
            found = yield from search_steps(state, config.playouts, config.gumbel, rng)
            policy = [[move, round(p, 4)] for move, p in zip(found.moves, found.policy, strict=True)]
            seen.append((state.turn, [state.own, state.opponent], policy))
            state.push(found.move)
        value = result(state)
        positions = [[*own, policy, value if turn == 0 else -value] for turn, own, policy in seen]
        return {"number": number, "network": network, "positions": positions}

    def pair(self, candidate: int, number: int) -> PairSteps:
        """Plays two games without noise from one random opening."""
        rng = Random(f"{self.seed} {candidate} {number}")
        config = self.config
        return pair_of_games(self._opening(rng), config.playouts, config.gumbel, config.max_plies)

    def positions_in(self, game: Any) -> int:
        return len(game["positions"])

    def train(
        self, number: int, folder: Path, previous: Path, files: Sequence[Path], report: Report
    ) -> dict[str, float]:
        """Trains from the weights and the optimizer of the candidate before."""
        import torch

        from goryu_lab.training.checkpoints import load

        torch.set_num_threads(1)  # The network is so small that threads only wait for each other.
        learner = self._learner()
        learner.load_state_dict(load(previous / STATE))
        games = [examples(game) for file in files for game in read_lines(file)]
        rng = Random(f"{self.seed} training {number}")
        done, policy, value = 0, 0.0, 0.0
        while done < self.steps:
            steps = min(TAUGHT_EVERY, self.steps - done)
            losses = learner.train(games, replace(self.config, steps_per_cycle=steps), rng)
            policy += steps * losses[0]
            value += steps * losses[1]
            done += steps
            report(done, sum(losses))
        self._write(learner, folder)
        return {"policy_loss": round(policy / done, 4), "value_loss": round(value / done, 4)}

    def _learner(self) -> "BoardLearner":
        from goryu_lab.lessons.board_learner import BoardLearner

        return BoardLearner(self.board, self.blocks, self.channels, self.seed)

    def _write(self, learner: "BoardLearner", folder: Path) -> None:
        """Writes the state of the training, then the network."""
        from goryu_lab.training.checkpoints import atomic_save

        atomic_save(folder / STATE, learner.state_dict())
        learner.export(folder / NETWORK)

    def _opening(self, rng: Random) -> State:
        """Returns a position after random moves in which the game is not over."""
        while True:
            state: State = self.board.new()
            for _ in range(rng.randint(*self.opening)):
                if state.outcome() is None:
                    state.push(random_move(state, rng))
            if state.outcome() is None:
                return state


def examples(game: Any) -> list[Example[tuple[int, int]]]:
    """Returns the positions of a recorded game as the learner wants them."""
    return [
        Example((own, opponent), tuple((move, p) for move, p in policy), value)
        for own, opponent, policy, value in game["positions"]
    ]


LOOPS: dict[str, tuple[BoardLoopGame, LoopConfig]] = {
    "tictactoe": (
        BoardLoopGame("tictactoe", replace(TICTACTOE, steps_per_cycle=250)),
        LoopConfig(20, 20.0, WindowRule(1500), GateConfig(-20.0, 30.0, 60), 16),
    ),
    "reversi6": (
        BoardLoopGame("reversi6", replace(REVERSI, steps_per_cycle=150), blocks=2, opening=(2, 6)),
        LoopConfig(12, 8.0, WindowRule(5000), GateConfig(-20.0, 30.0, 80), 8),
    ),
    "reversi": (
        BoardLoopGame("reversi", REVERSI, blocks=2, opening=(2, 6)),
        LoopConfig(40, 8.0, WindowRule(10_000), GateConfig(-20.0, 30.0, 100), 8),
    ),
}
"""The small games and their numbers, for a few cores.

The gate asks for little: between good players of these games most games are drawn, or decided by the opening.
"""
