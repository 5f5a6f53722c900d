"""What stands for the native code in the tab: `install` before anything imports `goryu.implementation`.

Boards and other games are Python's own. The PUCT search with a network, the network and the mate searches are
those of the WebAssembly module.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from goryu.games.perft import perft
from goryu.games.reversi import Reversi
from goryu.games.shogi import Board
from goryu_page.tab.engine import Engine
from goryu_page.tab.mates import Mates
from goryu_page.tab.network import evaluator_class
from goryu_page.tab.puct import new_puct


def install(new_instance: Callable[[], Any]) -> None:
    """Makes `goryu.implementation` find the module. new_instance: makes an `Engine` of goryu.js."""

    def new_engine() -> Engine:
        return Engine(new_instance())

    mates = Mates(new_engine)
    _register(
        "goryu._native",
        Board=Board,
        Puct=new_puct,
        Reversi=Reversi,
        mate_in_one=mates.mate_in_one,
        perft=perft,
        solve=mates.solve,
        usable_instructions=lambda: ["wasm"],
    )
    _register("goryu.evaluators.network.network", NetworkEvaluator=evaluator_class(new_engine))


def _register(name: str, **contents: Any) -> None:
    module = ModuleType(name)
    vars(module).update(contents)
    sys.modules[name] = module
