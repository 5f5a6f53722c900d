"""Presets: settings with which the engine answers like a published program."""

from collections.abc import Mapping
from typing import Any

from goryu.players.config import Value
from goryu.usi.option import RESULT_PERCENT, Kind

NO_PRESET = "none"

PRESETS: Mapping[str, Mapping[str, Value]] = {
    NO_PRESET: {},
    "mcts-player": {
        "nodes": 300,
        "nodes_stop_early": True,
        "algorithm.name": "mcts-player",
        "evaluator.temperature": 1.0,
        "evaluator.batch_size": 1,
        "evaluator.threads": 1,
        "search.capacity": 4096,
        "random_opening.plies": 9,  # The program draws while the number of the next move is below 10.
        "resign_value_percent": RESULT_PERCENT.value(1),
        "output.eval_coef": 600,
        "output.interval_ms": 0,
        "output.shows_moves": True,
        "output.table_order": "moves",
        "book_file.is_wanted": False,
    },
}
"""Preset -> field of `EngineConfig` -> value, where it is not the engine's own.

mcts-player: `pydlshogi/player/mcts_player.py` of python-dlshogi.
Source: 山岡忠夫『将棋AIで学ぶディープラーニング』, 2018.
"""

OFFERED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    NO_PRESET: {},
    "mcts-player": {
        "DNN_Model": {"name": "modelfile", "kind": Kind.STRING},
        "NodesLimit": {"name": "playout", "minimum": 100, "maximum": 10_000},
        "Softmax_Temperature": {"name": "temperature"},
    },
}
"""Preset -> name of an option -> fields of `Option` as `usi` then offers it: the published program's."""
