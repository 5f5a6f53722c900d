"""The reversi tutorial as published: its network, its search, its updates."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("rich")

from goryu.evaluators.board_network import BoardGame, encode, load  # noqa: E402
from goryu.games.reversi import Reversi  # noqa: E402
from goryu.games.state import Move  # noqa: E402
from goryu.players.agents.agents import make_agent  # noqa: E402
from goryu.search.random_move import random_move  # noqa: E402
from goryu_lab.lessons.networks import export, forward_values  # noqa: E402
from goryu_lab.lessons.published_lesson import PublishedValueNet, best_moves, greedy  # noqa: E402
from goryu_lab.lessons.value_config import PUBLISHED  # noqa: E402
from goryu_lab.lessons.value_learner import ValueLearner  # noqa: E402


def test_the_network_reads_one_plane_keeps_the_board_and_has_no_bound() -> None:
    net = PublishedValueNet()
    shapes = [tuple(weights.shape) for weights in net.parameters()]
    assert shapes[::2] == [(32, 1, 4, 4), (32, 32, 4, 4), (512, 2048), (1, 512)]
    plane = torch.zeros(1, 1, 8, 8)
    assert net.layers[:2](plane).shape == net.layers[:4](plane).shape == (1, 32, 8, 8)
    weights = net.layers[0].weight.detach()
    same = torch.nn.functional.pad(plane + 1.0, (1, 2, 1, 2))
    expected = torch.nn.functional.conv2d(same, weights, net.layers[0].bias)
    assert torch.allclose(net.layers[0](plane + 1.0), expected, atol=1e-6)
    boards = encode([(0b110, 0b1), (0b11, 0b11)], 8)
    empty = encode([(0, 0)], 8)
    # Not in one batch, whose places may round differently.
    values = [float(forward_values(net, planes)[0]) for planes in (boards[:1], boards[1:], empty)]
    assert values[1] == values[2], "own and opponent's discs are +1 and -1 of one plane"
    with torch.no_grad():
        net.layers[-1].bias += 640.0
    assert forward_values(net, boards[:1])[0] == pytest.approx(values[0] + 10.0)


def test_the_initial_weights_are_truncated_normal() -> None:
    torch.manual_seed(1)
    net = PublishedValueNet()
    parameters = [weights.detach() for weights in net.parameters()]
    for weights, deviation in zip(parameters[::2][:3], (0.1, 0.1, 0.5**0.5), strict=True):
        assert weights.abs().max() <= 2 * deviation
        assert weights.std() == pytest.approx(0.88 * deviation, rel=0.1), "0.88: what the cut leaves"
    assert [float(bias.unique()) for bias in parameters[1::2]] == pytest.approx([0.1, 0.1, 0.0, 0.0])


def counted(boards: Sequence[tuple[int, int]]) -> list[int]:
    return [own.bit_count() - opponent.bit_count() for own, opponent in boards]


def worst(state: Reversi, move: Move) -> int:
    """Returns the fewest discs ahead after a move and any reply."""
    after = state.copy()
    after.push(move)
    if after.outcome() is not None:
        return -after.disc_difference()
    leads = []
    for reply in after.legal_moves():
        leaf = after.copy()
        leaf.push(reply)
        # The player of `state` is to move again, or the game is over; the sides alternate in both cases.
        leads.append(leaf.disc_difference())
    return min(leads)


def test_the_search_takes_the_first_move_with_the_best_worst_reply_and_ends_count_as_positions() -> None:
    rng, seen_end = Random(3), False
    for _ in range(60):
        state = Reversi(4)
        while state.outcome() is None:
            expected = max(state.legal_moves(), key=lambda move: worst(state, move))
            assert best_moves([state], counted) == [expected]
            ours = make_agent("depth-limited:2")(state)
            seen_end |= ours != expected
            state.push(random_move(state, rng))
    assert seen_end
    states = [Reversi(4), Reversi(6)]
    assert best_moves(states, counted) == [best_moves([state], counted)[0] for state in states]
    assert greedy(Random(1), 0.0)(Reversi()) == best_moves([Reversi()], counted)[0]


def test_an_update_follows_every_game_with_all_positions_of_the_last_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = replace(PUBLISHED, size=4, games=5, filters=2, hidden=4)
    learner = ValueLearner(config, [greedy(Random(1), 0.1)], seed=1)
    batches: list[int] = []
    forward = learner.net.forward

    def noted(planes: Any) -> Any:
        if learner.net.training:
            batches.append(len(planes))
        return forward(planes)

    monkeypatch.setattr(learner.net, "forward", noted)
    lengths: list[int] = []
    while learner.played < config.games:
        learner.step()
        lengths.append(len(learner.games[-1]))
    assert batches == [sum(lengths[max(0, i - 2) : i + 1]) for i in range(5)]
    targets = [target for *_, target in learner.games[-1]]
    assert targets[1] == pytest.approx(0.8 * targets[0])


def test_the_exported_network_keeps_values_within_bounds(tmp_path: Path) -> None:
    game = BoardGame("reversi4", 4, 65, lambda: Reversi(4))
    net, boards = PublishedValueNet(4, 8, 4), encode([(0b11 << 5, 0b11 << 9), (1, 2)], 4)
    path = tmp_path / "network.onnx"
    export(net, game, path)
    _, values = load(path, game).forward(boards)
    np.testing.assert_allclose(values, np.clip(forward_values(net, boards), -1.0, 1.0), atol=1e-5)
