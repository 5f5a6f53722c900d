"""PackedAdapter: a network on a device that receives positions as bits."""


cdef class PackedAdapter(EvaluatorAdapter):
    """Positions are written and answers read natively; Python makes one call for each batch."""

    cdef object network
    cdef object call  # A PackedCall; its arrays are used again for every batch.
    cdef Board board
    cdef NativeFormat model_format
    cdef PackedLayout layout
    cdef ValueHeads heads
    cdef uint8_t[:, ::1] rows
    cdef float[:, ::1] numbers
    cdef const float[::1] value_outputs
    cdef const float[::1] draw_outputs  # The same again without such an output.
    cdef dict buffers  # By width: labels and logits.
    cdef list widths
    cdef const float[:, ::1] logits  # The last answer.
    cdef vector[double] found
    cdef double temperature

    def __init__(self, network, NativeFormat model_format, Board board):
        from goryu.evaluators.network.packed_network import WIDTHS

        self.network = network
        self.model_format = model_format
        self.temperature = network.temperature
        self.board = board
        read_layout(self.layout, network.format)
        read_heads(self.heads, network.format)
        self.call = network.packed.call()
        self.rows, self.numbers = self.call.rows, self.call.numbers
        self.value_outputs, *draw = self.call.values
        self.draw_outputs = draw[0] if draw else self.value_outputs
        self.buffers = {}
        self.widths = list(WIDTHS)

    cdef LeafSink* new_sink(self) except NULL:
        return new PackedLeafSink(
            self.board.game[0], self.model_format.core[0], self.layout, &self.rows[0, 0], &self.numbers[0, 0]
        )

    cdef ask(self, Batch& batch):
        cdef size_t most = most_moves(batch)
        cdef int32_t[:, ::1] labels
        width = next(width for width in self.widths if width >= most)
        if width not in self.buffers:
            self.buffers[width] = self.call.labels_of(width), self.call.logits_of(width)
        labels, self.logits = self.buffers[width]
        with nogil:
            write_labels(batch, self.model_format.core[0], &labels[0, 0], labels.shape[1])
        self.call.run(batch.size(), width)

    cdef int read(self, Batch& batch) except -1 nogil:
        cdef cbool are_numbers = read_values(
            batch, self.heads, &self.value_outputs[0], &self.draw_outputs[0], self.found
        )
        are_numbers &= answer_labels(
            batch, &self.logits[0, 0], self.logits.shape[1], self.found.data(), self.temperature
        )
        if not are_numbers:
            with gil:
                self.network.check(float("nan"))
        return 0
