"""The place of a player's evaluator."""

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig, Value, with_fields
from goryu.players.player import Player
from goryu.players.set_up import evaluator_slot
from goryu.players.set_up.loading import LoadedEvaluator, load_evaluator
from playing import search


@pytest.fixture
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_garbage_collection")
@pytest.mark.parametrize(
    ("fields", "limits"),
    [
        ({}, Limits(nodes=20)),
        ({"level": 5}, Limits()),
        ({"algorithm.name": "alpha-beta", "algorithm.leaf_value": "network"}, Limits(depth=1)),
    ],
)
def test_the_old_network_is_freed_before_the_new_one_is_loaded(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Value], limits: Limits
) -> None:
    networks: list[weakref.ref[Any]] = []

    def load(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        assert not any(network() for network in networks)
        loaded = load_evaluator(config, report)
        networks.append(weakref.ref(loaded.evaluator))
        return loaded

    monkeypatch.setattr(evaluator_slot, "load_evaluator", load)
    player = Player()
    for temperature in (1.0, 2.0):
        config = with_fields(
            EngineConfig(EvaluatorConfig(threads=1, temperature=temperature)),
            {"search.capacity_bytes": 64 << 20, **fields},
        )
        player.load(config, lambda message: None)
        assert search(player, config, limits=limits).move is not None
    assert len(networks) == 2
