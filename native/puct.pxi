"""Puct: twin of goryu.search.puct."""

import sys
from threading import Thread

from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from goryu.evaluators.hashed import HashedEvaluator
from goryu.search.mate import MateState
from goryu.search import final_move
from goryu.search import graph_dump
from goryu.search.mate import MateVerdict
from goryu.search.mate import solve as python_solve
from goryu.search.result import SearchResult, SearchStats
from goryu.search.config import PuctConfig

# Playouts in flight are counted in 16 bits.
MAX_BATCH_SIZE = 32768


cdef extern from "core/state.h" namespace "goryu" nogil:
    cdef cppclass CoreState "goryu::State":
        pass

    cdef cppclass LeafSink:
        pass

cdef extern from "core/game_state.h" namespace "goryu" nogil:
    cdef cppclass ShogiState(CoreState):
        ShogiState(Game&) except +

    cdef cppclass ReversiState(CoreState):
        ReversiState(ReversiGame&) except +

    cdef cppclass NoLeafSink(LeafSink):
        NoLeafSink() except +

    cdef cppclass PlaneLeafSink(LeafSink):
        PlaneLeafSink(const Game&, cbool sees_nyugyoku, float* board, float* hands) except +

cdef extern from "python_state.h" namespace "goryu":
    cdef cppclass PythonState(CoreState):
        PythonState(PyObject* state, PyObject* solve, PyObject* verdict) except +

    cdef cppclass PythonLeafSink(LeafSink):
        PythonLeafSink(PyObject* state, PyObject* list) except +

cdef extern from "core/selection.h" namespace "goryu" nogil:
    cdef cppclass Formula:
        double c_init, c_base, c_factor, c_init_root, c_base_root, fpu_reduction, fpu_reduction_root

    cdef cppclass Selection:
        int select(const CoreNodeTable&, NodeIndex, cbool is_root, const vector[cbool]& masked)
        double untried_value(const CoreNodeTable&, const CoreNode&, cbool is_root)
        double exploration(uint32_t visits, cbool is_root)

cdef extern from "<mutex>" namespace "std" nogil:
    cdef cppclass mutex:
        void lock()
        void unlock()

cdef extern from "core/batch.h" namespace "goryu" nogil:
    cdef cppclass Batch:
        size_t size()
        MoveSpan moves(size_t)
        vector[double] policies
        vector[double] values

cdef extern from "core/puct.h" namespace "goryu" nogil:
    cdef cppclass CoreConfig "goryu::PuctConfig":
        Formula formula
        int batch_size
        int threads
        int mate_nodes
        double draw_value

    cdef cppclass CoreProgress "goryu::Progress":
        uint64_t playouts
        uint64_t evaluations
        uint64_t depth_sum
        uint64_t max_depth
        cbool is_exhausted

    cdef cppclass CorePuct "goryu::Puct":
        CorePuct(const CoreConfig&, const Capacity&, cbool merge) except +
        void clear()
        void set_config(const CoreConfig&) except +
        void begin(CoreState&, LeafSink&, Batch&, uint64_t max_playouts) except +
        void set_mask(vector[cbool]) except +
        cbool is_finished()
        void gather(CoreState&, LeafSink&, Batch&) except +
        void expand(Batch&) except +
        cbool add_mate(CoreState&, uint16_t move, int length) except +
        void retract(Batch&)
        void wait_for_others(cbool is_helper)
        mutex& mutex()
        CoreNodeTable& table()
        NodeIndex root()
        const vector[cbool]& mask()
        const Selection& selection()
        const CoreProgress& progress()

cdef extern from "core/policy.h" namespace "goryu" nogil:
    void answer_hashed(Batch&) except +
    cbool answer_dlshogi(Batch&, const float* logits, const double* values, double temperature) except +


cdef CoreConfig core_config(object config) except *:
    cdef CoreConfig core
    if not 1 <= config.batch_size <= MAX_BATCH_SIZE:
        raise ValueError(f"expected a batch size in [1, {MAX_BATCH_SIZE}], received {config.batch_size}")
    core.formula.c_init = config.c_init
    core.formula.c_base = config.c_base
    core.formula.c_factor = config.c_factor
    core.formula.c_init_root = config.c_init_root
    core.formula.c_base_root = config.c_base_root
    core.formula.fpu_reduction = config.fpu_reduction
    core.formula.fpu_reduction_root = config.fpu_reduction_root
    core.batch_size = config.batch_size
    core.threads = config.threads
    core.mate_nodes = config.mate_nodes
    core.draw_value = config.draw_value
    return core


cdef class Puct:
    """The search. It keeps its graph between moves; `clear` forgets it.

    With `config.threads` > 1 one thread gathers while others wait for the evaluator, which must then allow
    several calls at once; the graph is no longer that of the Python search.
    """

    cdef public object evaluator
    cdef public object config
    cdef CorePuct* core
    cdef object _state
    cdef set _masked

    def __cinit__(self):
        self.core = NULL

    def __init__(self, evaluator, config=None):
        cdef Capacity capacity
        self.evaluator = evaluator
        self.config = config or PuctConfig()
        del self.core
        capacity.nodes = self.config.capacity
        capacity.bytes = self.config.capacity_bytes
        self.core = new CorePuct(core_config(self.config), capacity, self.config.merge)
        self._state = None
        self._masked = set()

    def __dealloc__(self):
        del self.core

    @property
    def table(self):
        """The nodes; every call makes a new view, which keeps the search alive."""
        cdef NodeTable table = NodeTable.__new__(NodeTable)
        table.owner = self
        return table

    @property
    def root(self):
        """The root's node, or None."""
        cdef NodeTable table = self.table
        return table.node(self.core.root())

    def clear(self):
        """Forgets everything that was searched."""
        self.core.clear()
        self._state = None

    def search(self, state, should_stop, *, max_playouts=None, root_moves=None):
        """Searches until `should_stop` says so, `max_playouts` are done or no move is worth one.

        `should_stop` is asked before each batch; it decides whether a proven root ends the
        search. `state` must have a legal move and is left as it was. Only `root_moves` are
        played at the root, if given.
        """
        cdef Pipeline pipeline
        cdef uint64_t most = max_playouts if max_playouts is not None else 1 << 62
        self.core.set_config(core_config(self.config))
        self._state = state.copy()
        self._masked = set()
        # On a copy: an error may leave it anywhere, and the result is asked for all the same.
        pipeline = Pipeline(self, state.copy())
        pipeline.begin(most)
        if root_moves is not None:
            self._mask({i for i, move in enumerate(self.root.moves) if move not in root_moves})
        with Helpers(self, self.config.threads - 1) as helpers:
            while not helpers.failed:
                stats = self.stats()
                if stats.is_exhausted or stats.playouts >= most or should_stop(stats):
                    break
                pipeline.step()
        return self.result()

    def dump(self, *, depth=None, least_visits=1, name=str):
        """Returns the graph as `graph_dump.dump` does, or None before the first search."""
        with nogil:
            self.core.mutex().lock()
        try:
            root = self.root
            if root is None:
                return None
            return graph_dump.dump(self.table, root, depth=depth, least_visits=least_visits, name=name)
        finally:
            self.core.mutex().unlock()

    def add_mate(self, state, uint16_t move, int length):
        """Enters a mate that was found elsewhere; returns whether it could be entered.

        The side to move in `state`, which is left as it was, mates in `length` plies, beginning with `move`.
        To be called between two batches, by `should_stop`, or while no search runs.
        """
        cdef CoreState* game = new_game(state)
        cdef cbool is_entered
        try:
            with nogil:
                is_entered = self.core.add_mate(game[0], move, length)
        finally:
            del game
        return is_entered

    def stats(self):
        """Returns how the search stands."""
        cdef CoreNodeTable* table = &self.core.table()
        cdef CoreProgress progress
        cdef uint32_t visits, best = 0, second = 0
        cdef CoreNode* root = NULL
        cdef int i
        with nogil:
            self.core.mutex().lock()
        progress = self.core.progress()
        if self.core.root() != kNoNode:
            root = &table[0][self.core.root()]
            for i in range(root.tried):
                if table.is_lost(self.core.root(), i):
                    continue
                visits = table.edges(root[0])[i].visits
                if visits > best:
                    best, second = visits, best
                elif visits > second:
                    second = visits
        nodes, hashfull, is_proven = table.size(), table.hashfull(), root != NULL and root.proof != Proof.kUnknown
        self.core.mutex().unlock()
        return SearchStats(
            progress.playouts,
            progress.evaluations,
            best,
            second,
            (2 * progress.depth_sum + progress.playouts) // (2 * progress.playouts or 1),
            progress.max_depth,
            nodes,
            table.capacity().nodes,
            is_proven,
            progress.is_exhausted,
            hashfull,
        )

    def result(self, int lines=1):
        """Returns the answer so far, the first `lines` moves with their full continuations."""
        stats, config = self.stats(), self.config
        with nogil:
            self.core.mutex().lock()
        try:
            root = self.root
            if root is None or self._state is None:
                return SearchResult((), 0.0, stats)
            moves = final_move.ranking(
                self.table, root, self._state, config.final_move, lines, self._masked, config.mate_nodes
            )
            return SearchResult(tuple(moves), root.value, stats)
        finally:
            self.core.mutex().unlock()

    def select(self, Node node, is_root):
        """Returns what `selection.select` does; for tests."""
        cdef vector[cbool] no_mask
        if is_root:
            return self.core.selection().select(self.core.table(), node.place, True, self.core.mask())
        return self.core.selection().select(self.core.table(), node.place, False, no_mask)

    def untried_value(self, Node node, is_root):
        """Returns what `selection.untried_value` does; for tests."""
        return self.core.selection().untried_value(self.core.table(), node.core()[0], is_root)

    def exploration(self, uint32_t visits, is_root):
        """Returns what `selection.exploration` does; for tests."""
        return self.core.selection().exploration(visits, is_root)

    cdef cbool is_finished(self):
        with nogil:  # As wherever the lock is asked for: who has it may be waiting for the GIL.
            return self.core.is_finished()

    cdef _mask(self, set masked):
        cdef vector[cbool] flags
        cdef int i
        self._masked = masked
        for i in range(len(self.root.moves)):
            flags.push_back(i in masked)
        self.core.set_mask(flags)


cdef class Pipeline:
    """What one thread of a search has to itself: a game to play on, a batch, and the way to the evaluator."""

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
        self.game = new_game(state)
        self.adapter = adapter_of(puct.evaluator, state, puct.config.batch_size)
        self.sink = self.adapter.new_sink()

    def __dealloc__(self):
        del self.game
        del self.sink

    cdef begin(self, uint64_t max_playouts):
        """Makes the state the root."""
        self.adapter.empty()
        with nogil:
            self.core.begin(self.game[0], self.sink[0], self.batch, max_playouts)
        self.evaluate()

    cdef bint step(self, cbool is_helper=False) except -1:
        """Gathers a batch, has it judged and backs it up; leaves nothing in flight if something fails.

        Returns whether there was anything to adapter. A helper with nothing to adapter leaves the others the lock.
        """
        self.adapter.empty()
        with nogil:
            self.core.gather(self.game[0], self.sink[0], self.batch)
        if self.batch.size() != 0:
            self.evaluate()
            return True
        with nogil:
            self.core.wait_for_others(is_helper)
        return False

    cdef evaluate(self):
        # The GIL is let go as rarely as can be: with several threads, each time may mean waiting for it.
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

    failed: has one of them met an error? It is raised at the end.
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


cdef CoreState* new_game(state) except NULL:
    """Returns what the core plays on the state by; the caller owns it, and keeps the state."""
    if type(state) is Board:
        return new ShogiState((<Board>state).game[0])
    if type(state) is Reversi:
        return new ReversiState((<Reversi>state).game[0])
    solve = python_solve if isinstance(state, MateState) else None
    return new PythonState(<PyObject*>state, <PyObject*>solve, <PyObject*>MateVerdict.MATE)


cdef puct_state(Puct puct):
    return puct._state


cdef EvaluatorAdapter adapter_of(evaluator, state, int batch_size):
    """Returns the fastest way to what the evaluator would say."""
    if "evaluate" in getattr(evaluator, "__dict__", ()):  # Somebody looks over its shoulder.
        return PythonJudge(evaluator, state)
    if type(evaluator) is HashedEvaluator:
        return HashedJudge(evaluator, state, batch_size)
    if type(state) is Board and is_dlshogi_network(evaluator):
        return dlshogi_judge_of(evaluator, state, evaluator.new_inputs(batch_size))
    return PythonJudge(evaluator, state)


cdef dlshogi_judge_of(network, Board board, list inputs):
    """Returns the adapter of a network of the dlshogi format whose planes go into `inputs`."""
    from goryu.evaluators.formats.value_scale import from_probability

    bound = network.bind(inputs) if network.format.value_scale is from_probability else None
    if bound is not None and all(rows.dtype.char == "f" for rows in bound.outputs.values()):
        return BoundDlshogiJudge(network, board, inputs, bound)
    return PlainDlshogiJudge(network, board, inputs)


cdef cbool is_dlshogi_network(evaluator):
    """Is it exactly a `NetworkEvaluator` of the dlshogi format? Nothing heavy is imported to find out."""
    network = sys.modules.get("goryu.evaluators.network")
    formats = sys.modules.get("goryu.evaluators.formats.dlshogi")
    if network is None or formats is None or type(evaluator) is not network.NetworkEvaluator:
        return False
    return type(evaluator.format) is formats.DlshogiFormat


cdef class EvaluatorAdapter:
    """Asks the evaluator about a batch."""

    cdef LeafSink* new_sink(self) except NULL:
        """Returns where gather puts the leaves of a batch; the caller owns it, and keeps the adapter."""
        raise NotImplementedError

    cdef empty(self):
        """Forgets the last batch."""

    cdef ask(self, Batch& batch):
        """Asks the evaluator."""

    cdef int read(self, Batch& batch) except -1 nogil:
        """Fills in what it said, unless `ask` has done so."""
        return 0


cdef class HashedJudge(EvaluatorAdapter):
    """The hashed stub, computed natively: it needs nothing but keys and moves."""

    cdef Board board  # The one whose planes are built, or None.
    cdef vector[float] board_planes
    cdef vector[float] hand_planes

    def __init__(self, evaluator, state, int batch_size):
        self.board = state if evaluator.builds_planes and type(state) is Board else None
        if self.board is not None:
            self.board_planes.resize(batch_size * kBoardPlanes * 81)
            self.hand_planes.resize(batch_size * kHandPlanes * 81)

    cdef LeafSink* new_sink(self) except NULL:
        if self.board is None:
            return new NoLeafSink()
        return new PlaneLeafSink(self.board.game[0], False, self.board_planes.data(), self.hand_planes.data())

    cdef int read(self, Batch& batch) except -1 nogil:
        answer_hashed(batch)
        return 0


cdef class PythonJudge(EvaluatorAdapter):
    """Any evaluator, given copies of the game."""

    cdef object evaluator
    cdef object state
    cdef list states

    def __init__(self, evaluator, state):
        self.evaluator = evaluator
        self.state = state
        self.states = []

    cdef LeafSink* new_sink(self) except NULL:
        return new PythonLeafSink(<PyObject*>self.state, <PyObject*>self.states)

    cdef empty(self):
        self.states.clear()

    cdef ask(self, Batch& batch):
        cdef size_t i, expected = 0
        cdef double probability
        # A list of the evaluator's own, so that it may do with it what it likes.
        evaluations = self.evaluator.evaluate(self.states[:])
        if <size_t>len(evaluations) != batch.size():
            raise ValueError(f"expected {batch.size()} evaluations, received {len(evaluations)}")
        for i in range(batch.size()):
            for probability in evaluations[i].policy:
                if not 0.0 <= probability <= kMaxHalf:
                    raise ValueError(f"expected a probability, received {probability}")
                batch.policies.push_back(probability)
            expected += batch.moves(i).size()
            if batch.policies.size() != expected:
                raise ValueError(
                    f"expected a probability for each of {batch.moves(i).size()} moves, "
                    f"received {len(evaluations[i].policy)}"
                )
            batch.values.push_back(evaluations[i].value)


cdef class DlshogiJudge(EvaluatorAdapter):
    """A network of the dlshogi format: planes are written and logits read natively."""

    cdef object network
    cdef Board board
    cdef float[:, :, :, ::1] board_planes
    cdef float[:, :, :, ::1] hand_planes
    cdef const float[:, ::1] logits  # The last answer.
    cdef const double[::1] values
    cdef double temperature

    def __init__(self, network, Board board, list inputs):
        self.network = network
        self.temperature = network.temperature
        self.board = board
        self.board_planes, self.hand_planes = inputs

    cdef LeafSink* new_sink(self) except NULL:
        return new PlaneLeafSink(
            self.board.game[0],
            self.hand_planes.shape[1] == kHandPlanes + kNyugyokuPlanes,
            &self.board_planes[0, 0, 0, 0],
            &self.hand_planes[0, 0, 0, 0],
        )

    cdef int read(self, Batch& batch) except -1 nogil:
        if not answer_dlshogi(batch, &self.logits[0, 0], &self.values[0], self.temperature):
            with gil:
                self.network.check(self.logits)
        return 0


cdef class PlainDlshogiJudge(DlshogiJudge):
    """Any such network, asked by `run`."""

    cdef list first_rows  # The inputs cut to 0, 1, 2, ... rows.

    def __init__(self, network, Board board, list inputs):
        DlshogiJudge.__init__(self, network, board, inputs)
        self.first_rows = [[rows[:count] for rows in inputs] for count in range(len(inputs[0]) + 1)]

    cdef ask(self, Batch& batch):
        cdef Py_ssize_t count = batch.size()
        found_logits, found_values = self.network.run(self.first_rows[count])
        self.logits, self.values = as_floats(found_logits), found_values
        if (
            self.logits.shape[0] != count
            or self.logits.shape[1] != kDlshogiLabels
            or self.values.shape[0] != count
        ):
            raise ValueError(
                f"expected logits ({count}, {kDlshogiLabels}) and values ({count},), "
                f"received {found_logits.shape} and {found_values.shape}"
            )


cdef class BoundDlshogiJudge(DlshogiJudge):
    """One that answers in place, and with a win probability."""

    cdef object bound
    cdef const float[::1] probabilities
    cdef double[::1] scaled

    def __init__(self, network, Board board, list inputs, bound):
        DlshogiJudge.__init__(self, network, board, inputs)
        self.bound = bound
        logits, probabilities = bound.outputs.values()
        self.logits, self.probabilities = logits, probabilities.reshape(-1)
        self.values = self.scaled = probabilities.reshape(-1).astype("float64")

    cdef ask(self, Batch& batch):
        cdef Py_ssize_t i, count = batch.size()
        self.bound.run(count)
        for i in range(count):
            if not isfinite(self.probabilities[i]):
                self.network.check(self.probabilities)
            self.scaled[i] = 2.0 * self.probabilities[i] - 1.0


cdef as_floats(logits):
    """Returns a network's logits as C floats side by side, which they nearly always are."""
    if logits.dtype.char == "f" and logits.flags.c_contiguous:
        return logits
    return logits.astype("float32", order="C")
