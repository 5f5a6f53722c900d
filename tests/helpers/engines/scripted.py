"""A USI engine that plays a script: argument 1 is a comma-separated list of answers, repeated for ever.

An answer is a move, `resign`, `win`, `push` (moves a pawn that has not moved; only in games from the start
position), `crash`, `hang`, `chatter` (info lines without end), `babble` (a push, then the same),
`burst` (20,000 info lines, the last with a score, and one of a megabyte, then a push), `silence:MS` (then a
push), `empty` (a bestmove without a move), `noise` (128 KiB on stderr and an info line, then a push), `error`
(reports one, then a push) or `broken` (reports an error and resigns). Argument 2, if given, is the score in
centipawns. Every line that it receives is appended to the file $USI_TRACE, if that is set.
"""

import os
import sys
import time

PUSHES = [[f"{file}g{file}f" for file in range(1, 10)], [f"{file}c{file}d" for file in range(1, 10)]]


def main() -> None:
    answers = sys.argv[1].split(",")
    count = 0
    played: list[str] = []
    for line in sys.stdin:
        if path := os.environ.get("USI_TRACE"):
            with open(path, "a", encoding="utf-8") as trace:
                trace.write(line)
        match line.split():
            case ["usi"]:
                say("id name Scripted\nid author test\noption name Style type string default <empty>")
                say("option name MultiPV type spin default 1 min 1 max 9\nusiok")
            case ["isready"]:
                say("readyok")
            case ["usinewgame"]:
                count = 0
            case ["position", "startpos", *words]:
                played = words[1:]
            case ["go", *_]:
                pushes = PUSHES[len(played) % 2]
                answer(answers[count % len(answers)], next(move for move in pushes if move not in played))
                count += 1
            case ["quit"]:
                break


def answer(what: str, push: str) -> None:
    if what == "crash":
        sys.exit(3)
    if what == "hang":
        time.sleep(60)
    while what == "chatter":
        say("info depth 1 score cp 0")
        time.sleep(0.001)
    if what == "babble":
        say(f"bestmove {push}")
        while True:
            sys.stdout.buffer.write(b"info depth 1 score cp 0\n" * 100)
    if what == "burst":
        say("info depth 1\n" * 20_000 + "info depth 2 score cp 5 nodes 7 pv " + f"{push} " * 200_000)
        what = "push"
    if what == "noise":
        sys.stderr.write("x" * 131072)
        say("info string \u30b3 depth 99 score cp 1")
    if what in ("error", "broken"):
        say("info string Error! no network")
    if what.startswith("silence:"):
        time.sleep(int(what.removeprefix("silence:")) / 1000)
    if len(sys.argv) > 2:
        say(f"info depth 3 nodes 100 score cp {sys.argv[2]} pv {push}")
    if what == "empty":
        say("bestmove")
    elif what == "broken":
        say("bestmove resign")
    elif what in ("push", "noise", "error") or what.startswith("silence"):
        say(f"bestmove {push}")
    else:
        say(f"bestmove {what}")


def say(text: str) -> None:
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
