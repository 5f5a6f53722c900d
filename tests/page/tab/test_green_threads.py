"""The threads of a browser tab, here on stacks that are real threads of which one runs at a time."""

import subprocess
import sys

STACKS = """
import _thread, asyncio, heapq, sys, threading, time
from collections import deque

real_lock = _thread.allocate_lock
from goryu_page.tab import green_threads

baton = real_lock()
baton.acquire()


class Alarm:
    def __init__(self):
        self.lock = real_lock()
        self.lock.acquire()
        self.has_rung = False

    def wait(self):
        baton.release()
        self.lock.acquire()
        baton.acquire()

    def ring(self):
        if not self.has_rung:
            self.has_rung = True
            self.lock.release()


class Stacks:
    alarm = Alarm

    def start(self, run):
        def hold():
            with baton:
                run()

        _thread.start_new_thread(hold, ())

    def ring_later(self, alarm, seconds):
        real_sleep = time_sleep
        _thread.start_new_thread(lambda: (real_sleep(seconds), alarm.ring()), ())
        return lambda: None


time_sleep = time.sleep
green_threads.install(Stacks())
from concurrent.futures import Future, wait
from threading import Condition, Event, Lock, RLock, Thread, current_thread
"""


def run(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", STACKS + text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_thread_that_computes_lets_others_run_where_it_asks_an_event() -> None:
    text = """
stop, seen = Event(), []

def compute():
    while not stop.is_set():
        seen.append(current_thread().name)

one, two = Thread(target=compute, name="one"), Thread(target=compute, name="two")
one.start(), two.start()
while len(set(seen)) < 2:
    time.sleep(0.01)
stop.set()
one.join(), two.join()
print(one.is_alive(), two.is_alive(), *sorted(set(seen)))
"""
    assert run(text) == "False False one two\n"


def test_locks_keep_others_out_and_conditions_let_them_in() -> None:
    text = """
lock, inner, ready, told = RLock(), Lock(), [], []
changed = Condition(lock)

def until(is_true):
    while not is_true():
        time.sleep(0.01)

def worker(name):
    with changed:
        with lock:
            ready.append(name)
            changed.wait()
        told.append(name)
    with inner:
        told.append(name)

threads = [Thread(target=worker, args=(name,)) for name in "ab"]
for thread in threads:
    thread.start()
until(lambda: len(ready) == 2)
with inner:
    with changed:
        changed.notify_all()
        assert told == []
    until(lambda: len(told) == 2)
    assert sorted(told) == ["a", "b"] and not inner.acquire(timeout=0.01)
for thread in threads:
    thread.join()
print(*sorted(told))
"""
    assert run(text) == "a a b b\n"


def test_a_future_is_waited_for_and_a_wait_ends_in_time() -> None:
    text = """
future, late = Future(), Event()
Thread(target=lambda: (time.sleep(0.01), future.set_result(7))).start()
print(future.result(), late.wait(0.01), len(wait([Future()], timeout=0.01).not_done))
"""
    assert run(text) == "7 False 1\n"


def test_an_executor_gives_each_call_a_thread() -> None:
    text = """
async def main():
    loop = asyncio.get_running_loop()
    loop.run_in_executor = green_threads.run_in_executor
    gate, stop = Event(), Event()
    waiting = asyncio.ensure_future(asyncio.to_thread(gate.wait))
    failing = asyncio.ensure_future(asyncio.to_thread(lambda: 1 / 0))
    while not failing.done():
        await asyncio.sleep(0)
        time.sleep(0.01)
    gate.set()
    while not waiting.done():
        await asyncio.sleep(0)
        time.sleep(0.01)
    print(await waiting, type(failing.exception()).__name__)

asyncio.run(main())
"""
    assert run(text) == "True ZeroDivisionError\n"
