"""The stages of a run of `goryu learn` for each tutorial, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.games.shogi import Rules
from goryu.games.state import Move, State
from goryu.implementation import Board, Reversi
from goryu.players.agents.agents import Agent, AgentSetup, make_agent
from goryu.players.agents.arena import paired_match
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons import experiments
from goryu_lab.lessons.alphazero import choose_move
from goryu_lab.lessons.alphazero_config import REVERSI, AlphaZeroConfig, puct_config
from goryu_lab.lessons.board_learner import BoardLearner
from goryu_lab.lessons.lesson import Lesson
from goryu_lab.lessons.lesson_games import RUNNING, LessonGame, running_win_rates, strip, win_rate
from goryu_lab.lessons.networks import export
from goryu_lab.lessons.options import LessonOptions, NetworkSize, PseudocodeOptions, TutorialOptions
from goryu_lab.lessons.pseudocode import Actors, NetworkStorage, Trainer
from goryu_lab.lessons.pseudocode_config import Factors, scaled
from goryu_lab.lessons.pseudocode_games import GAMES, board_game
from goryu_lab.lessons.report import Measurement
from goryu_lab.lessons.run import ResumableRun, TrainingClock, train_alphazero, train_value_network
from goryu_lab.lessons.shogi_learner import ShogiLearner
from goryu_lab.lessons.value_config import PUBLISHED, TUTORIAL, ValueLearnerConfig


def train_tictactoe(
    run: ResumableRun, options: TutorialOptions, config: AlphaZeroConfig, size: NetworkSize
) -> None:
    """Runs AlphaZero's loop, then compares every algorithm with the numbers of the AlphaZero tutorial."""
    as_published = config.policy_loss == "squares"
    learner = BoardLearner(
        BOARD_GAMES["tictactoe"], size.blocks, size.channels, run.seed, as_published=as_published
    )

    def setup(evaluator: Evaluator) -> AgentSetup:
        return AgentSetup(evaluator=evaluator, puct=puct_config(config), gumbel=config.gumbel)

    def strength(evaluator: Evaluator) -> tuple[float, str]:
        replies = experiments.correctness(make_agent("puct:20", setup(evaluator)))
        return replies / 11, "correct replies of puct:20, share of 11"

    path = run.folder / "tictactoe.onnx"
    champion = train_alphazero(run, learner, config, lambda: learner.export(path), strength, size=3)
    trained = setup(champion)
    if as_published:
        best = replace(config, sampling_plies=0)  # The most visited move.

        def agent(state: State) -> Move:
            return choose_move(state, champion, best, Random(run.seed), is_learning=False)[0]

        run.measure(
            "tutorial's search", lambda rng: experiments.tutorial_search(agent, options.match_games, rng)
        )
    run.measure("network", lambda rng: experiments.tictactoe_network(trained, options.match_games, rng))
    run.measure("basics", lambda rng: experiments.tictactoe_basics(options.match_games, rng))


def train_reversi(run: ResumableRun, options: TutorialOptions) -> None:
    """Trains the reversi tutorial's value network with its config and ours; then runs AlphaZero's loop."""
    run.measure("rules of thumb", lambda rng: experiments.reversi_rules_of_thumb(options.match_games, rng))
    game = board_game("reversi")

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
    name = "value network as in the tutorial"
    learner = train_value_network(run, name, theirs, alone, match_games=20, keeps_best=False)
    run.measure(name, lambda rng: experiments.value_network(learner, name, options.match_games, rng))
    name = "value network ours"
    learner = train_value_network(run, name, ours, mixed)
    run.measure(name, lambda rng: experiments.value_network(learner, name, options.match_games, rng))
    value_model = run.folder / "reversi-value.onnx"
    export(learner.net, game, value_model)
    if options.value_only:
        return
    value_player = make_agent("value:2", AgentSetup(values=load(value_model, game)))
    config = replace(REVERSI, cycles=options.cycles or REVERSI.cycles)

    def puct(evaluator: Evaluator, playouts: int) -> Agent:
        return make_agent(f"puct:{playouts}", AgentSetup(evaluator=evaluator, puct=puct_config(config)))

    def strength(evaluator: Evaluator) -> tuple[float, str]:
        openings = Random(1)  # The same ones after every cycle, whatever the seed.
        score = experiments.match_of_openings(puct(evaluator, 20), value_player, Reversi, 10, 6, openings)
        return score.points, "points of puct:20 against the value network"

    board_learner = BoardLearner(game, blocks=2, channels=32, seed=run.seed)
    path = run.folder / "reversi.onnx"
    champion = train_alphazero(
        run, board_learner, config, lambda: board_learner.export(path), strength, size=8
    )
    agent = puct(champion, 100)
    run.measure(
        "network", lambda rng: experiments.reversi_networks(agent, value_player, options.match_games, rng)
    )


def shogi_results(
    trained: AgentSetup, untrained: Evaluator, config: AlphaZeroConfig, games: int, rng: Random
) -> Iterator[Measurement]:
    """Measures a network against random moves and against itself before the training."""
    opponents = {
        "random": make_agent("random", rng=rng),
        "puct:20 with the untrained network": make_agent("puct:20", replace(trained, evaluator=untrained)),
    }
    for name, opponent in opponents.items():
        score = experiments.match_of_openings(
            make_agent("puct:20", trained),
            opponent,
            lambda: Board(rules=Rules(max_ply=config.max_plies)),
            games,
            6,
            rng,
        )
        yield experiments.points(f"puct:20 - {name}", score)


def new_learner(game: str, seed: int) -> BoardLearner | ShogiLearner:
    """Returns the untrained network of a game of the pseudocode."""
    if game == "shogi":
        return ShogiLearner(blocks=2, channels=32, seed=seed)
    return BoardLearner(board_game(game), blocks=1 if game == "tictactoe" else 2, channels=32, seed=seed)


def train_lesson(
    run: ResumableRun, options: TutorialOptions, config: ValueLearnerConfig, more: LessonOptions
) -> None:
    """Plays the lesson, or the rest of it, then measures the learner against its opponents."""
    lesson = Lesson(run, config, more.opponents)
    if lesson.games:
        run.log(f"resuming after {len(lesson.games)} of {config.games} games")

    def checkpoint(games: Sequence[LessonGame], loss: float) -> None:
        rate, running = win_rate(lesson.games), running_win_rates(lesson.games)[-1]
        run.log(
            f"{games[-1].number:5}  {strip(games)}  {100 * rate:3.0f} % won, {100 * running:3.0f} % of the "
            f"last {RUNNING}, epsilon {games[-1].epsilon:.3f}, loss {loss:.4f}; "
            f"without random moves {lesson.checkpoint_games[-1].discs:+} discs"
        )
        run.progress("games", len(lesson.games), config.games)

    def results(rng: Random) -> Iterator[Measurement]:
        is_tutorials = config == PUBLISHED and tuple(more.opponents) == ("greedy",)
        theirs = {"greedy": 0.81, "random": 0.75} if is_tutorials else {}
        for name in dict.fromkeys([*more.opponents, "random"]):
            for side, place in enumerate(("first", "second")):
                score = lesson.match(name, options.match_games, side, rng)
                claim = f"without random moves, moving {place} - {name}"
                yield experiments.points(claim, score, None if side else theirs.get(name))

    lesson.run(more.checkpoint_every, checkpoint)
    run.measure("match", results)


def train_pseudocode(
    run: ResumableRun, options: TutorialOptions, factors: Factors, more: PseudocodeOptions
) -> None:
    """Lets actors play while a trainer trains, then measures how the last network plays."""
    game = GAMES[more.board]
    config = scaled(factors, more.untried, as_published=more.as_published, game=more.board)
    learner = new_learner(more.board, run.seed)
    untrained = learner.evaluator()
    storage = NetworkStorage(run.folder / "networks", game)
    trainer = Trainer(learner, storage, config, Random(run.seed))
    saved = run.load("pseudocode", lambda saved: trainer.load_state_dict(saved["trainer"]))
    clock = TrainingClock(saved and saved["clock"])
    if trainer.step:
        run.log(f"resuming after step {trainer.step}")
    seed = run.seed + 1000 * trainer.step  # A resumed run plays other games.
    with Actors(more.actors, more.board, storage.folder, config.alphazero, seed) as actors:
        for point in trainer.run(actors, run.progress):
            run.save_state("pseudocode", {"trainer": trainer.state_dict()}, clock)
            run.log(
                f"step {point.step}: {point.games} games, {point.positions} positions, losses "
                f"{point.policy_loss:.3f} {point.value_loss:.3f}, actors {point.lag:.0f} steps behind"
            )
    setup = AgentSetup(evaluator=storage.newest()[1], puct=puct_config(config.alphazero))

    def results(rng: Random) -> Iterator[Measurement]:
        if more.board == "tictactoe":
            yield from experiments.tictactoe_network(setup, options.match_games, rng)
            return
        if more.board == "shogi":
            yield from shogi_results(setup, untrained, config.alphazero, options.match_games, rng)
            return
        agent = make_agent("puct:20", setup)
        opponents = {"random": make_agent("random", rng=rng)}
        opponents["the tutorial's opponent"] = experiments.greedy_opponent(rng)
        for name, other in opponents.items():
            score = paired_match(agent, other, game.new, options.match_games)
            yield experiments.points(f"puct:20 - {name}", score)

    run.measure("network", results)
