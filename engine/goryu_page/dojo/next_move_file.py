"""Reads and writes the files of next-move problems (次の一手問題集) of ShogiHome.

The format is specs/next-move-problem-format.md of github.com/sunfish-shogi/shogihome: JSON in which scores
are centipawns for black, and mates are plies, positive if black wins.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp
from typing import Any

from goryu import __version__
from goryu.analysis.description import legal_part
from goryu.base.errors import GoryuError, InputError
from goryu.base.language import tr
from goryu.base.strict_json import parse_json
from goryu.games.shogi import move_to_usi
from goryu.implementation import Board
from goryu.players.score import MAX_CP, centipawns
from goryu_page.dojo.problems import NewProblem, Problem, ProblemKind, ProblemState
from goryu_page.dojo.settings import TrainingSettings

FORMAT = "shogihome-next-move"
VERSION = 1

COEFFICIENT = 600.0
"""Centipawns at which the odds to win are e : 1, unless the file says otherwise."""

MOST_PROBLEMS = 10_000


@dataclass(frozen=True, slots=True)
class NextMoveFile:
    """What a file holds. faults: of the problems that cannot be used, as messages with their number."""

    title: str
    problems: tuple[NewProblem, ...]
    faults: tuple[str, ...]


def read_next_moves(data: bytes | str, name: str) -> NextMoveFile:
    """Returns the problems of a file; raises InputError if it is no such file.

    name: of the file, for messages, and for the title of a file without one.
    """
    try:
        content = parse_json(data)
    except ValueError as error:
        raise InputError(tr("{name}: no JSON: {error}", name=name, error=error)) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(tr("{name}: expected a file of next-move problems of ShogiHome", name=name))
    version = content.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise InputError(tr("{name}: of version {version}, expected 1", name=name, version=str(version)[:20]))
    problems = content.get("problems")
    if not isinstance(problems, list) or len(problems) > MOST_PROBLEMS:
        raise InputError(
            tr("{name}: expected a list of at most {count} problems", name=name, count=MOST_PROBLEMS)
        )
    metadata = _dict(content.get("metadata"))
    title = str(metadata.get("title") or name)[:200]
    coefficient = _number(_dict(metadata.get("criteria")).get("coefficientInSigmoid")) or COEFFICIENT
    good, faults = [], []
    for number, problem in enumerate(problems, start=1):
        try:
            good.append(_problem(_dict(problem), title, coefficient))
        except (GoryuError, ValueError) as error:
            text = error.translated() if isinstance(error, GoryuError) else str(error)
            faults.append(tr("{name}, problem {number}: {error}", name=name, number=number, error=text))
    return NextMoveFile(title, tuple(good), tuple(faults))


def _problem(problem: dict[str, Any], title: str, coefficient: float) -> NewProblem:
    board = Board(str(problem.get("sfen", "")))
    legal = set(map(move_to_usi, board.all_legal_moves()))
    if not legal or board.outcome() is not None:
        raise InputError(tr("the game is over in this position"))
    candidates = problem.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        raise InputError(tr("there is no candidate"))
    sign = 1 if board.turn == 0 else -1
    answers = [_answer(_dict(one), board, legal, sign, coefficient) for one in candidates]
    answers[0]["accepted"] = True
    played = str(_dict(problem.get("actualMove")).get("usi", ""))
    if played not in legal:
        raise InputError(tr("{move}: expected a legal move", move=played[:10] or "actualMove"))
    source = _dict(problem.get("source"))
    ply = source.get("ply")
    return NewProblem(
        ProblemKind.IMPORTED,
        board.sfen(),
        (),
        {
            "title": title,
            "answers": answers,
            "source": {
                "names": [str(source.get(key) or "")[:100] for key in ("blackPlayer", "whitePlayer")],
                "date": str(source.get("date") or "")[:40],
                "ply": ply if isinstance(ply, int) else None,
            },
        },
        played,
        state=ProblemState.SOUND,
    )


def _answer(
    candidate: dict[str, Any], board: Board, legal: set[str], sign: int, coefficient: float
) -> dict[str, Any]:
    move = str(candidate.get("usi", ""))
    if move not in legal:
        raise InputError(tr("{move}: expected a legal move", move=move[:10] or "usi"))
    win_rate = None
    if mate := _number(candidate.get("mate")):
        win_rate = 1.0 if mate * sign > 0 else 0.0
    elif (score := _number(candidate.get("score"))) is not None:
        cp = max(-MAX_CP, min(MAX_CP, sign * score))
        win_rate = round(1 / (1 + exp(-cp / coefficient)), 4)
    pv = candidate.get("pv")
    line = legal_part(board, map(str, pv[:30]) if isinstance(pv, list) and pv[:1] == [move] else [move])
    return {"move": move, "win_rate": win_rate, "accepted": candidate.get("accepted") is True, "line": line}


def write_next_moves(
    problems: Sequence[Problem], title: str, engine: str, settings: TrainingSettings, at: datetime
) -> str:
    """Returns problems as the text of a file.

    Left out are those that the format cannot hold: mates, and problems without answers or a move of a game.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "metadata": {
            "title": title,
            "createdAt": at.astimezone(UTC).isoformat(timespec="seconds"),
            "appVersion": f"Goryu {__version__}",
            "engine": {"name": engine},
            "criteria": {
                "adoptionWinRateDiff": round(100 * settings.threshold, 2),
                "acceptableWinRateDiff": round(50 * settings.threshold, 2),
                "coefficientInSigmoid": COEFFICIENT,
            },
        },
        "problems": [_written(one) for one in problems if one.played and one.content.get("answers")],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _written(problem: Problem) -> dict[str, Any]:
    board = Board(problem.start)
    for move in problem.moves:
        board.push_usi(move)
    sign = 1 if board.turn == 0 else -1
    source = problem.content.get("source", {})
    names = source.get("names", ["", ""])
    candidates = [
        {"usi": answer["move"]}
        | _score(answer["win_rate"], sign)
        | {"accepted": answer["accepted"], "pv": answer["line"]}
        for answer in problem.content["answers"]
    ]
    played = next((one for one in problem.content["answers"] if one["move"] == problem.played), None)
    return {
        "sfen": " ".join((*board.sfen().split()[:3], "1")),
        "candidates": candidates,
        "actualMove": {"usi": problem.played}
        | (_score(played["win_rate"], sign) | {"scoreSource": "research"} if played else {}),
        "source": {
            key: value
            for key, value in (
                ("ply", source.get("ply")),
                ("blackPlayer", names[0]),
                ("whitePlayer", names[1]),
                ("date", source.get("date")),
            )
            if value
        },
    }


def _score(win_rate: float | None, sign: int) -> dict[str, int]:
    if win_rate is None:
        return {}
    return {"score": sign * centipawns(2.0 * win_rate - 1.0, COEFFICIENT)}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
