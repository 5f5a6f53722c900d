"""Games drawn on a device: legal, by the network's policy, and the same whatever plays beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from goryu.base.errors import GoryuError  # noqa: E402
from goryu.evaluators.network.network import NetworkEvaluator  # noqa: E402
from goryu.games.shogi import Rules  # noqa: E402
from goryu.implementation import Board  # noqa: E402
from goryu.players.score import centipawns  # noqa: E402
from goryu_lab.benchmark.random_network import write_random_network  # noqa: E402
from goryu_lab.commands.training.selfplay import main  # noqa: E402
from goryu_lab.match.openings import Opening  # noqa: E402
from goryu_lab.records.game_records import GameRecord, GameWriter, read_games  # noqa: E402
from goryu_lab.self_play.config import SelfPlayConfig  # noqa: E402
from goryu_lab.self_play.drawn_games import Drawer, play_drawn, run_drawn  # noqa: E402
from goryu_lab.self_play.game import MATE_SCORE  # noqa: E402
from goryu_lab.self_play.workers import PlayWork  # noqa: E402
from goryu_lab.training.device_network import DeviceNetwork  # noqa: E402

CONFIG = SelfPlayConfig(cheap_playouts=0, full_playouts=0, max_plies=24, mate_nodes=0, random_plies=(0, 4))
WORK = PlayWork("drawn", CONFIG, (Opening(),), 1)


@pytest.fixture(scope="module", params=["dlshogi", "miniosl"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / f"{request.param}.onnx"
    write_random_network(1, 8, path, kind=request.param)
    return path


def play(model: Path, at_once: int, numbers: list[int]) -> dict[int | None, GameRecord]:
    drawer = Drawer(DeviceNetwork(model), "cpu", 0.6)
    return {game.number: game for game in play_drawn(WORK, drawer, at_once, numbers)}


def test_a_game_does_not_depend_on_the_others(model: Path) -> None:
    together = play(model, 4, list(range(6)))
    assert set(together) == set(range(6))
    assert play(model, 1, [5])[5].moves == together[5].moves


def test_the_scores_are_the_networks(model: Path) -> None:
    (game,) = play(model, 1, [3]).values()
    evaluator, board = NetworkEvaluator(model, backend="onnxruntime"), Board(rules=Rules(all_moves=False))
    for move, score in islice(zip(game.moves, game.evals, strict=True), 12):
        if score is not None:
            (evaluation,) = evaluator.evaluate([board])
            assert score == pytest.approx(centipawns(evaluation.value, CONFIG.scale, MATE_SCORE), abs=1)
            assert move in board.legal_moves()
        board.push(move)  # type: ignore[arg-type]
    assert game.policies is None


def test_a_sharp_policy_plays_its_first_choice(model: Path) -> None:
    boards = [Board(rules=Rules(all_moves=False)) for _ in range(3)]
    moves, _ = Drawer(DeviceNetwork(model), "cpu", 0.01).draw(boards, [0.01, 0.5, 0.99])
    (evaluation,) = NetworkEvaluator(model, backend="onnxruntime").evaluate(boards[:1])
    best = max(zip(evaluation.policy, boards[0].legal_moves(), strict=True))[1]
    assert moves == [best] * 3


def test_a_network_without_numbers_plays_nothing(model: Path) -> None:
    network = DeviceNetwork(model)
    for weights in network.buffers():
        if weights.is_floating_point():
            weights.fill_(torch.nan)
    with pytest.raises(GoryuError, match="no numbers"):
        Drawer(network, "cpu").draw([Board()], [0.5])


def test_searches_are_not_for_a_device(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["play", "--model", str(model), "--device", "cpu", "--out", str(tmp_path / "a.games")]
    assert main(arguments) == 2
    assert "--device: for games without searches" in capsys.readouterr().err
    arguments += ["--cheap-playouts", "0", "--full-playouts", "0", "--backend", "cuda", "--gpus", "1"]
    assert main(arguments) == 2
    assert "--gpus and --backend" in capsys.readouterr().err
    assert main([*arguments[:-4], "--full-share", "1"]) == 2
    assert "no --full-share" in capsys.readouterr().err


def test_a_run_plays_the_games_that_its_file_lacks(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, drawer = tmp_path / "drawn.games", Drawer(DeviceNetwork(model), "cpu")
    assert run_drawn(replace(WORK, size=2), drawer, path, 2).games == 2

    def interrupted(work: PlayWork, drawer: Drawer, at_once: int, numbers: Any) -> Iterator[GameRecord]:
        yield next(play_drawn(work, drawer, at_once, numbers))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("goryu_lab.self_play.drawn_games.play_drawn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_drawn(replace(WORK, size=4), drawer, path, 1)
    assert sum(1 for _ in read_games(path)) == 3
    summary = run_drawn(replace(WORK, size=4), drawer, path, 3)
    found = list(read_games(path))
    assert sorted(game.number or 0 for game in found) == [0, 1, 2, 3]
    assert summary.new_positions == sum(score is not None for game in found[3:] for score in game.evals)

    def write_interrupted(writer: GameWriter, games: Sequence[GameRecord]) -> None:
        write(writer, games)
        raise KeyboardInterrupt

    write = GameWriter.write
    monkeypatch.setattr(GameWriter, "write", write_interrupted)
    monkeypatch.setattr("goryu_lab.self_play.drawn_games.GAMES_PER_BLOCK", 1)
    with pytest.raises(KeyboardInterrupt):
        run_drawn(replace(WORK, size=5), drawer, path, 1)
    assert sum(1 for _ in read_games(path)) == 5
