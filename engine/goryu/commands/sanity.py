"""Questions that every shogi network should answer well, whatever its size.

A file that loads may still be read wrongly: planes in another order, moves numbered differently, a value with
the wrong sign or scale. The network then plays nonsense without an error. These questions show it: popular
first moves, a start position that is about even, a rook more or less, a rook to take, mates in one, and the
mirror image of a position.

Weakness: a network with random weights, or one for another rule set, fails them too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goryu.base.language import tr
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi import START_SFEN, move_to_usi
from goryu.games.shogi.mirror import mirrored, mirrored_move
from goryu.implementation import Board

FIRST_MOVES = ("7g7f", "2g2f", "5g5f", "1g1f", "9g9f", "6g6f", "6i7h", "7i6h", "3i4h", "4i3h", "2h5h", "2h7h")
"""The first moves of nearly all games between strong players."""

EVEN = 0.5
"""Greatest absolute value of the start position, in [-1, +1]."""

WHITE_WITHOUT_ROOK = "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
BLACK_WITHOUT_ROOK = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B7/LNSGKGSNL b - 1"
BEFORE_THE_MISTAKE, MISTAKE = "lnsgkgsnl/4r2b1/pppp1pppp/9/9/9/PPPP1PPPP/1B2R4/LNSGKGSNL w Pp 1", "5b5f"
TAKES_ROOK = "5h5f"

ROOK = 0.2
"""Least difference of the values with a rook more and a rook less."""

MATES = (
    ("lng1k2nl/3s2+Rs1/pPpppp2p/9/9/1rP6/P2PPPP1P/2+b1K4/LN3GSNL b BG2Pgs2p 27", "G*5b"),
    ("l1sgkg2l/7+R1/p1npppn1p/6p2/9/9/P2PPPP1P/2+r1GK3/LN1s2SNL w BS3Pbg3p 32", "7h5h"),
    ("ln1+R3nl/3sgkg2/4pp1s1/p1p5p/1p3Np2/P1P2P3/1PSPP3P/2GK1S3/LN3G2L b R2P2b2p 43", "R*4a"),
    ("l1s1k2+B1/9/p1gppS1pp/6p2/2p1Pn1P1/9/PGNP1PPSP/3K1R3/L4G1NL b BGSN3Prlp 61", "G*5b"),
)
"""Positions with one mate in one, from games of goryu-5x64, and the mate."""

TOP = 3
"""A good move should be among this many first choices of the policy."""

MIRRORED = 0.3
"""Greatest mean difference between the values of a position and its mirror image."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one question. found: what the network answers; expected: what it should."""

    question: str
    found: str
    expected: str
    is_good: bool


def ask(network: NetworkEvaluator, boards: Sequence[Board]) -> list[Finding]:
    """Asks all questions; `boards` are positions whose mirror images are compared."""
    return [*_start(network), *_rooks(network), _mates(network), _mirror(network, boards)]


def share_good(findings: Sequence[Finding]) -> float:
    """Returns the share of the questions that were answered well."""
    return sum(finding.is_good for finding in findings) / len(findings)


def best_moves(network: NetworkEvaluator, board: Board, count: int = TOP) -> tuple[list[str], float]:
    """Returns the first choices of the policy, with their probabilities, and the value."""
    (evaluation,) = network.evaluate([board])
    ranked = sorted(zip(evaluation.policy, board.legal_moves(), strict=True), reverse=True)
    return [f"{move_to_usi(move)} {share:.0%}" for share, move in ranked[:count]], evaluation.value


def _start(network: NetworkEvaluator) -> list[Finding]:
    moves, value = best_moves(network, Board(START_SFEN), 5)
    return [
        Finding("start: moves", ", ".join(moves), "a popular first move", moves[0].split()[0] in FIRST_MOVES),
        Finding("start: value", f"{value:+.2f}", f"-{EVEN} to +{EVEN}", abs(value) <= EVEN),
    ]


def rook_to_take() -> Board:
    """Returns a position in which the last move has given a rook away; some networks see that move."""
    board = Board(BEFORE_THE_MISTAKE)
    board.push_usi(MISTAKE)
    return board


def _rooks(network: NetworkEvaluator) -> list[Finding]:
    more, less = (
        each.value
        for each in network.evaluate([Board(sfen) for sfen in (WHITE_WITHOUT_ROOK, BLACK_WITHOUT_ROOK)])
    )
    moves, value = best_moves(network, rook_to_take())
    is_taken = any(move.startswith(TAKES_ROOK) for move in moves)
    return [
        Finding(
            "a rook more, a rook less",
            f"{more:+.2f}, {less:+.2f}",
            tr("at least {least} apart", least=ROOK),
            more - less >= ROOK,
        ),
        Finding("a rook to take", f"{', '.join(moves)}; {value:+.2f}", TAKES_ROOK, is_taken),
    ]


def _mates(network: NetworkEvaluator) -> Finding:
    found = [(best_moves(network, Board(sfen)), mate) for sfen, mate in MATES]
    seen = sum(any(move.startswith(mate) for move in moves) for (moves, _), mate in found)
    won = sum(value > 0 for (_, value), _ in found)
    text = "{seen} of {count} among the first {top} moves, {won} with a good value"
    return Finding(
        "mates in one",
        tr(text, seen=seen, count=len(MATES), top=TOP, won=won),
        "at least half",
        min(seen, won) >= len(MATES) / 2,
    )


def _mirror(network: NetworkEvaluator, boards: Sequence[Board]) -> Finding:
    images = [mirrored(board) for board in boards]
    values, policies = [], []
    for board, image, one, other in zip(
        boards, images, network.evaluate(boards), network.evaluate(images), strict=True
    ):
        shares = dict(zip(image.legal_moves(), other.policy, strict=True))
        there = np.array([shares[mirrored_move(move)] for move in board.legal_moves()])
        policies.append(float(np.abs(np.array(one.policy) - there).sum()) / 2)
        values.append(abs(one.value - other.value))
    value, policy = float(np.mean(values)), float(np.mean(policies))
    return Finding(
        "mirror images",
        tr("the values differ by {value:.2f}, the policies by {policy:.0%}", value=value, policy=policy),
        tr("values at most {most} apart", most=MIRRORED),
        value <= MIRRORED,
    )
