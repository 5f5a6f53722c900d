"""The error head: what it learns, what it leaves alone, and how the evaluators read it."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("torch")
pytest.importorskip("cshogi")

from goryu.base.errors import InputError  # noqa: E402
from goryu.commands.training.error_head import main  # noqa: E402
from goryu.evaluators.formats.value_weight import value_weights  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.games.shogi import Board  # noqa: E402
from goryu.learning.records.game_records import read_games, write_games  # noqa: E402
from goryu.learning.training import error_head  # noqa: E402
from goryu.learning.training.error_head import ErrorHead, Examples  # noqa: E402
from goryu.learning.training.import_onnx import load_export  # noqa: E402
from goryu.players.config import EvaluatorConfig  # noqa: E402
from goryu.players.set_up.loading import load_on_one_device  # noqa: E402
from paths import MODELS  # noqa: E402

SHIPPED = MODELS / "goryu-5x64.onnx"
GAMES = SHIPPED.parent / "data" / "fsf_20261123.games"


def random_head(inputs: int = 64, scale: float = 1.0, seed: int = 1) -> ErrorHead:
    rng = np.random.default_rng(seed)
    shapes = ((32, inputs), (32,), (1, 32), (1,))
    return ErrorHead(*((rng.standard_normal(shape) * scale).astype(np.float32) for shape in shapes))


def noisy(count: int, seed: int) -> tuple[npt.NDArray[np.float32], Examples]:
    """Returns the true mean squares, and examples of normal errors with them."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(-3.0, 5.0, (count, 6)).astype(np.float32)
    mean = 0.05 / (1.0 + np.exp(-2.0 * features[:, 0])) + 0.002
    errors = mean * rng.standard_normal(count) ** 2
    return mean.astype(np.float32), Examples(features, errors.astype(np.float32))


def test_a_head_learns_the_mean_square_of_errors() -> None:
    _, training = noisy(20_000, seed=1)
    mean, testing = noisy(4000, seed=2)
    *_, (_, head) = error_head.fit(training, seed=0)
    found = head(testing.features)
    assert np.corrcoef(found, mean)[0, 1] > 0.98
    for predicted, true in error_head.quality(head, testing).groups:
        assert predicted == pytest.approx(true, rel=0.2)
    knowing = 1.0 - float(np.mean((testing.errors - mean) ** 2)) / float(np.var(testing.errors))
    assert error_head.quality(head, testing).explained == pytest.approx(knowing, abs=0.02)


def test_networks_with_other_inputs_are_refused() -> None:
    model = error_head.load_without_head(SHIPPED)
    error_head.check_network(model)
    broken = error_head.load_without_head(SHIPPED)
    broken.graph.node[0].input[0] = "nothing"
    with pytest.raises(InputError, match="onnxruntime cannot read it"):
        error_head.check_network(broken)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    with pytest.raises(
        InputError, match=r"expected input1 to be .* with a free N; found tensor\(float\) \[4"
    ):
        error_head.check_network(model)


def test_the_quality_of_a_head_that_knows_nothing_is_zero() -> None:
    _, examples = noisy(2000, seed=3)
    blind = ErrorHead(
        np.zeros((1, 6), np.float32), np.zeros(1, np.float32), np.zeros((1, 1), np.float32),
        np.array([np.log(examples.errors.mean() / (1 - examples.errors.mean()))], np.float32),
    )  # fmt: skip
    assert error_head.quality(blind, examples).explained == pytest.approx(0.0, abs=1e-4)


def test_the_network_with_a_head_answers_as_before_and_gives_weights(tmp_path: Path) -> None:
    plain = error_head.load_without_head(SHIPPED)
    head = random_head(scale=0.3)
    (tmp_path / "plain.onnx").write_bytes(plain.SerializeToString())
    model = error_head.with_head(plain, head)
    onnx.checker.check_model(model, full_check=True)
    assert [output.name for output in model.graph.output] == ["output_policy", "output_value"]
    (tmp_path / "head.onnx").write_bytes(model.SerializeToString())
    board = Board()
    boards = []
    for usi in ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e", "B*7b", "4e3d"]:
        board.push_usi(usi)
        boards.append(board.copy())
    for backend in ("onnxruntime", "winograd-float", "cpu"):
        expected = NetworkEvaluator(tmp_path / "plain.onnx", backend=backend, weighs_errors=True).evaluate(
            boards
        )
        found = NetworkEvaluator(tmp_path / "head.onnx", backend=backend, weighs_errors=True).evaluate(boards)
        assert [(each.policy, each.value) for each in found] == [
            (each.policy, each.value) for each in expected
        ]
        assert {each.weight for each in expected} == {1.0}
        assert len({each.weight for each in found}) == len(boards)
        off = NetworkEvaluator(tmp_path / "head.onnx", backend=backend)
        assert off.evaluate(boards) == expected


def test_weights_follow_from_the_features_that_the_head_reads(tmp_path: Path) -> None:
    plain, head = error_head.load_without_head(SHIPPED), random_head(scale=0.3)
    path = tmp_path / "head.onnx"
    path.write_bytes(error_head.with_head(plain, head).SerializeToString())
    network = NetworkEvaluator(path, backend="onnxruntime", weighs_errors=True)
    inputs = network.new_inputs(1)
    network.format.fill(Board(), [rows[0] for rows in inputs])
    features = error_head.features_of(plain)
    plain.graph.output.append(onnx.helper.make_tensor_value_info(features, onnx.TensorProto.FLOAT, None))
    import onnxruntime

    session = onnxruntime.InferenceSession(plain.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run([features], dict(zip(("input1", "input2"), inputs, strict=True)))
    assert network.run(inputs).weights == pytest.approx(value_weights(head(found)), rel=1e-4)


def test_a_head_is_replaced_and_training_goes_on_without_it(tmp_path: Path) -> None:
    plain = error_head.load_without_head(SHIPPED)
    path = tmp_path / "head.onnx"
    path.write_bytes(error_head.with_head(plain, random_head(seed=1)).SerializeToString())
    assert error_head.load_without_head(path) == plain
    again = error_head.with_head(error_head.load_without_head(path), random_head(seed=2))
    assert again == error_head.with_head(plain, random_head(seed=2))
    blocks = [name for name, _ in load_export(path).named_modules() if name.endswith(".first")]
    assert len(blocks) == 5


@pytest.mark.parametrize("name", ["goryu-5x64.onnx", "goryu-5x64-int8.onnx"])
def test_a_shipped_network_has_a_head_and_no_output_that_others_do_not_expect(name: str) -> None:
    import onnxruntime

    path = SHIPPED.with_name(name)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["output_policy", "output_value"]
    assert NetworkEvaluator(path, weighs_errors=True).format.outputs[-1] == "output_error"
    boards = [Board(), Board("l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1")]
    quiet, sharp = NetworkEvaluator(path, weighs_errors=True).evaluate(boards)
    assert quiet.weight > 2.0 * sharp.weight, "the start is more certain than an attack on both kings"


@pytest.mark.parametrize("backend", ["cpu", "onnxruntime"])
def test_the_option_decides_whether_an_engine_weighs_errors(backend: str) -> None:
    for config, is_on in (
        (EvaluatorConfig(backend=backend), False),
        (EvaluatorConfig(backend=backend, weighs_errors=True), True),
    ):
        network = load_on_one_device(config, lambda _: None)
        (found,) = network.evaluate([Board()])
        assert (found.weight != 1.0) == is_on
        assert ("errors=on" in network.description) == is_on


def test_the_8_bit_network_can_have_a_head(tmp_path: Path) -> None:
    plain = error_head.load_without_head(SHIPPED.with_name("goryu-5x64-int8.onnx"))
    path = tmp_path / "head.onnx"
    path.write_bytes(error_head.with_head(plain, random_head()).SerializeToString())
    (found,) = NetworkEvaluator(path, weighs_errors=True).evaluate([Board()])
    assert found.weight != 1.0


def test_networks_without_a_dense_value_head_are_refused() -> None:
    model = error_head.load_without_head(SHIPPED)
    (value,) = [node for node in model.graph.node if "output_value" in node.output]
    value.op_type = "Tanh"
    with pytest.raises(InputError, match="whose value is a Sigmoid"):
        error_head.features_of(model)
    value.op_type = "Sigmoid"
    value.input[0] = "input1"
    with pytest.raises(InputError, match="computed by dense layers"):
        error_head.features_of(model)
    value.output[0] = "output_error"
    with pytest.raises(InputError, match="has an error head already"):
        error_head.features_of(model)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few games, with scores of Fairy-Stockfish as labels."""
    path = tmp_path_factory.mktemp("labels") / "labels.games"
    games = [game for game, _ in zip(read_games(GAMES), range(40), strict=False)]
    write_games(path, games)
    return path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["goryu error-head"])
    return main([*map(str, arguments)])


def test_the_program_writes_a_network_with_a_head(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.onnx"
    assert run(monkeypatch, SHIPPED, "--source", f"{labels},540,0", "--out", out) == 0
    printed = capsys.readouterr().out
    assert "% of the variance of the squared errors" in printed
    assert f"wrote {out}" in printed
    network = NetworkEvaluator(out, weighs_errors=True)
    assert network.format.outputs[-1] == "output_error"
    (found,) = network.evaluate([Board()])
    assert 0.12 < found.weight < 4.1


def test_bad_input_leaves_no_file(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x08\x07no network")
    out = tmp_path / "out.onnx"
    source = f"{labels},540,0"
    few = tmp_path / "few.games"
    write_games(few, [next(iter(read_games(GAMES)))])
    for model, of, expected in (
        (broken, source, f"{broken}: expected"),
        (tmp_path / "none.onnx", source, "none.onnx"),
        (SHIPPED, f"{few},540,0", "expected at least one batch of 256 positions"),
        (
            SHIPPED.with_name("tictactoe.onnx"),
            source,
            "tictactoe.onnx: expected a network of the dlshogi format",
        ),
    ):
        assert run(monkeypatch, model, "--source", of, "--out", out) != 0
        assert expected in capsys.readouterr().err
        assert not out.exists()
    for read in (SHIPPED, labels):
        before = read.read_bytes()
        assert run(monkeypatch, SHIPPED, "--source", source, "--out", read) != 0
        assert f"{read} is also read: name another output" in capsys.readouterr().err
        assert read.read_bytes() == before
