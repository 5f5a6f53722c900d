"""The queue of lines between the thread that reads an engine and the one that waits for it."""

import threading
import time

from goryu.engines.line_queue import MOST_ANSWERS, LineQueue


def texts(queue: LineQueue) -> list[str | None]:
    found = []
    while (line := queue.get(time.perf_counter())) is not None:
        found.append(line[1])
    return found


def test_the_oldest_lines_make_room_for_the_newest() -> None:
    queue = LineQueue(3)
    for number in range(10):
        queue.put((float(number), f"info nodes {number}"))
    assert len(queue) == 3
    assert queue.get(time.perf_counter()) == (7.0, "info nodes 7")
    assert texts(queue) == ["info nodes 8", "info nodes 9"]


def test_answers_and_the_end_of_the_output_are_never_dropped() -> None:
    queue = LineQueue(2)
    lines = ["usiok", "info 1", "readyok", "info 2", "bestmove 7g7f", "info 3", None, "info 4"]
    for text in lines:
        queue.put((0.0, text))
    assert texts(queue) == ["usiok", "readyok", "bestmove 7g7f", None, "info 4"]


def test_a_flood_of_answers_is_bounded() -> None:
    queue = LineQueue(10)
    for number in range(1000):
        queue.put((0.0, f"bestmove {number}"))
    assert len(queue) == MOST_ANSWERS
    assert queue.get(0.0) == (0.0, f"bestmove {1000 - MOST_ANSWERS}")


def test_who_waits_gets_a_line_when_it_comes() -> None:
    queue = LineQueue(2)
    thread = threading.Timer(0.05, queue.put, [(1.0, "bestmove 7g7f")])
    thread.start()
    assert queue.get(time.perf_counter() + 20) == (1.0, "bestmove 7g7f")
    thread.join()


def test_without_a_line_the_wait_ends_at_the_deadline() -> None:
    started = time.perf_counter()
    assert LineQueue(2).get(started + 0.05) is None
    assert time.perf_counter() >= started + 0.05
