"""The teacher: its records, the results, resumed runs, and broken engines."""

import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from goryu.engines.usi_client import EngineError, EngineSpec, Timeouts, UsiClient
from goryu.games.shogi import Board, move_from_usi, move_to_usi
from goryu_lab.match.openings import Opening
from goryu_lab.records.conversion import games_from_hcpe
from goryu_lab.records.game_records import GameRecord, Policy, read_games, write_games
from goryu_lab.records.hcpe import BLACK_WON, DRAW, WHITE_WON, read_hcpe, results
from goryu_lab.self_play.teacher.game import TeacherConfig, teacher_game
from goryu_lab.self_play.teacher.targets import iteration_target
from goryu_lab.self_play.teacher.workers import TeacherError, run
from goryu_lab.training.score_scale import fit_scale
from paths import ROOT

MISSING = str(Path(__file__).with_name("missing"))
"""A path without a file."""

FAKE_ENGINE = (sys.executable, str(ROOT / "tests" / "helpers" / "engines" / "fake_engine.py"))
FAIRY_STOCKFISH = Path("/usr/games/fairy-stockfish")
SHORT = TeacherConfig(go="nodes 1", random_plies=(2, 4), max_plies=16)


PATIENT = Timeouts(start_timeout_s=60.0, move_timeout_s=60.0)
IMPATIENT = Timeouts(start_timeout_s=60.0, move_timeout_s=1.0, grace_s=0.3)


def play(*behaviour: str, config: TeacherConfig = SHORT, number: int = 0) -> GameRecord:
    """A game of the fake engine with this behaviour."""
    timeouts = IMPATIENT if "*:hang" in behaviour else PATIENT
    client = UsiClient(EngineSpec((*FAKE_ENGINE, *behaviour)), timeouts=timeouts)
    try:
        client.start()
        return teacher_game(client, number, config, "Fake")
    finally:
        client.kill()


def test_the_opening_is_played_but_not_recorded() -> None:
    game = play()
    opening = [score is None for score in game.evals].index(False)
    assert 2 <= opening <= 4
    assert len(game.moves) == 16
    assert None not in game.evals[opening:]
    board = Board()
    for move in game.moves:
        assert board.is_legal(move)  # type: ignore[arg-type]
        board.push(move)  # type: ignore[arg-type]
    assert (game.ending, game.result, game.teacher, game.number) == ("maximum ply", DRAW, "Fake", 0)


def test_a_game_is_a_function_of_its_number() -> None:
    assert play(number=3) == play(number=3)
    assert play(number=3).moves != play(number=4).moves
    assert play(number=3).moves != play(number=3, config=replace(SHORT, seed=1)).moves


def test_an_unbalanced_opening_is_drawn_again() -> None:
    game = play("0:251", "1:-251", "2:250")
    assert next(score for score in game.evals if score is not None) == 250


def test_few_decided_positions_are_recorded_before_the_score_ends_the_game() -> None:
    config = replace(SHORT, random_plies=(2, 2), max_decided=3)
    game = play("1:1501", "2:-1501", "3:1500", "4:-1600", "5:1700", "6:-100", "7:-3000", config=config)
    assert game.evals[3:] == (1501, -1501, 1500, -1600, None, -100, None)
    assert game.ending == "decided score"
    assert len(game.moves) == 2 + 8
    assert game.result == BLACK_WON, "the tenth move was white's, who had the bad score"


@pytest.mark.parametrize("plies, winner", [(2, BLACK_WON), (3, WHITE_WON)])
def test_resigning_loses(plies: int, winner: int) -> None:
    config = replace(SHORT, random_plies=(plies, plies))
    game = play("1:resign", config=config)
    assert (game.result, game.ending, len(game.moves)) == (winner, "resignation", plies + 1)


def test_our_rules_decide_repetitions() -> None:
    opening = Opening(moves=tuple(("2h3h 8b7b 3h2h 7b8b " * 3).split()[:-1]))
    game = play("0:7b8b", config=replace(SHORT, random_plies=(0, 0), openings=(opening,)))
    assert (game.ending, game.result, len(game.moves)) == ("fourfold repetition", DRAW, 12)


def test_an_entered_king_wins() -> None:
    opening = Opening("sfen KGGGGSSSS/9/NN7/9/9/9/9/9/8k w 2R2B2N4L18P 1")
    game = play(config=replace(SHORT, random_plies=(0, 0), openings=(opening,)))
    assert (game.ending, game.result, len(game.moves)) == ("entering-king declaration", BLACK_WON, 1)
    assert game.start_sfen == opening.start.removeprefix("sfen ")


@pytest.mark.parametrize(
    "what, kind, words",
    [
        ("crash", "crash", "exit code 3"),
        ("hang", "hang", "no bestmove"),
        ("5i5a", "protocol", "received 5i5a"),
        ("pass", "protocol", "pass"),
        ("win", "protocol", "answered win without a score"),
        ("mute", "protocol", "without a score"),
        ("stray", "protocol", "received 5e5d"),
    ],
)
def test_a_broken_engine_is_an_error_that_names_its_failure(what: str, kind: str, words: str) -> None:
    with pytest.raises(EngineError, match=words) as error:
        play(f"*:{what}", "0:0")
    assert error.value.kind == kind


def test_an_engine_that_never_finds_a_balance_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu_lab.self_play.teacher.game.MAX_OPENINGS", 5)
    with pytest.raises(EngineError, match="no new opening with a balanced score among 5"):
        play("*:300")


def test_the_last_three_iterations_make_a_target() -> None:
    lines = [
        "info depth 1 score cp 0 pv 9g9f",
        "info depth 2 score cp 0 pv 1g1f",
        "info depth 3 score cp 0 pv 2g2f 8c8d",
        "info depth 4 score cp 0 pv 9g9f",
        "info depth 4 multipv 1 score cp 5 pv 7g7f 3c3d",
        "info depth 4 multipv 2 score cp 5 pv 5g5f",
        "info depth 5 score cp 50 lowerbound pv 5g5f",
        "info string depth 6 pv 6g6f",
    ]
    assert as_usi(iteration_target(lines, "7g7f")) == {"7g7f": 0.6, "2g2f": 0.25, "1g1f": 0.15}
    assert as_usi(iteration_target(lines, "5g5f")) == {"5g5f": 0.6, "7g7f": 0.25, "2g2f": 0.15}
    assert iteration_target(lines[:1], "9g9f") is None
    assert iteration_target([], "9g9f") is None


def as_usi(policy: Policy | None) -> dict[str, float]:
    return {move_to_usi(move): probability for move, probability in policy or ()}  # type: ignore[arg-type]


def test_soft_targets_are_recorded() -> None:
    game = play()
    assert game.policies is not None
    for move, score, policy in zip(game.moves, game.evals, game.policies, strict=True):
        assert (policy is None) == (score is None)
        assert policy is None or dict(policy)[move] == pytest.approx(0.6 / 0.85)


def spec(*behaviour: str, lives: Path | None = None) -> EngineSpec:
    environment = (("FAKE_ENGINE_LIVES", str(lives)),) if lives else ()
    return EngineSpec((*FAKE_ENGINE, *behaviour), environment=environment)


def by_number(path: Path) -> dict[int | None, GameRecord]:
    return {game.number: game for game in read_games(path)}


def test_a_run_plays_the_games_that_the_file_lacks(tmp_path: Path) -> None:
    path = tmp_path / "fake.games"
    other = GameRecord((move_from_usi("7g7f"),), (0,), DRAW, teacher="another teacher", number=1)
    write_games(path, [other])
    first = run(spec(), SHORT, path, games=2, timeouts=PATIENT)
    assert (first.games, first.new_positions) == (2, first.positions)
    reports: list[int] = []
    second = run(
        spec(), SHORT, path, games=5, processes=2, timeouts=PATIENT, report=lambda p: reports.append(p.games)
    )
    assert reports == [2, 3, 4, 5]
    assert second.results == [5, 0, 0]
    assert second.new_positions == second.positions - first.positions
    games = list(read_games(path))
    assert games[0] == other
    assert sorted(game.number for game in games[1:]) == [0, 1, 2, 3, 4]  # type: ignore[type-var]
    assert re.fullmatch("Fake; go nodes 1; options [0-9a-f]{6}; seed 0", games[1].teacher)
    other_games = run(spec(), replace(SHORT, max_plies=17), path, games=1, timeouts=PATIENT)
    assert other_games.new_positions == other_games.positions > 0
    assert games[1].moves == play(number=0).moves


def test_no_two_games_begin_in_the_same_position(tmp_path: Path) -> None:
    path = tmp_path / "fake.games"
    config = replace(SHORT, random_plies=(1, 1), max_plies=3)  # There are 30 first moves.
    run(spec(), config, path, games=10, timeouts=PATIENT)
    run(spec(), config, path, games=20, processes=2, timeouts=PATIENT)
    games = list(read_games(path))
    assert len(games) == len({game.moves[0] for game in games}) == 20
    with pytest.raises(TeacherError, match="no new opening"):
        run(spec(), config, path, timeouts=PATIENT)
    assert len({game.moves[0] for game in read_games(path)}) == len(list(read_games(path))) > 25


@pytest.mark.parametrize("what", ["crash", "hang"])
def test_an_engine_that_fails_loses_a_game_and_is_started_again(what: str, tmp_path: Path) -> None:
    path = tmp_path / "fake.games"
    lives = tmp_path / "lives"
    timeouts = replace(PATIENT, move_timeout_s=4.0, grace_s=0.2)
    progress = run(spec(f"20:{what}", lives=lives), SHORT, path, games=4, timeouts=timeouts)
    assert progress.games == 3
    assert len(progress.failures) == 1
    assert len(lives.read_text().splitlines()) == 2
    again = run(spec(f"20:{what}", lives=lives), SHORT, path, games=4, timeouts=PATIENT)
    assert again.games == 4


def test_a_run_gives_up_on_an_engine_that_keeps_failing(tmp_path: Path) -> None:
    with pytest.raises(TeacherError, match=r"5 games in a row failed.*exit code 3"):
        run(spec("0:crash"), SHORT, tmp_path / "fake.games", timeouts=PATIENT)
    with pytest.raises(TeacherError, match=re.escape(f"cannot start {MISSING!r}")):
        run(EngineSpec((MISSING,)), SHORT, tmp_path / "fake.games")
    misspelled = replace(spec(), options=(("MultiPW", "1"),))
    with pytest.raises(TeacherError, match=r"does not list the option MultiPW: did you mean MultiPV\?"):
        run(misspelled, SHORT, tmp_path / "fake.games", timeouts=PATIENT)


def tool() -> ModuleType:
    return import_module("goryu_lab.commands.teach")


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process as POSIX does")
@pytest.mark.parametrize(
    "how",
    ["SIGKILL", *(pytest.param(how, marks=pytest.mark.slow) for how in ("SIGTERM", "SIGINT"))],
)
def test_a_killed_run_resumes_without_losing_or_repeating_a_game(how: str, tmp_path: Path) -> None:
    path = tmp_path / "fake.games"
    engine = " ".join(FAKE_ENGINE)
    options = ["--go", "nodes 1", "--random-plies", "2", "4", "--max-plies", "16"]
    command = [sys.executable, "-m", "goryu", "teach", "play", engine, "--out", str(path), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while (not path.exists() or path.stat().st_size < 1500) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(getattr(signal, how))
        process.wait(60)
    finally:
        process.kill()
    kept = by_number(path)
    assert kept
    assert tool().main([*command[4:], "--games", str(len(kept) + 2)]) == 0
    games = list(read_games(path))
    assert len(games) == len(by_number(path)) == len(kept) + 2
    assert [game for game in games if game.number in kept] == list(kept.values())
    assert games[-1].moves == play(number=games[-1].number or 0).moves


def test_the_scale_of_fairy_stockfish_is_found_again() -> None:
    records = read_hcpe(ROOT / "models" / "data" / "fsf_20261121a.hcpe.xz")
    found = fit_scale(records["eval"].astype(float), results(records))
    assert found.positions == len(records)
    assert found.scale == pytest.approx(540, abs=60)
    assert found.sign_agreement == pytest.approx(0.672, abs=0.02)
    drawn = fit_scale(np.array([300.0, 300.0, -300.0]), np.array([1.0, 0.5, 1.0]))
    assert drawn.sign_agreement == 0.5  # Of two: a draw has no winner.


def test_the_tool_fits_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, games = tmp_path / "a.hcpe", tmp_path / "a.games"
    records = read_hcpe(ROOT / "models" / "data" / "gps_20261121.hcpe.xz")
    records.tofile(source)
    write_games(games, games_from_hcpe(records, "GPSShogi"))
    teach = tool()
    assert teach.main(["fit", str(source)]) == 0
    of_records = capsys.readouterr().out.partition(": ")[2]
    assert teach.main(["fit", str(games)]) == 0
    assert capsys.readouterr().out.partition(": ")[2] == of_records
    for problem, scores in (("at least one position with a score", 0), ("no scale fits", 100)):
        others = records.copy()
        others["eval"] = scores * np.where(results(records) == 1.0, 1, -1)
        others.tofile(source)
        assert teach.main(["fit", str(source)]) == 2
        assert problem in capsys.readouterr().err
    assert teach.main(["show", str(games)]) == 0
    assert "GPSShogi: " in (text := capsys.readouterr().out)
    assert "1137 positions, 0 with soft targets" in text


@pytest.mark.skipif(not FAIRY_STOCKFISH.exists(), reason=f"{FAIRY_STOCKFISH} is not installed")
def test_fairy_stockfish_teaches(tmp_path: Path) -> None:
    engine = EngineSpec((str(FAIRY_STOCKFISH),), (("UCI_Variant", "shogi"), ("Threads", "1")))
    config = TeacherConfig(go="nodes 200", max_plies=60)
    progress = run(engine, config, tmp_path / "fsf.games", games=2)
    assert progress.failures == []
    first, second = read_games(tmp_path / "fsf.games")
    assert first.teacher.startswith("Fairy-Stockfish")
    assert any((*(first.policies or ()), *(second.policies or ())))
    again = run(engine, config, tmp_path / "again.games", games=1)
    assert again.games == 1
    assert list(read_games(tmp_path / "again.games")) == [first]
