"""Gives a network an error head, which predicts the squared error of its win probability.

The search lets a value count the less, the greater the error that its network expects of it
(`evaluators/formats/value_weight.py`). The network itself stays as it is: the head reads the numbers that the
first dense layer of the value head reads, in our networks 64 pooled ones, and has one hidden layer. So it
takes minutes to train, and no time to compute. Its answer is a tensor of the graph, `output_error`, but no
output of the file, so that other engines still read the file.

The errors are the differences between the network's win probabilities and a stronger network's labels. The
positions must be ones that the network has not been trained on, since it knows those too well. Leaves of
searches are best, because the head will be asked about them (`goryu selfplay leaves`). The loss of a
prediction u for the squared error e is e / u + ln u. Its mean is least where u is the mean of e.

Source: KataGo, whose networks predict the error of their values ("short-term error"); Nix and Weigend,
"Estimating the Mean and Variance of the Target Probability Distribution", 1994 (the loss).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import helper, numpy_helper
from torch import nn

from goryu.base.errors import GoryuError, InputError, first_line
from goryu.evaluators.formats.dlshogi import ERROR_OUTPUT
from goryu.evaluators.formats.onnx_edit import with_output
from goryu.evaluators.formats.value_weight import LEAST_SQUARE
from goryu.learning.training.dataset import Dataset, draws, make_batch

Floats = npt.NDArray[np.float32]

HIDDEN = 64
"""Units of the hidden layer."""
PASSES = 16
"""Times that the training sees each position."""
BATCH = 256
RATE = 2e-3
"""Peak of the learning rate, which falls to zero."""
LEAST = LEAST_SQUARE / 4.0
"""Is added to a predicted square in the loss, as the weight adds it: there it is of a value in [-1, +1]."""
TOLERANCE = 1e-5
"""Greatest accepted difference between the head in the file and the one that was trained."""
PREFIX = "goryu_error"
"""With which the names of the head's tensors begin."""

_OTHERS = ("Relu", "Add", "MatMul", "Gemm")
"""Operators of the value head behind its first dense layer, and that layer's."""


@dataclass(frozen=True, slots=True)
class ErrorHead:
    """sigmoid(second . relu(first . x + first_bias) + second_bias); first: [HIDDEN, inputs]."""

    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats

    def __call__(self, features: Floats) -> Floats:
        """Returns the expected squared errors [N] of the win probabilities; features: [N, inputs]."""
        hidden = np.maximum(features @ self.first.T + self.first_bias, 0.0)
        return np.asarray(
            1.0 / (1.0 + np.exp(-(hidden @ self.second.T + self.second_bias)[:, 0])), np.float32
        )


@dataclass(frozen=True, slots=True)
class Examples:
    """features: [N, inputs], what the head reads. errors: [N], squared errors of the win probabilities."""

    features: Floats
    errors: Floats

    def __len__(self) -> int:
        return len(self.errors)


def load_without_head(path: Path) -> onnx.ModelProto:
    """Returns the model of a file, without its error head if it has one.

    Raises InputError if the file is no ONNX file, and OSError if it cannot be read.
    """
    try:
        model = onnx.load(str(path))
    except OSError:
        raise
    except Exception as error:  # protobuf's errors have no base class of their own.
        raise InputError(f"{path}: expected an ONNX file: {first_line(error)}") from error
    graph = model.graph
    for items in (graph.node, graph.initializer, graph.output):
        kept = [item for item in items if not _is_of_head(item)]
        del items[:]
        items.extend(kept)
    return model


def _is_of_head(item: onnx.NodeProto | onnx.TensorProto | onnx.ValueInfoProto) -> bool:
    names = item.output if isinstance(item, onnx.NodeProto) else [item.name]
    return any(name.startswith(PREFIX) or name == ERROR_OUTPUT for name in names)


def features_of(model: onnx.ModelProto) -> str:
    """Returns the name of the tensor that the first dense layer of the value head reads.

    Raises InputError if the model has no value head of the dlshogi format, or one of another kind.
    """
    producers = {name: node for node in model.graph.node for name in node.output}
    constants = {tensor.name for tensor in model.graph.initializer}
    if ERROR_OUTPUT in producers:
        raise InputError("the network has an error head already")
    value = producers.get("output_value")
    if value is None or value.op_type != "Sigmoid":
        raise InputError(
            "expected a network of the dlshogi format, in 32 or 8 bits, whose value is a Sigmoid"
        )
    name, found = value.input[0], ""
    while (node := producers.get(name)) is not None and node.op_type in _OTHERS:
        inner = [each for each in node.input if each not in constants]
        if len(inner) != 1:
            break
        name = inner[0]
        if node.op_type in ("MatMul", "Gemm"):
            found = name
    if not found:
        raise InputError("expected a network whose value is computed by dense layers")
    return found


def check_network(model: onnx.ModelProto) -> None:
    """Raises InputError if the network cannot have a head, or has other inputs than our networks."""
    import onnxruntime

    features_of(model)
    try:
        session: Any = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors have no other base class.
        raise InputError(f"onnxruntime cannot read it: {first_line(error)}") from error
    found = {node.name: (node.type, node.shape) for node in session.get_inputs()}
    for name, planes in (("input1", 62), ("input2", 57)):
        kind, shape = found.get(name, ("nothing", []))
        if kind != "tensor(float)" or shape[1:] != [planes, 9, 9] or isinstance(shape[0], int):
            raise InputError(
                f"expected {name} to be tensor(float) [N, {planes}, 9, 9] with a free N; found {kind} {shape}"
            )


def examples_of(model: onnx.ModelProto, positions: Dataset, report: Callable[[int], None]) -> Examples:
    """Returns the examples of all positions and of their mirror images.

    report: is called with the number of positions that are done.
    """
    import onnxruntime

    if not len(positions):
        raise InputError("expected positions of games, found none")
    features = features_of(model)
    watched = with_output(model.SerializeToString(), features)
    session = onnxruntime.InferenceSession(watched, providers=["CPUExecutionProvider"])
    seen: list[Floats] = []
    errors: list[Floats] = []
    for start in range(0, len(positions), BATCH):
        part = np.arange(start, min(start + BATCH, len(positions)))
        for is_mirrored in (False, True):
            batch = make_batch(positions, part, np.full(len(part), is_mirrored))
            planes = {"input1": batch.input1, "input2": batch.input2}
            found, values = session.run([features, "output_value"], planes)
            seen.append(np.asarray(found, np.float32))
            errors.append(np.square(np.asarray(values, np.float32)[:, 0] - batch.value))
        report(int(part[-1]) + 1)
    if not seen:
        return Examples(np.zeros((0, 1), np.float32), np.zeros(0, np.float32))
    return Examples(np.concatenate(seen), np.concatenate(errors))


def fit(examples: Examples, seed: int) -> Iterator[tuple[float, ErrorHead]]:
    """Trains a head; yields the mean loss of each pass and the head after it.

    Raises InputError if there are too few examples for a batch.
    """
    torch.manual_seed(seed)
    mean, scale = examples.features.mean(0), examples.features.std(0) + 1e-3
    features = torch.from_numpy((examples.features - mean) / scale)
    errors = torch.from_numpy(examples.errors)
    net = nn.Sequential(nn.Linear(features.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    nn.init.constant_(net[2].bias, float(np.log(examples.errors.mean() + LEAST)))
    steps = max(1, len(examples) // BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=RATE, total_steps=PASSES * steps)
    batches = draws(len(examples), BATCH, np.random.default_rng(seed))
    for _ in range(PASSES):
        total = 0.0
        for _ in range(steps):
            chosen = torch.from_numpy(next(batches)[0])
            expected = torch.sigmoid(net(features[chosen])[:, 0]) + LEAST
            loss = (errors[chosen] / expected + torch.log(expected)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach())
        first, second = net[0], net[2]
        weights = first.weight.detach().numpy() / scale  # The head reads the numbers as they are.
        yield (
            total / steps,
            ErrorHead(
                np.ascontiguousarray(weights, np.float32),
                np.asarray(first.bias.detach().numpy() - weights @ mean, np.float32),
                second.weight.detach().numpy().copy(),
                second.bias.detach().numpy().copy(),
            ),
        )


def with_head(model: onnx.ModelProto, head: ErrorHead) -> onnx.ModelProto:
    """Returns the model with the head."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    arrays = {
        f"{PREFIX}_first": head.first,
        f"{PREFIX}_first_bias": head.first_bias,
        f"{PREFIX}_second": head.second,
        f"{PREFIX}_second_bias": head.second_bias,
    }
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
    first, first_bias, second, second_bias = arrays
    sums, hidden, logit = (f"{PREFIX}_{name}" for name in ("sums", "hidden", "logit"))
    graph.node.extend(
        [
            helper.make_node("Gemm", [features_of(model), first, first_bias], [sums], transB=1),
            helper.make_node("Relu", [sums], [hidden]),
            helper.make_node("Gemm", [hidden, second, second_bias], [logit], transB=1),
            helper.make_node("Sigmoid", [logit], [ERROR_OUTPUT]),
        ]
    )
    return result


def check_head(model: onnx.ModelProto, head: ErrorHead, positions: Dataset) -> None:
    """Raises GoryuError if the model with the head computes anything else than both do alone."""
    import onnxruntime

    count = min(BATCH, len(positions))
    batch = make_batch(positions, np.arange(count), np.zeros(count, np.bool_))
    planes = {"input1": batch.input1, "input2": batch.input2}
    content = with_head(model, head).SerializeToString()
    plain, whole = (
        onnxruntime.InferenceSession(each, providers=["CPUExecutionProvider"])
        for each in (model.SerializeToString(), with_output(content, ERROR_OUTPUT))
    )
    names = ["output_policy", "output_value"]
    *same, errors = whole.run([*names, ERROR_OUTPUT], planes)
    expected = head(examples_of(model, positions.select(np.arange(count)), lambda _: None).features[:count])
    difference = float(np.abs(np.asarray(errors)[:, 0] - expected).max())
    if not difference <= TOLERANCE:
        raise GoryuError(f"the head in the file differs by {difference:.2g} from the one that was trained")
    for name, ours, theirs in zip(names, plain.run(names, planes), same, strict=True):
        if not np.array_equal(np.asarray(ours), np.asarray(theirs)):
            raise GoryuError(f"{name} is not what it was without the head")


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a head predicts.

    explained: the share of the variance of the squared errors that it explains; at most 1.
    groups: for sixths of the examples by the predicted square: its mean, and the mean of the true ones.
    """

    explained: float
    groups: list[tuple[float, float]]


def quality(head: ErrorHead, examples: Examples) -> Quality:
    """Measures a head on examples that it was not trained on."""
    predicted = head(examples.features).astype(np.float64)
    errors = examples.errors.astype(np.float64)
    variance = float(np.mean((errors - errors.mean()) ** 2))
    explained = 1.0 - float(np.mean((errors - predicted) ** 2)) / variance if variance > 0.0 else 0.0
    parts = np.array_split(np.argsort(predicted), 6)
    return Quality(
        explained,
        [(float(predicted[part].mean()), float(errors[part].mean())) for part in parts if len(part)],
    )
