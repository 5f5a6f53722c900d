"""The algorithms that can be observed: their parameters, their formulas, and what to read about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.state import State
from goryu.implementation import Board
from goryu.players.agents.catalogue import ALGORITHMS, Algorithm
from goryu.search import alpha_beta, depth_limited, minimax, one_bound, uct
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import Formula, PuctConfig
from goryu.search.graph.proof import MateSolver
from goryu.search.gumbel import GumbelConfig
from goryu.table.positions import scale_of
from goryu_page.microscope.gumbel import GumbelObserver
from goryu_page.microscope.minimax import MinimaxObserver
from goryu_page.microscope.model import Edge, Node
from goryu_page.microscope.puct import PuctObserver
from goryu_page.microscope.puct_tree import PuctTreeObserver
from goryu_page.microscope.recording import Observer
from goryu_page.microscope.uct import UctObserver

MOST_STEPS = 5_000
"""The steps of a search of the whole tree that are recorded."""

Values = Mapping[str, float]
"""The values of a search's parameters, by name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a search. about: its meaning, a text of `tr`."""

    name: str
    default: float
    least: float
    most: float
    about: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """A search that can be observed.

    name: in the catalogue. title, about: texts of `tr`. file: where to read it.
    formula: how a move is chosen. written: the formula of a move with its numbers.
    playouts: the default number to run; 0 for a search of the whole tree.
    """

    name: str
    title: str
    file: str
    playouts: int
    formula: str
    about: str
    parameters: tuple[Parameter, ...]
    make: Callable[[State, Evaluator, Values], Observer]
    written: Callable[[Node, Edge], str]

    @property
    def algorithm(self) -> Algorithm:
        """What the catalogue says about it."""
        return ALGORITHMS[self.name]

    @property
    def has_graph(self) -> bool:
        """Are equal positions one node, and can the root move?"""
        return self.file.endswith("/puct.py")


def make_observer(name: str, state: State, evaluator: Evaluator, values: Values | None = None) -> Observer:
    """Returns the observer of a search on a position.

    values: parameters that differ from their defaults.

    Raises InputError for an unknown name, a value out of its range, or shogi to be searched to its end.
    """
    if name not in OBSERVED:
        raise InputError(
            tr("algorithm {name!r}: expected one of {names}", name=name, names=", ".join(OBSERVED))
        )
    observed = OBSERVED[name]
    if observed.algorithm.searches_whole_game and isinstance(state, Board):
        raise InputError(
            tr("{name} searches the whole game, which has no end in shogi; use depth-limited", name=name)
        )
    return observed.make(state, evaluator, checked(observed, values or {}))


def checked(observed: Observed, given: Values) -> dict[str, float]:
    """Returns the values of all parameters; raises InputError if one is unknown or out of its range."""
    values = {parameter.name: parameter.default for parameter in observed.parameters}
    if unknown := given.keys() - values.keys():
        known = ", ".join(values) or "-"
        raise InputError(tr("parameter {name!r}: expected one of {names}", name=min(unknown), names=known))
    for parameter in observed.parameters:
        value = values[parameter.name] = given.get(parameter.name, parameter.default)
        if not parameter.least <= value <= parameter.most or (parameter.is_whole and value != int(value)):
            kind = "a whole number from {least:g} to {most:g}"
            if not parameter.is_whole:
                kind = "a number from {least:g} to {most:g}"
            expected = tr(kind, least=parameter.least, most=parameter.most)
            problem = "parameter {name}: expected {expected}, received {value:g}"
            raise InputError(tr(problem, name=parameter.name, expected=expected, value=value))
    return values


def _whole(found: Callable[[], Callable[..., float]]) -> Callable[[State, Evaluator, Values], Observer]:
    """Returns what makes the observer of a function that searches a position to the end of the game.

    found: returns the function as it is then; readers of the textbook change it.
    """
    return lambda state, _evaluator, _values: MinimaxObserver(found(), state, MOST_STEPS, scale_of(state))


def _depth_limited(state: State, evaluator: Evaluator, values: Values) -> Observer:
    def heuristic(leaf: State) -> float:
        return evaluator.evaluate([leaf])[0].value

    depth, prunes = int(values["depth"]), bool(values["prunes"])
    return MinimaxObserver(
        depth_limited.search,
        state,
        MOST_STEPS,
        scale_of(state),
        depth=depth,
        heuristic=heuristic,
        prunes=prunes,
    )


def _uct(state: State, _evaluator: Evaluator, values: Values) -> Observer:
    return UctObserver(state, Random(int(values["seed"])), values["c"], int(values["expand-at"]))


def _puct_tree(state: State, evaluator: Evaluator, values: Values) -> Observer:
    return PuctTreeObserver(state, evaluator, values["c"], untried_is_zero=not values["untried"])


def _puct(state: State, evaluator: Evaluator, values: Values) -> Observer:
    fpu, c = values["fpu"], values["c"]
    config = PuctConfig(
        Formula(c_init=c, fpu_reduction=fpu),
        Formula(c_init=c, fpu_reduction=min(fpu, 0.1)),
        batch_size=int(values["batch"]),
        capacity=int(values["capacity"]),
    )
    observer = PuctObserver(evaluator, config, MateSolver(int(values["mate-nodes"])))
    observer.start(state)
    return observer


def _gumbel(state: State, evaluator: Evaluator, values: Values) -> Observer:
    config = GumbelConfig(int(values["considered"]), c_scale=values["c-scale"])
    rng = Random(int(values["seed"])) if values["noise"] else None
    return GumbelObserver(state, evaluator, int(values["playouts"]), config, rng)


def _number(value: float | None) -> str:
    return "∞" if value is None else f"{value:.3f}".replace("-", "−")


def _write_value(_node: Node, edge: Edge) -> str:
    return "" if edge.value is None else f"−({_number(-edge.value)}) = {_number(edge.value)}"


def _write_uct(node: Node, edge: Edge) -> str:
    terms = edge.terms
    if not edge.visits:
        return "N = 0: ∞"
    root = f"√({_number(node.terms['ln t'])} / {edge.visits})"
    return f"{_number(terms['Q'])} + {_number(node.terms['c'])} · {root} = {_number(terms['score'])}"


def _write_puct_tree(node: Node, edge: Edge) -> str:
    terms = edge.terms
    bonus = f"{_number(node.terms['c'])} · {_number(terms['P'])} · √{node.visits} / (1 + {edge.visits})"
    return f"{_number(terms['Q'])} + {bonus} = {_number(terms['score'])}"


def _write_puct(node: Node, edge: Edge) -> str:
    terms = edge.terms
    if "score" not in terms:  # In a dump.
        return ""
    tried = f"1 + {edge.visits}" + (f" + {edge.in_flight}" if edge.in_flight else "")
    bonus = f"{_number(node.terms['c sqrt N'])} · {_number(terms['P'])} / ({tried})"
    return f"{_number(terms['Q'])} + {bonus} = {_number(terms['score'])}"


def _write_gumbel(_node: Node, edge: Edge) -> str:
    terms = edge.terms
    if "g" in terms:
        noise, logit, sigma = (_number(terms[name]) for name in ("g", "logit", "sigma"))
        return f"{noise} + ({logit}) + {sigma} = {_number(terms['score'])}"
    return f"{_number(terms['policy'])} − {_number(terms['share'])} = {_number(terms['score'])}"


SEED = Parameter("seed", 1, 0, 1e9, "the seed of the random numbers", is_whole=True)
EXPLORATION = "the weight of exploration"

_ALL = (
    Observed(
        "minimax",
        "Minimax",
        "engine/goryu/search/minimax.py",
        0,
        "V = max −V(a)",
        (
            "It plays every game to its end. A position is worth as much as its best move, and a "
            "move as much as the position after it with the sign changed."
        ),
        (),
        _whole(lambda: minimax.negamax),
        _write_value,
    ),
    Observed(
        "one-bound",
        "Minimax with one bound",
        "engine/goryu/search/one_bound.py",
        0,
        "V = max −V(a), until V ≥ bound",
        (
            "The step between minimax and alpha-beta: the replies to a move know what the other side "
            "has secured with its other moves, and end as soon as one of them refutes the move."
        ),
        (),
        _whole(lambda: one_bound.one_bound),
        _write_value,
    ),
    Observed(
        "alpha-beta",
        "Alpha-beta",
        "engine/goryu/search/alpha_beta.py",
        0,
        "V = max −V(a), until V ≥ β",
        (
            "Minimax with a window: alpha is what the side to move has secured elsewhere, beta what "
            "the opponent has. As soon as a reply reaches beta, the other replies are cut off; the "
            "value of the root does not change."
        ),
        (),
        _whole(lambda: alpha_beta.alpha_beta),
        _write_value,
    ),
    Observed(
        "depth-limited",
        "Depth-limited search",
        "engine/goryu/search/depth_limited.py",
        0,
        "V = max −V(a), V = heuristic at the horizon",
        (
            "It stops after a few plies and takes a heuristic's value there. It is blind one ply "
            "beyond this horizon."
        ),
        (
            Parameter("depth", 2, 1, 6, "depth in plies", is_whole=True),
            Parameter("prunes", 1, 0, 1, "1: alpha-beta, 0: every leaf", is_whole=True),
        ),
        _depth_limited,
        _write_value,
    ),
    Observed(
        "uct",
        "UCT",
        "engine/goryu/search/uct.py",
        100,
        "Q(a) + c · √(ln t / N(a))",
        (
            "Each playout walks down by UCB1, plays a random game from the leaf and adds its result "
            "to every move on the way back. A move that was tried rarely gets a bonus; an untried "
            "one comes first."
        ),
        (
            Parameter("c", uct.UCB1_CONSTANT, 0, 10, EXPLORATION),
            Parameter("expand-at", 1, 1, 1000, "visits at which a leaf grows", is_whole=True),
            SEED,
        ),
        _uct,
        _write_uct,
    ),
    Observed(
        "puct-tree",
        "PUCT on a tree",
        "engine/goryu/search/puct_tree.py",
        100,
        "Q(a) + c · P(a) · √N / (1 + N(a))",
        (
            "AlphaZero's search. The policy P says which moves are worth a try, the value replaces "
            "the random game, and each playout adds one position to the tree."
        ),
        (
            Parameter("c", 2.5, 0, 10, EXPLORATION),
            Parameter(
                "untried",
                1,
                0,
                1,
                "an untried move has the Q of its node; 0: 0, as in the article",
                is_whole=True,
            ),
        ),
        _puct_tree,
        _write_puct_tree,
    ),
    Observed(
        "puct",
        "PUCT on a graph",
        "engine/goryu/search/graph/puct.py",
        100,
        "Q(a) + c(N) · √N · P(a) / (1 + N(a) + in flight)",
        (
            "The engine's search. Equal positions are one node, so paths merge; every node "
            "recomputes its value from its children. Playouts of a batch are in flight until the "
            "network has evaluated them, and proven moves are not searched any more."
        ),
        (
            Parameter("c", 1.3, 0, 10, EXPLORATION),
            Parameter("fpu", 0.36, 0, 2, "how much an untried move is worth less"),
            Parameter("batch", 1, 1, 64, "positions per evaluation", is_whole=True),
            Parameter("mate-nodes", 0, 0, 1000, "mate search at leaves", is_whole=True),
            Parameter("capacity", 100_000, 50, 1e6, "positions in memory", is_whole=True),
        ),
        _puct,
        _write_puct,
    ),
    Observed(
        "gumbel",
        "Gumbel search",
        "engine/goryu/search/gumbel.py",
        32,
        "root: g(a) + logit(a) + σ(Q(a)); below: π′(a) − N(a) / (1 + ΣN)",
        (
            "It draws a few moves, gives each the same number of playouts and drops the worse half, "
            "again and again. It improves on the policy even with two playouts."
        ),
        (
            Parameter("playouts", 32, 1, 1000, "the budget", is_whole=True),
            Parameter("considered", 16, 1, 64, "moves that are drawn", is_whole=True),
            Parameter("c-scale", 0.1, 0, 2, "the weight of values"),
            Parameter("noise", 0, 0, 1, "1: Gumbel noise, 0: none", is_whole=True),
            SEED,
        ),
        _gumbel,
        _write_gumbel,
    ),
)

OBSERVED = {observed.name: observed for observed in _ALL}
"""The searches by name."""
