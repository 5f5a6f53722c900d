"""Leaves of searches as training data.

A search seldom asks its network about a position of a good game. Most of its leaves lie behind a mistake that
the next move refutes, or in the middle of an exchange. A network that was trained on games alone judges them
worse, and the search averages these judgements.

The engine's own search searches positions of recorded games, and some of the positions that its network has
evaluated there are recorded, without labels. `reanalysis.py` gives them the labels of a teacher.

A record has one position and begins up to `HISTORY` moves before it: some networks see the last moves. Its
number is made from the game's content (`content_number`), so that files can be added, and grow, between two
runs.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from goryu.games.shogi import Rules
from goryu.games.state import Move
from goryu.implementation import Board, Puct
from goryu.players.config import EngineConfig
from goryu.players.kept_graph import new_puct
from goryu.players.set_up.loading import load_evaluator
from goryu_lab.records.game_block import GameBlock
from goryu_lab.records.game_records import GameRecord
from goryu_lab.records.hcpe import DRAW
from goryu_lab.self_play.config import LeafConfig
from goryu_lab.self_play.workers import Pieces
from goryu_lab.work.seam import Inbox, Job, Result

HISTORY = 7
"""Moves before the position that a record keeps: as many as miniosl's network sees."""


def new_search(config: EngineConfig) -> Puct:
    """Loads the network of the config for a search with one thread; raises LoadingError."""
    return new_puct(load_evaluator(config.evaluator, warnings.warn), config)


def content_number(game: GameRecord) -> int:
    """Returns a number of 63 bits that identifies a game by its start and its moves."""
    content = game.start_sfen.encode() + np.array(game.moves, "<u2").tobytes()
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little") >> 1


def leaves_of_game(
    game: GameRecord, puct: Puct, config: LeafConfig, rng: Random, *, teacher: str, number: int
) -> list[GameRecord]:
    """Returns leaves of searches of a share of the positions with a score; the searches share their graph.

    The result of each record is a draw, its score 0 and its move any legal one; so train with a weight of the
    result of 0.

    teacher, number: for the records.
    """
    board = Board(game.start_sfen, Rules(all_moves=False))
    puct.clear()
    records = []
    for move, score in zip(game.moves, game.evals, strict=True):
        if score is not None and rng.random() < config.share and board.outcome() is None:
            puct.search(board, lambda stats: False, max_playouts=config.playouts)
            graph = puct.dump(name=int)
            assert graph is not None
            for path in sampled_leaves(graph["nodes"], config.leaves, config.inner_share, rng):
                if (record := _record(board, path)) is not None:
                    records.append(replace(record, teacher=teacher, number=number))
        board.push(Move(move))
    return records


def sampled_leaves(
    nodes: Sequence[dict[str, Any]], count: int, inner_share: float, rng: Random
) -> list[tuple[int, ...]]:
    """Returns the moves from the root to at most `count` different positions that the network has evaluated.

    nodes: of a dump of the graph (`graph_dump.py`) with numbers for moves. Where no two paths meet,
        each draw takes every evaluated position with the same probability. The root and positions with a
        proof are left out; the network's value no longer counts there.
    inner_share: the probability with which a draw then takes one of the positions on the way instead.
    """
    found: dict[int, tuple[int, ...]] = {}
    for _ in range(count):
        path = _descend(nodes, rng)
        if path and rng.random() < inner_share:
            path = path[: rng.randint(1, len(path))]
        if path and nodes[path[-1][1]]["proof"] == "unknown":
            found.setdefault(path[-1][1], tuple(move for move, _ in path))
    return list(found.values())


def _descend(nodes: Sequence[dict[str, Any]], rng: Random) -> list[tuple[int, int]]:
    """Returns each move and its position on the way from the root to the leaf of a random playout.

    One visit of a position is its own evaluation: there the walk ends. An empty list means the root, or a
    position outside the dump.
    """
    path: list[tuple[int, int]] = []
    place, seen = 0, {0}
    while (visit := rng.randrange(max(1, nodes[place]["visits"])) - 1) >= 0:
        for entry in nodes[place]["moves"]:
            visit -= entry["visits"]
            if visit < 0:
                break
        else:
            return []
        place = entry["child"]
        if place is None or place in seen:
            return []
        seen.add(place)
        path.append((entry["move"], place))
    return path


def _record(board: Board, path: Sequence[int]) -> GameRecord | None:
    """Returns the record of the position after the moves of a path, or None if the game is over there."""
    leaf = board.copy()
    for move in path:
        leaf.push(Move(move))
    if leaf.outcome() is not None:
        return None
    before = leaf.copy()
    history = [before.pop() for _ in range(min(HISTORY, len(leaf.move_stack)))][::-1]
    moves = (*history, leaf.legal_moves()[0])
    return GameRecord(
        moves=tuple(int(move) for move in moves),
        evals=(*[None] * len(history), 0),
        result=DRAW,
        start_sfen=before.sfen(),
    )


@dataclass(frozen=True, slots=True)
class LeafWork(Pieces):
    """The games whose positions are searched; a piece of work is a game."""

    teacher: str
    games: tuple[GameRecord, ...]

    @property
    def size(self) -> int:
        return len(self.games)

    def payload(self, number: int) -> GameRecord:
        return self.games[number]

    def done(self, records: Iterable[GameRecord]) -> Iterator[tuple[int, GameRecord]]:
        pieces = {content_number(game): piece for piece, game in enumerate(self.games)}
        return ((pieces[record.number], record) for record in records if record.number in pieces)


@dataclass(frozen=True, slots=True)
class LeafJob(Job):
    """What a worker does: it searches the positions of one game after another.

    engine: the network and the numbers of the search. seed: it determines the draws, with the game.
    """

    teacher: str
    config: LeafConfig
    engine: EngineConfig
    seed: int

    @property
    def files(self) -> Sequence[Path]:
        return [Path(self.engine.evaluator.model)]

    def prepared(self, place: Callable[[Path], Path]) -> "LeafJob":
        (file,) = self.files
        evaluator = replace(self.engine.evaluator, model=str(place(file)))
        return replace(self, engine=replace(self.engine, evaluator=evaluator))

    def work(self, inbox: Inbox) -> Iterator[Result]:
        puct = new_search(self.engine)
        while (task := inbox.take(wait=True)) is not None:
            piece, game = task
            number = content_number(game)
            rng = Random(f"{self.seed} {number}")
            yield piece, leaves_of_game(game, puct, self.config, rng, teacher=self.teacher, number=number)

    def bundled(self, results: Sequence[Result]) -> GameBlock:
        return GameBlock.of_several(results)
