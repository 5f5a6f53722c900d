"""HCPE3: dlshogi's record of whole games, with the visits of the moves that the search considered.

All numbers are little-endian. A game is

    36 bytes  Huffman-coded start position (32), moves u16, result u8, opponent u8
    a move    move u16, score i16 (centipawns for the side to move), candidates u16,
              then for each candidate its move u16 and its visits u16

A position without candidates is not for training. The two low bits of the result are those of HCPE; the
others say how the game ended. Visits are shares only, so a policy is written in units of 1/65535; a position
without one gets the move played as its only candidate, with one visit.

The format keeps neither the teacher nor the scale of the scores, nor a policy where there is no score.

Source: HuffmanCodedPosAndEval3 of dlshogi (usi/selfplay.cpp, cppshogi.h).
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from goryu.implementation import Board
from goryu.kifu.record import Ending
from goryu_lab.records.game_records import UNITS, GameFileError, GameRecord, Policy
from goryu_lab.records.hcpe import WHITE_WON, board_of, packed

GAME = struct.Struct("<32sHBB")
MOVE = struct.Struct("<HhH")
VISITS = struct.Struct("<HH")

RESULT = 3
"""The bits of the result that say who won."""

ENDINGS = {str(Ending.REPETITION): 4, str(Ending.DECLARATION): 8, str(Ending.MAX_PLIES): 16}

ONLY = 1
"""The visits of the only candidate of a position without a policy."""


def write_hcpe3(path: Path | str, games: Iterable[GameRecord]) -> None:
    """Writes games to a file; raises GameFileError at one that the format cannot hold."""
    with Path(path).open("wb") as file:
        file.writelines(encode(game) for game in games)


def encode(game: GameRecord) -> bytes:
    """Returns a game in this format."""
    if len(game.moves) > 0xFFFF:
        raise GameFileError(f"expected at most 65535 moves, received {len(game.moves)}")
    start = packed(Board(game.start_sfen)).tobytes()
    parts = [GAME.pack(start, len(game.moves), game.result | ENDINGS.get(game.ending, 0), 0)]
    policies = game.policies or (None,) * len(game.moves)
    for move, score, policy in zip(game.moves, game.evals, policies, strict=True):
        candidates = [] if score is None else _visits(move, policy)
        parts.append(MOVE.pack(move, score or 0, len(candidates)))
        parts += [VISITS.pack(*candidate) for candidate in candidates]
    return b"".join(parts)


def _visits(move: int, policy: Policy | None) -> list[tuple[int, int]]:
    if policy is None:
        return [(move, ONLY)]
    return [(candidate, units) for candidate, p in policy if (units := round(UNITS * p))] or [(move, ONLY)]


def read_hcpe3(
    path: Path, report: Callable[[str], None] = lambda message: None, teacher: str = ""
) -> Iterator[GameRecord]:
    """Yields the games of a file.

    report: takes a line for each damaged game, which names it and is left out, and for an incomplete end.
    """
    data = memoryview(path.read_bytes())
    place, number = 0, 0
    while place < len(data):
        number += 1
        try:
            end = _end(data, place)
        except struct.error:
            report(f"{path}: game {number}: the file ends within it")
            return
        try:
            yield _decode(data[place:end], teacher)
        except GameFileError as error:
            report(f"{path}: game {number}: {error}")
        place = end


def _end(data: memoryview, place: int) -> int:
    """Returns where a game ends; raises struct.error if the data end before."""
    _, moves, _, _ = GAME.unpack_from(data, place)
    place += GAME.size
    for _ in range(moves):
        _, _, candidates = MOVE.unpack_from(data, place)
        place += MOVE.size + VISITS.size * candidates
    if place > len(data):
        raise struct.error("too short")
    return place


def _decode(data: memoryview, teacher: str) -> GameRecord:
    start, count, result, _ = GAME.unpack_from(data, 0)
    if result & RESULT > WHITE_WON:
        raise GameFileError(f"expected a result 0 to 2, received {result & RESULT}")
    try:
        board = board_of(start)
    except ValueError as error:
        raise GameFileError(str(error)) from error
    start_sfen = board.sfen()
    moves, evals, policies, place = [], [], [], GAME.size
    for _ in range(count):
        move, score, candidates = MOVE.unpack_from(data, place)
        place += MOVE.size
        visits = list(VISITS.iter_unpack(data[place : place + VISITS.size * candidates]))
        place += VISITS.size * candidates
        for played in (move, *(candidate for candidate, _ in visits)):
            if not board.is_legal(played):
                raise GameFileError(f"expected a move that is legal in {board.sfen()}, received {played}")
        board.push(move)
        moves.append(move)
        evals.append(score if candidates else None)
        policies.append(_policy(move, visits))
    ending = next((name for name, bit in ENDINGS.items() if result & bit), "")
    return GameRecord(
        tuple(moves), tuple(evals), result & RESULT,
        policies=tuple(policies) if any(policy is not None for policy in policies) else None,
        start_sfen=start_sfen, teacher=teacher, ending=ending,
    )  # fmt: skip


def _policy(move: int, visits: list[tuple[int, int]]) -> Policy | None:
    total = sum(count for _, count in visits)
    if not total or visits == [(move, ONLY)]:
        return None
    return tuple((candidate, count / total) for candidate, count in visits)
