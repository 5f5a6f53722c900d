"""Planes and labels: the modules of goryu.evaluators.formats in C++."""

# The classes of these modules have native twins, recognised by the name of the format.
cdef str FORMATS = "goryu.evaluators.formats."


cdef class NativeFormat:
    """The twin of a `ModelFormat`; it knows nothing of tensors and values."""

    cdef CoreFormat* core

    def __cinit__(self, str name, double draw_value=0.0):
        self.core = make_format(name.encode(), draw_value).release()

    def __dealloc__(self):
        del self.core


cdef NativeFormat native_format(model_format):
    """Returns the twin of a format, or None if it has none."""
    if not type(model_format).__module__.startswith(FORMATS):
        return None
    found = NativeFormat(model_format.name, getattr(model_format, "draw_value", 0.0))
    return found if found.core != NULL else None


def fill_planes(model_format, list boards, list inputs):
    """Writes the planes of a batch in a `ModelFormat`, [N, planes, 9, 9] in float32 or float16 for each input.

    Rows beyond the boards stay as they are; the arrays need not hold zeros before.
    """
    cdef NativeFormat found = native_format(model_format)
    cdef Py_ssize_t i
    if found is None:
        raise ValueError(f"expected a format with a native twin, received {model_format.name}")
    for rows, spec in zip(inputs, model_format.inputs, strict=True):
        check_shape(rows.shape, (len(boards), *spec.shape))
    for i in range(len(boards)):
        board = boards[i]
        if inputs[0].dtype.char == "e":
            fill_halves(found, board, [rows[i].view("uint16") for rows in inputs])
        else:
            fill_floats(found, board, [rows[i] for rows in inputs])


cdef fill_floats(NativeFormat model_format, Board board, list rows):
    cdef float[:, :, ::1] first = rows[0]
    cdef float[:, :, ::1] second = rows[len(rows) - 1]
    cdef PlaneRow[float]* row = new PlaneRow[float](&first[0, 0, 0], &second[0, 0, 0], model_format.core.planes())
    model_format.core.write(board.game[0], row[0])
    del row


cdef fill_halves(NativeFormat model_format, Board board, list rows):
    cdef uint16_t[:, :, ::1] first = rows[0]
    cdef uint16_t[:, :, ::1] second = rows[len(rows) - 1]
    cdef PlaneRow[uint16_t]* row = new PlaneRow[uint16_t](&first[0, 0, 0], &second[0, 0, 0], model_format.core.planes())
    model_format.core.write(board.game[0], row[0])
    del row


def pack_planes(model_format, list boards, uint8_t[:, ::1] rows, float[:, ::1] numbers):
    """Writes boards as the bits [N, bytes] and floats [N, numbers] of `evaluators/network/packed_input.py`.

    Rows beyond the boards stay as they are.
    """
    cdef NativeFormat found = native_format(model_format)
    cdef PackedLayout layout
    cdef BitRow* row
    cdef Py_ssize_t i
    cdef Board board
    if found is None:
        raise ValueError(f"expected a format with a native twin, received {model_format.name}")
    read_layout(layout, model_format)
    check_shape((rows.shape[0], rows.shape[1]), (len(boards), layout.bytes))
    check_shape((numbers.shape[0], numbers.shape[1]), (len(boards), layout.numbers))
    for i in range(len(boards)):
        board = boards[i]
        row = new BitRow(layout, &rows[i, 0], &numbers[i, 0])
        found.core.write(board.game[0], row[0])
        del row


cdef read_layout(PackedLayout& layout, model_format):
    """Reads where a format's planes are in the rows of a position."""
    from goryu.evaluators.network.packed_input import packed_layout

    found = packed_layout(model_format)
    layout.places = found.places
    layout.bytes = found.bytes
    layout.numbers = len(found.numbers)
    layout.level_bits = found.level_bits


def write_positions(
    list formats, list starts, int32_t[::1] start_of, uint16_t[::1] moves, int64_t[::1] firsts, int32_t[::1] plies,
    int32_t[::1] lengths, list rows, list numbers, uint8_t[:, ::1] legal, int16_t[::1] played,
):
    """Writes positions of games into a batch, without Python's lock: see `goryu_lab/training/game_positions.py`.

    formats: of models, each with arrays in `rows` [N, bytes] and `numbers` [N, numbers], as for `pack_planes`.
    starts: boards. start_of, firsts, plies, lengths [N]: of each position, the number of the board at which its
        game starts, where in `moves` the game's moves begin, how many are played before it, how many there are.
    legal [N, bytes]: a bit for the label of each move that the rules of the board list. played [N]: the label of
        the next move, or -1. Labels are those of the first format.

    Raises ValueError at an illegal move.
    """
    cdef PositionRows target
    cdef vector[const Game*] games
    cdef RowFormat each
    cdef uint8_t[:, ::1] bits
    cdef float[:, ::1] floats
    cdef size_t i, count = start_of.shape[0]
    cdef size_t wrong = count
    cdef list twins = [native_format(model_format) for model_format in formats]
    for board in starts:
        games.push_back((<Board?>board).game)
    for twin, model_format, bits, floats in zip(twins, formats, rows, numbers, strict=True):
        if twin is None:
            raise ValueError(f"expected a format with a native twin, received {model_format.name}")
        each.format = (<NativeFormat>twin).core
        read_layout(each.layout, model_format)
        check_shape((bits.shape[0], bits.shape[1]), (count, each.layout.bytes))
        check_shape((floats.shape[0], floats.shape[1]), (count, each.layout.numbers))
        each.bits, each.numbers = &bits[0, 0], &floats[0, 0] if floats.shape[1] else NULL
        target.formats.push_back(each)
    check_shape((legal.shape[0], legal.shape[1]), (count, (formats[0].labels + 7) // 8))
    for length in (firsts.shape[0], plies.shape[0], lengths.shape[0], played.shape[0]):
        check_shape((length,), (count,))
    target.legal, target.legal_bytes, target.played = &legal[0, 0], legal.shape[1], &played[0]
    with nogil:
        for i in range(count):
            if not target.write(i, games[start_of[i]][0], &moves[0] + firsts[i], plies[i], lengths[i]):
                wrong = i
                break
    if wrong < count:
        raise ValueError(f"expected legal moves, found another among those before ply {plies[wrong] + 1}")


def moves_of_labels(model_format, list boards, int64_t[::1] labels):
    """Returns the legal move of each board that has a label in a `ModelFormat`; 0 if there is none."""
    cdef NativeFormat found = native_format(model_format)
    cdef list chosen = []
    cdef MoveList moves
    cdef Py_ssize_t i
    cdef int j
    cdef Board board
    if found is None:
        raise ValueError(f"expected a format with a native twin, received {model_format.name}")
    check_shape((labels.shape[0],), (len(boards),))
    for i in range(len(boards)):
        board = boards[i]
        board.game.legal_moves(moves)
        move = 0
        for j in range(moves.size()):
            if found.core.label(moves[j], board.game.turn()) == labels[i]:
                move = moves[j]
                break
        chosen.append(move)
    return chosen


def read_value(model_format, float value, float draw, int turn):
    """Returns the value in [-1, +1] that a `ModelFormat` finds in the value outputs of one position.

    draw: the output for draws, if there is one. turn: the side to move, black (0) or white (1).
    """
    cdef ValueHeads heads
    read_heads(heads, model_format)
    return heads.read(value, draw, turn)


cdef read_heads(ValueHeads& heads, model_format):
    """Reads how a format's value outputs become values."""
    heads.value = scale_of(model_format.value_scale)
    draw_scale = getattr(model_format, "draw_scale", None)
    heads.has_draw = draw_scale is not None
    if heads.has_draw:
        heads.draw = scale_of(draw_scale)
        heads.draw_value = model_format.draw_value


cdef ValueScale scale_of(value_scale) except *:
    from goryu.evaluators.formats.value_scale import from_logit, from_probability, from_tanh

    if value_scale is from_probability:
        return ValueScale.kProbability
    if value_scale is from_logit:
        return ValueScale.kLogit
    if value_scale is from_tanh:
        return ValueScale.kTanh
    raise ValueError(f"expected a function of value_scale.py, received {value_scale!r}")


def policy_label(model_format, int move, int turn):
    """Returns the label of a move of black (0) or white (1) in a `ModelFormat`."""
    cdef NativeFormat found = native_format(model_format)
    if found is None:
        raise ValueError(f"expected a format with a native twin, received {model_format.name}")
    return found.core.label(<uint16_t>move, turn)


def fill_dlshogi(list boards, float[:, :, :, ::1] board_planes, float[:, :, :, ::1] hand_planes):
    """Writes the planes of a batch, `board_planes` [N, 62, 9, 9] and `hand_planes` [N, 57 or 119, 9, 9].

    Rows beyond the boards stay as they are; the arrays need not hold zeros before.
    """
    cdef Py_ssize_t i
    cdef Board board
    cdef cbool sees_nyugyoku = hand_planes.shape[1] == kHandPlanes + kNyugyokuPlanes
    check_shape([board_planes.shape[axis] for axis in range(4)], (len(boards), kBoardPlanes, 9, 9))
    hands = kHandPlanes + (kNyugyokuPlanes if sees_nyugyoku else 0)
    check_shape([hand_planes.shape[axis] for axis in range(4)], (len(boards), hands, 9, 9))
    for i in range(len(boards)):
        board = boards[i]
        core_fill_dlshogi(board.game.position(), sees_nyugyoku, &board_planes[i, 0, 0, 0], &hand_planes[i, 0, 0, 0])


def dlshogi_label(int move, int turn):
    """Returns the label of a move of black (0) or white (1), in [0, 2187)."""
    return core_dlshogi_label(<uint16_t>move, turn)


cdef check_shape(shape, expected):
    """Raises ValueError unless the shape is the one expected, or longer along the batch."""
    if tuple(shape[1:]) != tuple(expected[1:]) or shape[0] < expected[0]:
        raise ValueError(f"expected an array of shape {expected}, received {tuple(shape)}")
