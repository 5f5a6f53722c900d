"""Presets: settings with which the engine answers like a published program."""

from collections.abc import Mapping

from goryu.players.config import Value
from goryu.usi.option import RESULT_PERCENT

NO_PRESET = "none"

_FORMULA: Mapping[str, Value] = {
    "c_init": 2.0,  # C_PUCT = 1 for win rates in [0, 1].
    "c_factor": 0.0,
    "fpu_reduction": 0.0,
    "fpu_from_parent": False,
}

PRESETS: Mapping[str, Mapping[str, Value]] = {
    NO_PRESET: {},
    "mcts-player": {
        "nodes": 300,
        "nodes_stop_early": True,
        "algorithm.counts_playouts": True,
        "evaluator.temperature": 1.0,
        "evaluator.batch_size": 1,
        "evaluator.threads": 1,
        **{
            f"search.{name}.{field}": _FORMULA[field]
            for name in ("formula", "root_formula")
            for field in _FORMULA
        },
        "search.final_move": "visits",
        "mate.leaf_nodes": 0,
        "mate.nodes_per_visit": 0,
        "mate.root_nodes": 0,
        "mate.reply_nodes": 0,
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

NAMES: Mapping[str, Mapping[str, str]] = {
    NO_PRESET: {},
    "mcts-player": {
        "DNN_Model": "modelfile",
        "NodesLimit": "playout",
        "Softmax_Temperature": "temperature",
    },
}
"""Preset -> name of an option -> the published program's name of it, under which `usi` then offers it."""
