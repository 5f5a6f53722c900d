"""How to add a game, worked: Connect Four, and every algorithm plays it at once."""

from collections.abc import Iterable
from dataclasses import replace
from io import StringIO
from random import Random
from typing import Self

import pytest

from goryu.commands.play import main
from goryu.commands.terminal.game_display import GAMES, GameDisplay
from goryu.evaluators.board_network import BoardGame
from goryu.games.reversi import Reversi
from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64
from goryu.games.state import Move, Outcome
from goryu.players.agents.agents import make_agent
from goryu_lab.lessons.alphazero import AlphaZero
from goryu_lab.lessons.alphazero_config import TICTACTOE

COLUMNS, ROWS = 7, 6
STRIDE = ROWS + 1  # One bit above each column stays empty, so that lines cannot wrap round.
FULL = sum(((1 << ROWS) - 1) << STRIDE * column for column in range(COLUMNS))
SEED = 0x636F6E6E65637434  # "connect4" in ASCII
STONE_WORDS = [
    [splitmix64(SEED + (64 * player + bit) * GOLDEN_GAMMA) for bit in range(49)] for player in (0, 1)
]
PLY_WORDS = [splitmix64(SEED + (128 + ply) * GOLDEN_GAMMA) for ply in range(43)]


class ConnectFour:
    """Bit `7 * column + row` of a bitboard is a square; row 0 is the lowest. A move is a column."""

    def __init__(self, moves: Iterable[int] = ()) -> None:
        self.own = self.opponent = 0
        self.move_stack: list[Move] = []
        for move in moves:
            self.push(Move(move))

    @property
    def turn(self) -> int:
        return len(self.move_stack) % 2

    @property
    def ply(self) -> int:
        return len(self.move_stack)

    @property
    def key(self) -> int:
        key = PLY_WORDS[self.ply]
        for player, stones in enumerate((self.own, self.opponent)):
            for bit in range(49):
                if stones >> bit & 1:
                    key ^= STONE_WORDS[player ^ self.turn][bit]
        return key

    def legal_moves(self) -> list[Move]:
        if self.outcome() is not None:
            return []
        taken = self.own | self.opponent
        return [Move(c) for c in range(COLUMNS) if not taken >> STRIDE * c + ROWS - 1 & 1]

    def push(self, move: Move) -> None:
        taken = self.own | self.opponent
        stone = (
            taken + (1 << STRIDE * move)
        ) & ~taken  # Adding at the bottom carries to the first free square.
        self.own, self.opponent = self.opponent, self.own | stone & (0x3F << STRIDE * move)
        self.move_stack.append(move)

    def pop(self) -> Move:
        move = self.move_stack.pop()
        column = (self.own | self.opponent) & 0x3F << STRIDE * move
        self.own, self.opponent = self.opponent ^ 1 << column.bit_length() - 1, self.own
        return move

    def outcome(self) -> Outcome | None:
        for step in (1, STRIDE - 1, STRIDE, STRIDE + 1):
            pairs = self.opponent & self.opponent >> step
            if pairs & pairs >> 2 * step:
                return Outcome(-1.0, "four in a row")
        return Outcome(0.0, "full board") if self.own | self.opponent == FULL else None

    def repetition(self) -> Outcome | None:
        return None

    def copy(self) -> Self:
        return type(self)(self.move_stack)

    def __str__(self) -> str:
        first, second = (self.own, self.opponent) if self.turn == 0 else (self.opponent, self.own)
        rows = (range(row, 49, STRIDE) for row in range(ROWS - 1, -1, -1))
        cells = ("".join("X" if first >> b & 1 else "O" if second >> b & 1 else "." for b in r) for r in rows)
        return "\n".join([*cells, "0123456"])


@pytest.mark.parametrize(
    "moves",
    [
        [0, 1, 0, 1, 0, 1, 0],
        [0, 0, 1, 1, 2, 2, 3],
        [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3],
        [3, 2, 2, 1, 1, 0, 1, 0, 0, 6, 0],
    ],
    ids=["column", "row", "rising", "falling"],
)
def test_four_in_a_row_ends_the_game(moves: list[int]) -> None:
    state = ConnectFour(moves)
    assert state.outcome() == Outcome(-1.0, "four in a row")
    assert state.legal_moves() == []
    state.pop()
    assert state.outcome() is None


WIN_AT_3 = [0, 0, 1, 1, 2, 2]
BLOCK_AT_1 = [0, 1, 6, 1, 6, 1]


@pytest.mark.parametrize(("moves", "answer"), [(WIN_AT_3, 3), (BLOCK_AT_1, 1)], ids=["win", "block"])
@pytest.mark.parametrize("name", ["depth-limited:2", "flat-mc:40", "uct:400", "puct:200", "gumbel:64"])
def test_every_algorithm_takes_a_win_and_blocks_four_in_a_column(
    name: str, moves: list[int], answer: int
) -> None:
    assert make_agent(name, rng=Random(1))(ConnectFour(moves)) == answer


def test_one_line_in_the_table_of_games_and_it_is_played_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = GameDisplay(ConnectFour, ("X", "O"), lambda move: str(int(move)), "a column, 0 to 6", "uct:200")
    monkeypatch.setitem(GAMES, "connectfour", line)
    out = StringIO()
    main(["connectfour", "--second", "random", "--seed", "1"], StringIO("3\nquit\n"), out)
    assert "1. X: 3\n2. O: 1\n.......\n.......\n.......\n.......\n.......\n.O.X...\n0123456" in out.getvalue()
    out = StringIO()
    main(["connectfour", "--first", "puct:20", "--second", "uct:20", "--seed", "1"], StringIO(), out)
    assert "wins: four in a row" in out.getvalue() or "draw" in out.getvalue()


@pytest.mark.slow
def test_a_symmetric_game_on_a_square_board_is_learnt_with_one_line() -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    from goryu_lab.lessons.board_learner import BoardLearner

    game = BoardGame("small reversi", 4, 65, lambda: Reversi(4))
    learner = BoardLearner(game, blocks=1, channels=4, seed=1)
    config = replace(
        TICTACTOE, playouts=4, cycles=1, games_per_cycle=2, steps_per_cycle=2, evaluation_games=0
    )
    loop = AlphaZero(learner, config, Random(1))
    assert [cycle.is_promoted for cycle in loop.run()] == [True]
    assert len(loop.champion.evaluate([Reversi(4)])[0].policy) == 4
