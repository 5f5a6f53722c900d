"""The bench signature: a hash that changes whenever the search or the rules change.

Each of sixteen shogi positions and the two small games is searched with hashed evaluations, in one thread,
with a fixed number of playouts. Then the best move is played and the search goes on from there, so that the
signature covers keeping and deleting parts of the graph. The hash covers every root move, its visits and the
bits of its value. The Python and the native implementation must have the same signature. Name a change of it
in the commit.
"""

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from goryu.base.errors import InputError
from goryu.base.installation import CHECKOUT, is_checkout
from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.state import State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Puct, Reversi
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver, no_solver
from goryu.search.result import SearchResult

GOLDEN = CHECKOUT / "tests" / "data" / "golden" / "bench_signature.json"
"""The signature that the tests of a checkout expect."""

PLAYOUTS = 150
"""Playouts of each of the two searches from a position: enough to merge paths and to find mates."""

SEARCHES = (
    (PuctConfig(), no_solver),
    (PuctConfig(batch_size=8), no_solver),
    (PuctConfig(batch_size=4), MateSolver(20, 8)),
    (PuctConfig(batch_size=8, capacity=60, final_move="visits", draw_value=-0.1), no_solver),
)
"""Used in turn: one position at a time, batches, mate search, a table that is full soon."""

POSITIONS = (
    ("start", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"),
    ("two-piece handicap", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
    ("static rook", "lns1k1snl/1r3g1b1/pppgpp1pp/3p2p2/9/5P1P1/PPPPP1P1P/1B1S1S1R1/LN1GKG1NL w - 1"),
    ("ranging rook", "l4gknl/3r2sb1/2n1pg1p1/1pppspp1p/p8/2PPPPPPP/PPB1SGN2/2R3SK1/LN3G2L b - 1"),
    ("bishops off", "ln3k1nl/1r1s2gb1/p1pp1gspp/4ppp2/9/2P1S1P2/PP1PP1NPP/1BSKGRG2/LN6L b Pp 1"),
    ("two bishops in hand", "kn5nl/lg2r4/1s1g1s3/ppp2pp2/4p2pp/P+BGS2P2/1SN2P1PP/1KG1R4/L6NL w 2Pb3p 1"),
    ("middle game", "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"),
    ("dragons", "l+Rsg1g2l/4Pks2/2ppppn+R1/p5p1p/7p1/P1n6/1PNP+b1P1P/1SK1B4/L2G4L b SNg4p 1"),
    (
        "few replies to a check",
        "ln1g2gn1/5s3/p1pp1p1+L1/1kg5+R/PP3P3/5+r3/1B2+p1PsP/1K2L2p1/LN6+p w BSNgs6p 1",
    ),
    (
        "one reply to a check",
        "l3k1+B1l/4+P2G1/p1p2p1pp/6N2/1G4P2/1p3Pn1P/P2+r1SKP1/2s1p4/L3RN2L w G4Pbg2snp 1",
    ),
    ("full hands", "lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95"),
    (
        "kings have entered",
        "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180",
    ),
    ("most moves", "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"),
    ("pawn drop may not mate", "+R6bk/6L2/8G/9/9/9/l+b4K2/9/9 b P 1"),
    ("mate ahead", "l4g3/3s5/p2bsS2p/nkppp4/1N3pg2/1PP6/P1GPP1N1P/2K2S3/L4G2L b RNL5Prbp 1"),
    ("repetition ahead", "k8/9/9/9/9/9/9/4R4/8K b - 1"),
)
"""Names and SFENs: openings, middle games, endings, and special cases of the rules."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Hashes of 16 hexadecimal digits: of all positions, and of each by name; nodes in all searches."""

    digest: str
    parts: dict[str, str]
    nodes: int


def games() -> Iterator[tuple[str, State]]:
    """Yields names and states to search, in order."""
    for name, sfen in POSITIONS:
        yield name, Board(sfen)
    yield "tic-tac-toe", TicTacToe()
    yield "reversi", Reversi()


def bench_signature() -> Signature:
    """Searches all positions and returns the signature."""
    parts: dict[str, str] = {}
    nodes = 0
    for i, (name, state) in enumerate(games()):
        search = Puct(HashedEvaluator(), *SEARCHES[i % len(SEARCHES)])
        data = b""
        for _ in range(2):
            result = search.search(state, lambda stats: False, max_playouts=PLAYOUTS)
            data += packed(result)
            nodes += result.stats.nodes
            assert result.move is not None
            state.push(result.move)
            if state.outcome() is not None:
                break
        parts[name] = digest_of(data)
    return Signature(digest_of("".join(parts.values()).encode()), parts, nodes)


def bless(signature: Signature) -> None:
    """Stores a signature for the tests; raises InputError without a checkout."""
    if not is_checkout():
        raise InputError("--bless stores the signature for the tests of a checkout, and there is none")
    golden = {"signature": signature.digest, "nodes": signature.nodes, "parts": signature.parts}
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", "utf-8")


def packed(result: SearchResult) -> bytes:
    """Returns best move, nodes and every root move of a search as bytes, equal for equal searches."""
    moves = sorted(result.moves, key=lambda root_move: root_move.move)
    head = struct.pack("<HId", result.moves[0].move, result.stats.nodes, result.value)
    return head + b"".join(struct.pack("<HId", m.move, m.visits, m.value) for m in moves)


def digest_of(data: bytes) -> str:
    """Returns a 64-bit hash as hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()
