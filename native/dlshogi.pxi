"""Planes and labels: goryu.evaluators.formats.dlshogi in C++."""


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


def pack_dlshogi(list boards, uint8_t[:, ::1] rows):
    """Writes boards as the bits of `evaluators/packed_input.py`, `rows` [N, 636] or [N, 643]; other rows stay."""
    cdef Py_ssize_t i
    cdef Board board
    cdef cbool sees_nyugyoku = rows.shape[1] == packed_bytes(True)
    check_shape([rows.shape[axis] for axis in range(2)], (len(boards), packed_bytes(sees_nyugyoku)))
    for i in range(len(boards)):
        board = boards[i]
        core_pack_dlshogi(board.game.position(), sees_nyugyoku, &rows[i, 0])


def dlshogi_label(int move, int turn):
    """Returns the label of a move of black (0) or white (1), in [0, 2187)."""
    return core_dlshogi_label(<uint16_t>move, turn)


cdef check_shape(shape, expected):
    """Raises ValueError unless the shape is the one expected, or longer along the batch."""
    if tuple(shape[1:]) != tuple(expected[1:]) or shape[0] < expected[0]:
        raise ValueError(f"expected an array of shape {expected}, received {tuple(shape)}")
