"""The settings of the PUCT search."""

from dataclasses import dataclass

__all__ = ["PuctConfig"]


@dataclass(frozen=True, slots=True)
class PuctConfig:
    """The settings of the search. Values and the exploration constants are on the [-1, +1] scale.

    c_init, c_base, c_factor: c(N) in the formula of `selection.py`; the defaults are AlphaZero's.
    fpu_reduction: an untried move is worth Q - reduction * sqrt(prior mass of the tried moves).
    c_init_root, c_base_root, fpu_reduction_root: the same at the root.
    batch_size: positions per call of the evaluator, at most.
    capacity, capacity_bytes: nodes in the table, and their memory in the native twin; when 7/8 of the bytes
        or all nodes are used, leaves are judged but not stored, and without bytes the search ends.
    final_move: "visits" (most visited) or "lcb" (greatest lower confidence bound).
    mate_nodes: budget of the mate search at each new position; 0 turns it off.
    draw_value: what a draw is worth to the side to move at the root; its negative to the other.
    merge: do equal positions share a node?
    threads: gather so many batches at a time, each on a thread of its own. Only the native search can, and
        only with one is its graph that of the Python search, which takes no notice.
    """

    c_init: float = 2.5
    c_base: float = 19652.0
    c_factor: float = 2.0
    c_init_root: float = 2.5
    c_base_root: float = 19652.0
    fpu_reduction: float = 0.35
    fpu_reduction_root: float = 0.1
    batch_size: int = 1
    capacity: int = 1_000_000
    capacity_bytes: int = 1 << 60
    final_move: str = "lcb"
    mate_nodes: int = 0
    draw_value: float = 0.0
    merge: bool = True
    threads: int = 1
