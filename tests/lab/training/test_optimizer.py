"""The optimizer: Muon's steps of the convolutions, against a singular value decomposition by NumPy."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from goryu_lab.training.config import TrainingConfig  # noqa: E402
from goryu_lab.training.network import PolicyValueNet  # noqa: E402
from goryu_lab.training.optimizer import TowerOptimizer  # noqa: E402

CONFIG = TrainingConfig(blocks=1, channels=16, learning_rate=0.01, tower_rate=3.0, weight_decay=0.0)


def new_net() -> Any:
    torch.manual_seed(1)
    return PolicyValueNet(1, 16).to(memory_format=torch.channels_last)


def give_gradients(net: Any, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for weight in net.parameters():
        weight.grad = torch.randn(weight.shape, generator=generator)


def test_the_first_step_of_a_convolution_is_nearly_orthogonal_and_follows_the_gradient() -> None:
    net = new_net()
    optimizer = TowerOptimizer(net, CONFIG)
    give_gradients(net, 2)
    kernel = net.tower[0].first.weight
    before, gradient = kernel.detach().clone(), kernel.grad.clone()
    optimizer.step()
    step = (before - kernel.detach()).reshape(16, -1).numpy()
    u, _, v = np.linalg.svd(gradient.reshape(16, -1).numpy(), full_matrices=False)
    # The size by which AdamW's and Muon's steps are alike.
    found = step / (0.01 * 3.0 * 0.2 * np.sqrt(16 * 9))
    scales = np.linalg.svd(found, compute_uv=False)
    assert scales.min() > 0.5
    assert scales.max() < 1.3
    assert np.abs(found - u @ v).max() < 0.2
    assert np.sum(found * (u @ v)) / np.linalg.norm(found) / np.linalg.norm(u @ v) > 0.97


def test_a_step_is_that_of_pytorchs_muon() -> None:
    net, twin = new_net(), new_net()
    ours, theirs = TowerOptimizer(net, CONFIG), TowerOptimizer(twin, CONFIG)
    muon = ours._optimizers["muon"].param_groups[0]
    options = {"weight_decay": muon["weight_decay"], "adjust_lr_fn": muon["adjust_lr_fn"]}
    theirs._optimizers["muon"] = torch.optim.Muon(theirs._matrices, lr=muon["lr"], **options)
    before = torch.stack([matrix.detach().clone() for matrix in ours._matrices])
    for seed in (2, 3, 4):
        for each, optimizer in ((net, ours), (twin, theirs)):
            give_gradients(each, seed)
            optimizer.step()
    found, expected = torch.stack(ours._matrices) - before, torch.stack(theirs._matrices) - before
    # PyTorch's are in bfloat16, with 8 bits.
    assert (found - expected).norm() < 0.02 * expected.norm()


def test_the_other_weights_take_steps_of_the_learning_rate() -> None:
    net = new_net()
    optimizer = TowerOptimizer(net, CONFIG)
    give_gradients(net, 2)
    weights = (net.board.weight, net.policy_bias, net.tower[0].first_norm.weight)
    before = [weight.detach().clone() for weight in weights]
    optimizer.step()
    for weight, old in zip(weights, before, strict=True):  # AdamW's first step has the size of the rate.
        assert torch.allclose((weight.detach() - old).abs(), torch.tensor(0.01), rtol=0.02)


def test_every_weight_learns_and_a_rate_of_0_changes_nothing() -> None:
    net = new_net()
    optimizer = TowerOptimizer(net, CONFIG)
    old = {name: weight.detach().clone() for name, weight in net.named_parameters()}
    optimizer.set_rate(0.0)
    give_gradients(net, 2)
    optimizer.step()
    assert all(torch.equal(weight, old[name]) for name, weight in net.named_parameters())
    optimizer.set_rate(0.01)
    optimizer.step()
    assert not [name for name, weight in net.named_parameters() if torch.equal(weight, old[name])]


def test_only_matrices_decay() -> None:
    net = new_net()
    optimizer = TowerOptimizer(
        net, TrainingConfig(blocks=1, channels=16, learning_rate=0.01, weight_decay=1.0)
    )
    old = {name: weight.detach().clone() for name, weight in net.named_parameters()}
    for weight in net.parameters():
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    for name, weight in net.named_parameters():
        rate = 0.025 if name.startswith("tower") and weight.ndim == 4 else 0.01 if weight.ndim > 1 else 0.0
        assert torch.allclose(weight, old[name] * (1.0 - rate)), name


def test_a_restored_optimizer_goes_on_as_the_first_one() -> None:
    nets = new_net(), new_net()
    first, second = (TowerOptimizer(net, CONFIG) for net in nets)
    for seed in (2, 3):
        give_gradients(nets[0], seed)
        first.step()
    nets[1].load_state_dict(nets[0].state_dict())
    second.load_state_dict(deepcopy(first.state_dict()))
    for net, optimizer in zip(nets, (first, second), strict=True):
        give_gradients(net, 4)
        optimizer.step()
    for one, other in zip(*(net.parameters() for net in nets), strict=True):
        assert torch.equal(one, other)


def test_a_network_without_blocks_can_be_trained() -> None:
    net = PolicyValueNet(0, 16).to(memory_format=torch.channels_last)
    optimizer = TowerOptimizer(net, CONFIG)
    give_gradients(net, 2)
    optimizer.step()


def test_a_network_in_another_format_is_refused() -> None:
    with pytest.raises(RuntimeError, match="view"):
        TowerOptimizer(PolicyValueNet(1, 16), CONFIG)
