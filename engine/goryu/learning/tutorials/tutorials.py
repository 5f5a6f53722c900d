"""The stages of a run of `goryu learn` for each game, in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.games.shogi import Rules
from goryu.implementation import Board, Reversi
from goryu.learning.tutorials import exercises, experiments
from goryu.learning.tutorials.alphazero_config import REVERSI, SHOGI, TICTACTOE, puct_config
from goryu.learning.tutorials.board_learner import BoardLearner
from goryu.learning.tutorials.networks import export
from goryu.learning.tutorials.report import Measurement
from goryu.learning.tutorials.run import ResumableRun, train_alphazero, train_value_network
from goryu.learning.tutorials.shogi_learner import ShogiLearner
from goryu.learning.tutorials.value_learner import TUTORIAL, ValueLearner, ValueLearnerConfig
from goryu.players.agents.agents import Agent, AgentSetup, make_agent
from goryu.players.agents.arena import Score
from goryu.search.evaluator import Evaluator

TUTORIAL_VALUES, OUR_VALUES = "value network as in the tutorial", "value network ours"
"""The stages that train a value network for reversi."""


@dataclass(frozen=True, slots=True)
class TutorialOptions:
    """What the user can change.

    games: of a match. cycles, value_games: length of the training; None: the default of the tutorial.
    value_only: skip AlphaZero's loop.
    """

    games: int = 100
    cycles: int | None = None
    value_games: int | None = None
    value_only: bool = False


def train_tictactoe(run: ResumableRun, options: TutorialOptions) -> None:
    """Runs AlphaZero's loop, then compares every algorithm with the numbers of the AlphaZero tutorial."""
    config = replace(TICTACTOE, cycles=options.cycles or TICTACTOE.cycles)
    learner = BoardLearner(BOARD_GAMES["tictactoe"], blocks=1, channels=32, seed=run.seed)

    def setup(evaluator: Evaluator) -> AgentSetup:
        return AgentSetup(evaluator=evaluator, puct=puct_config(config), gumbel=config.gumbel)

    def strength(evaluator: Evaluator) -> tuple[float, str]:
        replies = experiments.correctness(make_agent("puct:20", setup(evaluator)))
        return replies / 11, "correct replies of puct:20, share of 11"

    path = run.folder / "tictactoe.onnx"
    champion = train_alphazero(run, learner, config, lambda: learner.export(path), strength)
    trained = setup(champion)
    run.measure("network", lambda rng: experiments.tictactoe_network(trained, options.games, rng))
    run.measure("basics", lambda rng: experiments.tictactoe_basics(options.games, rng))


def train_reversi(run: ResumableRun, options: TutorialOptions) -> None:
    """Trains the reversi tutorial's value network with its config and ours; then runs AlphaZero's loop."""
    run.measure("rules of thumb", lambda rng: experiments.reversi_rules_of_thumb(options.games, rng))
    game = replace(BOARD_GAMES["reversi"], new=Reversi)

    def alone(rng: Random) -> list[Agent]:
        return [experiments.greedy_opponent(rng)]

    def mixed(rng: Random) -> list[Agent]:
        # The tutorial has one opponent and suggests a mixture as an exercise.
        greedy = experiments.greedy_opponent(rng)
        return [greedy, greedy, greedy, make_agent("random", rng=rng)]

    theirs, ours = (
        replace(config, games=options.value_games or config.games)
        for config in (TUTORIAL, ValueLearnerConfig())
    )
    name = TUTORIAL_VALUES
    learner = train_value_network(run, name, theirs, alone, match_games=20, keeps_best=False)
    run.measure(name, lambda rng: experiments.value_network(learner, name, options.games, rng))
    name = OUR_VALUES
    learner = train_value_network(run, name, ours, mixed)
    run.measure(name, lambda rng: experiments.value_network(learner, name, options.games, rng))
    value_model = run.folder / "reversi-value.onnx"
    export(learner.net, game, value_model)
    if options.value_only:
        return
    value_player = make_agent("value:2", AgentSetup(values=load(value_model, game)))
    config = replace(REVERSI, cycles=options.cycles or REVERSI.cycles)

    def puct(evaluator: Evaluator, playouts: int) -> Agent:
        return make_agent(f"puct:{playouts}", AgentSetup(evaluator=evaluator, puct=puct_config(config)))

    def strength(evaluator: Evaluator) -> tuple[float, str]:
        score = experiments.match_of_openings(puct(evaluator, 20), value_player, Reversi, 10, 6, Random(1))
        return score.points, "points of puct:20 against the value network"

    board_learner = BoardLearner(game, blocks=2, channels=32, seed=run.seed)
    path = run.folder / "reversi.onnx"
    champion = train_alphazero(run, board_learner, config, lambda: board_learner.export(path), strength)
    agent = puct(champion, 100)
    run.measure("network", lambda rng: experiments.reversi_networks(agent, value_player, options.games, rng))


def train_exercises(run: ResumableRun, options: TutorialOptions) -> None:
    """Trains the five learners of the reversi tutorial's exercises, with different opponents and targets."""
    run.measure("corners", lambda rng: exercises.corner_rules_of_thumb(options.games, rng))
    for variant in exercises.VARIANTS:
        config = variant.config(options.value_games or 2000)
        during_training = max(2, config.games // 50)
        learner = train_value_network(
            run, variant.name, config, variant.new_opponents, match_games=during_training
        )

        def results(
            rng: Random, variant: exercises.Variant = variant, learner: ValueLearner = learner
        ) -> Iterator[Measurement]:
            return exercises.variant_results(variant, learner, options.games, rng)

        run.measure(variant.name, results)


def train_shogi(run: ResumableRun, options: TutorialOptions) -> None:
    """Runs AlphaZero's loop on shogi, as a demonstration; `shogi_learner.py` has the results."""
    config = replace(SHOGI, cycles=options.cycles or SHOGI.cycles)
    learner = ShogiLearner(blocks=2, channels=32, seed=run.seed)
    untrained = learner.evaluator()

    def new_game() -> Board:
        return Board(rules=Rules(max_ply=config.max_plies))

    def puct(evaluator: Evaluator) -> Agent:
        return make_agent("puct:20", AgentSetup(evaluator=evaluator, puct=puct_config(config)))

    def against(evaluator: Evaluator, opponent: Agent, games: int, rng: Random) -> Score:
        return experiments.match_of_openings(puct(evaluator), opponent, new_game, games, 6, rng)

    def strength(evaluator: Evaluator) -> tuple[float, str]:
        score = against(evaluator, puct(untrained), 10, Random(1))
        return score.points, "points of puct:20 against itself with the untrained network"

    def results(rng: Random) -> Iterator[Measurement]:
        score = against(champion, make_agent("random", rng=rng), options.games, rng)
        yield experiments.points("puct:20 - random", score)
        score = against(champion, puct(untrained), options.games, rng)
        yield experiments.points("puct:20 - puct:20 with the untrained network", score)

    path = run.folder / "shogi.onnx"
    champion = train_alphazero(run, learner, config, lambda: learner.export(path), strength)
    run.measure("network", results)


STAGES = {
    "tictactoe": ("alphazero",),
    "reversi": (TUTORIAL_VALUES, OUR_VALUES, "alphazero"),
    "exercises": tuple(variant.name for variant in exercises.VARIANTS),
    "shogi": ("alphazero",),
}
"""The stages of each game that train a network, and so have a saved state."""

TUTORIALS: dict[str, Callable[[ResumableRun, TutorialOptions], None]] = {
    "tictactoe": train_tictactoe,
    "reversi": train_reversi,
    "exercises": train_exercises,
    "shogi": train_shogi,
}
