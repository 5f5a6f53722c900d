"""Games of random legal moves, as files of people would have them."""

import random
from pathlib import Path

from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.kifu.record import Ending, GameRecord, Ply
from goryu.kifu.writing import to_csa, to_kif
from goryu_lab.records.game_records import GameRecord as TrainingRecord
from goryu_lab.records.hcpe import BLACK_WON, DRAW, WHITE_WON

ROOK_HANGS = ("2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b", "2e2d", "2c2d", "2h2d", "P*2c", "2d8d", "8b8d")
"""After the usual exchange of pawns black puts its rook, on move 11, where a rook takes it."""

ROOK_HANGS_KIF = """\
開始日時：2026/11/22
手合割：平手
先手：先手太郎
後手：後手花子
手数----指手---------消費時間--
*開始のコメント
   1 ２六歩(27)   ( 0:12/00:00:12)
   2 ８四歩(83)   ( 0:05/00:00:05)
   3 ２五歩(26)   ( 0:01/00:00:13)
   4 ８五歩(84)   ( 0:01/00:00:06)
   5 ７八金(69)   ( 0:01/00:00:14)
   6 ３二金(41)   ( 0:01/00:00:07)
   7 ２四歩(25)   ( 0:01/00:00:15)
   8 同　歩(23)   ( 0:01/00:00:08)
   9 同　飛(28)   ( 0:01/00:00:16)
  10 ２三歩打     ( 0:01/00:00:09)
  11 ８四飛(24)   ( 0:01/00:00:17)
*飛車をただで取られる。
  12 同　飛(82)   ( 0:01/00:00:10)
  13 投了
まで12手で後手の勝ち

変化：11手
  11 ２八飛(24)
"""
"""The same game with times, comments and a variation."""


def sample_game(
    seed: int, plies: int = 12, names: tuple[str, str] = ("甲", "乙"), date: str = "2026/11/03"
) -> GameRecord:
    """Returns a game in which the side to move resigns at the end."""
    rng, board, moves = random.Random(seed), Board(), list[Ply]()
    while len(moves) < plies and board.outcome() is None:
        move = move_to_usi(rng.choice(board.all_legal_moves()))
        board.push_usi(move)
        moves.append(Ply(move))
    return GameRecord(
        plies=tuple(moves),
        names=names,
        ending=Ending.RESIGNATION,
        winner=(len(moves) + 1) % 2,
        headers={"開始日時": date},
    )


def write_sample_games(folder: Path, count: int, plies: int = 12) -> list[Path]:
    """Writes games as KIF in CP932 and as CSA, in turn; months and names differ."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for i in range(count):
        names = ("甲", f"相手{i % 3}") if i % 2 == 0 else (f"相手{i % 3}", "甲")
        game = sample_game(i, plies, names, f"2026/{1 + i % 12:02}/{1 + i % 28:02}")
        path = folder / f"game{i}.{'csa' if i % 3 == 2 else 'kif'}"
        path.write_bytes(to_csa(game).encode() if i % 3 == 2 else to_kif(game).encode("cp932"))
        paths.append(path)
    return paths


def training_game(seed: int, plies: int = 40, opening: int = 3, policies: bool = False) -> TrainingRecord:
    """A game of random moves whose first moves are not for training."""
    rng = random.Random(seed)
    board = Board()
    moves: list[int] = []
    targets: list[tuple[tuple[int, float], ...] | None] = []
    while len(moves) < plies and board.legal_moves():
        legal = board.legal_moves()
        moves.append(int(rng.choice(legal)))
        others = rng.sample(legal, min(2, len(legal)))
        targets.append(
            tuple((int(move), 1.0 / len(others)) for move in others) if rng.random() < 0.5 else None
        )
        board.push(legal[legal.index(moves[-1])])  # type: ignore[arg-type]
    return TrainingRecord(
        moves=tuple(moves),
        evals=tuple(None if ply < opening else rng.randrange(-2000, 2000) for ply in range(len(moves))),
        result=(DRAW, BLACK_WON, WHITE_WON)[seed % 3],
        policies=tuple(targets) if policies else None,
        number=seed,
    )
