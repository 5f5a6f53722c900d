"""Exports a trained network to an ONNX file in the dlshogi format, and checks the file.

The file holds input1 [N, 62, 9, 9], input2 [N, 57, 9, 9], output_policy [N, 2187] (logits) and output_value
[N, 1] (win probability of the side to move, after the sigmoid), for any N, all float32. dlshogi, FukauraOu
and Goryu read it.
"""

import copy
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu.base.errors import GoryuError
from goryu.base.files import atomic_path
from goryu_lab.records.expecting import expecting
from goryu_lab.training.checkpoints import load
from goryu_lab.training.network import PolicyValueNet

OPSET = 17
TOLERANCE = 1e-3
"""Greatest accepted difference between PyTorch and onnxruntime; that of float32 sums is about 1e-5."""


class ExportError(GoryuError, RuntimeError):
    """The exported file does not compute what the network computes."""


class _ForExport(nn.Module):  # type: ignore[misc]
    """The network with its first normalisation folded, and a probability as its value.

    The exporter folds only normalisations after one convolution; the first one follows the sum of two. A
    plane of `input2` is constant, so its contribution is computed once instead of for each square.
    """

    def __init__(self, net: PolicyValueNet) -> None:
        super().__init__()
        self.net = copy.deepcopy(net)
        board, hands, norm = self.net.board, self.net.hands, self.net.norm
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        board.weight = nn.Parameter(board.weight * factor[:, None, None, None])
        self.net.hands = _ConstantPlanes(hands.weight * factor[:, None, None, None])
        board.bias = nn.Parameter(norm.bias - norm.running_mean * factor)
        self.net.norm = nn.Identity()

    def forward(self, input1: Tensor, input2: Tensor) -> tuple[Tensor, Tensor]:
        policy, value = self.net(input1, input2)
        return policy, torch.sigmoid(value)


class _ConstantPlanes(nn.Module):  # type: ignore[misc]
    """A 1x1 convolution of constant planes; returns [N, C, 1, 1]."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x[:, :, :1, :1], self.weight)


def export_onnx(net: PolicyValueNet, path: Path) -> None:
    """Writes the network and checks the file with onnxruntime.

    Raises ExportError if they disagree; `path` is then unchanged.
    """
    model = _ForExport(net).eval().to("cpu", memory_format=torch.contiguous_format)
    example = _random_planes(2, seed=0)
    names = ["input1", "input2", "output_policy", "output_value"]
    with atomic_path(path) as unfinished, warnings.catch_warnings():
        # The older, TorchScript exporter is deprecated, but needs no package besides onnx.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            model,
            example,
            str(unfinished),
            input_names=names[:2],
            output_names=names[2:],
            dynamic_axes={name: {0: "batch_size"} for name in names},
            opset_version=OPSET,
            dynamo=False,
        )
        check_export(net.eval(), unfinished)


def load_checkpoint(path: Path) -> PolicyValueNet:
    """Returns the averaged network of a checkpoint of `train`, in evaluation mode.

    Raises InputError if the file is of another kind.
    """
    with expecting(path, "a checkpoint of goryu train"):
        contents = load(path)
        # Of a loop's first network there are the weights alone.
        weights, config = contents["averaged"], contents.get("config", {})
        blocks = config.get("blocks", sum(name.endswith(".first.weight") for name in weights))
        net = PolicyValueNet(blocks, len(weights["board.weight"]))
        net.load_state_dict(weights)
    net.eval()
    return net


def check_export(net: PolicyValueNet, path: Path) -> None:
    """Raises ExportError if the file and the network, in evaluation mode, compute different outputs."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    planes = _random_planes(3, seed=1)
    with torch.no_grad():
        policy, value = net(*planes)
        expected = [policy.numpy(), torch.sigmoid(value).numpy()]
    inputs = {name: plane.numpy() for name, plane in zip(("input1", "input2"), planes, strict=True)}
    found = session.run(["output_policy", "output_value"], inputs)
    for name, ours, theirs in zip(("output_policy", "output_value"), expected, found, strict=True):
        difference = float(np.abs(ours - np.asarray(theirs)).max())
        if not difference <= TOLERANCE:
            raise ExportError(
                f"{path}: {name} differs by {difference:.2g} from the network's, at most {TOLERANCE} expected"
            )


def _random_planes(size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Returns random 0/1 planes, about as dense as real ones; hand planes are constant."""
    generator = torch.Generator().manual_seed(seed)
    board = (torch.rand(size, 62, 9, 9, generator=generator) < 0.05).float()
    hands = (
        (torch.rand(size, 57, 1, 1, generator=generator) < 0.1).float().expand(size, 57, 9, 9).contiguous()
    )
    return board, hands
