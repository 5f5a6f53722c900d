"""The constants of the PUCT search."""

from dataclasses import dataclass

__all__ = ["Formula", "PuctConfig"]


@dataclass(frozen=True, slots=True)
class Formula:
    """The constants of the PUCT formula (`selection.py`), for values in [-1, +1].

    c_init, c_base, c_factor: c(N); the defaults are AlphaZero's, doubled for values in [-1, +1]. The engine
        takes c_init from the file beside the network: half as much for those that Goryu brings.
    fpu_reduction: an untried move has the value Q - fpu_reduction * sqrt(prior mass of the tried moves), with
        the Q of the node. FPU is the first play urgency: what an untried move is taken to be worth.
    """

    c_init: float = 2.5
    c_base: float = 19652.0
    c_factor: float = 2.0
    fpu_reduction: float = 0.35


@dataclass(frozen=True, slots=True)
class PuctConfig:
    """The constants of the search.

    formula, root_formula: how a playout selects a move, below the root and at it.
    batch_size: the most positions per call of the evaluator.
    capacity, capacity_bytes: the most nodes, and their memory as `memory.py` counts it. A search that
        reaches either forgets the least visited part of its graph and goes on.
    final_move: "visits" (most visited) or "lcb" (greatest lower confidence bound).
    draw_value: the value of a draw for the side to move at the root; its negative for the other side.
    """

    formula: Formula = Formula()
    root_formula: Formula = Formula(fpu_reduction=0.1)
    batch_size: int = 1
    capacity: int = 1_000_000
    capacity_bytes: int = 1 << 60
    final_move: str = "lcb"
    draw_value: float = 0.0
