"""Planes and labels against the libraries of other projects, on the positions of random games.

The native code is compared, which native/test_formats.py compares with the Python formats.
"""

from collections.abc import Iterator
from itertools import islice
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.nshogi import NshogiFormat
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format
from goryu.evaluators.formats.value_scale import from_logit, from_probability
from goryu.games.shogi import Rules, move_to_usi

ENTERING_KINGS = "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180"
"""Both kings are in the other's camp."""

how_many = pytest.mark.parametrize("count", [300, pytest.param(3_000, marks=pytest.mark.slow)])


def random_boards(native: ModuleType, count: int, rules: Rules | None = None) -> Iterator[Any]:
    def games() -> Iterator[Any]:
        rng = Random(1)
        for number in range(1 << 20):
            arguments = [ENTERING_KINGS] if number % 3 == 0 else []
            board = native.Board(*arguments, **({"rules": rules} if rules else {}))
            while board.ply < 320 and (moves := board.legal_moves()):
                if rng.random() < 0.25:
                    yield board
                board.push(rng.choice(moves))

    return islice(games(), count)


def planes(native: ModuleType, model_format: ModelFormat, board: Any) -> list[Any]:
    inputs = [np.zeros((1, *spec.shape), np.float32) for spec in model_format.inputs]
    native.fill_planes(model_format, [board], inputs)
    return [rows[0] for rows in inputs]


@how_many
@pytest.mark.parametrize("sees_nyugyoku", [False, True])
def test_planes_and_labels_of_dlshogi_are_those_of_cshogi(
    native: ModuleType, sees_nyugyoku: bool, count: int
) -> None:
    cshogi = pytest.importorskip("cshogi")
    from cshogi import dlshogi

    model_format = DlshogiFormat(from_probability, sees_nyugyoku=sees_nyugyoku)
    expected = [np.zeros(spec.shape, np.float32) for spec in model_format.inputs]
    reference = cshogi.Board()
    dlshogi.use_nyugyoku_features(sees_nyugyoku)
    try:
        for board in random_boards(native, count):
            reference.set_sfen(board.sfen())
            expected[1][:] = 0  # cshogi clears the first 57 planes only.
            dlshogi.make_input_features(reference, *expected)
            for ours, theirs in zip(planes(native, model_format, board), expected, strict=True):
                assert np.array_equal(ours, theirs), board.sfen()
            for move in board.legal_moves():
                theirs = dlshogi.make_move_label(reference.move_from_move16(move), reference.turn)
                assert native.policy_label(model_format, move, board.turn) == theirs, (board.sfen(), move)
    finally:
        dlshogi.use_nyugyoku_features(False)


@how_many
def test_planes_and_labels_of_python_dlshogi2_are_made_of_those_of_cshogi(
    native: ModuleType, count: int
) -> None:
    """The book makes its planes from them, too; its labels are dlshogi's except for drops."""
    cshogi = pytest.importorskip("cshogi")
    from cshogi import dlshogi

    model_format = PythonDlshogi2Format("planes", "policy", "value", from_logit)
    reference = cshogi.Board()
    for board in random_boards(native, count):
        reference.set_sfen(board.sfen())
        expected = np.zeros((104, 9, 9), np.float32)
        (reference.piece_planes if board.turn == 0 else reference.piece_planes_rotate)(expected)
        black, white = reference.pieces_in_hand
        plane = 28
        for hand in (black, white) if board.turn == 0 else (white, black):
            for pieces, most in zip(hand, (18, 4, 4, 4, 4, 2, 2), strict=True):
                expected[plane : plane + pieces] = 1
                plane += most
        assert np.array_equal(planes(native, model_format, board)[0], expected), board.sfen()
        for move in board.legal_moves():
            theirs = reference.move_from_move16(move)
            label = dlshogi.make_move_label(theirs, reference.turn)
            if cshogi.move_is_drop(theirs):
                label = 81 * (20 + cshogi.move_drop_hand_piece(theirs)) + label % 81
            assert native.policy_label(model_format, move, board.turn) == label, (board.sfen(), move)


def nshogi_features(nshogi: Any, planes: int) -> list[Any]:
    """The features of nshogi-engine's presets SimpleFeatures and CustomFeaturesV1."""
    kinds = ["PAWN", "LANCE", "KNIGHT", "SILVER", "GOLD", "KING", "BISHOP", "ROOK"]
    kinds += ["PROPAWN", "PROLANCE", "PROKNIGHT", "PROSILVER", "PROBISHOP", "PROROOK"]
    caps = {"PAWN": 6, "LANCE": 4, "KNIGHT": 4, "SILVER": 4, "GOLD": 4, "BISHOP": 2, "ROOK": 2}
    names = [f"{side}_{kind}" for side in ("MY", "OP") for kind in kinds]
    names += [
        f"{side}_STAND_{kind}_{n}"
        for side in ("MY", "OP")
        for kind, cap in caps.items()
        for n in range(1, cap + 1)
    ]
    names += ["BLACK", "WHITE"]
    if planes == 93:
        names += ["CHECK", "NO_MY_PAWN_FILE", "NO_OP_PAWN_FILE"]
    names += ["PROGRESS", "PROGRESS_UNIT", "MY_DRAW_VALUE", "OP_DRAW_VALUE"]
    if planes == 93:
        names += ["MY_DECLARATION_SCORE", "OP_DECLARATION_SCORE", "MY_PIECE_SCORE", "OP_PIECE_SCORE"]
    return [getattr(nshogi.ml.FeatureType, name) for name in names]


@how_many
@pytest.mark.parametrize("number", [86, 93])
def test_planes_and_labels_of_nshogi_are_those_of_nshogi(native: ModuleType, number: int, count: int) -> None:
    nshogi = pytest.importorskip("nshogi")
    model_format = NshogiFormat(number, draw_value=-0.25)
    config = nshogi.StateConfig()
    config.max_ply, config.black_draw_value, config.white_draw_value = 256, 0.375, 0.625
    features = nshogi_features(nshogi, number)
    for board in random_boards(native, count, Rules(max_ply=256)):
        state = nshogi.io.sfen.make_state_from_sfen(board.sfen())
        expected = nshogi.ml.FeatureStack(features, state, config).to_numpy(True).reshape(number, 9, 9)
        ours = planes(native, model_format, board)[0]
        # nshogi multiplies by a reciprocal, which may round the last bit of a float differently.
        np.testing.assert_allclose(ours, expected, rtol=2e-7, atol=0, err_msg=board.sfen())
        for move in board.legal_moves():
            theirs = nshogi.io.sfen.move_from_sfen(state, move_to_usi(move))
            label = nshogi.ml.move_to_index(state.side_to_move, theirs, True)
            assert native.policy_label(model_format, move, board.turn) == label, (board.sfen(), move)
