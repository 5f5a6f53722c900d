"""Ways to an evaluator: natively where it is known, otherwise through Python objects."""

import sys

from goryu.evaluators.hashed import HashedEvaluator


cdef EvaluatorAdapter adapter_of(evaluator, state, int batch_size):
    """Returns the fastest adapter of an evaluator."""
    if type(evaluator) is HashedEvaluator:
        return HashedAdapter(evaluator, state, batch_size)
    if type(state) is Board and is_network(evaluator):
        if type(evaluator.kernel) is WinogradNetwork:
            return WinogradAdapter(evaluator, state)
        model_format = native_format(evaluator.format)
        if evaluator.packed is not None:
            return PackedAdapter(evaluator, model_format, state)
        if model_format is not None:
            return network_adapter_of(evaluator, model_format, state, evaluator.new_inputs(batch_size))
    return PythonAdapter(evaluator, state)


cdef network_adapter_of(network, NativeFormat model_format, Board board, list inputs):
    """Returns the adapter of a network whose planes go into `inputs`."""
    bound = network.bind(inputs)
    if bound is not None and all(rows.dtype.char == "f" for rows in bound.outputs.values()):
        return BoundNetworkAdapter(network, model_format, board, inputs, bound)
    return PlainNetworkAdapter(network, model_format, board, plain_inputs(network, inputs))


cdef list plain_inputs(network, list inputs):
    """Returns inputs in the type of the model's file if they can be written natively: halves, else floats."""
    from_file = network.new_file_inputs(len(inputs[0]))
    return from_file if all(rows.dtype.char == "e" for rows in from_file) else inputs


cdef cbool is_network(evaluator):
    """Is it exactly a `NetworkEvaluator`? Nothing heavy is imported to find out."""
    network = sys.modules.get("goryu.evaluators.network.network")
    return network is not None and type(evaluator) is network.NetworkEvaluator


cdef class EvaluatorAdapter:
    """Sends a batch to the evaluator.

    burst: how many positions a search may evaluate between two looks at the clock, without Python; 0: `ask`
        and `empty` need Python for every batch.
    """

    cdef int burst

    cdef LeafSink* new_sink(self) except NULL:
        """Returns where gather puts the leaves of a batch; the caller owns it, and keeps the adapter."""
        raise NotImplementedError

    cdef empty(self):
        """Forgets the last batch."""

    cdef ask(self, Batch& batch):
        """Calls the evaluator."""

    cdef int read(self, Batch& batch) except -1 nogil:
        """Fills in the evaluations, unless `ask` has done so."""
        return 0


cdef class HashedAdapter(EvaluatorAdapter):
    """The hashed evaluator, computed natively from keys and moves."""

    cdef Board board  # The one whose planes are built, or None.
    cdef NativeFormat model_format
    cdef vector[float] board_planes
    cdef vector[float] hand_planes

    def __init__(self, evaluator, state, int batch_size):
        self.board = state if evaluator.builds_planes and type(state) is Board else None
        if self.board is not None:
            self.model_format = NativeFormat("dlshogi 62+57")
            self.board_planes.resize(batch_size * kBoardPlanes * 81)
            self.hand_planes.resize(batch_size * kHandPlanes * 81)

    cdef LeafSink* new_sink(self) except NULL:
        if self.board is None:
            return new NoLeafSink()
        return new PlaneLeafSink[float](
            self.board.game[0], self.model_format.core[0], self.board_planes.data(), self.hand_planes.data()
        )

    cdef int read(self, Batch& batch) except -1 nogil:
        answer_hashed(batch)
        return 0


cdef class WinogradAdapter(EvaluatorAdapter):
    """A network computed by our own kernel, which does not need Python."""

    cdef object network
    cdef WinogradNetwork kernel
    cdef Board board
    cdef NativeFormat model_format
    cdef NetworkSink* sink  # Owned by the caller of `new_sink`.
    cdef Workspace* work
    cdef double temperature

    def __cinit__(self, network, Board board):
        self.network = network
        self.kernel = network.kernel
        self.model_format = native_format(network.format)
        self.board = board
        self.temperature = network.temperature
        self.burst = self.kernel.burst
        self.work = new Workspace(self.kernel.core[0])

    def __dealloc__(self):
        del self.work

    cdef LeafSink* new_sink(self) except NULL:
        if self.kernel.reads_planes:
            self.sink = new PlaneSink(self.board.game[0], self.model_format.core[0])
        else:
            self.sink = new FeatureSink(self.board.game[0], self.kernel.sees_nyugyoku)
        return self.sink

    cdef int read(self, Batch& batch) except -1 nogil:
        if not answer_winograd(
            self.kernel.core[0], self.model_format.core[0], self.sink[0], self.temperature, batch, self.work[0]
        ):
            with gil:
                self.network.check(float("nan"))
        return 0


cdef class PythonAdapter(EvaluatorAdapter):
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


cdef class NetworkAdapter(EvaluatorAdapter):
    """A network of a format with a native twin: planes are written and logits read natively."""

    cdef object network
    cdef NativeFormat model_format
    cdef Board board
    cdef list inputs
    cdef const float[:, ::1] logits  # The last answer.
    cdef const double[::1] values
    cdef double temperature

    def __init__(self, network, NativeFormat model_format, Board board, list inputs):
        self.network = network
        self.model_format = model_format
        self.temperature = network.temperature
        self.board = board
        self.inputs = inputs

    cdef LeafSink* new_sink(self) except NULL:
        cdef float[:, :, :, ::1] floats, more_floats
        cdef uint16_t[:, :, :, ::1] halves, more_halves
        cdef Py_ssize_t last = len(self.inputs) - 1  # With one input it is the first, too, and has no planes.
        if self.inputs[0].dtype.char == "e":
            halves, more_halves = [self.inputs[i].view("uint16") for i in (0, last)]
            return new PlaneLeafSink[uint16_t](
                self.board.game[0], self.model_format.core[0], &halves[0, 0, 0, 0], &more_halves[0, 0, 0, 0]
            )
        floats, more_floats = self.inputs[0], self.inputs[last]
        return new PlaneLeafSink[float](
            self.board.game[0], self.model_format.core[0], &floats[0, 0, 0, 0], &more_floats[0, 0, 0, 0]
        )

    cdef int read(self, Batch& batch) except -1 nogil:
        if not answer_network(
            batch, self.model_format.core[0], &self.logits[0, 0], &self.values[0], self.temperature
        ):
            with gil:
                self.network.check(self.logits)
        return 0


cdef class PlainNetworkAdapter(NetworkAdapter):
    """Any such network, called by `run`."""

    cdef ask(self, Batch& batch):
        cdef Py_ssize_t count = batch.size()
        cdef int labels = self.model_format.core.labels()
        found_logits, found_values = self.network.run(self.inputs, count)
        self.logits, self.values = as_floats(found_logits), found_values
        if (
            self.logits.shape[0] != count
            or self.logits.shape[1] != labels
            or self.values.shape[0] != count
        ):
            raise ValueError(
                f"expected logits ({count}, {labels}) and values ({count},), "
                f"received {found_logits.shape} and {found_values.shape}"
            )


cdef class BoundNetworkAdapter(NetworkAdapter):
    """A network with fixed output arrays. Values are scaled natively."""

    cdef object bound
    cdef ValueHeads heads
    cdef const float[::1] value_outputs
    cdef const float[::1] draw_outputs  # The same again without such an output.
    cdef vector[double] found

    def __init__(self, network, NativeFormat model_format, Board board, list inputs, bound):
        NetworkAdapter.__init__(self, network, model_format, board, inputs)
        self.bound = bound
        read_heads(self.heads, network.format)
        self.logits, value, *draw = bound.outputs.values()
        self.heads.width = value.size // len(value)
        self.value_outputs = value.reshape(-1)
        self.draw_outputs = draw[0].reshape(-1) if draw else self.value_outputs

    cdef ask(self, Batch& batch):
        self.bound.run(batch.size())

    cdef int read(self, Batch& batch) except -1 nogil:
        cdef cbool are_numbers = read_values(
            batch, self.heads, &self.value_outputs[0], &self.draw_outputs[0], self.found
        )
        are_numbers &= answer_network(
            batch, self.model_format.core[0], &self.logits[0, 0], self.found.data(), self.temperature
        )
        if not are_numbers:
            with gil:
                self.network.check(float("nan"))
        return 0


cdef as_floats(logits):
    """Returns a network's logits as C floats side by side, which they nearly always are."""
    if logits.dtype.char == "f" and logits.flags.c_contiguous:
        return logits
    return logits.astype("float32", order="C")
