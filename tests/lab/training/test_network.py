"""Every weight of the network learns, and its file plays in our own kernel."""

from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.implementation import IMPLEMENTATION, Board, make_puct  # noqa: E402
from goryu.search.graph.config import PuctConfig  # noqa: E402
from goryu_lab.training.config import TrainingConfig  # noqa: E402
from goryu_lab.training.export import export_onnx, load_checkpoint  # noqa: E402
from goryu_lab.training.growth import size_of  # noqa: E402
from goryu_lab.training.network import PolicyValueNet  # noqa: E402
from goryu_lab.training.optimizer import TowerOptimizer  # noqa: E402


def noisy() -> Any:
    """A network without weights of zero."""
    torch.manual_seed(1)
    net = PolicyValueNet(3, 32).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return net


def test_an_exported_network_plays(tmp_path: Path) -> None:
    """`export_onnx` compares the file with PyTorch; here the engine reads it."""
    path = tmp_path / "net.onnx"
    export_onnx(noisy(), path)
    network = NetworkEvaluator(path)
    if IMPLEMENTATION == "native":
        assert network.kernel is not None
    result = make_puct(network, PuctConfig()).search(Board(), lambda stats: False, max_playouts=20)
    assert result.stats.playouts >= 20


def test_a_new_network_with_several_equal_blocks_is_exported(tmp_path: Path) -> None:
    export_onnx(PolicyValueNet(7, 32).eval(), tmp_path / "new.onnx")


def test_every_weight_learns_and_the_checkpoint_knows_its_size(tmp_path: Path) -> None:
    net = noisy().train().to(memory_format=torch.channels_last)
    optimizer = TowerOptimizer(net, TrainingConfig(blocks=3, channels=32))
    before = {name: weight.clone() for name, weight in net.named_parameters()}
    policy, value = net(torch.rand(4, 62, 9, 9), torch.rand(4, 57, 1, 1).expand(-1, -1, 9, 9))
    (policy.logsumexp(1).sum() + value.sum()).backward()
    optimizer.step()
    for name, weight in net.named_parameters():
        assert not torch.equal(weight, before[name]), name
    config = {"blocks": 3, "channels": 32}
    torch.save({"averaged": net.state_dict(), "config": config}, tmp_path / "checkpoint.pt")
    assert size_of(load_checkpoint(tmp_path / "checkpoint.pt")) == (3, 32)
