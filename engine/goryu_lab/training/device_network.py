"""A network in an ONNX file on PyTorch's device, which receives positions as bits: a teacher, or a player."""

from pathlib import Path
from zlib import crc32

import torch
from torch import Tensor, nn

from goryu.base.errors import InputError, first_line
from goryu.evaluators.formats.base import ModelFormat
from goryu.evaluators.formats.detect import detect_format
from goryu.evaluators.formats.dlshogi import DLSHOGI_LABELS, DlshogiFormat
from goryu.evaluators.formats.dlshogi_planes import BOARD_PLANES, HAND_PLANES
from goryu.evaluators.formats.layouts import MoveLabels
from goryu.evaluators.formats.miniosl import LABELS, MinioslFormat
from goryu.evaluators.formats.onnx_graph import read_graph
from goryu.evaluators.formats.value_scale import from_logit, from_probability
from goryu_lab.training.device_planes import PlanesOfBits
from goryu_lab.training.onnx_network import OnnxNetwork


class DeviceNetwork(nn.Module):  # type: ignore[misc]
    """A network of miniosl's format or of dlshogi's 62 + 57 planes, from its ONNX file.

    in_halves: compute in 16 bits, faster and with small differences: float16 on a GPU, bfloat16 on a CPU.
    compiled: let torch.compile translate it.
    """

    def __init__(self, path: Path, *, in_halves: bool = False, compiled: bool = False) -> None:
        """Raises InputError or ModelError for a network of another kind, ModelError for a damaged file."""
        super().__init__()
        self.checksum = crc32(path.read_bytes())
        self.format = _format_of(path)
        self.planes = PlanesOfBits(self.format)
        self.network = OnnxNetwork(path, self.format.outputs)
        self.register_buffer("order", torch.tensor(_order_of_labels(self.format)), persistent=False)
        self.eval()
        self.to(memory_format=torch.channels_last)
        self._in_halves = in_halves
        self._run = torch.compile(self.network) if compiled else self.network

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def forward(self, rows: Tensor, numbers: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Returns probabilities [N, 2187], by dlshogi's labels, and the win probabilities [N].

        rows, numbers: the positions as bits and floats of `format`. legal: bool [N, 2187].
        """
        inputs = dict(
            zip((spec.name for spec in self.format.inputs), self.planes(rows, numbers), strict=True)
        )
        kind = rows.device.type
        half = torch.bfloat16 if kind == "cpu" else torch.float16
        with torch.autocast(kind, half, enabled=self._in_halves):
            policy, value = self._run(inputs)
        logits = policy.float().index_select(1, self.order)
        value = value[:, 0].float()
        scale = self.format.value_scale
        if scale is from_logit:
            value = value.sigmoid()
        elif scale is not from_probability:
            value = (1.0 + value) / 2.0
        return logits.masked_fill(~legal, -torch.inf).softmax(1), value


def check_device(device: str) -> None:
    """Raises InputError if PyTorch cannot use a device."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:  # The latter from a torch without CUDA.
        reason = first_line(error)
        raise InputError(f"device {device!r}: {reason}") from error


def _format_of(path: Path) -> MinioslFormat | DlshogiFormat:
    graph = read_graph(path)
    found = detect_format(path, graph.inputs, graph.outputs)
    planes = found.inputs[-1].shape[0]
    if isinstance(found, MinioslFormat) or (isinstance(found, DlshogiFormat) and planes == HAND_PLANES):
        return found
    raise InputError(
        f"{path}: expected a network of miniosl's format or of dlshogi's with {BOARD_PLANES} + {HAND_PLANES} "
        f"planes, found {found.name} with {planes}"
    )


def _order_of_labels(model_format: ModelFormat) -> list[int]:
    """Returns the network's number for each of dlshogi's labels."""
    own = (
        LABELS if isinstance(model_format, MinioslFormat) else MoveLabels(tuple(range(27)), tuple(range(81)))
    )
    return [81 * own.channels[label // 81] + own.squares[label % 81] for label in range(DLSHOGI_LABELS)]
