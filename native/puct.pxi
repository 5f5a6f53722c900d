"""Puct: goryu.search.graph.puct in C++."""

from goryu.search.graph import final_move, graph_dump
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import MateSolver, no_solver
from goryu.search.result import SearchResult, SearchStats

# A node counts playouts in flight in 16 bits, and a batch may have four collisions for each position.
MAX_BATCH_SIZE = 4096


cdef CoreFormula core_formula(object formula) except *:
    cdef CoreFormula core
    core.c_init = formula.c_init
    core.c_base = formula.c_base
    core.c_factor = formula.c_factor
    core.fpu_reduction = formula.fpu_reduction
    return core


cdef CoreConfig core_config(Puct puct) except *:
    cdef CoreConfig core
    config = puct.config
    if not 1 <= config.batch_size <= MAX_BATCH_SIZE:
        raise ValueError(f"expected a batch size in [1, {MAX_BATCH_SIZE}], received {config.batch_size}")
    if puct.threads < 1:
        raise ValueError(f"expected at least 1 thread, received {puct.threads}")
    core.formula = core_formula(config.formula)
    core.root_formula = core_formula(config.root_formula)
    core.batch_size = config.batch_size
    core.threads = puct.threads
    if type(puct.solver) is MateSolver:
        core.mate_nodes, core.mate_nodes_per_visit = puct.solver.nodes, puct.solver.nodes_per_visit
    else:
        core.mate_nodes = core.mate_nodes_per_visit = puct.solver is not no_solver
    core.draw_value = config.draw_value
    core.plays_by_bound = config.final_move == "lcb"
    return core


cdef class Puct:
    """The search. It keeps its graph between moves; `clear` forgets it.

    Native: with `threads` > 1 one thread gathers while others wait for the evaluator, which must then allow
    several calls at once; the graph is no longer that of the Python search. On native games the solver must
    be a `MateSolver` or `no_solver`.
    """

    cdef public object evaluator
    cdef public object config
    cdef public object solver
    cdef public int threads
    cdef public object times
    cdef CorePuct* core
    cdef object _state
    cdef set _masked

    def __cinit__(self):
        self.core = NULL

    def __init__(self, evaluator, config=None, solver=no_solver, int threads=1):
        cdef Capacity capacity
        self.evaluator = evaluator
        self.config = config or PuctConfig()
        self.solver = solver
        self.threads = threads
        self.times = None  # Or a dict, by phase of the loop: seconds of processor and wall time of all threads.
        nodes, size = self.config.capacity, self.config.capacity_bytes
        if min(nodes, size) < 1:
            raise ValueError(f"expected room for nodes, received {nodes}, {size} bytes")
        del self.core
        self.core = NULL
        capacity.nodes, capacity.bytes = nodes, size
        self.core = new CorePuct(core_config(self), capacity)
        self._state = None
        self._masked = set()

    def __dealloc__(self):
        del self.core

    @property
    def table(self):
        """The nodes. Every call returns a new view, which keeps the search alive."""
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

    def search(self, state, should_stop, *, max_playouts=None, max_evaluations=None, root_moves=None):
        """Searches until `should_stop` returns True, a limit is reached or no move is worth a playout.

        The search calls `should_stop` before each batch; a proven root alone does not end it. `state` must
        have a legal move and is left as it was. At the root only `root_moves` are played, if given.
        """
        cdef Pipeline pipeline
        cdef uint64_t no_limit = 1 << 62
        self.core.set_config(core_config(self))
        self._state = state.copy()
        self._masked = set()
        pipeline = Pipeline(self, state.copy())  # An evaluator that raises may leave the copy anywhere.
        pipeline.begin(
            no_limit if max_playouts is None else max_playouts,
            no_limit if max_evaluations is None else max_evaluations,
        )
        if root_moves is not None:
            self._mask({i for i, move in enumerate(self.root.moves) if move not in root_moves})
        with Helpers(self, self.threads - 1) as helpers:
            while not (helpers.failed or self.is_finished() or should_stop(self.stats())):
                pipeline.step()
        pipeline.note_times()
        return self.result()

    def add_mate(self, state, line):
        """Adds a mate that was found elsewhere to the graph; returns whether it could be added.

        line: mating moves of the side to move in `state`, to the end. `state` is left as it was. Call this
        between two batches, from `should_stop`, or while no search runs.
        """
        cdef CoreState* game = new_game(state, self.solver)
        cdef vector[uint16_t] moves = line
        cdef cbool is_added
        if moves.empty():
            raise ValueError("expected the moves of a mate, received none")
        try:
            with nogil:
                is_added = self.core.add_mate(game[0], MoveSpan(moves.data(), moves.size()))
        finally:
            del game
        return is_added

    def stats(self):
        """Returns the counters of the current search."""
        cdef Snapshot seen
        with nogil:  # The lock's holder may be waiting for the GIL.
            seen = self.core.snapshot()
        return SearchStats(
            playouts=seen.progress.playouts,
            evaluations=seen.progress.evaluations,
            depth=int(seen.progress.depth_sum / max(1.0, seen.progress.playouts) + 0.5),
            max_depth=seen.progress.max_depth,
            nodes=seen.nodes,
            capacity=self.config.capacity,
            is_proven=seen.is_proven,
            is_exhausted=seen.progress.is_exhausted,
            hashfull=seen.hashfull,
            best_index=seen.best_move,
            lead=None if seen.lead < 0 else seen.lead,
        )

    def result(self, int lines=1):
        """Returns the answer so far; the first `lines` moves have their full continuation."""
        with Locked(self):
            root = self.root
            if root is not None and self._state is not None:
                order = final_move.ranking(root, self.config.final_move, self._masked)
                moves = final_move.root_moves(root, order, self._state, lines)
        stats = self.stats()
        if root is None or self._state is None:
            return SearchResult((), 0.0, stats)
        return SearchResult(tuple(moves), final_move.root_value(root, moves), stats)

    def dump(self, **options):
        """Returns the graph as `graph_dump.dump` does with these options, or None before the first search."""
        with Locked(self):
            return None if self.root is None else graph_dump.dump(self.root, **options)

    def select(self, Node node, is_root):
        """Returns what `Puct._select` does in Python; for tests."""
        cdef vector[cbool] no_mask
        if is_root:
            return self.core.selection(True).select(self.core.table(), node.index, self.core.mask(), True)
        return self.core.selection(False).select(self.core.table(), node.index, no_mask, False)

    def untried_value(self, Node node, is_root):
        """Returns what `selection.untried_value` does; for tests."""
        return self.core.selection(is_root).untried_value(node.core()[0])

    def exploration(self, uint32_t visits, is_root):
        """Returns what `selection.exploration` does; for tests."""
        return self.core.selection(is_root).exploration(visits)

    cdef cbool is_finished(self):
        with nogil:  # The lock's holder may be waiting for the GIL.
            return self.core.is_finished()

    cdef _mask(self, set masked):
        cdef vector[cbool] flags
        cdef int i
        self._masked = masked
        for i in range(len(self.root.moves)):
            flags.push_back(i in masked)
        self.core.set_mask(flags)


cdef class Locked:
    """Holds the lock of the graph, as a context."""

    cdef Puct puct

    def __init__(self, Puct puct):
        self.puct = puct

    def __enter__(self):
        with nogil:  # The lock's holder may be waiting for the GIL.
            self.puct.core.mutex().lock()

    def __exit__(self, kind, error, traceback):
        self.puct.core.mutex().unlock()
