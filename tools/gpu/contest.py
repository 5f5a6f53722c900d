"""Stage 5: a match of the GPU against the CPU, with the same network and the same time for a move."""

import _thread
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from threading import Timer, main_thread

from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineSpec
from goryu_lab.match.game import GameRules
from goryu_lab.match.game_log import GameEntry, GameLog
from goryu_lab.match.report import elo_text, summary
from goryu_lab.match.tournament import Match, MatchConfig
from gpu.contact_log import SO_FAR
from gpu.plan import Contact, Found, Item, Stage

MOVETIME_MS, QUICK_MOVETIME_MS = 500, 20
GAMES, QUICK_GAMES = 400, 2
QUICK_PLIES = 8
DECIDED_CP = 1500
"""Both engines' score at which a game ends. A late move loses no game: machines are shared."""

CORES_OF_GAME = 4
"""Of the CPU, for each game at a time. The engines on the GPU share it when several are to move."""

SPARE_S = 5.0


def items(contact: Contact) -> Iterator[Item]:
    """Yields the match."""
    yield Item("match", lambda seconds: match(contact, seconds))


STAGE = Stage("match", 8.0, items)


def match(contact: Contact, seconds: float) -> Found:
    """Plays until the time is up or all games are played; goes on with the games of an earlier call."""
    folder = contact.folder / "match"
    folder.mkdir(parents=True, exist_ok=True)
    config = match_config(contact)
    with closing(GameLog(folder / "match.jsonl", config.identity())) as log:

        def found() -> Found:
            games = summary(contest.names, contest.entries)
            strength = elo_text(contest.statistics()) if games["games"] else "-"
            return {"strength": strength, "at_once": config.concurrency, **games}

        def say(_game: GameEntry) -> None:
            contact.say({"stage": STAGE.name, "item": STAGE.name, "event": SO_FAR, "found": found()})

        contest = Match(config, log, say)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell may have had it ignored.
        timer = Timer(max(1.0, seconds - SPARE_S), _interrupt)
        timer.start()
        try:
            contest.run()
        except KeyboardInterrupt:  # The time is up.
            pass
        finally:
            timer.cancel()
        return found()


def _interrupt() -> None:
    """Raises KeyboardInterrupt in the main thread, also while that waits for a lock."""
    number = main_thread().ident
    if sys.platform == "win32" or number is None:
        _thread.interrupt_main()
    else:
        signal.pthread_kill(number, signal.SIGINT)


def match_config(contact: Contact) -> MatchConfig:
    """Returns the match: engine 1 is that on the GPU."""
    limits = TimeControl(movetime=QUICK_MOVETIME_MS if contact.is_quick else MOVETIME_MS)
    at_once = max(1, contact.threads // CORES_OF_GAME)
    cores = max(1, contact.threads // at_once)

    def spec(name: str, backend: str, threads: int) -> EngineSpec:
        options = {
            "Backend": backend,
            "AllowFallback": "false",  # Else the CPU might play against itself.
            "DNN_Model": str(contact.strongest),
            "Threads": str(threads),
            "USI_OwnBook": "false",
        }
        command = (sys.executable, "-m", "goryu", "usi")
        return EngineSpec(command, tuple(options.items()), limits, name)

    return MatchConfig(
        (spec("GPU", contact.gpu, 2), spec("CPU", "cpu", cores)),
        rules=GameRules(flag=False, resign_cp=DECIDED_CP, max_plies=QUICK_PLIES if contact.is_quick else 320),
        games=QUICK_GAMES if contact.is_quick else GAMES,
        concurrency=at_once,
        directory=contact.folder / "match",
    )
