"""An evaluator for tests: pseudo-random numbers that are the same on every machine.

Tests compare whole search trees bit by bit, between the Python and the native implementation and between one
commit and the next. That needs an evaluator without a network, a library or rounding errors.

Definition, modulo 2^64, for a state with key K and legal moves m_0, m_1, ... in order:

    h_i   = splitmix64(K ^ ((m_i + 1) * GOLDEN_GAMMA))
    w_i   = ((h_i >> 11) + 1) * 2^-53               exact, in (0, 1]
    total = ((0.0 + w_0) + w_1) + ...               in double, from the left
    policy_i = w_i / total
    value    = (splitmix64(K) >> 11) * 2^-52 - 1.0  exact, in [-1, +1)

`splitmix64` and `GOLDEN_GAMMA` are those of `games/splitmix.py`.
"""

from collections.abc import Sequence

from goryu.games.splitmix import GOLDEN_GAMMA, splitmix64
from goryu.games.state import State
from goryu.search.evaluator import Evaluation

WORD = (1 << 64) - 1


class HashedEvaluator:
    """Policy and value from the position's key alone.

    builds_planes: does the native search also write the planes of every shogi position? They are not used;
        with them a benchmark measures everything except the network.
    """

    def __init__(self, *, builds_planes: bool = False) -> None:
        self.builds_planes = builds_planes

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        """Returns one evaluation per state, in order."""
        return [self._evaluate(state) for state in states]

    def _evaluate(self, state: State) -> Evaluation:
        key = state.key
        weights = [_weight(key, move) for move in state.legal_moves()]
        total = 0.0
        for weight in weights:
            total += weight
        value = (splitmix64(key) >> 11) * 2.0**-52 - 1.0
        return Evaluation([weight / total for weight in weights], value)


def _weight(key: int, move: int) -> float:
    hashed = splitmix64(key ^ ((move + 1) * GOLDEN_GAMMA & WORD))
    return ((hashed >> 11) + 1) * 2.0**-53
