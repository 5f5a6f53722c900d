"""Pipeline, Helpers: the loop of a search, on one thread or several."""

import sys
from threading import Thread

from goryu.search.graph.proof import MateSolver, no_solver


cdef class Pipeline:
    """What one thread of a search owns: a game to play on, a batch, and an adapter of the evaluator."""

    cdef Puct puct  # Kept for `core`, which it owns,
    cdef object state  # and this one for `game`.
    cdef EvaluatorAdapter adapter
    cdef CorePuct* core
    cdef CoreState* game
    cdef LeafSink* sink
    cdef Batch batch
    cdef int worker
    cdef object network  # Of a group of networks, that of this worker; otherwise the evaluator.
    cdef cbool is_timed
    cdef cbool is_walking  # Has a walk begun? One that fails leaves the game where it is.
    cdef Spent gathering, asking, reading, expanding

    def __cinit__(self, Puct puct, state, int worker=0):
        """state: for this pipeline alone. worker: the number of its thread among those of the search."""
        self.game = NULL
        self.sink = NULL
        self.puct = puct
        self.state = state
        self.worker = worker
        self.core = puct.core
        self.is_timed = puct.times is not None
        self.game = new_game(state, puct.solver)
        self.connect()

    def __dealloc__(self):
        del self.game
        del self.sink

    cdef connect(self):
        """Makes the adapter of the network that this worker uses."""
        group = network_group_of(self.puct.evaluator)
        self.network = group.network_of(self.worker) if group else self.puct.evaluator
        has_room = group is not None or getattr(self.network, "packed", None) is not None  # For that many only.
        most = self.network.batch_size if has_room else self.puct.config.batch_size
        self.batch.most = min(most, self.puct.config.batch_size)
        self.adapter = adapter_of(self.network, self.state, self.batch.most)
        del self.sink
        self.sink = self.adapter.new_sink()

    cdef bint reconnect(self, error):
        """Goes on with another device, if there is a group of them and this worker's has failed."""
        group = network_group_of(self.puct.evaluator)
        if group is None or not group.give_up(self.network, error):
            return False
        self.connect()
        return True

    cdef begin(self, uint64_t max_playouts, uint64_t max_evaluations):
        """Makes the state the root."""
        while True:
            self.adapter.empty()
            with nogil:
                self.core.begin(self.game[0], self.sink[0], self.batch, max_playouts, max_evaluations)
            try:
                self.evaluate()
                return
            except Exception as error:
                if not self.reconnect(error):
                    raise

    cdef bint step(self, cbool is_helper=False) except -1:
        """Gathers a batch, evaluates it and backs it up; leaves nothing in flight if something fails.

        With an adapter that needs no Python it does so several times. Returns whether there was anything to
        evaluate. A helper with nothing to evaluate leaves the lock to others.
        """
        self.is_walking = False
        try:
            return self.steps(is_helper) if self.adapter.burst != 0 else self.one_step(is_helper)
        except Exception as error:
            if self.is_walking or not self.reconnect(error):
                raise
            return True

    cdef int gather(self) except -1 nogil:
        self.is_walking = True
        self.core.gather(self.game[0], self.sink[0], self.batch)
        self.is_walking = False
        return 0

    cdef bint one_step(self, cbool is_helper) except -1:
        cdef Moment start
        self.adapter.empty()
        with nogil:
            if self.is_timed:
                start = Moment.now()
            self.gather()
            if self.is_timed:
                self.gathering.add(start)
        if self.batch.size() != 0:
            self.evaluate()
            return True
        with nogil:
            self.core.wait_for_others(self.batch, is_helper)
        return False

    cdef bint steps(self, cbool is_helper) except -1:
        """Does what `step` does until `burst` positions are evaluated, without the GIL in between."""
        cdef size_t evaluated = 0
        cdef cbool is_evaluating = False
        try:
            with nogil:
                while evaluated < <size_t>self.adapter.burst:
                    self.gather()
                    if self.batch.size() == 0:
                        self.core.wait_for_others(self.batch, is_helper)
                        break
                    is_evaluating = True
                    self.adapter.read(self.batch)
                    evaluated += self.batch.size()  # `expand` empties the batch.
                    self.core.expand(self.batch)
                    is_evaluating = False
        except BaseException:
            if is_evaluating:
                with nogil:
                    self.core.retract(self.batch)
            raise
        return evaluated != 0

    cdef evaluate(self):
        # Each release of the GIL may mean waiting for it, so there is only one.
        cdef Moment start
        if self.batch.size() == 0:
            return
        try:
            if self.is_timed:
                start = Moment.now()
            self.adapter.ask(self.batch)
            if self.is_timed:
                self.asking.add(start)
            with nogil:
                if self.is_timed:
                    start = Moment.now()
                self.adapter.read(self.batch)
                if self.is_timed:
                    self.reading.add(start)
                    start = Moment.now()
                self.core.expand(self.batch)
                if self.is_timed:
                    self.expanding.add(start)
        except BaseException:  # If it was `expand` there is nothing left to retract.
            with nogil:
                self.core.retract(self.batch)
            raise

    cdef note_times(self):
        """Adds the time of each phase to those of the search, in seconds of processor and wall time."""
        if not self.is_timed:
            return
        times = self.puct.times
        found = (
            ("gather", self.gathering.cpu_s(), self.gathering.wall_s()),
            ("ask", self.asking.cpu_s(), self.asking.wall_s()),
            ("read", self.reading.cpu_s(), self.reading.wall_s()),
            ("expand", self.expanding.cpu_s(), self.expanding.wall_s()),
        )
        for phase, cpu_s, wall_s in found:
            before = times.get(phase, (0.0, 0.0))
            times[phase] = before[0] + cpu_s, before[1] + wall_s


cdef network_group_of(evaluator):
    """Returns the evaluator if it is a group of networks, or None; nothing heavy is imported to find out."""
    groups = sys.modules.get("goryu.evaluators.network.network_group")
    return evaluator if groups is not None and type(evaluator) is groups.NetworkGroup else None


class Helpers:
    """The other threads of a search, as a context: they work while it lasts.

    failed: did one of them raise an error? The context raises it at its end.
    """

    def __init__(self, puct, count):
        self.failed = False
        self._error = None
        self._is_over = False
        self._threads = [
            Thread(target=self._work, args=(puct, Pipeline(puct, puct_state(puct).copy(), worker)), daemon=True)
            for worker in range(1, count + 1)
        ]

    def __enter__(self):
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:  # The system has no more threads for us.
            self._end()
            raise
        return self

    def __exit__(self, kind, error, traceback):
        self._end()
        if self._error is not None and error is None:
            raise self._error

    def _end(self):
        self._is_over = True
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _work(self, Puct puct, Pipeline pipeline):
        try:
            while not self._is_over and (pipeline.step(True) or not puct.is_finished()):
                pass
            pipeline.note_times()
        except BaseException as error:
            self._error, self.failed = error, True


cdef CoreState* new_game(state, solver) except NULL:
    """Returns the core's view of a game; the caller owns it, and keeps the game and the solver alive."""
    if type(state) is Board or type(state) is Reversi:
        if solver is not no_solver and type(solver) is not MateSolver:
            raise TypeError(f"expected a MateSolver or no_solver, received {solver!r}")
        if type(state) is Board:
            return new ShogiState((<Board>state).game[0])
        return new ReversiState((<Reversi>state).game[0])
    return new PythonState(<PyObject*>state, <PyObject*>solver)


cdef puct_state(Puct puct):
    return puct._state


