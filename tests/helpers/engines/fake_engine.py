"""A USI engine for tests: its legal move and score (-100 to 100) are hashed from the position.

Arguments change the answer to a `go`: NUMBER:WHAT for one, counted from 0 over the life of the process, and
*:WHAT for all others. WHAT is `crash`, `hang`, `mute` (a move without a score), `stray` (a line about another
position), `ponder` (it expects a reply), `wait` (for `stop`), a number (the score), or a word for `bestmove`.
seed:WORD gives other hashes for each `go`. It has `MultiPV`. With $FAKE_ENGINE_LIVES, a file that gets a line
for each process, a `crash` or `hang` happens in the first process only.
"""

import os
import sys
import time
import zlib
from pathlib import Path

from goryu.games.shogi import Board, move_to_usi


def main() -> None:
    behaviour = dict(argument.split(":") for argument in sys.argv[1:])
    if is_later_life():
        behaviour = {at: what for at, what in behaviour.items() if what not in ("crash", "hang")}
    board = Board()
    lines = 1
    is_pondering = False
    count = 0
    for text in sys.stdin:
        match text.split():
            case ["usi"]:
                say("id name Fake\nid author test")
                say("option name MultiPV type spin default 1 min 1 max 9\nusiok")
            case ["isready"]:
                say("readyok")
            case ["setoption", "name", "MultiPV", "value", value]:
                lines = int(value)
            case ["position", *words]:
                board = set_up(words)
            case ["go", "ponder", *_]:
                is_pondering = True
            case ["stop"] if not is_pondering:
                pass
            case ["go", *_] if "*:wait" in sys.argv:
                is_pondering = True
            case ["go" | "ponderhit" | "stop", *_]:
                is_pondering = False
                seed = f"{behaviour['seed']}{count}" if "seed" in behaviour else ""
                answer(board, behaviour.get(str(count), behaviour.get("*", "")), lines, seed)
                count += 1
            case ["quit"]:
                break


def is_later_life() -> bool:
    path = os.environ.get("FAKE_ENGINE_LIVES")
    if not path:
        return False
    with open(path, "a", encoding="utf-8") as file:
        file.write("life\n")
    return len(Path(path).read_text("utf-8").splitlines()) > 1


def set_up(words: list[str]) -> Board:
    moves = words[words.index("moves") + 1 :] if "moves" in words else []
    board = Board() if words[0] == "startpos" else Board(" ".join(words[1:5]))
    for move in moves:
        board.push_usi(move)
    return board


def answer(board: Board, what: str, lines: int, seed: str) -> None:
    if what == "crash":
        sys.exit(3)
    if what == "hang":
        time.sleep(60)
    draw = zlib.crc32(f"{board.sfen()}{seed}".encode())
    legal = [move_to_usi(move) for move in board.legal_moves()] or ["resign"]
    moves = [legal[(draw + i) % len(legal)] for i in range(min(lines, len(legal)))]
    is_score = what.lstrip("-").isdigit()
    if what not in ("", "mute", "stray", "ponder", "wait") and not is_score:
        moves = [what]
    score = int(what) if is_score else draw % 201 - 100
    if what not in ("mute", "resign", "win"):
        first = "5e5d" if what == "stray" else legal[(draw + 1) % len(legal)]
        say(f"info depth 1 multipv 1 score cp {score} nodes 9 pv {first}")
        for i, move in enumerate(moves, 1):
            say(f"info depth 2 multipv {i} score cp {score - 40 * (i - 1)} nodes 10 pv {move}")
    say(f"bestmove {moves[0]}" + (expectation(board, moves[0]) if what == "ponder" else ""))


def expectation(board: Board, move: str) -> str:
    if move == "resign":
        return ""
    board.push_usi(move)
    replies = board.legal_moves()
    return f" ponder {move_to_usi(replies[0])}" if replies else ""


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
