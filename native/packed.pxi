"""PackedAdapter: a network on a device that receives positions as bits."""


cdef class PackedAdapter(EvaluatorAdapter):
    """Bits are written and the logits of the legal moves read natively; Python makes one call for each batch."""

    cdef object network
    cdef object call  # A PackedCall; its arrays are used again for every batch.
    cdef Board board
    cdef uint8_t[:, ::1] rows
    cdef const float[::1] outputs
    cdef dict buffers  # By width: labels and logits.
    cdef list widths
    cdef const float[:, ::1] logits  # The last answer.
    cdef vector[double] values
    cdef double temperature
    cdef cbool are_probabilities
    cdef cbool sees_nyugyoku

    def __init__(self, network, Board board):
        from goryu.evaluators.formats.value_scale import from_probability
        from goryu.evaluators.packed_network import WIDTHS

        self.network = network
        self.temperature = network.temperature
        self.board = board
        self.call = network.packed.call()
        self.rows = self.call.rows
        self.outputs = self.call.values
        self.buffers = {}
        self.widths = list(WIDTHS)
        self.are_probabilities = network.format.value_scale is from_probability
        self.sees_nyugyoku = self.rows.shape[1] == packed_bytes(True)

    cdef LeafSink* new_sink(self) except NULL:
        return new PackedLeafSink(self.board.game[0], self.sees_nyugyoku, &self.rows[0, 0])

    cdef ask(self, Batch& batch):
        cdef size_t i, most = most_moves(batch)
        cdef int32_t[:, ::1] labels
        width = next(width for width in self.widths if width >= most)
        if width not in self.buffers:
            self.buffers[width] = self.call.labels_of(width), self.call.logits_of(width)
        labels, self.logits = self.buffers[width]
        with nogil:
            write_labels(batch, &labels[0, 0], labels.shape[1])
        self.call.run(batch.size(), width)
        self.values.resize(batch.size())
        scaled = None if self.are_probabilities else self.network.format.value_scale(self.call.values[: batch.size()])
        for i in range(batch.size()):
            self.values[i] = 2.0 * self.outputs[i] - 1.0 if self.are_probabilities else scaled[i]
            if not isfinite(self.values[i]):
                self.network.check(self.values[i])

    cdef int read(self, Batch& batch) except -1 nogil:
        if not answer_labels(batch, &self.logits[0, 0], self.logits.shape[1], self.values.data(), self.temperature):
            with gil:
                self.network.check(float("nan"))
        return 0
