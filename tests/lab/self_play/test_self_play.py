"""Self-play and reanalysis of shogi: records that other libraries can replay, and resumed runs."""

import math
import multiprocessing
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.material import MaterialEvaluator
from goryu.evaluators.network.named_networks import open_network
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import Session, open_session
from goryu.games.shogi import Rules, move_from_usi
from goryu.games.state import Move, State
from goryu.implementation import Board
from goryu.players.config import RulesConfig
from goryu.players.score import centipawns
from goryu.search.evaluator import Evaluation, Evaluator
from goryu.search.gumbel import Gumbel, GumbelConfig, search_steps
from goryu_lab.benchmark.random_network import write_random_network
from goryu_lab.loop.config import ShogiLoopConfig
from goryu_lab.loop.shogi import ShogiLoopGame
from goryu_lab.match.openings import Opening
from goryu_lab.records.game_records import GameRecord, Policy, read_games, write_games
from goryu_lab.records.hcpe import BLACK_WON, DRAW, WHITE_WON
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play import workers
from goryu_lab.self_play.batching import run_batched
from goryu_lab.self_play.config import SelfPlayConfig
from goryu_lab.self_play.evaluation_cache import EvaluationCache
from goryu_lab.self_play.game import (
    MATE_SCORE,
    GameSteps,
    improved_target,
    policy_target,
    self_play_game,
    surprise,
)
from goryu_lab.self_play.leaf_evaluator import LeafEvaluator
from goryu_lab.self_play.reanalysis import reanalyse
from goryu_lab.work.processes import ProcessPool
from goryu_lab.work.seam import WorkError
from paths import MODELS

cshogi: Any = pytest.importorskip("cshogi")

MODEL = MODELS / "goryu-5x64.onnx"
COMMAND = [sys.executable, "-m", "goryu", "selfplay"]

FIRST_MOVES = [int(move) for move in Board().legal_moves()[:4]]

ENGINE_RULES = Rules(all_moves=RulesConfig().all_moves)

CONFIG = SelfPlayConfig(cheap_playouts=2, full_playouts=6, max_plies=60)


def tool() -> ModuleType:
    return import_module("goryu_lab.commands.training.selfplay")


def games(
    config: SelfPlayConfig, count: int, at_once: int, evaluator: Evaluator, first: int = 0
) -> list[GameRecord]:
    tasks = (
        self_play_game(config, Opening(), Random(f"1 {number}"), number, "test")
        for number in range(first, first + count)
    )
    return sorted(run_batched(tasks, evaluator, at_once), key=lambda game: game.number or 0)


def finished(task: GameSteps, evaluator: Evaluator | None = None) -> GameRecord:
    """Plays one game to its end; by default with hashed evaluations."""
    (game,) = run_batched(iter([task]), evaluator or HashedEvaluator(), 1)
    return game


def relabelled(
    game: GameRecord, config: SelfPlayConfig = CONFIG, evaluator: Evaluator | None = None, **changes: Any
) -> GameRecord:
    """Gives new labels to all positions of a game that have a score, or to some; see `reanalyse`."""
    options: dict[str, Any] = {"share": 1.0, "keeps_scores": True, "teacher": "again", "number": 0} | changes
    return finished(reanalyse(game, config, options.pop("share"), Random(1), **options), evaluator)


def policies_of(game: GameRecord) -> tuple[Policy | None, ...]:
    assert game.policies is not None
    return game.policies


def replayed(game: GameRecord) -> Iterator[tuple[Any, int | None]]:
    """Plays the moves of a record on cshogi's board, which must find all of them legal."""
    board = cshogi.Board(game.start_sfen)
    for move16 in game.moves:
        move = board.move_from_move16(move16)
        assert board.is_legal(move)
        yield board, move
        board.push(move)
    yield board, None


def test_games_played_together_are_those_played_alone() -> None:
    alone = games(CONFIG, 6, 1, HashedEvaluator())
    assert games(CONFIG, 6, 4, HashedEvaluator()) == alone
    assert len({game.moves for game in alone}) == 6


def test_cshogi_replays_every_game_and_agrees_with_every_policy() -> None:
    for game in games(CONFIG, 8, 8, MaterialEvaluator()):
        for ply, (board, move) in enumerate(replayed(game)):
            if move is None:
                break
            policy = policies_of(game)[ply]
            assert (policy is None) == (game.evals[ply] is None)
            if policy is not None:
                legal = {cshogi.move16(m) for m in board.legal_moves}
                assert {move for move, _ in policy} <= legal
                assert math.isclose(sum(p for _, p in policy), 1.0, rel_tol=1e-6)


def test_a_mate_that_ends_a_game_is_one_for_cshogi() -> None:
    config = SelfPlayConfig(
        cheap_playouts=4, full_playouts=8, mate_nodes=200, max_plies=400, control_share=1.0
    )
    ended = [
        game for game in games(config, 6, 6, MaterialEvaluator()) if game.ending.startswith("mate found")
    ]
    assert ended
    for game in ended:
        *_, (board, _) = replayed(game)
        board.pop()  # The record ends with the first move of the mate.
        assert game.result == (BLACK_WON if board.turn == cshogi.BLACK else WHITE_WON)
        assert game.evals[-1] == 10_000
        solver = cshogi.DfPn(depth=31, nodes=100_000)
        assert solver.search(board)


def test_leaves_are_evaluated_as_by_the_network() -> None:
    rng, boards = Random(2), [Board()]
    while len(boards) < 11:
        boards.append(boards[-1].copy())
        boards[-1].push(rng.choice(boards[-1].legal_moves()))
    network = NetworkEvaluator(MODEL, batch_size=4, backend="cpu")
    evaluations = LeafEvaluator(network).evaluate(boards)
    for ours, theirs in zip(evaluations, network.evaluate(boards), strict=True):
        assert (list(ours.policy), ours.value) == (theirs.policy, theirs.value)
    assert LeafEvaluator(network).evaluate([]) == []


class Counting(HashedEvaluator):
    """Keeps the keys of all positions that it evaluates."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[int] = []

    def evaluate(self, states: Sequence[State]) -> list[Evaluation]:
        self.keys += [state.key for state in states]
        return super().evaluate(states)


def test_no_position_is_evaluated_twice_within_two_moves() -> None:
    evaluator = Counting()
    config = SelfPlayConfig(8, 32, 2.0, random_plies=(0, 0), mate_nodes=0, max_plies=4)
    (game,) = games(config, 1, 1, evaluator)
    assert None not in game.evals
    assert len(set(evaluator.keys)) == len(evaluator.keys)


def test_a_full_search_goes_on_where_the_cheap_one_stopped() -> None:
    evaluator = Counting()
    # The game ends after two moves, so the search evaluates only the root and the positions after 16 moves.
    config = SelfPlayConfig(16, 32, 2.0, random_plies=(0, 0), mate_nodes=0, max_plies=2)
    (game,) = games(config, 1, 1, evaluator)
    assert None not in game.evals
    assert len(evaluator.keys) == 1 + 16


def test_the_cache_does_not_change_a_search() -> None:
    board, cache = Board(), EvaluationCache()
    for playouts in (5, 20, 20, 60):
        board.push(board.legal_moves()[playouts % 7])
        (remembered,) = run_batched(
            iter([cache.wrap(search_steps(board, playouts, GumbelConfig(), Random(playouts)))]),
            HashedEvaluator(),
            1,
        )
        assert remembered == Gumbel(HashedEvaluator()).search(board, playouts, Random(playouts))
        cache.next_move()


@pytest.mark.parametrize("is_again", [False, True])
def test_only_moves_that_the_engine_generates_are_learned(is_again: bool) -> None:
    config = SelfPlayConfig(
        60, 60, 2.0, considered=60, random_plies=(0, 0), mate_nodes=0, max_plies=3, control_share=0.0
    )
    opening = Opening(moves=("7g7f", "3c3d"))
    game = finished(self_play_game(config, opening, Random(1), 0, "test"))
    if is_again:
        game = relabelled(game, config, keeps_scores=False)
    learned = {move for move, _ in policies_of(game)[2] or ()}
    assert move_from_usi("8h2b+") in learned
    assert move_from_usi("8h2b") not in learned


def test_surprise_is_the_divergence_from_the_prior() -> None:
    assert surprise((0.3, 0.7), (0.3, 0.7)) == 0.0
    assert surprise((0.5, 0.5), (1.0, 0.0)) == pytest.approx(math.log(2.0))
    assert surprise((0.9, 0.1), (0.1, 0.9)) == pytest.approx(0.8 * math.log(9.0))


def test_the_recorded_policy_is_less_confident_than_the_one_played() -> None:
    result = Gumbel(MaterialEvaluator()).search(Board("4k4/9/9/4p4/9/9/9/4R4/4K4 b - 1"), 32)
    assert improved_target(result, replace(CONFIG, target_scale=1.0)) == list(result.policy)
    target = improved_target(result, CONFIG)
    best = max(target)
    assert target.index(best) == result.policy.index(max(result.policy))
    assert max(result.prior) < best < max(result.policy)


def test_a_policy_target_keeps_all_but_its_tail() -> None:
    moves = [Move(m) for m in range(1, 6)]
    target = policy_target(moves, [0.0005, 0.6, 0.3, 0.099, 0.0005])
    assert [move for move, _ in target] == [2, 3, 4]
    assert sum(p for _, p in target) == pytest.approx(1.0)


@pytest.mark.parametrize("value", [-1.0, -0.9, 0.0, 0.25, 1.0])
def test_centipawns_are_the_log_odds_of_the_win_rate(value: float) -> None:
    back = 2.0 / (1.0 + math.exp(-centipawns(value, 600.0, MATE_SCORE) / 600.0)) - 1.0
    assert back == pytest.approx(value, abs=2e-3)
    assert centipawns(-value, 600.0, MATE_SCORE) == -centipawns(value, 600.0, MATE_SCORE)


def test_a_hopeless_side_resigns_but_not_in_a_control_game() -> None:
    # White has only the king, so its material value is hopeless from the first move on.
    opening = Opening("sfen 4k4/9/9/9/9/9/9/9/RB2K2BR b 4G4S4N4L18P 1")
    config = SelfPlayConfig(
        cheap_playouts=2, full_playouts=4, mate_nodes=0, random_plies=(0, 0), resign_value=-0.8, max_plies=40
    )

    def play(control_share: float) -> GameRecord:
        chosen = replace(config, control_share=control_share)
        return finished(self_play_game(chosen, opening, Random(1), 0, "test"), MaterialEvaluator())

    resigned, controlled = play(0.0), play(1.0)
    assert (resigned.ending, resigned.result) == ("resignation", BLACK_WON)
    assert controlled.ending.endswith("(control)")
    assert len(controlled.moves) > len(resigned.moves)


def test_a_control_game_records_whether_resigning_was_wrong() -> None:
    opening = Opening("sfen 4k4/9/9/9/9/9/9/9/RB2K2BR b 4G4S4N4L18P 1")
    config = SelfPlayConfig(
        cheap_playouts=2, random_plies=(0, 0), resign_value=-0.8, resign_moves=1, control_share=1.0
    )
    for changes, result, ending in (
        ({}, BLACK_WON, "mate found (control)"),
        ({"mate_nodes": 0, "max_plies": 6}, DRAW, "maximum ply, resigning was wrong (control)"),
    ):
        task = self_play_game(replace(config, **changes), opening, Random(1), 0, "test")  # type: ignore[arg-type]
        game = finished(task, MaterialEvaluator())
        assert (game.result, game.ending) == (result, ending)


@pytest.mark.parametrize(
    ("sfen", "result"),
    [("4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1", BLACK_WON), ("4k4/9/9/9/9/9/4g4/4g4/4K4 b - 1", WHITE_WON)],
)
def test_the_side_that_is_mated_has_lost(sfen: str, result: int) -> None:
    config = replace(CONFIG, random_plies=(0, 0))
    game = finished(self_play_game(config, Opening(f"sfen {sfen}"), Random(1), 0, "test"))
    assert (game.result, game.moves) == (result, ())


def test_reanalysis_changes_labels_only() -> None:
    board = Board()
    moves = tuple(int(board.push_usi(text)) for text in ("7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"))
    game = GameRecord(moves, (None, 30, -20, 900, 10), DRAW, teacher="someone", number=3, scale=540.0)

    def again(*, keeps_scores: bool) -> GameRecord:
        result = relabelled(game, number=9, keeps_scores=keeps_scores)
        assert (result.moves, result.result, result.number) == (moves, DRAW, 9)
        assert [policy is None for policy in policies_of(result)] == [True, False, False, False, False]
        return result

    kept = again(keeps_scores=True)
    assert kept.evals == game.evals
    assert kept.scale == 540.0
    for move, policy in zip(moves[1:], policies_of(kept)[1:], strict=True):
        assert dict(policy or ())[move] >= 0.5
    new = again(keeps_scores=False)
    assert new.evals != game.evals
    assert new.scale == CONFIG.scale
    board = Board(rules=ENGINE_RULES)
    board.push(Move(moves[0]))
    alone = Gumbel(HashedEvaluator()).search(board, CONFIG.full_playouts)
    assert policies_of(new)[1] == policy_target(alone.moves, improved_target(alone, CONFIG))
    assert new.evals[1] == centipawns(alone.value, CONFIG.scale, MATE_SCORE)


def test_no_playouts_draw_the_moves_from_the_network_s_policy() -> None:
    config = replace(
        CONFIG, cheap_playouts=0, full_playouts=0, full_share=1.0, random_plies=(0, 0), mate_nodes=0,
        resign_moves=0, max_plies=2,
    )  # fmt: skip
    many = games(config, 1000, 50, MaterialEvaluator())
    board = Board(rules=ENGINE_RULES)
    board.push_usi("7g7f")
    (after,) = MaterialEvaluator().evaluate([board])
    board.pop()
    (first,) = MaterialEvaluator().evaluate([board])
    seen = Counter(game.moves[0] for game in many)
    for move, probability in zip(board.legal_moves(), first.policy, strict=True):
        deviation = math.sqrt(1000 * probability * (1.0 - probability))
        assert abs(seen[int(move)] - 1000 * probability) < 5.0 * deviation + 1.0
    for game in many:
        assert policies_of(game)[0] == policy_target(board.legal_moves(), first.policy)
        assert game.evals[0] == centipawns(first.value, CONFIG.scale, MATE_SCORE)
    assert {game.evals[1] for game in many if game.moves[0] == move_from_usi("7g7f")} == {
        centipawns(after.value, CONFIG.scale, MATE_SCORE)
    }


def test_without_a_cheap_search_the_share_of_recorded_positions_is_taken_as_given() -> None:
    for full_playouts in (0, 2):
        for share in (1.0, 0.25):
            config = replace(
                CONFIG, cheap_playouts=0, full_playouts=full_playouts, full_share=share, mate_nodes=0,
                resign_moves=0, random_plies=(0, 0), max_plies=40,
            )  # fmt: skip
            policies = [
                policy for game in games(config, 20, 10, HashedEvaluator()) for policy in policies_of(game)
            ]
            recorded = sum(policy is not None for policy in policies)
            deviation = math.sqrt(len(policies) * share * (1.0 - share))
            assert abs(recorded - len(policies) * share) <= 4.0 * deviation, "exactly all of them if it is 1"


def test_no_playouts_distil_the_network() -> None:
    (game,) = games(replace(CONFIG, max_plies=20), 1, 1, HashedEvaluator())
    distilled = relabelled(game, replace(CONFIG, full_playouts=0), MaterialEvaluator(), keeps_scores=False)
    board = Board(rules=ENGINE_RULES)
    for ply, move in enumerate(distilled.moves):
        if distilled.evals[ply] is not None:
            (evaluation,) = MaterialEvaluator().evaluate([board])
            assert distilled.evals[ply] == centipawns(evaluation.value, CONFIG.scale, MATE_SCORE)
            assert policies_of(distilled)[ply] == policy_target(board.legal_moves(), evaluation.policy)
        board.push(Move(move))


def test_reanalysis_of_a_share_takes_only_some_positions() -> None:
    config = SelfPlayConfig(cheap_playouts=2, full_playouts=4, full_share=1.0, max_plies=60)
    (game,) = games(config, 1, 1, HashedEvaluator())
    result = relabelled(game, share=0.5)
    before, after = (sum(score is not None for score in each.evals) for each in (game, result))
    assert 0 < after < before


def test_reanalysis_can_take_endangered_kings_only() -> None:
    """White's king has five attacked squares in the second of three positions, no other king has any."""
    start = "4k4/9/4G4/9/9/9/9/4P4/4K4 b - 1"
    moves = tuple(map(move_from_usi, ("5c5b", "5a5b", "5h5g")))
    game = GameRecord(moves, (0, 0, 0), DRAW, start_sfen=start)
    for least, expected in ((0, [0, 1, 2]), (5, [1]), (6, [])):
        result = relabelled(game, least_danger=least)
        assert [i for i, score in enumerate(result.evals) if score is not None] == expected


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "self.games"

    def go(size: int) -> GameSummary:
        config = SelfPlayConfig(cheap_playouts=1, full_playouts=2, max_plies=12)
        work = workers.PlayWork("test", config, (Opening(),), 1, size)
        return workers.run(workers.GamesJob(work, MODEL, 2), work, path, lambda: ProcessPool(2))

    assert go(2).games == 2
    write_games(path, [GameRecord((7739,), (None,), DRAW, teacher="another run", number=2)])
    progress = go(5)
    assert (progress.games, progress.new_positions < progress.positions) == (5, True)
    numbers = [game.number for game in read_games(path) if game.teacher == "test"]
    assert set(numbers) == set(range(5))
    assert len(numbers) == 5
    assert go(5).new_positions == 0


def test_new_labels_for_other_games_are_added_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "soft.games"
    first, second, third, fourth = (
        GameRecord((move,), (10,), BLACK_WON, teacher="someone", number=i)
        for i, move in enumerate(FIRST_MOVES)
    )

    def go(*games: GameRecord) -> GameSummary:
        config = replace(CONFIG, full_playouts=0)
        work = workers.ReanalysisWork("again", config, games, 1.0, False, 1)
        return workers.run(workers.GamesJob(work.bare(), MODEL), work, path)

    assert go(first, second).new_positions == 2
    assert go(third, second, first, fourth, third).new_positions == 3
    summary = go(third, second, first, fourth, third)
    assert (summary.games, summary.new_positions) == (5, 0)
    assert [game.moves[0] for game in read_games(path)].count(FIRST_MOVES[2]) == 2


def test_networks_of_one_name_get_different_names(tmp_path: Path) -> None:
    path = tmp_path / "self.games"
    other = tmp_path / "other.onnx"
    write_random_network(1, 8, other)
    for folder, model in (("first", other), ("second", MODEL)):
        (tmp_path / folder).mkdir()
        network = str(shutil.copy(model, tmp_path / folder / "network.onnx"))
        for _ in range(2):
            arguments = ["--model", network, "--out", str(path), "--games", "1", "--max-plies", "2"]
            assert tool().main(["play", *arguments]) == 0
    games = list(read_games(path))
    assert [game.number for game in games] == [0, 0]
    assert games[0].teacher != games[1].teacher


def test_a_run_ends_when_a_process_was_killed(tmp_path: Path) -> None:
    def kill(_tally: GameSummary) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    config = SelfPlayConfig(cheap_playouts=1, full_playouts=2, max_plies=12)
    endless = workers.PlayWork("test", config, (Opening(),), 1)
    with pytest.raises(WorkError, match="a process died"):
        workers.run(workers.GamesJob(endless, MODEL, 1), endless, tmp_path / "self.games", report=kill)


def test_no_process_outlives_a_killed_run(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    path = tmp_path / "self.games"
    options = ("--cheap-playouts", "1", "--full-playouts", "2", "--max-plies", "12")
    command = [*COMMAND, "play", "--model", str(MODEL), "--out", str(path), *options]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while parent.poll() is None and not (path.exists() and list(read_games(path))):
        time.sleep(0.1)
    parent.kill()
    parent.communicate(timeout=120)  # Ends when all processes that hold the pipe have ended.
    assert list(read_games(path))


def test_a_broken_model_is_reported(tmp_path: Path) -> None:
    model = tmp_path / "broken.onnx"
    model.write_bytes(b"no network")
    work = workers.PlayWork("test", CONFIG, (Opening(),), 1, 1)
    with pytest.raises(WorkError, match=r"^model .*broken\.onnx: [^\n]*$"):
        workers.run(workers.GamesJob(work, model), work, tmp_path / "self.games")


def test_auto_warns_why_a_gpu_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu.evaluators.network.providers.installation_problems", lambda: ["two of them"])
    with pytest.warns(UserWarning, match="two of them"):
        open_network(MODEL, backend="auto")


@dataclass
class EmptyInbox:
    """The inbox of a worker that gets no task."""

    index: int
    is_closed: bool = False

    def take(self, *, wait: bool) -> None:
        return None

    def on_close(self, call: Any) -> None: ...


def test_the_workers_take_the_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    def open_on_cpu(path: Path, backend: str, *, device: int, **_: Any) -> Session:
        assert backend == "cuda"
        used.append(device)
        return open_session(path, "cpu")

    monkeypatch.setattr("goryu.evaluators.network.onnx_model.open_session", open_on_cpu)
    gpus = (0, 3)
    play = workers.PlayWork("test", CONFIG, (Opening(),), 1)
    loop = ShogiLoopGame(ShogiLoopConfig(backend="cuda", gpus=gpus))
    for worker in range(3):
        list(workers.GamesJob(play, MODEL, backend="cuda", gpus=gpus).work(EmptyInbox(worker)))
        loop.open(MODEL, 2, worker)
        assert used == [gpus[worker % 2]] * 2
        used.clear()


@pytest.mark.parametrize("keeps_scores", [False, True])
def test_new_labels_leave_proven_mates_alone(keeps_scores: bool) -> None:
    mating = int(move_from_usi("G*5b"))
    game = GameRecord(
        moves=(mating,),
        evals=(MATE_SCORE,),
        result=BLACK_WON,
        policies=(((mating, 1.0),),),
        start_sfen="4k4/9/4G4/9/9/9/9/9/4K4 b G 1",
    )
    labelled = relabelled(game, keeps_scores=keeps_scores)
    assert labelled.evals == game.evals
    assert labelled.policies == game.policies
    # The same score without a proof, such as that of a teacher, gets a new label.
    labelled = relabelled(replace(game, policies=None), keeps_scores=False)
    assert labelled.policies != game.policies
