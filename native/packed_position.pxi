"""Packed positions: packed_position.py of the engine and of the lab in C++, and batches of them for training."""

from goryu.games.shogi.packed_position import BOX


cdef class NativePieceCode:
    """The tables of a `PieceCode`."""

    cdef CorePieceCode core

    def __init__(self, code):
        for piece, bits in code.squares.items():
            self.core.square_bits[piece], self.core.square_length[piece] = int(bits[::-1], 2), len(bits)
        for held, bits in code.held.items():
            place = held_number(held)
            self.core.held_bits[place], self.core.held_length[place] = int(bits[::-1], 2), len(bits)
        for window, (piece, length) in code.square_of.items():
            self.core.square_of[window], self.core.square_of_length[window] = piece, length
        for window, (held, length) in code.held_of.items():
            self.core.held_of[window], self.core.held_of_length[window] = held_number(held), length


cdef int held_number(held):
    owner, kind = held
    return 8 * (kBox if owner == BOX else owner) + kind


cdef dict PIECE_CODES = {}


cdef NativePieceCode native_piece_code(code):
    if code not in PIECE_CODES:
        PIECE_CODES[code] = NativePieceCode(code)
    return PIECE_CODES[code]


def unpack_board(bytes data, code, rules=STANDARD_RULES):
    """Returns the board of a packed position, as move number 1; None if it is none or breaks a rule of shogi."""
    if len(data) != kPackedBytes:
        raise ValueError(f"expected {kPackedBytes} bytes, received {len(data)}")
    cdef OptionalPosition found = core_unpack(<const uint8_t*>data, native_piece_code(code).core)
    if not found.has_value():
        return None
    cdef Board board = Board.__new__(Board)
    board.game = new Game(found.value(), 0, core_rules(rules))
    board._rules = rules
    return board


def pack_board(Board board, code):
    """Returns the position of a board in 32 bytes. Both kings are on it."""
    cdef uint8_t[32] data
    if board.game.position().king(0) > 80 or board.game.position().king(1) > 80:
        raise ValueError("expected a position with both kings")
    core_pack(board.game.position(), native_piece_code(code).core, data)
    return bytes(data[:32])


def fill_records(
    code, const uint8_t[:, ::1] packed, const int64_t[::1] place, const uint16_t[::1] moves,
    float[:, :, :, ::1] board_planes, float[:, :, :, ::1] hand_planes, uint8_t[:, ::1] legal, int64_t[::1] labels,
):
    """Writes packed positions as a batch, without Python's lock: see `goryu_lab/training/stored_planes.py`.

    packed: [N, 32], in the code of `code`. board_planes, hand_planes: [N, 62, 9, 9] and [N, 57, 9, 9] of any content.
    legal: [N, 2187], zeros. place, moves, labels: [M], as there.

    Returns how many positions and moves were written: N + M, or fewer if the next one is no position or is illegal.
    """
    cdef NativePieceCode native_code = native_piece_code(code)
    cdef vector[Position] positions
    cdef OptionalPosition found
    cdef MoveList listed
    cdef int j
    cdef size_t i, written = 0, count = packed.shape[0], move_count = moves.shape[0]
    check_shape((packed.shape[0], packed.shape[1]), (count, kPackedBytes))
    check_shape([board_planes.shape[axis] for axis in range(4)], (count, kBoardPlanes, 9, 9))
    check_shape([hand_planes.shape[axis] for axis in range(4)], (count, kHandPlanes, 9, 9))
    check_shape((legal.shape[0], legal.shape[1]), (count, kDlshogiLabels))
    for length in (place.shape[0], labels.shape[0]):
        check_shape((length,), (move_count,))
    for i in range(move_count):
        if not 0 <= place[i] < <int64_t>count:
            raise IndexError(f"expected the number of one of {count} positions, received {place[i]}")
    with nogil:
        positions.reserve(count)
        for i in range(count):
            found = core_unpack(&packed[i, 0], native_code.core)
            if not found.has_value():
                break
            positions.push_back(found.value())
            core_fill_dlshogi(positions[i], False, &board_planes[i, 0, 0, 0], &hand_planes[i, 0, 0, 0])
            core_legal_moves(positions[i], listed, True)
            for j in range(listed.size()):
                legal[i, core_dlshogi_label(listed[j], positions[i].turn())] = 1
            written += 1
        for i in range(move_count if written == count else 0):
            if not core_is_legal(positions[place[i]], moves[i]):
                break
            labels[i] = useful_label(positions[place[i]], moves[i], &legal[place[i], 0])
            written += 1
    return written


# Places between the label of a move on the board and that of the same move with promotion.
cdef int PROMOTIONS = 10 * 81


cdef int useful_label(const Position& position, uint16_t move, const uint8_t* legal) noexcept nogil:
    """The label of a legal move, or of its promotion if declining it is pointless."""
    cdef int label = core_dlshogi_label(move, position.turn())
    cdef int origin = move >> 7 & 0x7F
    if label >= PROMOTIONS or not legal[label + PROMOTIONS]:
        return label
    cdef int kind = position.piece(origin) & 15
    if kind == 1 or kind == 5 or kind == 6 or (kind == 2 and label % 9 == 1):  # Pawn, bishop, rook; lance.
        return label + PROMOTIONS
    return label
