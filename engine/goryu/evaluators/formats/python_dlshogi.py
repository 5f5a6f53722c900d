"""The format of python-dlshogi: pieces and hands in 104 planes, in another order than python-dlshogi2's.

python-dlshogi is the program of 山岡忠夫『将棋AIで学ぶディープラーニング』(2018). It is built on
python-shogi: squares are counted along the ranks (9a = 0, 1i = 80), and a plane has the axes [rank][file from
the left]. Kinds are in the order P L N S G B R K +P +L +N +S +B +R. The planes:
    0-13, 14-51     the mover's pieces of each kind, and its hand: P up to 18, L N S G up to 4, B R up to 2
    52-65, 66-103   the opponent's
The labels are 81 * channel + destination with these squares, and drops in the order P L N S G B R. The value
is a logit, unless the file computes it with a Sigmoid or a Tanh.

The book's networks are Chainer snapshots, which `goryu convert` makes into ONNX files.

Source: python-dlshogi (T. Yamaoka), `features.py`; written from a description of the format.
"""

from goryu.evaluators.formats.layouts import ROW_MAJOR, MoveLabels, PieceLayout, kind_order
from goryu.evaluators.formats.python_dlshogi2 import (
    BOOK_CAPS,
    BOOK_CHANNELS,
    BOOK_PLANES,
    PythonDlshogi2Format,
)

PYTHON_SHOGI_KINDS = "P L N S G B R K +P +L +N +S +B +R"


class PythonDlshogiFormat(PythonDlshogi2Format):
    """Implements `ModelFormat`: that of python-dlshogi2 with other orders."""

    name = f"python-dlshogi {BOOK_PLANES}"
    pieces = PieceLayout(
        kind_order(PYTHON_SHOGI_KINDS), ROW_MAJOR, pieces=(0, 52), hands=(14, 66), caps=BOOK_CAPS
    )
    moves = MoveLabels(BOOK_CHANNELS, ROW_MAJOR)
