"""The engines of one tab."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from unittest.mock import MagicMock

import pytest

from goryu.implementation import Board
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig, with_fields
from goryu.players.player import Player
from goryu.players.set_up.loading import SharedEvaluators
from goryu_page.session.session import Job
from goryu_page.views.opponents import CAPACITY_BYTES, Opponents, agents


@pytest.mark.parametrize(
    ("chosen", "used"), [(0, CAPACITY_BYTES), (1 << 20, 1 << 20), (4 << 30, CAPACITY_BYTES)]
)
def test_a_search_uses_no_more_memory_than_one_tab_may(chosen: int, used: int) -> None:
    config = EngineConfig()
    config = replace(config, search=replace(config.search, capacity_bytes=chosen))
    assert Opponents(config, SharedEvaluators(print))._config.hash_bytes(uses_gpu=True) == used


def test_an_opponent_whose_network_is_missing_cannot_be_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("goryu_page.views.opponents.models_folder", lambda: tmp_path)
    assert not {"value:2", "gumbel:16", "puct:30"} & set(agents()["reversi"])
    (tmp_path / "reversi.onnx").touch()
    assert {"gumbel:16", "puct:30"} < set(agents()["reversi"])
    assert "value:2" not in agents()["reversi"]
    assert "alpha-beta" in agents()["tictactoe"]


def test_levels_and_full_strength_may_have_different_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Player, "load", lambda *_: None)
    config = EngineConfig()
    networks = SharedEvaluators(print)
    opponents = Opponents(config, networks)
    one, three, ten, hints = (opponents._shogi(with_fields(config, {"level": n})) for n in (1, 3, 10, 0))
    assert one is three
    assert ten is hints
    assert one is not ten
    assert ten.slot.require() is networks.get(config.evaluator)
    other = replace(config, evaluator=EvaluatorConfig("uniform"))
    opponents.use(other)
    chosen = [opponents._at_level(name).evaluator for name in ("9", "10")]
    assert chosen == [config.evaluator, other.evaluator]


def test_a_player_with_its_own_value_of_a_draw_keeps_its_network_to_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Player, "load", lambda *_: None)
    config = with_fields(EngineConfig(), {"rules.draw_value_white": -0.5})
    assert Opponents(config, SharedEvaluators(print))._shogi(config).slot.loaded is None


def test_a_new_game_leaves_a_search_that_still_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    forgetting: list[Player] = []
    monkeypatch.setattr(Player, "new_game", lambda player: forgetting.append(player))
    config = EngineConfig(EvaluatorConfig("uniform"))
    opponents = Opponents(config, SharedEvaluators(print))
    player = opponents._shogi(config)
    forgetting.clear()
    opponents.new_game("1")
    assert forgetting == []  # Its graph may be in use.
    for _ in range(2):
        assert opponents._shogi(config) is player
        assert forgetting == [player]


def test_the_page_hears_when_the_opponent_loses_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EngineConfig(EvaluatorConfig("uniform"))
    opponents = Opponents(config, SharedEvaluators(print))
    on_gpu = [True, False, False, False]  # Before and after two searches.
    monkeypatch.setattr("goryu_page.views.opponents._uses_gpu", lambda _player: on_gpu.pop(0))
    job = MagicMock(spec=Job)
    for _ in range(2):
        opponents._search(Board(), Limits(nodes=1), config, perf_counter(), job)
    job.send.assert_called_once()
    assert job.send.call_args.args == ("play.problem",)
