"""Pipeline, Helpers: the loop of a search, on one thread or several."""

from threading import Thread

from goryu.search.proof import MateSolver, no_solver


cdef class Pipeline:
    """What one thread of a search owns: a game to play on, a batch, and an adapter of the evaluator."""

    cdef Puct puct  # Kept for `core`, which it owns,
    cdef object state  # and this one for `game`.
    cdef EvaluatorAdapter adapter
    cdef CorePuct* core
    cdef CoreState* game
    cdef LeafSink* sink
    cdef Batch batch

    def __cinit__(self, Puct puct, state):
        """state: for this pipeline alone."""
        self.game = NULL
        self.sink = NULL
        self.puct = puct
        self.state = state
        self.core = puct.core
        self.game = new_game(state, puct.solver)
        self.adapter = adapter_of(puct.evaluator, state, puct.config.batch_size)
        self.sink = self.adapter.new_sink()

    def __dealloc__(self):
        del self.game
        del self.sink

    cdef begin(self, uint64_t max_playouts, uint64_t max_evaluations):
        """Makes the state the root."""
        self.adapter.empty()
        with nogil:
            self.core.begin(self.game[0], self.sink[0], self.batch, max_playouts, max_evaluations)
        self.evaluate()

    cdef bint step(self, cbool is_helper=False) except -1:
        """Gathers a batch, evaluates it and backs it up; leaves nothing in flight if something fails.

        With an adapter that needs no Python it does so several times. Returns whether there was anything to
        evaluate. A helper with nothing to evaluate leaves the lock to others.
        """
        if self.adapter.burst != 0:
            return self.steps(is_helper)
        self.adapter.empty()
        with nogil:
            self.core.gather(self.game[0], self.sink[0], self.batch)
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
                    self.core.gather(self.game[0], self.sink[0], self.batch)
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
        if self.batch.size() == 0:
            return
        try:
            self.adapter.ask(self.batch)
            with nogil:
                self.adapter.read(self.batch)
                self.core.expand(self.batch)
        except BaseException:  # If it was `expand` there is nothing left to retract.
            with nogil:
                self.core.retract(self.batch)
            raise


class Helpers:
    """The other threads of a search, as a context: they work while it lasts.

    failed: did one of them raise an error? The context raises it at its end.
    """

    def __init__(self, puct, count):
        self.failed = False
        self._error = None
        self._is_over = False
        self._threads = [
            Thread(target=self._work, args=(puct, Pipeline(puct, puct_state(puct).copy())), daemon=True)
            for _ in range(count)
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


