"""The tree of the openings in many games, and start positions for matches from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from goryu.games.shogi import START_SFEN
from goryu.implementation import Board
from goryu.kifu.record import GameRecord


@dataclass(slots=True)
class OpeningNode:
    """A position of the openings: how often it was reached and with which result.

    points: the sum of the results for black: 1, 1/2 or 0.
    moves: the moves played, in USI, with their nodes. Move orders that meet share a node.
    """

    games: int = 0
    points: float = 0.0
    moves: dict[str, "OpeningNode"] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class OpeningTree:
    """The first moves of games from the usual position.

    plies: how many moves of each game count.
    """

    def __init__(self, plies: int) -> None:
        self.root = OpeningNode()
        self._plies = plies
        self._nodes = {Board().position_key: self.root}
        self._lines: dict[int, tuple[str, ...]] = {}

    def add(self, game: GameRecord) -> bool:
        """Adds a game; returns False for one from another start, which does not count."""
        if game.start != START_SFEN:
            return False
        points = 0.5 if game.winner is None else 1.0 - game.winner
        board, node = Board(), self.root
        _count(node, points)
        for move in game.moves[: self._plies]:
            board.push_usi(move)
            child = self._nodes.setdefault(board.position_key, OpeningNode())
            node.moves[move] = child
            node.counts[move] = node.counts.get(move, 0) + 1
            node = child
            _count(node, points)
        if len(game.moves) >= self._plies:
            self._lines.setdefault(board.position_key, game.moves[: self._plies])
        return True

    def lines(self, depth: int, min_games: int) -> Iterator[tuple[int, str, int, OpeningNode]]:
        """Yields the tree in depth-first order, the most frequent move first.

        Each item: the ply from 1, the move in USI, how often it was played there, the node after it.
        """
        stack = list(reversed(_by_frequency(self.root, 1, min_games)))
        while stack:
            ply, move, count, node = stack.pop()
            yield ply, move, count, node
            if ply < depth:
                stack += reversed(_by_frequency(node, ply + 1, min_games))

    def openings(self, min_games: int = 1) -> list[tuple[tuple[str, ...], OpeningNode]]:
        """Returns the different positions after `plies` moves, each with the moves of its first game."""
        found = ((moves, self._nodes[key]) for key, moves in self._lines.items())
        return [(moves, node) for moves, node in found if node.games >= min_games]


def sample_openings(
    tree: OpeningTree, count: int, random: Random, min_games: int = 1
) -> list[tuple[tuple[str, ...], OpeningNode]]:
    """Returns at most `count` different openings at random."""
    found = tree.openings(min_games)
    random.shuffle(found)
    return found[:count]


def _count(node: OpeningNode, points: float) -> None:
    node.games += 1
    node.points += points


def _by_frequency(node: OpeningNode, ply: int, min_games: int) -> list[tuple[int, str, int, OpeningNode]]:
    moves = [(ply, move, node.counts[move], child) for move, child in node.moves.items()]
    return sorted((item for item in moves if item[2] >= min_games), key=lambda item: -item[2])
