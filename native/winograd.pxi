"""WinogradNetwork: goryu.evaluators.kernel.winograd in C++, and how a search calls it."""

# The modules that import NumPy are imported where a network is made: `usiok` must not wait for them.

BLOCK = 32  # Output channels that the kernel computes together.


def usable_instructions():
    """Returns the kinds of vector instructions that this processor and this build have, best first."""
    return [
        name_of(<Instructions>i).decode() for i in range(kInstructionKinds) if is_usable(<Instructions>i)
    ]


cdef class WinogradNetwork:
    """A residual network, computed by our own kernel. May be called from several threads at once.

    network: a `layers.ResidualNetwork`.
    instructions: one of `usable_instructions()`. is_integer: integers, or else float32.
    """

    cdef CoreWinograd* core
    cdef readonly tuple planes  # Of each input.
    cdef readonly long long weight_count
    cdef readonly str instructions
    cdef readonly cbool is_integer
    cdef readonly str arithmetic  # Of the convolutions: float32, int16, int8+int16 or bfloat16+int16.
    cdef cbool reads_planes
    cdef cbool sees_nyugyoku
    cdef int burst  # See EvaluatorAdapter.

    def __cinit__(self, network, str instructions, is_integer=True):
        from goryu.evaluators.kernel.eight_bits import suits_bytes
        from goryu.evaluators.kernel.layers import BFLOAT_WEIGHTS, Convolution, positions_at_once, weights_in

        cdef vector[int] maps = network.maps
        cdef vector[int] vectors = network.vectors
        cdef vector[float] policy_bias = network.policy_bias.reshape(-1)
        cdef int i, found = kInstructionKinds
        for i in range(kInstructionKinds):
            if name_of(<Instructions>i).decode() == instructions:
                found = i
        self.core = new CoreWinograd(<Instructions>found, is_integer, maps, vectors)
        self.planes = network.planes
        self.weight_count = weights_in(network.layers)
        self.instructions = instructions
        self.is_integer = is_integer
        self.arithmetic = "int16" if is_integer else "float32"
        suit = any(type(layer) is Convolution and suits_bytes(layer) for layer in network.layers)
        if is_integer and suit and has_bytes(<Instructions>found):
            self.arithmetic = "int8+int16"
        if is_integer and (suit or self.weight_count > BFLOAT_WEIGHTS) and has_bfloats(<Instructions>found):
            self.arithmetic = "bfloat16+int16"
        self.burst = positions_at_once(network.layers)
        self.reads_planes = len(network.planes) == 1
        self.sees_nyugyoku = kHandPlanes + kNyugyokuPlanes in network.planes
        for layer in network.layers:
            self.add(layer, network.maps)
        self.core.set_outputs(network.policy, policy_bias, network.value, network.steepness)

    def __dealloc__(self):
        del self.core

    cdef add(self, layer, list maps):
        from goryu.evaluators.kernel.layers import Convolution, Dense, Input, Pool, Spread, Stem

        cdef CoreLayer core
        core.to = layer.to
        if type(layer) is Stem:
            self.set_stem(core, layer)
        elif type(layer) is Input:
            core.kind = LayerKind.kInput
            core.used = layer.planes
            core.outputs = maps[layer.to]
        elif type(layer) is Convolution:
            self.set_convolution(core, layer)
        elif type(layer) is Pool:
            core.kind = LayerKind.kPool
            core.outputs = maps[layer.source]
            core.mean_at = -1 if layer.mean_at is None else layer.mean_at
            core.maximum_at = -1 if layer.maximum_at is None else layer.maximum_at
        elif type(layer) is Dense:
            core.kind = LayerKind.kDense
            core.groups = 81 if layer.reads_map else 1
            core.used = layer.used
            core.width = maps[layer.source] if layer.reads_map else layer.used
            core.outputs = len(layer.bias)
            floats(core.weights32, layer.weights)
            floats(core.bias, layer.bias)
        elif type(layer) is Spread:
            core.kind = LayerKind.kSpread
            core.outputs = maps[layer.to]
            core.scale = -1 if layer.scale is None else layer.scale
            core.shift = -1 if layer.shift is None else layer.shift
            core.residual = -1 if layer.residual is None else layer.residual
        else:
            raise TypeError(f"expected a layer, received {layer!r}")
        if type(layer) not in (Stem, Input):
            core.source = layer.source
        if type(layer) not in (Pool, Input):
            core.activation = <Activation><int>layer.activation
        self.core.add(core)

    cdef set_stem(self, CoreLayer& core, layer):
        cdef float[::1] board, hands
        outputs = len(layer.bias)
        core.kind = LayerKind.kStem
        core.outputs = outputs
        floats(core.bias, layer.bias)
        if self.is_integer:
            board, hands = flat_floats(layer.board), flat_floats(layer.hands)
            round_stem(core, FloatSpan(&board[0], board.size), FloatSpan(&hands[0], hands.size))
        else:
            rows = layer.board.reshape(outputs, -1, 9).transpose(2, 1, 0).reshape(-1, outputs)
            floats(core.weights32, with_zeros(rows))
            floats(core.hands32, with_zeros(layer.hands.T))

    cdef set_convolution(self, CoreLayer& core, layer):
        import numpy

        from goryu.evaluators.kernel.eight_bits import byte_weights, suits_bytes
        from goryu.evaluators.kernel.winograd import transformed_weights

        cdef float[::1] weights
        outputs, inputs, size, _ = layer.weights.shape
        core.kind = {1: LayerKind.kConv1, 3: LayerKind.kConv3, 9: LayerKind.kConv9}[size]
        core.inputs = inputs
        core.outputs = outputs
        core.residual = -1 if layer.residual is None else layer.residual
        core.shift = -1 if layer.shift is None else layer.shift
        floats(core.bias, layer.bias)
        if self.arithmetic == "bfloat16+int16" and (size == 3 or suits_bytes(layer)):
            core.kind = LayerKind.kConv3Bfloat if size == 3 else LayerKind.kConv1Bfloat
            weights = flat_floats(layer.weights)
            round_to_bfloats(core, FloatSpan(&weights[0], weights.size))
        elif self.arithmetic == "int8+int16" and suits_bytes(layer):
            small = byte_weights(layer)
            core.kind = LayerKind.kConv1Bytes
            # [outputs, inputs] becomes [blocks, fours of inputs, 32 outputs, 4].
            blocks = small.integers.reshape(outputs // BLOCK, BLOCK, inputs // 4, 4).transpose(0, 2, 1, 3)
            halves(core.weights16, numpy.ascontiguousarray(blocks).view(numpy.int16))
            floats(core.factors, small.factors)
            floats(core.totals, small.totals)
        elif self.is_integer:
            weights = flat_floats(layer.weights)
            round_convolution(core, FloatSpan(&weights[0], weights.size), layer.is_positive)
        else:
            rows = transformed_weights(layer.weights) if size == 3 else layer.weights[..., 0].transpose(2, 0, 1)
            blocks = by_columns(rows).reshape(len(rows), outputs // BLOCK, BLOCK, inputs)
            floats(core.weights32, blocks.transpose(1, 0, 3, 2))

    def run(self, inputs):
        """Returns logits [N, 2187] and values [N] in [-1, +1] of planes [N, ..., 9, 9], an array for each input.

        Of two inputs, those of the board are ones and zeros, and the others are constant.
        """
        import numpy

        rows = [numpy.ascontiguousarray(planes, numpy.float32) for planes in inputs]
        cdef Py_ssize_t count = len(rows[0])
        for planes, expected in zip(rows, self.planes, strict=True):
            check_shape(planes.shape, (count, expected, 9, 9))
        logits = numpy.empty((count, kDlshogiLabels), numpy.float32)
        values = numpy.empty(count, numpy.float64)
        if count != 0:
            self.run_on(rows[0], rows[len(rows) - 1], logits, values)
        return logits, values

    cdef run_on(self, float[:, :, :, ::1] board, float[:, :, :, ::1] hands, float[:, ::1] logits, double[::1] values):
        cdef vector[Features] features
        cdef NetworkInputs given
        cdef Py_ssize_t i, first = 0, count = board.shape[0]
        cdef int label, positions, hand_planes = hands.shape[1]
        cdef Workspace* work = new Workspace(self.core[0])
        try:
            with nogil:
                features.resize(kMostPositions)
                while first < count:
                    positions = min(count - first, <Py_ssize_t>kMostPositions)
                    for i in range(0 if self.reads_planes else positions):
                        fill_features_of_planes(
                            &board[first + i, 0, 0, 0], &hands[first + i, 0, 0, 0], hand_planes, features[i]
                        )
                    given.features = features.data()
                    given.planes = &board[first, 0, 0, 0]
                    self.core.run(given, positions, work[0])
                    for i in range(positions):
                        for label in range(kDlshogiLabels):
                            logits[first + i, label] = self.core.logit(work[0], i, label)
                        values[first + i] = self.core.value(work[0], i)
                    first += positions
        finally:
            del work


def by_columns(places):
    """Returns the 25 places of a patch column by column; they are row by row. Other numbers of places stay."""
    if len(places) != 25:
        return places
    return places.reshape(5, 5, *places.shape[1:]).swapaxes(0, 1).reshape(places.shape)


def with_zeros(rows):
    """Returns rows of weights and a row of zeros."""
    import numpy

    return numpy.concatenate([rows, numpy.zeros_like(rows[:1])])


def flat_floats(array):
    """Returns the numbers of an array in float32, one after another."""
    import numpy

    return numpy.ascontiguousarray(array, numpy.float32).reshape(-1)


cdef floats(AlignedFloats& to, array):
    cdef float[::1] flat = flat_floats(array)
    to.assign(&flat[0], flat.shape[0])


cdef halves(AlignedHalves& to, array):
    import numpy

    cdef short[::1] flat = numpy.ascontiguousarray(array, numpy.int16).reshape(-1)
    to.assign(&flat[0], flat.shape[0])
