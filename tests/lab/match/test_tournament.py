"""Whole matches between scripted engines: every way to end a game, resuming, pairs, restarts, records."""

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineError, EngineSpec, Timeouts, UnknownOptionError, UsiClient
from goryu.kifu.record import Ending
from goryu_lab.match.engine_stats import EngineStats
from goryu_lab.match.export import result_of, write_records
from goryu_lab.match.game import Adjudicator, Game, GameRules, MoveRecord, play_game
from goryu_lab.match.game_log import GameEntry, GameLog, GameLogError
from goryu_lab.match.openings import Opening
from goryu_lab.match.referee import Reason, Verdict
from goryu_lab.match.report import progress_line, report, summary
from goryu_lab.match.screening import parse_changes
from goryu_lab.match.sprt import Sprt
from goryu_lab.match.tournament import Match, MatchConfig, MatchJob, complete_pairs, distinct_pairs
from goryu_lab.match.tuning import TunedOption
from goryu_lab.work.threads import ThreadInbox
from paths import ROOT

pytest.importorskip("rsshogi")

MISSING = str(Path(__file__).with_name("missing"))
"""The path of no file."""

SCRIPTED = ROOT / "tests" / "helpers" / "engines" / "scripted.py"
QUICK = Timeouts(start_timeout_s=20, move_timeout_s=20, grace_s=2, quit_s=0.5)
HURRIED = replace(QUICK, move_timeout_s=0.2, grace_s=0.2, quit_s=0.1)


def scripted(answers: str, cp: int | None = None, limits: str = "nodes=1") -> EngineSpec:
    report = () if cp is None else (str(cp),)
    return EngineSpec((sys.executable, str(SCRIPTED), answers, *report), limits=TimeControl.parse(limits))


@contextmanager
def started(spec: EngineSpec) -> Iterator[UsiClient]:
    """An engine that runs until the end of the block."""
    client = UsiClient(spec, timeouts=QUICK)
    try:
        client.start()
        yield client
    finally:
        client.quit()


def one_game(
    black: EngineSpec,
    white: EngineSpec,
    opening: Opening | None = None,
    timeouts: tuple[Timeouts, Timeouts] = (QUICK, QUICK),
    **rules: object,
) -> Game:
    players = (UsiClient(black, timeouts=timeouts[0]), UsiClient(white, timeouts=timeouts[1]))
    try:
        for player in players:
            player.start()
        return play_game(players, opening or Opening(), replace(GameRules(), **rules))  # type: ignore[arg-type]
    finally:
        for player in players:
            player.quit()


SHUFFLE = ("5i5h,5h5i", "5a5b,5b5a")


@pytest.mark.parametrize(
    "black, white, winner, reason",
    [
        ("7g7f+", "push", 1, Reason.ILLEGAL_MOVE),
        ("7g7f", "7g7f", 0, Reason.ILLEGAL_MOVE),
        ("resign", "push", 1, Reason.RESIGNATION),
        ("win", "push", 1, Reason.FALSE_DECLARATION),
        ("crash", "push", 1, Reason.CRASH),
        ("push", "crash", 0, Reason.CRASH),
        ("empty", "push", 1, Reason.PROTOCOL),
        (*SHUFFLE, None, Reason.REPETITION),
    ],
)
def test_every_ending_has_its_reason(black: str, white: str, winner: int | None, reason: Reason) -> None:
    verdict = one_game(scripted(black), scripted(white)).verdict
    assert (verdict.winner, verdict.reason) == (winner, reason)


@pytest.mark.parametrize("answer", ["hang", "chatter"])
def test_an_engine_that_never_answers_is_hung(answer: str) -> None:
    game = one_game(scripted("push"), scripted(answer), timeouts=(QUICK, HURRIED))
    assert (game.verdict.winner, game.verdict.reason) == (0, Reason.HANG)


def test_an_engine_that_prints_without_end_after_its_move_is_hung() -> None:
    patient = replace(HURRIED, move_timeout_s=2.0)  # Its first move must be in time.
    game = one_game(scripted("babble"), scripted("push"), timeouts=(patient, QUICK))
    assert (game.verdict.winner, game.verdict.reason, game.plies) == (1, Reason.HANG, 2)


def test_of_very_much_output_the_end_counts() -> None:
    with started(scripted("burst")) as client:
        reply = client.go("position startpos", "go nodes 1", None)
    assert (reply.move, reply.info.cp, reply.info.nodes) == ("1g1f", 5, 7)
    assert sum(map(len, reply.lines)) < 200_000


def test_a_program_that_prints_without_end_is_no_engine() -> None:
    noisy = EngineSpec((sys.executable, "-c", "while True: print('noise')"))
    with pytest.raises(EngineError, match="100000 lines and no usiok"), started(noisy):
        pass


def test_an_engine_that_exceeds_its_time_loses() -> None:
    slow = scripted("push,silence:2500", limits="byoyomi=2000")  # Its first move must be in time.
    game = one_game(slow, scripted("push"))
    assert (game.verdict.winner, game.verdict.reason) == (1, Reason.TIME)
    assert "too late" in game.verdict.detail
    assert game.plies == 2
    assert game.too_late
    assert game.too_late.late_ms >= 450
    entry = GameEntry.from_game(0, 1, game)
    first, second = EngineStats.of(1, [entry]), EngineStats.of(2, [entry])
    assert (first.moves, first.time_losses, second.late_ms) == (1, 1, 0)
    assert (first.slowest_ms, first.late_ms) == (game.too_late.elapsed_ms, game.too_late.late_ms)


def test_time_starts_before_go_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with started(scripted("silence:50")) as client:
        send = client._send

        def send_and_be_held_up(line: str) -> None:
            send(line)
            time.sleep(0.1)

        monkeypatch.setattr(client, "_send", send_and_be_held_up)
        assert client.go("position startpos", "go nodes 1", None).elapsed_ms >= 50


def test_without_flag_lateness_is_only_recorded() -> None:
    slow = scripted("silence:250", limits="movetime=100")
    game = one_game(slow, scripted("push"), flag=False, max_plies=2)
    assert game.verdict.reason is Reason.MAX_PLIES
    assert game.moves[0].late_ms >= 100


def test_much_output_on_stderr_does_not_block() -> None:
    game = one_game(scripted("noise"), scripted("noise"), max_plies=6)
    assert game.verdict.reason is Reason.MAX_PLIES


def test_both_engines_must_agree_before_a_game_is_adjudicated() -> None:
    agreed = one_game(scripted("push", 900), scripted("push", -900), resign_cp=800, resign_plies=4)
    assert (agreed.verdict.winner, agreed.verdict.reason) == (0, Reason.ADJUDICATION)
    assert agreed.plies == 4
    disputed = one_game(scripted("push", 900), scripted("push", 900), resign_cp=800, max_plies=8)
    assert disputed.verdict.reason is Reason.MAX_PLIES


def test_both_engines_get_the_result_of_the_game(tmp_path: Path) -> None:
    specs = [
        replace(scripted(answer), environment=(("USI_TRACE", str(tmp_path / name)),))
        for answer, name in (("resign", "black"), ("push", "white"))
    ]
    one_game(specs[0], specs[1], Opening(moves=("7g7f", "3c3d")))
    black, white = ((tmp_path / name).read_text().splitlines() for name in ("black", "white"))
    assert black == [
        "usi",
        "isready",
        "usinewgame",
        "position startpos moves 7g7f 3c3d",
        "go nodes 1",
        "gameover lose",
        "quit",
    ]
    assert white == ["usi", "isready", "usinewgame", "gameover win", "quit"]


def test_the_error_of_an_engine_that_dies_quotes_its_log(tmp_path: Path) -> None:
    log = tmp_path / "engine1-0.stderr.log"
    complaining = EngineSpec((sys.executable, "-c", "import sys; sys.exit('no such model')"))
    with pytest.raises(EngineError, match=r"stderr\.log: no such model$"):
        UsiClient(complaining, log).start()
    for path in (tmp_path / "other.log", log):  # Not the last words of an earlier process.
        with pytest.raises(EngineError, match=r"\.log: nothing new$"):
            UsiClient(EngineSpec((sys.executable, "-c", "pass")), path).start()


def test_a_program_that_is_not_an_engine_is_an_error() -> None:
    for command in (MISSING, "a\0b"):
        with pytest.raises(EngineError, match="cannot start"):
            UsiClient(EngineSpec((command,))).start()
    with pytest.raises(EngineError, match="died"):
        UsiClient(EngineSpec((sys.executable, "-c", "pass"))).start()
    mute = UsiClient(
        EngineSpec((sys.executable, "-c", "input(); input()")), timeouts=Timeouts(start_timeout_s=0.3)
    )
    with pytest.raises(EngineError, match="no usiok"):
        mute.start()
    mute.kill()


HOSTILE = """
import sys
def say(text):
    sys.stdout.buffer.write((text + "\\n").encode())
    sys.stdout.flush()
for line in sys.stdin:
    if line == "usi\\n":
        say("id name \\u5c06\\u68cb\\x1b[2J\\x07 Ev\\ril\\u202e\\nusiok")
    elif line == "isready\\n":
        say("info string Error! \\x1b]0;title\\x07\\nreadyok")
    elif line.startswith("go"):
        sys.stderr.write("\\x1b[31mred")
        sys.stderr.flush()
        say(sys.argv[1])
"""
"""An engine that prints control characters wherever it may print a text. Argument 1 is its answer."""


@pytest.mark.parametrize("answer", ["bestmove \x1b[A", ""], ids=["plays", "dies"])
def test_control_characters_of_an_engine_reach_neither_terminal_nor_files(
    answer: str, config: MatchConfig
) -> None:
    program = HOSTILE if answer else HOSTILE.replace("say(sys.argv[1])", "sys.exit(1)")
    hostile = EngineSpec((sys.executable, "-c", program, answer), limits=TimeControl(nodes=1))
    match = run(replace(config, engines=(hostile, config.engines[1]), games=2))
    assert match.names[0] == r"将棋\x1b[2J\x07 Ev\ril\u202e"
    entry = match.entries[0]
    assert entry.errors == ((1, r"Error! \x1b]0;title\x07"),)
    if answer:
        assert entry.detail.startswith(r"\x1b[A in ")
    else:
        assert entry.detail.endswith(r"stderr.log: \x1b[31mred")
    assert config.directory is not None
    write_records(entry, match.names, config.directory, ["kif", "csa", "usi"])
    records = [path.read_text("utf-8") for path in config.directory.glob("game0*")]
    assert len(records) == 2
    for text in (report(match.names, match.entries), entry.detail, *records):
        assert re.sub("[\n\u3000]", "", text).isprintable()


def test_an_option_that_the_engine_does_not_list_is_refused() -> None:
    with started(replace(scripted("push"), options=(("style", "wild"), ("USI_Hash", "9")))) as listed:
        pass
    assert not listed.is_alive
    misspelled = replace(scripted("push"), options=(("Styl", "wild"),))
    message = r"does not list the option Styl: did you mean Style\?"
    with pytest.raises(UnknownOptionError, match=message), started(misspelled):
        pass


# The match


@pytest.fixture
def config(tmp_path: Path) -> MatchConfig:
    openings = (Opening(moves=("7g7f",)), Opening(moves=("2g2f", "8c8d")), Opening())
    engines = (scripted("push", 10), scripted("push", -10))
    return MatchConfig(
        engines, 6, openings, seed=1, rules=GameRules(max_plies=12), timeouts=QUICK, directory=tmp_path
    )


def run(config: MatchConfig, on_game: Callable[[GameEntry], None] | None = None) -> Match:
    assert config.directory is not None
    log = GameLog(config.directory / "games.jsonl", config.identity())
    match = Match(config, log, on_game)
    try:
        match.run()
    finally:
        log.close()
    return match


@pytest.mark.parametrize("concurrency", [1, 2])
def test_every_opening_is_played_twice_with_colours_swapped(config: MatchConfig, concurrency: int) -> None:
    match = run(replace(config, concurrency=concurrency))
    pairs = complete_pairs(match.entries)
    assert len(pairs) == 3
    assert all(first.opening == second.opening for first, second in pairs)
    assert all((first.black, second.black) == (1, 2) for first, second in pairs)
    assert {first.opening for first, _ in pairs} == {str(opening) for opening in config.openings}
    assert match.names == ("Scripted (1)", "Scripted (2)")


def test_a_match_is_resumed_where_it_stopped(config: MatchConfig) -> None:
    half = run(replace(config, games=4)).entries
    assert config.directory is not None
    path = config.directory / "games.jsonl"
    with path.open("a") as file:
        file.write('{"type": "game", "number": 4, "bla')  # The line that was being written at the crash.
    played: list[int] = []
    match = run(config, lambda entry: played.append(entry.number))
    assert played == [4, 5]
    assert match.entries[:4] == half
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()] == [
        "match",
        "names",
        *["game"] * 6,
    ]


def test_another_match_is_not_mixed_into_a_log(config: MatchConfig) -> None:
    run(replace(config, games=2))
    with pytest.raises(GameLogError, match="different: engine1"):
        run(replace(config, engines=(scripted("resign"), config.engines[1])))


def test_a_log_without_a_game_gives_way_to_another_match(config: MatchConfig, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    GameLog(path, {"engine1": "gorryu"}).close()
    assert len(run(replace(config, games=2)).entries) == 2


def test_a_log_has_one_writer_at_a_time(config: MatchConfig, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    log = GameLog(path, config.identity())
    with path.open("a") as file:
        file.write('{"type": "ga')  # The first half of a line.
    before = path.read_bytes()
    with pytest.raises(GameLogError, match="another program is playing this match"):
        GameLog(path, config.identity())
    assert path.read_bytes() == before
    log.close()
    GameLog(path, config.identity()).close()


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\n", b"[1]\n", b"hello\n", b"{}\n", b"hello", b"hello\nyou", b"[" * 100_000 + b"\n",
        b'{"type": "match", "config": 5}\n',
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_log_is_refused(config: MatchConfig, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(content)
    with pytest.raises(GameLogError, match=r"games.jsonl.*expected"):
        GameLog(path, config.identity())
    assert path.read_bytes() == content


@pytest.fixture
def log_path(config: MatchConfig, tmp_path: Path) -> Path:
    """A log without games."""
    path = tmp_path / "games.jsonl"
    GameLog(path, config.identity()).close()
    return path


def test_a_log_with_an_incomplete_first_line_is_written_again(config: MatchConfig, log_path: Path) -> None:
    whole = log_path.read_bytes()
    for size in (1, 100, len(whole) - 1):
        log_path.write_bytes(whole[:size])
        GameLog(log_path, config.identity()).close()
        assert log_path.read_bytes() == whole


@pytest.mark.parametrize(
    "line",
    ['{"type": "game", "number": 4}', '{"type": "names", "names": []}', '{"type": "game", "score": 1e999}'],
)
def test_a_log_with_a_line_that_is_not_a_game_is_refused(
    config: MatchConfig, log_path: Path, line: str
) -> None:
    with log_path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(GameLogError, match=r"expected a (game|JSON object)"):
        GameLog(log_path, config.identity())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("number", "q"), ("number", -1), ("number", True), ("black", 3), ("moves", 5), ("moves", [1, 2]),
        ("score", "x"), ("score", 0.7), ("times_ms", "x"), ("times_ms", [1]), ("cps", ["x", None]),
        ("too_late_ms", [1]), ("errors", [[3, "text"]]), ("first_turn", 2), ("date", None), ("unknown", 1),
    ],
)  # fmt: skip
def test_a_log_with_a_value_that_no_game_has_is_refused(
    config: MatchConfig, log_path: Path, name: str, value: object
) -> None:
    with closing(GameLog(log_path, config.identity())) as log:
        log.append(finished(Reason.RESIGNATION, 2, 0))
    GameLog(log_path, config.identity()).close()
    first, second = log_path.read_text().splitlines()
    damaged = json.loads(second) | {name: value}
    log_path.write_text(f"{first}\n{json.dumps(damaged)}\n")
    with pytest.raises(GameLogError, match=r"games.jsonl:2: expected a game: "):
        GameLog(log_path, config.identity())


def test_an_unfinished_pair_is_not_counted(config: MatchConfig) -> None:
    match = run(config)
    entries = match.entries[:3]
    assert len(complete_pairs(entries)) == 1
    assert summary(match.names, entries)["games"] == 2
    assert "1 game of unfinished pairs" in report(match.names, entries)
    assert progress_line(entries, None).startswith("+0 =3 -0 Elo +0.0 ")


def test_a_pair_that_repeats_an_earlier_one_is_not_counted_again(config: MatchConfig) -> None:
    match = run(config)
    first, second = match.entries[:2]
    assert first.moves
    assert second.moves
    again = [replace(first, number=2, seconds=9.0), replace(second, number=3, seconds=9.0)]
    half = [replace(first, number=4), replace(second, number=5, moves=second.moves[:-1])]
    entries = [first, second, *again, *half]
    assert [(a.number, b.number) for a, b in distinct_pairs(entries)] == [(0, 1), (4, 5)]
    result = summary(match.names, entries)
    assert (result["games"], result["repeated_games"], sum(result["pentanomial"])) == (4, 2, 2)
    assert "not counted  2 games of pairs that repeat" in report(match.names, entries)
    assert "unfinished" not in report(match.names, entries)


def test_fits_count_a_repeated_pair_again_only_with_other_options(config: MatchConfig) -> None:
    tuned = replace(config, openings=config.openings[:1], games=20, tuned=(TunedOption("Style", 1, 2),))
    match = run(tuned)
    assert len(match._scores_of_pairs()) == 2 < len(complete_pairs(match.entries))


def test_a_sequential_test_does_not_count_repeated_games(config: MatchConfig) -> None:
    """One opening and engines that always play the same: every pair repeats the first one."""
    sprt = Sprt(0, 100)
    match = run(replace(config, openings=config.openings[:1], games=40, sprt=sprt))
    assert len(match.entries) == 40
    assert match.test is not None
    assert (match.test.statistics.pairs, match.test.verdict) == (1, None)


def test_a_crashed_engine_loses_and_is_started_again(config: MatchConfig) -> None:
    match = run(replace(config, engines=(scripted("push,crash"), scripted("push"))))
    assert [entry.reason for entry in match.entries] == ["crash"] * 6
    assert [entry.score for entry in match.entries] == [0.0] * 6
    assert "exit code" in match.entries[0].detail
    assert match.statistics().pentanomial == (3, 0, 0, 0, 0)


def test_too_many_failures_end_the_match(config: MatchConfig) -> None:
    match = run(replace(config, engines=(scripted("crash"), scripted("push")), max_failures=2))
    assert len(match.entries) == 2


def test_after_an_interruption_restarted_engines_begin_no_game(
    config: MatchConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = ThreadInbox(0)
    start_again = UsiClient.restart

    def restart(client: UsiClient) -> None:
        inbox.close()
        start_again(client)

    def play(*_: object) -> Game:
        raise AssertionError("a game was begun")

    monkeypatch.setattr(UsiClient, "restart", restart)
    monkeypatch.setattr(UsiClient, "is_alive", False)
    monkeypatch.setattr("goryu_lab.match.tournament.play_game", play)
    inbox.put((0, None))
    assert list(MatchJob(config).work(inbox)) == []
    assert inbox.is_closed


def test_a_decided_sequential_test_ends_the_match(config: MatchConfig) -> None:
    engines = (scripted("push"), scripted("resign"))
    match = run(replace(config, games=400, engines=engines, sprt=Sprt(0, 100)))
    assert match.test is not None
    assert match.test.verdict == "elo1"
    assert len(match.entries) < 100
    pairs = match.test.statistics.pairs
    assert f"elo1 accepted after {pairs} pairs" in report(match.names, match.entries, match.test)
    assert summary(match.names, match.entries, match.test)["sprt"]["pairs"] == pairs


def test_a_sequential_test_counts_pairs_in_the_order_of_their_numbers(
    config: MatchConfig, tmp_path: Path
) -> None:
    """The first pair ends last; and after the verdict the others are lost."""
    won, lost = (replace(entry, moves=()) for entry in run(config).entries[:2])
    log = GameLog(tmp_path / "log", {})
    config = replace(config, games=400, sprt=Sprt(0, 100))

    def add(entry: GameEntry, pairs: Iterable[int]) -> Match:
        for number in (2 * pair + game for pair in pairs for game in (0, 1)):
            log.append(replace(entry, number=number, score=float(entry is won)))
        return Match(config, log)

    with closing(log):
        test = add(won, range(1, 60)).test
        assert test is not None
        assert (test.statistics.pairs, test.verdict) == (0, None)
        match = add(won, [0])
        assert match.test is not None
        assert match.test.verdict == "elo1"
        pairs = match.test.statistics.pairs
        assert pairs < 60
        after = add(lost, range(60, 160))
        assert after.test == match.test
        after.run()  # Nothing is left to play.
        assert len(after.entries) == 320


def test_an_engine_that_cannot_start_ends_the_match(config: MatchConfig) -> None:
    with pytest.raises(EngineError, match="cannot start"):
        run(replace(config, engines=(config.engines[0], EngineSpec((MISSING,)))))


def test_the_report_has_the_nodes_and_depths_of_both_engines(config: MatchConfig) -> None:
    match = run(config)
    text = report(("Ours", "Theirs"), match.entries)
    assert "max plies 6" in text
    stats = summary(("Ours", "Theirs"), match.entries)["engines"]
    assert [engine["nodes_per_move"] for engine in stats] == [100.0, 100.0]
    assert [engine["depth"] for engine in stats] == [3.0, 3.0]
    assert sum(engine["moves"] for engine in stats) == sum(len(entry.moves) for entry in match.entries)


def test_records_are_read_back_by_rsshogi(config: MatchConfig, tmp_path: Path) -> None:
    from rsshogi.record import Record

    entry = run(replace(config, games=2)).entries[1]
    write_records(entry, ("Ours", "Theirs"), tmp_path, ("kif", "csa", "usi"))
    moves = [*entry.opening.partition(" moves ")[2].split(), *entry.moves]
    for record in (
        Record.from_kif_file(str(tmp_path / "game00002.kifu")),
        Record.from_csa_file(str(tmp_path / "game00002.csa")),
        Record.from_usi_position("position " + (tmp_path / "games.usi").read_text().strip()),
    ):
        assert [move.move.to_usi() for move in record.moves] == moves
    assert Record.from_csa_file(str(tmp_path / "game00002.csa")).metadata.black_player == "Theirs"
    # Floodgate's comments are from black's side: engine 2 (black here) reports -10, engine 1 (white) +10.
    assert (tmp_path / "game00002.csa").read_text().count("'** -10") == len(entry.moves)


def finished(reason: Reason, plies: int, winner: int | None) -> GameEntry:
    """A game that engine 1 began with black."""
    moves = [MoveRecord(move, 5, cp=100) for move in ("7g7f", "3c3d", "2g2f", "8c8d")[:plies]]
    return GameEntry.from_game(0, 1, Game(Opening(), Verdict(winner, reason), moves))


def test_a_draw_by_a_reason_that_decides_games_is_interrupted() -> None:
    """A damaged log holds such games."""
    assert result_of(finished(Reason.CRASH, 3, None)) == (Ending.INTERRUPTED, None)


LOSER_MOVES = {"checkmate", "resignation", "time", "illegal move", "false declaration"}
WINNER_MOVES = {"declaration", "try", "perpetual check"}


@pytest.mark.parametrize("plies", [3, 4])
def test_every_ending_can_be_written(plies: int, tmp_path: Path) -> None:
    for reason in Reason:
        written_ending(reason, plies, tmp_path)


def written_ending(reason: Reason, plies: int, tmp_path: Path) -> None:
    from rsshogi.record import Record

    mover = plies % 2
    winners: list[int | None] = [0, 1]
    if reason in (Reason.REPETITION, Reason.MAX_PLIES):
        winners = [None]
    elif reason in LOSER_MOVES:
        winners = [1 - mover]
    elif reason in WINNER_MOVES:
        winners = [mover]
    for winner in winners:
        write_records(finished(reason, plies, winner), ("Ours", "Theirs"), tmp_path, ("kif", "csa"))
        for record in (
            Record.from_kif_file(str(tmp_path / "game00001.kifu")),
            Record.from_csa_file(str(tmp_path / "game00001.csa")),
        ):
            assert len(record.moves) == plies
            if record.result.name == "PAUSED":
                assert winner is not None
                assert record.metadata.comment == f"{reason} {('black', 'white')[winner]} won"
            else:
                assert record.result.is_black_win() == (winner == 0)
                assert record.result.is_white_win() == (winner == 1)


def test_evaluations_in_records_are_from_blacks_side(tmp_path: Path) -> None:
    write_records(finished(Reason.RESIGNATION, 4, 1), ("Ours", "Theirs"), tmp_path, ("kif", "csa"))
    kif = (tmp_path / "game00001.kifu").read_text("utf-8").splitlines()
    assert [line for line in kif if line.startswith("**")] == ["**評価値=100", "**評価値=-100"] * 2
    csa = (tmp_path / "game00001.csa").read_text("utf-8").splitlines()
    assert [line for line in csa if line.startswith("'**")] == ["'** 100", "'** -100"] * 2


def test_white_begins_from_a_position_with_white_to_move() -> None:
    start = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    for moves, first in (((), 2), (("3c3d",), 1)):
        game = Game(Opening(start, moves), Verdict(0, Reason.RESIGNATION), [MoveRecord("8c8d", 5)])
        assert GameEntry.from_game(0, 1, game).engine_of_move(0) == first


def test_an_adjudication_needs_consecutive_scores_of_both_sides() -> None:
    hasty = Adjudicator(800, plies=2)
    assert hasty.add_score(0, 900) is None
    assert hasty.add_score(1, -900) == Verdict(0, Reason.ADJUDICATION)
    silent = Adjudicator(800, plies=2)
    assert [silent.add_score(0, 900), silent.add_score(1, None), silent.add_score(0, 900)] == [None] * 3
    assert silent.add_score(1, -900) == Verdict(0, Reason.ADJUDICATION)


# Tuning


def test_the_tuned_options_of_a_pair_are_sent_before_both_of_its_games(
    config: MatchConfig, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    engine = replace(config.engines[0], environment=(("USI_TRACE", str(trace)),))
    tuned = replace(config, engines=(engine, config.engines[1]), tuned=(TunedOption("Style", 1, 1000),))
    run(tuned)
    sent = [line.split()[-1] for line in trace.read_text().splitlines() if line.startswith("setoption")]
    drawn = [tuned.options_of_pair(pair)[0]["Style"] for pair in (0, 0, 1, 1, 2, 2)]
    assert sent == drawn
    assert len(set(drawn)) == 3
    lines = trace.read_text().splitlines()
    assert all(lines[i + 1] == "isready" for i, line in enumerate(lines) if line.startswith("setoption"))


def test_an_engine_that_dies_between_games_of_tuning_loses_one_game(
    config: MatchConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_option, calls = UsiClient.set_option, count()

    def die_once(client: UsiClient, name: str, value: str) -> None:
        if next(calls) == 1:
            client.kill()
        set_option(client, name, value)

    monkeypatch.setattr(UsiClient, "set_option", die_once)
    match = run(replace(config, tuned=(TunedOption("Style", 1, 9),)))
    assert [entry.reason for entry in match.entries] == ["max plies", "crash", *["max plies"] * 4]


def test_one_engine_of_each_pair_gets_the_new_value_of_a_screened_option_and_the_other_the_old_one(
    config: MatchConfig, tmp_path: Path
) -> None:
    traces = [tmp_path / "trace1", tmp_path / "trace2"]
    first, second = (
        replace(engine, environment=(*engine.environment, ("USI_TRACE", str(trace))))
        for engine, trace in zip(config.engines, traces, strict=True)
    )
    screened = replace(config, engines=(first, second), screened=parse_changes(["Style=1:2"]))
    run(screened)
    sent = [
        [line.split()[-1] for line in trace.read_text().splitlines() if line.startswith("setoption")]
        for trace in traces
    ]
    has = [made for pair in range(3) for made in 2 * [screened.screened_sides(pair)[0]]]
    assert sent == [["2" if made else "1" for made in has], ["1" if made else "2" for made in has]]
    assert set(has) == {True, False}
