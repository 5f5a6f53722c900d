"""From trained weights to an ONNX file in the dlshogi format, and the proof that it says the same.

The file holds input1 [N, 62, 9, 9], input2 [N, 57, 9, 9], output_policy [N, 2187] (logits) and output_value
[N, 1] (win probability of the side to move: the sigmoid is inside), N free, all float32: what dlshogi and
FukauraOu read, and our own engine.
"""

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from goryu.errors import GoryuError, InputError
from goryu.learning.training.network import PolicyValueNet

OPSET = 17
TOLERANCE = 1e-3
"""Greatest accepted difference between torch and onnxruntime; that of float32 sums is about 1e-5."""


class ExportError(GoryuError, RuntimeError):
    """The exported file does not compute what the network computes."""


class _ForExport(nn.Module):  # type: ignore[misc]
    """The network with the first normalisation folded into its convolutions and a probability as its value.

    The exporter folds a normalisation that follows one convolution; the first one follows the sum of two. A
    plane of `input2` has one number on all squares, so what it adds is computed once, not for each square.
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
    """A convolution 1x1 of planes with one number each; returns [N, C, 1, 1]."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x[:, :, :1, :1], self.weight)


def export_onnx(net: PolicyValueNet, path: Path) -> None:
    """Writes the network beside, checks that file with onnxruntime and renames it.

    Raises ExportError if they disagree.
    """
    unfinished = path.with_name(f"unfinished-{path.name}")
    model = _ForExport(net).eval().to("cpu", memory_format=torch.contiguous_format)
    example = _random_planes(2, seed=0)
    names = ["input1", "input2", "output_policy", "output_value"]
    with warnings.catch_warnings():
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
    unfinished.replace(path)


def load_checkpoint(path: Path) -> PolicyValueNet:
    """Returns the averaged network of a checkpoint written by `train`, in evaluation mode.

    Raises InputError if the file is something else.
    """
    with expecting(path, "a checkpoint of tools/train.py"):
        weights = torch.load(path, weights_only=True, map_location="cpu")["averaged"]
        blocks = sum(name.endswith(".first.weight") for name in weights)
        net = PolicyValueNet(blocks, channels=len(weights["board.weight"]))
        net.load_state_dict(weights)
    net.eval()
    return net


@contextmanager
def expecting(path: Path, what: str) -> Iterator[None]:
    """Raises InputError, which says what was expected, where a checkpoint turns out to be something else."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # torch.load raises what a pickle of something else happens to raise
        raise InputError(f"{path}: expected {what} ({type(error).__name__})") from error


def check_export(net: PolicyValueNet, path: Path) -> None:
    """Raises ExportError if the file does not compute what the network does, in evaluation mode."""
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
    """Random 0/1 planes, about as dense as real ones; a hand plane is constant."""
    generator = torch.Generator().manual_seed(seed)
    board = (torch.rand(size, 62, 9, 9, generator=generator) < 0.05).float()
    hands = (
        (torch.rand(size, 57, 1, 1, generator=generator) < 0.1).float().expand(size, 57, 9, 9).contiguous()
    )
    return board, hands
