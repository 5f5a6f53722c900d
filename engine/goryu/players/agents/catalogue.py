"""The algorithms that play, by name: every program knows them by these names and describes them so.

Agents play all games by them (`agents.py`), searchers play shogi under a clock (`usi_traits.py`), and the
microscope observes them (`goryu_page.microscope.observed`); not all of them do all three.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A way to choose a move.

    about: one line of ASCII for users.
    uses: what it needs besides the rules: a heuristic, or a network (policy, value or both).
    searches_whole_game: does it search to the end of the game where no time or depth limits it?
    """

    about: str
    uses: Literal["rules", "heuristic", "network"] = "rules"
    searches_whole_game: bool = False


ALGORITHMS = {
    "random": Algorithm("any legal move"),
    "minimax": Algorithm("perfect play: searches the whole game", searches_whole_game=True),
    "one-bound": Algorithm("minimax that leaves out replies to refuted moves", searches_whole_game=True),
    "alpha-beta": Algorithm("minimax without the moves that cannot matter", searches_whole_game=True),
    "depth-limited": Algorithm("minimax to a few plies, then a heuristic", "heuristic"),
    "greedy": Algorithm("depth-limited to two plies, with some random moves", "heuristic"),
    "flat-mc": Algorithm("the same number of random games after every move"),
    "flat-mc-heavy": Algorithm("flat-mc whose games take a win and block a loss"),
    "uct": Algorithm("a growing tree of random games"),
    "uct-heavy": Algorithm("UCT whose games take a win and block a loss"),
    "uct-flat": Algorithm("UCT with a tree of one ply"),
    "puct-tree": Algorithm("AlphaZero's search, with a network", "network"),
    "puct": Algorithm("the engine's own search: AlphaZero's on a graph, in batches", "network"),
    "gumbel": Algorithm("Gumbel AlphaZero's search, made for few playouts", "network"),
    "mcts-player": Algorithm("the search of python-dlshogi's MCTS_player", "network"),
    "policy": Algorithm("the network's favourite move, without a search", "network"),
    "value": Algorithm("the move that leads to the network's best value", "network"),
    "level": Algorithm("plays like a person", "network"),
}
"""The algorithms by name."""
