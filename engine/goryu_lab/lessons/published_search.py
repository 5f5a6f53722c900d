"""The search of AlphaZero's pseudocode on a tree, with its numbers: values in [0, 1], visits, no proofs.

Positions do not merge. A move without a visit counts as lost. The root's noise is a Gamma draw for each
move, which the pseudocode does not divide by the sum. Two things are not as printed: the end of a game has
its result, not the network's value, and, unless `printed_signs`, a move has the value of its child for the
side that moves, not for the opponent.
Source: `run_mcts` in the pseudocode of Silver et al., Science, 2018.
"""

from math import log, sqrt
from random import Random

from goryu.games.state import Move, State
from goryu.search.boltzmann import boltzmann_choice
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons.alphazero_config import AlphaZeroConfig


class Node:
    """A position. value_sum: of its visits, in [0, 1], for the side that moved here."""

    __slots__ = ("children", "prior", "value_sum", "visits")

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.visits = 0
        self.value_sum = 0.0
        self.children: dict[Move, Node] = {}

    def select(self, config: AlphaZeroConfig) -> tuple[Move, "Node"]:
        """Returns the move with the greatest score, the greatest move number of equals, and its child."""
        c = log((self.visits + config.c_base + 1) / config.c_base) + config.c_init

        def score(child: Node) -> float:
            value = child.value_sum / child.visits if child.visits else 0.0
            return value + c * child.prior * sqrt(self.visits) / (child.visits + 1)

        return max(self.children.items(), key=lambda item: (score(item[1]), item[0]))


def search(
    state: State, evaluator: Evaluator, config: AlphaZeroConfig, rng: Random, *, has_noise: bool
) -> Node:
    """Returns the root after all playouts; `state` must have a legal move and is left as it was."""
    root = Node(0.0)
    _expand(root, state, evaluator)
    if has_noise:
        noise = [rng.gammavariate(config.noise_alpha, 1.0) for _ in root.children]
        total = sum(noise) if config.divides_noise else 1.0
        for child, drawn in zip(root.children.values(), noise, strict=True):
            child.prior += config.noise_fraction * (drawn / total - child.prior)
    for _ in range(config.playouts):
        node, path, scratch = root, [root], state.copy()
        while node.children:
            move, node = node.select(config)
            scratch.push(move)
            path.append(node)
        outcome = scratch.outcome() or scratch.repetition()
        value = (outcome.value + 1.0) / 2.0 if outcome else _expand(node, scratch, evaluator)
        for node in reversed(path):
            node.visits += 1
            # From the side to move to the side that moved here.
            node.value_sum += value if config.printed_signs else 1.0 - value
            value = 1.0 - value
    return root


def choose_move(
    state: State, evaluator: Evaluator, config: AlphaZeroConfig, rng: Random, *, is_learning: bool
) -> tuple[Move, tuple[tuple[Move, float], ...]]:
    """Returns the move to play and the shares of the visits, as (move, share) pairs."""
    children = search(state, evaluator, config, rng, has_noise=is_learning).children
    moves, visits = list(children), [child.visits for child in children.values()]
    if state.ply < config.sampling_plies:
        move = moves[boltzmann_choice([float(count) for count in visits], config.temperature, rng)]
    else:
        move = max(moves, key=lambda move: (children[move].visits, move))
    total = sum(visits)
    return move, tuple((move, count / total) for move, count in zip(moves, visits, strict=True))


def _expand(node: Node, state: State, evaluator: Evaluator) -> float:
    """Gives a node its children; returns its value in [0, 1] for the side to move."""
    evaluation = evaluator.evaluate([state])[0]
    moves = state.legal_moves()
    node.children = {move: Node(prior) for move, prior in zip(moves, evaluation.policy, strict=True)}
    return (evaluation.value + 1.0) / 2.0
