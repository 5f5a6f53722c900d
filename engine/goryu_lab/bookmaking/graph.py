"""The graph of a book: what its positions are worth, how often games will reach them, what to search next.

A position is worth the best of its moves. A move is worth what the position after it is worth, if that was
searched, or else what its own search said. So the value of a late position reaches the first ones, as in
minimax.

Move orders meet in one position. A *forward* move leads to a position one ply further from the start than the
one before it. Other moves lead back, or lose time; they keep the value of their own search, which saw the
repetition. Forward moves alone form no cycle, so one pass from the last ply to the first gives all values.

Positions are searched best first. A position's *reach* is the share of games that come to it:

- when the book's player is to move, every move of the book is equally likely, as the engine draws them;
- when the opponent is to move, the visits, the policy and the game records, if any, say what is likely.

Both colours are followed, and the two reaches added. The next position to search is the one with the greatest
reach. Source of this idea of a best-first book: Lincke, "Strategies for the automatic construction of opening
books", 2000. He expands by loss along the path; the reach also says how many ways lead to a position.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from goryu.implementation import Board
from goryu.players.books.book import position_of
from goryu_lab.bookmaking.rules import BookRules
from goryu_lab.bookmaking.searched import SearchedMove, SearchedPosition

LEAST_REPLY = 0.01
"""A reply that is less likely is not expected."""

MOST_DECIDED = 0.7
"""Positions of a greater value, for either side, need no book."""

RECORD_WEIGHT = 20
"""Games of a position after which the records say as much about its replies as the search."""

Replies = Mapping[str, Mapping[str, int]]
"""Position (SFEN without the move number) -> move in USI -> how often it was played there."""


@dataclass(slots=True)
class BookNode:
    """A searched position.

    ply: plies from the start by the shortest way in the book; a start has that of its SFEN.
    value: of the best move, for the side to move, in [-1, +1].
    children: the position after each move, whether searched or not. values: of the moves.
    depth: plies of the book's best line from here on, and of the search at its end.
    reach: with the book's player as black, as white.
    """

    searched: SearchedPosition
    turn: int
    ply: int
    children: dict[str, str] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    value: float = 0.0
    depth: int = 0
    reach: list[float] = field(default_factory=lambda: [0.0, 0.0])


@dataclass(frozen=True, slots=True)
class Wanted:
    """A position that was not searched yet. sfen: with its move number. reach: the sum for both colours."""

    sfen: str
    reach: float


class BookGraph:
    """All searched positions of a book, and the starts.

    starts: SFENs. Call `update` after adding positions.
    """

    def __init__(self, starts: tuple[str, ...], rules: BookRules, replies: Replies | None = None) -> None:
        self.starts = starts
        self.rules = rules
        self.nodes: dict[str, BookNode] = {}
        self._replies = replies or {}
        self._order: list[str] = []  # The positions that the starts lead to, the first ply first.

    def __contains__(self, sfen: str) -> bool:
        return position_of(sfen) in self.nodes

    def add(self, searched: SearchedPosition) -> None:
        """Adds a position, in place of an earlier search of it."""
        board = Board(searched.sfen)
        node = BookNode(searched, board.turn, board.ply)
        for move in searched.moves:
            board.push_usi(move.move)
            node.children[move.move] = position_of(board.sfen())
            board.pop()
        self.nodes[position_of(searched.sfen)] = node

    def update(self) -> None:
        """Computes plies, values and reaches."""
        self._order = self._find_plies()
        for node in reversed(self.reached()):
            self._evaluate(node)
            node.reach = [0.0, 0.0]
        for start in self.starts:
            if start in self:
                self.nodes[position_of(start)].reach = [1.0, 1.0]
        for node in self.reached():
            for child, shares in self._forward(node):
                if child in self.nodes:
                    for colour in (0, 1):
                        self.nodes[child].reach[colour] += node.reach[colour] * shares[colour]

    def reached(self) -> list[BookNode]:
        """Returns the positions that the starts lead to, the first ply first."""
        return [self.nodes[position] for position in self._order]

    def wanted(self, playouts: int = 0) -> list[Wanted]:
        """Returns the positions to search next, the greatest reach first.

        playouts: positions that were searched with fewer are wanted again.
        """
        reaches = {start: 2.0 for start in self.starts if start not in self}
        for node in self.reached():
            if node.searched.playouts < playouts:
                reaches[node.searched.sfen] = sum(node.reach)
            if node.ply >= self.rules.plies or abs(node.value) > MOST_DECIDED:
                continue
            for child, shares in self._forward(node):
                if child not in self.nodes:
                    sfen = f"{child} {node.ply + 2}"
                    reach = sum(node.reach[colour] * shares[colour] for colour in (0, 1))
                    reaches[sfen] = reaches.get(sfen, 0.0) + reach
        wanted = [Wanted(sfen, reach) for sfen, reach in reaches.items() if reach > 0]
        return sorted(wanted, key=lambda wanted: (-wanted.reach, wanted.sfen))

    def book_moves(self, node: BookNode) -> list[SearchedMove]:
        """Returns the moves of a position that the book plays, the best first."""
        least = node.value - 2 * self.rules.bound
        visits = self.rules.least_visits * node.searched.playouts
        moves = [
            move
            for i, move in enumerate(node.searched.moves)
            if node.values.get(move.move, -1.0) >= least
            and (i == 0 or move.visits >= visits or self.child(node, move.move) is not None)
        ]
        return sorted(moves, key=lambda move: (-node.values[move.move], -move.visits))

    def depth_of(self, node: BookNode, move: str) -> int:
        """Returns the depth of a move's value: the plies of the book and those of the search at its end."""
        child = self.child(node, move)
        return node.searched.depth if child is None else 1 + child.depth

    def expected_moves(self) -> tuple[float, float]:
        """Returns how many of its own moves in a game the book's player will find here, on average, and what
        such a move loses against the book's best one, in [0, 2].
        """
        count = lost = 0.0
        for node in self.reached():
            values = [node.values[move.move] for move in self.book_moves(node)]
            count += node.reach[node.turn]
            lost += node.reach[node.turn] * (node.value - sum(values) / len(values))
        return count / (2 * len(self.starts)), lost / count

    # The order of the positions.

    def _find_plies(self) -> list[str]:
        """Sets the ply of every position that a start leads to; returns them, the first ply first."""
        plies: dict[str, int] = {}
        for start in self.starts:
            if start in self:
                position = position_of(start)
                plies[position] = min(plies.get(position, 1 << 30), Board(start).ply)
        by_ply: dict[int, list[str]] = {}
        for position, ply in plies.items():
            by_ply.setdefault(ply, []).append(position)
        order: list[str] = []
        ply = min(by_ply, default=0)
        while by_ply:
            for position in by_ply.pop(ply, []):
                if plies[position] != ply:
                    continue  # A shorter way was found.
                order.append(position)
                for child in self.nodes[position].children.values():
                    if child in self.nodes and plies.get(child, 1 << 30) > ply + 1:
                        plies[child] = ply + 1
                        by_ply.setdefault(ply + 1, []).append(child)
            ply += 1
        for position in order:
            self.nodes[position].ply = plies[position]
        return order

    def child(self, node: BookNode, move: str) -> BookNode | None:
        """Returns the searched position after a forward move, or None."""
        child = self.nodes.get(node.children[move])
        return child if child is not None and child.ply == node.ply + 1 else None

    # Values.

    def _evaluate(self, node: BookNode) -> None:
        node.values = {}
        for move in node.searched.moves:
            child = self.child(node, move.move)
            value = -child.value if child is not None else move.value
            if value is not None:
                node.values[move.move] = value
        trusted = self._trusted(node)
        best = max(trusted, key=lambda move: node.values[move.move])
        node.value = node.values[best.move]
        node.depth = self.depth_of(node, best.move)

    def _trusted(self, node: BookNode) -> list[SearchedMove]:
        """Returns the moves whose values count: few playouts may praise a bad move."""
        visits = self.rules.least_visits * node.searched.playouts
        return [
            move
            for i, move in enumerate(node.searched.moves)
            if i == 0 or move.visits >= visits or self.child(node, move.move) is not None
        ]

    # Reaches.

    def _forward(self, node: BookNode) -> Iterator[tuple[str, tuple[float, float]]]:
        """Yields the position after every forward move, and the move's shares for a book of each colour."""
        own, replies = self._own_shares(node), self._reply_shares(node)
        for move in dict.fromkeys([*own, *replies]):
            child = node.children[move]
            if child in self.nodes and self.nodes[child].ply != node.ply + 1:
                continue
            shares = (own.get(move, 0.0), replies.get(move, 0.0))
            yield child, shares if node.turn == 0 else (shares[1], shares[0])

    def _own_shares(self, node: BookNode) -> dict[str, float]:
        moves = self.book_moves(node)
        return {move.move: 1 / len(moves) for move in moves}

    def _reply_shares(self, node: BookNode) -> dict[str, float]:
        total = max(1, sum(move.visits for move in node.searched.moves))
        shares = {move.move: (move.visits / total + move.prior) / 2 for move in node.searched.moves}
        played = self._replies.get(position_of(node.searched.sfen), {})
        games = sum(played.values())
        if games:
            weight = games / (games + RECORD_WEIGHT)
            shares = {
                move: (1 - weight) * share + weight * played.get(move, 0) / games
                for move, share in shares.items()
            }
        return {move: share for move, share in shares.items() if share >= LEAST_REPLY}
