"""Every architecture learns, starts as its first layer, and plays from its file as in PyTorch."""

from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from goryu.base.errors import InputError  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.implementation import IMPLEMENTATION, Board, make_puct  # noqa: E402
from goryu.search.graph.config import PuctConfig  # noqa: E402
from goryu_lab.training.config import ARCHITECTURES, TrainingConfig  # noqa: E402
from goryu_lab.training.export import export_onnx, load_checkpoint  # noqa: E402
from goryu_lab.training.growth import grown, size_of  # noqa: E402
from goryu_lab.training.network import PolicyValueNet  # noqa: E402
from goryu_lab.training.optimizer import TowerOptimizer  # noqa: E402
from goryu_lab.training.run_state import load_initial  # noqa: E402

REASONS = {"residual": "", "lines": "convolutions of (1, 9)", "attention": "it has attention"}
"""Why our own kernel refuses a network."""


def noisy(architecture: str) -> Any:
    """A network without weights of zero."""
    torch.manual_seed(1)
    net = PolicyValueNet(3, 32, architecture).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return net


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_exported_network_plays(architecture: str, tmp_path: Path) -> None:
    """`export_onnx` compares the file with PyTorch; here the engine reads it."""
    path = tmp_path / "net.onnx"
    export_onnx(noisy(architecture), path)
    network = NetworkEvaluator(path)
    if IMPLEMENTATION == "native":
        assert (network.kernel is not None) == (not REASONS[architecture])
        assert REASONS[architecture] in network.note
    result = make_puct(network, PuctConfig()).search(Board(), lambda stats: False, max_playouts=20)
    assert result.stats.playouts >= 20


def test_a_new_network_with_several_equal_blocks_is_exported(tmp_path: Path) -> None:
    export_onnx(PolicyValueNet(7, 32, "attention").eval(), tmp_path / "new.onnx")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_weight_learns_and_the_checkpoint_knows_its_architecture(
    architecture: str, tmp_path: Path
) -> None:
    net = noisy(architecture).train().to(memory_format=torch.channels_last)
    optimizer = TowerOptimizer(net, TrainingConfig(architecture=architecture, blocks=3, channels=32))
    before = {name: weight.clone() for name, weight in net.named_parameters()}
    policy, value = net(torch.rand(4, 62, 9, 9), torch.rand(4, 57, 1, 1).expand(-1, -1, 9, 9))
    (policy.logsumexp(1).sum() + value.sum()).backward()
    optimizer.step()
    for name, weight in net.named_parameters():
        assert not torch.equal(weight, before[name]), name
    config = {"blocks": 3, "channels": 32, "architecture": architecture}
    torch.save({"averaged": net.state_dict(), "config": config}, tmp_path / "checkpoint.pt")
    loaded = load_checkpoint(tmp_path / "checkpoint.pt")
    assert loaded.architecture == architecture
    assert size_of(loaded) == (3, 32)
    if architecture != "residual":
        with pytest.raises(InputError, match=f"expected the architecture residual, found {architecture}"):
            load_initial(tmp_path / "checkpoint.pt", 3, 32)
        with pytest.raises(InputError, match="cannot grow"):
            grown(loaded, 4, 32)


def test_attention_tells_squares_apart_by_their_distance() -> None:
    """With no content, a block reads a square by where it is: the position alone decides."""
    net = PolicyValueNet(1, 32, "attention")
    block = net.tower[0]
    with torch.no_grad():
        block.query.weight.zero_()
        block.positions.numbers[:, 17 * 8 + 8 + 1] = 50.0  # One rank further up, seen from the reader.
    x = torch.randn(1, 32, 9, 9)
    read, value = block._read(x), block.read(x)
    assert torch.allclose(read[..., :, 1:], value[..., :, :-1], atol=1e-4)


def test_attention_needs_whole_heads() -> None:
    with pytest.raises(InputError, match="expected a multiple of 32"):
        PolicyValueNet(3, 40, "attention")
