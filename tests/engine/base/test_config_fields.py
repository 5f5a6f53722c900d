"""The fields of configs: no number is NaN, and each is in its documented range."""

import math
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu_lab.loop.config import LoopConfig, ShogiLoopConfig
from goryu_lab.loop.gate import GateConfig
from goryu_lab.loop.window import WindowRule
from goryu_lab.records.selection import GameFilter
from goryu_lab.self_play.config import LeafConfig, SelfPlayConfig
from goryu_lab.training.config import TrainingConfig

HUGE = 10**20


OUT_OF_RANGE: list[tuple[Any, str, list[float]]] = [
    (SelfPlayConfig, "resign_value", [math.nan, math.inf, 5.0, -1.5]),
    (SelfPlayConfig, "control_share", [math.nan, -0.1, 1.1]),
    (SelfPlayConfig, "full_share", [math.nan, math.inf, -0.1]),
    (SelfPlayConfig, "scale", [math.nan, math.inf, 0.0]),
    (SelfPlayConfig, "target_scale", [math.nan, math.inf, 0.0]),
    (SelfPlayConfig, "max_plies", [0, HUGE]),
    (SelfPlayConfig, "mate_nodes", [-1, HUGE]),
    (SelfPlayConfig, "cheap_playouts", [-1, HUGE]),
    (SelfPlayConfig, "resign_moves", [-1, HUGE]),
    (LeafConfig, "share", [math.nan, -0.1, 2.0]),
    (LeafConfig, "playouts", [0, HUGE]),
    (ShogiLoopConfig, "learning_rate", [math.nan, math.inf, 0.0]),
    (ShogiLoopConfig, "result_weight", [math.nan, 1.1]),
    (ShogiLoopConfig, "steps", [0, HUGE]),
    (LoopConfig, "cycles", [0, HUGE]),
    (LoopConfig, "reuse", [math.nan, math.inf, 0.0]),
    (WindowRule, "window_exponent", [math.nan, 0.0, 1.1]),
    (WindowRule, "window_growth", [-0.1]),
    (WindowRule, "window_start", [0]),
    (GateConfig, "match_limit", [-2, HUGE]),
    (ShogiLoopConfig, "seed", [-1, HUGE]),
    (TrainingConfig, "minutes", [math.nan, 0.0]),
    (TrainingConfig, "learning_rate", [math.nan, math.inf, -1.0, 0.0]),
    (TrainingConfig, "weight_decay", [math.nan, math.inf, -1.0]),
    (TrainingConfig, "smoothing", [math.nan, 5.0, -0.1]),
    (TrainingConfig, "value_weight", [math.nan, math.inf, -1.0]),
    (TrainingConfig, "clip", [math.nan, math.inf, 0.0]),
    (TrainingConfig, "average", [math.nan, 2.0, -0.1]),
    (TrainingConfig, "blocks", [-5, HUGE]),
    (TrainingConfig, "steps", [0, HUGE]),
    (TrainingConfig, "seed", [-1, HUGE]),
    (GameFilter, "min_rating", [math.nan, math.inf]),
    (GameFilter, "max_plies", [HUGE]),
]


def test_a_number_out_of_its_range_is_refused() -> None:
    for config, name, values in OUT_OF_RANGE:
        for value in values:
            with pytest.raises(InputError, match=rf"^{name}: expected .*, received {value}$"):
                config(**{name: value})


@pytest.mark.parametrize(
    ("config", "values"),
    [
        (SelfPlayConfig, {"cheap_playouts": 0, "full_playouts": 0, "mate_nodes": 0, "resign_moves": 0}),
        (SelfPlayConfig, {"full_share": 2.0, "resign_value": -1.0, "control_share": 0.0}),
        (ShogiLoopConfig, {"result_weight": 1.0, "seed": 2**62}),
        (TrainingConfig, {"minutes": math.inf, "smoothing": 0.0, "average": 0.0, "threads": 0, "workers": 0}),
        (TrainingConfig, {"seed": 2**63, "weight_decay": 0.0, "value_weight": 0.0}),
    ],
)
def test_numbers_with_a_meaning_of_their_own_are_kept(config: Any, values: dict[str, float]) -> None:
    made = config(**values)
    assert {name: getattr(made, name) for name in values} == values
