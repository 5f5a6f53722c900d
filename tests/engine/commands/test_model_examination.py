"""`goryu doctor MODEL`: what it says of good, wrong and unusable models."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx")

from checkpoints import save_checkpoint  # noqa: E402
from foreign_networks import Net, relu, second_book  # noqa: E402
from goryu.commands import doctor  # noqa: E402
from goryu.commands.model_examination import examine  # noqa: E402
from goryu.commands.sanity import (  # noqa: E402
    FIRST_MOVES,
    MATES,
    TAKES_ROOK,
    rook_to_take,
)
from goryu.evaluators.formats.base import planes_of  # noqa: E402
from goryu.evaluators.formats.python_dlshogi2 import PythonDlshogi2Format  # noqa: E402
from goryu.evaluators.formats.value_scale import from_probability  # noqa: E402
from goryu.evaluators.network import providers  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.games.shogi import move_to_usi  # noqa: E402
from goryu.implementation import IMPLEMENTATION, Board  # noqa: E402
from goryu.players.config import EvaluatorConfig  # noqa: E402
from goryu.table.random_positions import random_positions  # noqa: E402
from goryu_lab.conversion.convert import convert  # noqa: E402
from kernel_networks import Model  # noqa: E402
from paths import MODELS  # noqa: E402

MODEL = MODELS / "goryu-5x64.onnx"


def lines_of(path: Path) -> list[str]:
    return list(examine(NetworkEvaluator(path, backend="onnxruntime")))


def bad_answers(path: Path) -> str:
    return "\n".join(line for line in lines_of(path) if line.startswith("! "))


def test_the_shipped_model_passes_every_question() -> None:
    lines = lines_of(MODEL)
    assert "  input input1 [N, 62, 9, 9] tensor(float)" in lines
    assert "format: dlshogi 62+57" in lines
    assert [line for line in lines if line.startswith("!")] == []
    assert lines[-2:] == ["options to set in the GUI:", f"  DNN_Model = {MODEL}"]


def edited(tmp_path: Path, *nodes: Any, **renamed: str) -> Path:
    """Returns goryu-5x64 with some tensors renamed and some nodes added."""
    model = onnx.load(str(MODEL))
    for node in model.graph.node:
        node.output[:] = [renamed.get(name, name) for name in node.output]
    model.graph.node.extend(nodes)
    target = tmp_path / "edited.onnx"
    onnx.save(model, str(target))
    return target


def test_a_value_with_the_wrong_sign_is_noticed(tmp_path: Path) -> None:
    node = onnx.helper.make_node
    one = node("Constant", [], ["one"], value_float=1.0)
    negated = node("Sub", ["one", "right"], ["wrong"])
    # A Sigmoid last: the operator that makes the value shows its scale.
    logit = [
        node("Sub", ["one", "wrong"], ["rest"]), node("Div", ["wrong", "rest"], ["odds"]),
        node("Log", ["odds"], ["logit"]), node("Sigmoid", ["logit"], ["output_value"]),
    ]  # fmt: skip
    bad = bad_answers(edited(tmp_path, one, negated, *logit, output_value="right"))
    assert "a rook more, a rook less" in bad
    assert "mates in one" in bad


def test_a_policy_of_other_labels_is_noticed(tmp_path: Path) -> None:
    """The labels of a plane that runs along the ranks instead of the files."""
    order = np.arange(2187).reshape(27, 9, 9).transpose(0, 2, 1).ravel()
    labels = onnx.numpy_helper.from_array(order)
    nodes = [
        onnx.helper.make_node("Constant", [], ["order"], value=labels),
        onnx.helper.make_node("Gather", ["right", "order"], ["output_policy"], axis=1),
    ]
    bad = bad_answers(edited(tmp_path, *nodes, output_policy="right"))
    assert "mates in one" in bad
    assert "a rook to take" in bad


def test_random_weights_are_called_nonsense_in_every_format(tmp_path: Path) -> None:
    book, net = PythonDlshogi2Format("planes", "policy", "value", from_probability), Net()
    second_book(net, planes_of(book, random_positions(40, seed=77))[0], relu)
    target = tmp_path / "out.onnx"
    convert([save_checkpoint(tmp_path / "checkpoint.pth", net.weights)], target)
    text = "\n".join(lines_of(target))
    assert "format: python-dlshogi2 104" in text
    assert "the tensors fit several formats; good answers under each:" in text
    assert "! most answers are nonsense" in text


def unknown_model(path: Path) -> Path:
    m = Model(1)
    m.add("Identity", "x", to="y")
    return m.save_as(path, {"x": [50, 9, 9]}, {"y": [50, 9, 9]})


def test_an_unusable_model_is_told_with_the_expected_tensors(tmp_path: Path) -> None:
    def told(path: Path) -> str:
        return "\n".join(doctor._network(EvaluatorConfig(model=str(path))))

    problem = told(unknown_model(tmp_path / "unknown.onnx"))
    assert "! broken: backend auto:" in problem
    assert "found x [N, 50, 9, 9] -> y [N, 50, 9, 9]" in problem
    assert "dlshogi: input1 [N, 62, 9, 9], input2 [N, 57 or 119, 9, 9] ->" in problem
    (tmp_path / "text.onnx").write_text("hello")
    for name in ("text.onnx", "none.onnx"):
        assert re.search(rf"! broken: .*{name}", told(tmp_path / name))


@pytest.mark.skipif(IMPLEMENTATION == "python", reason="measures the speed of the search, too")
def test_doctor_examines_the_model_that_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(providers, "BACKENDS", ("auto",))
    monkeypatch.setattr(doctor, "MEASURED_S", 0.01)
    assert doctor.main([str(MODEL)]) == 0
    text = capsys.readouterr().out
    assert "mates in one: 4 of 4" in text
    assert "search: " in text


# The questions themselves.


@pytest.mark.parametrize(("sfen", "mate"), MATES)
def test_each_mate_is_the_only_one(sfen: str, mate: str) -> None:
    shogi = pytest.importorskip("shogi")
    board = shogi.Board(sfen)
    mates = []
    for move in board.legal_moves:
        board.push(move)
        if board.is_checkmate():
            mates.append(move.usi())
        board.pop()
    assert mates == [mate]


def test_the_rook_can_be_taken_for_nothing() -> None:
    board = rook_to_take()
    assert board.pieces[9 * 4 + 5] != 0
    board.push_usi(TAKES_ROOK)
    assert not any(move_to_usi(move).endswith("5f") for move in board.legal_moves())
    assert all(move in map(move_to_usi, Board().legal_moves()) for move in FIRST_MOVES)
